"""Findings for people: one a paragraph with the line it is about, or one a line for editors; finds nothing itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from topospread.linting.reading import LeftOut, Read
from topospread.linting.rule import Finding, Rule
from topospread.linting.run import Outcome

from .layout import Layout
from .paragraphs import counted, hanging, listed

_MARGIN: Final = 24
"""Characters of a long line that are shown before the column."""

_SEVERITIES: Final = ("error", "warning", "hint")
_FILES_NAMED: Final = 3

LEFT_OUT: Final[dict[LeftOut, str]] = {
    "other": "no object of Kubernetes, left out",
    "template": "a chart's template, left out: lint what `helm template` makes of it",
    "patch": "a kustomization's patch, left out: lint what `kubectl kustomize` makes of it",
    "base": "not validated, a kustomization changes it: lint what `kubectl kustomize` makes of it",
}
"""What is said of files that were left out, by why they were."""


def lint_text(outcome: Outcome, layout: Layout) -> str:
    """Every finding with the line it is about, and how many there are."""
    lines: list[str] = []
    texts = {text.name: text.data for _, text in outcome.read.texts}
    for finding in outcome.findings:
        lines += [*_paragraph(finding, texts.get(finding.place.source, b""), layout), ""]
    return "\n".join([*lines, *summary(outcome, layout.width)]) + "\n"


def lint_lines(outcome: Outcome) -> str:
    """One finding a line, ``file:line:column: severity: message [rule]``."""
    return "".join(f"{line_of(finding)}\n" for finding in outcome.findings)


def line_of(finding: Finding) -> str:
    """A finding on one line, in the form that editors and problem matchers know."""
    return f"{where(finding)}: {finding.severity}: {finding.message} [{finding.rule}]"


def where(finding: Finding) -> str:
    """``file:line:column``."""
    place = finding.place
    return f"{place.source}:{place.line or 1}:{place.column or 1}"


def _paragraph(finding: Finding, data: bytes, layout: Layout) -> list[str]:
    style = layout.style
    marks = ("bold", "red") if finding.severity == "error" else ("bold",)
    head = f"{style(where(finding), 'bold')}: {style(finding.severity, *marks)}: {finding.rule} "
    of = f"({finding.place.object})" if finding.place.object else ""
    lines = hanging(head, of, layout.width, 2)
    lines += hanging("  ", finding.message, layout.width, 2)
    excerpt = _excerpt(finding, data, layout.width)
    return [*lines, *excerpt]


def _excerpt(finding: Finding, data: bytes, width: int) -> list[str]:
    """The line that a finding is about, of a long one the part around the column."""
    number = finding.place.line
    if number is None:
        return []
    line = _line(data, number).rstrip().replace("\t", " ")
    if not line:
        return []
    begin = f"{number:>6} | "
    room = width - len(begin)
    column = (finding.place.column or 1) - 1
    if len(line) > room and column > room - _MARGIN:
        line = "…" + line[max(column - _MARGIN, 0) + 1 :]
    return [begin + (line if len(line) <= room else line[: room - 1] + "…")]


def _line(data: bytes, number: int) -> str:
    """The line of a number, from 1."""
    start = 0
    for _ in range(number - 1):
        start = data.find(b"\n", start) + 1
    end = data.find(b"\n", start)
    return data[start : end if end >= 0 else len(data)].decode("utf-8", "replace")


def summary(outcome: Outcome, width: int) -> list[str]:
    """How many findings there are, in how many files, and what can be done about them."""
    findings = outcome.findings
    by_severity = Counter(finding.severity for finding in findings)
    files = counted(len(outcome.read.texts), "file")
    parts = [counted(by_severity[each], each) for each in _SEVERITIES if by_severity[each]]
    text = f"{', '.join(parts) or 'no findings'} in {files}"
    if outcome.ignored:
        text += f"; {outcome.ignored} ignored"
    mended = sum(bool(finding.fix) for finding in findings)
    if mended:
        text += f"; {mended} can be fixed with --fix"
    return hanging("", text, width, 0)


def left_out(read: Read) -> list[str]:
    """What to say of files that were left out, a line for each reason."""
    lines = []
    for why, words in LEFT_OUT.items():
        names = sorted(name for name, reason in read.left_out.items() if reason == why)
        if names:
            lines.append(f"{listed(names, _FILES_NAMED)}: {words}")
    return lines


def rules_text(rules: Sequence[Rule], layout: Layout) -> str:
    """The rules, one a paragraph."""
    longest = max((len(rule.id) for rule in rules), default=0)
    lines = []
    for rule in rules:
        first = f"{layout.style(rule.id, 'bold')}{' ' * (longest - len(rule.id))}  {rule.severity:<7}  "
        lines += hanging(first, rule.sentence, layout.width, longest + 11)
    return "\n".join(lines) + "\n"
