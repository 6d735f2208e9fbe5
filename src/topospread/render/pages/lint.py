"""The page of `lint`: findings by file, with source lines under ``-o wide``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from topospread.render.blocks import Code, Fact, Page, Part, Section, Verdict

if TYPE_CHECKING:
    from topospread.answers.lint import Lint, LintFinding


def page(answer: Lint) -> Page:
    """Return the page of a lint answer."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    parts += [Fact("not judged", each.because) for each in answer.unjudged]
    parts += [
        Section(file, tuple(part for each in found for part in _finding(each)))
        for file, found in groupby(answer.findings, lambda each: each.file)
    ]
    if answer.findings:
        parts.append(Fact("why a rule", "", f"topospread explain {answer.findings[0].rule}"))
    return Page(f"lint: {answer.says}", tuple(parts))


def _finding(each: LintFinding) -> Iterator[Part]:
    of = f" ({each.object}{_document(each)})" if each.object else ""
    yield Fact(f"{each.line or 1}:{each.column or 1} {each.level}", f"{each.rule}{of}: {each.says}")
    if each.text:
        line = each.rendered.line if each.rendered is not None else each.line
        rendered = "rendered " if each.rendered is not None else ""
        yield Section("", (Code(f"{rendered}{line} | {each.text}"),), wide=True)


def _document(each: LintFinding) -> str:
    """Return the document's number for piped input, which has no file to open."""
    return f", document {each.document}" if each.file == "-" and each.document is not None else ""
