"""Markdown: the input cannot add markup, mentions or HTML to a comment on a pull request."""

from __future__ import annotations

import pytest

from topospread.render.blocks import Code, Fact, Page, Section, Span, Table, Verdict
from topospread.render.markdown import markdown


def shown(*parts: object) -> str:
    return markdown(Page("title", (Verdict("no", "shop/web keeps less"), *parts)))  # type: ignore[arg-type]


def test_the_verdict_is_a_heading_with_a_sign() -> None:
    assert shown().startswith("### ❌ shop/web keeps less\n")


@pytest.mark.parametrize(
    ("hostile", "raw"),
    [
        ("@everyone", "@everyone"),
        ("![x](http://evil)", "!["),
        ("[x](http://evil)", "[x]("),
        ("<img src=x>", "<img"),
        ("a | b", "a | b"),
        ("a\n# b", "\n# b"),
        ("`id`", "`id`"),
    ],
)
def test_text_of_the_input_is_shown_literally(hostile: str, raw: str) -> None:
    assert raw not in shown(Fact("why", hostile)).replace("**why:**", "")
    assert raw not in shown(Table(("NAME",), ((Span(hostile, "bad"),),))).split("|---|\n| ")[1].rstrip(" |\n")


def test_code_cannot_end_its_own_fence() -> None:
    found = shown(Code("```\nx"))
    assert "````\n```\nx\n````" in found


def test_wide_sections_are_folded() -> None:
    assert "<details><summary>proof</summary>" in shown(Section("proof", (Code("x"),), wide=True))
