"""Lint's fixes as quick fixes. Each is a single edit like that of `topospread lint --fix`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from time import monotonic
from typing import Final

from lsprotocol.types import CodeAction, CodeActionKind, Diagnostic, Range, TextEdit, WorkspaceEdit

from topospread.lint.fixing import TextEditor
from topospread.lint.lint_input import LintSubject
from topospread.lint.problem import FieldEdit
from topospread.lint.rules import BY_ID
from topospread.lint.run import LintReport
from topospread.sources.text import Text

from .diagnostics import diagnostics
from .lines import Lines

_SECONDS: Final = 0.5
"""Time limit in seconds: after it, no further quick fix is tried."""


def fixes(report: LintReport, lines: Lines, asked: Range, uri: str) -> Iterator[CodeAction]:
    """Yield a quick fix for each fixable finding in a range; in a long text only for the first ones."""
    until = monotonic() + _SECONDS
    for text in (each for _, each in report.read.texts):
        editor = TextEditor(text, report.read)
        for shown, subject, edits in islice(_fixable(report, text, lines, asked), editor.most_tries):
            after = editor.made([(subject, edits)])
            if after is not None:
                yield CodeAction(
                    title=f"{BY_ID[str(shown.code)].fix.rstrip('.')} ({shown.code})",
                    kind=CodeActionKind.QuickFix,
                    diagnostics=[shown],
                    is_preferred=True,
                    edit=WorkspaceEdit(changes={uri: [_edit(lines, after.data.decode())]}),
                )
            if monotonic() > until:
                return


def _fixable(
    report: LintReport, text: Text, lines: Lines, asked: Range
) -> Iterator[tuple[Diagnostic, LintSubject, Sequence[FieldEdit]]]:
    """Yield the findings in a range that have a fix, with the object and its edits."""
    for each in report.judged:
        line = (each.finding.place.line or 1) - 1
        if not each.problem.fix or each.subject is None or not asked.start.line <= line <= asked.end.line:
            continue
        if each.subject.location.text.name == text.name:
            for shown in diagnostics([each.finding], text.name, lines):
                yield shown, each.subject, each.problem.fix


def _edit(lines: Lines, after: str) -> TextEdit:
    """Return the smallest edit that turns the text into another text."""
    before = lines.text
    start = _common(before, after)
    start -= before.startswith("\r\n", start - 1)  # no position is allowed within a line break
    same = _common(before[start:][::-1], after[start:][::-1])
    same -= before.startswith("\r\n", len(before) - same - 1)
    return TextEdit(lines.range(start, len(before) - same), after[start : len(after) - same])


def _common(one: str, other: str) -> int:
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        same, most = (middle, most) if one[same:middle] == other[same:middle] else (same, middle - 1)
    return same
