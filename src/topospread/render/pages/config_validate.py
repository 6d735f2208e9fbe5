"""The page of `config validate`: every problem at its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topospread.render.blocks import Fact, Page, Verdict

if TYPE_CHECKING:
    from topospread.answers.config_validate import ConfigValidate


def page(answer: ConfigValidate) -> Page:
    """Return the page with each problem."""
    labels = ("warning" if each.level == "warning" else each.where for each in answer.findings)
    facts = (Fact(label, each.says) for label, each in zip(labels, answer.findings, strict=True))
    return Page(f"config validate: {answer.says}", (Verdict(answer.verdict, answer.says), *facts))
