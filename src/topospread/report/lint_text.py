"""Findings for people: one a paragraph with the line it is about, or one a line for editors; finds nothing itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from topospread.errors import Place
from topospread.linting.reading import Read, WhyNotRead
from topospread.linting.rule import SEVERITIES, Finding, Rule
from topospread.linting.run import LintReport
from topospread.sources.deliveries import note_of_deliveries
from topospread.sources.text import Text

from .layout import Layout
from .paragraphs import counted, hanging, listed

_MARGIN: Final = 24
"""Characters of a long line that are shown before the column."""

_FILES_NAMED: Final = 3

LEFT_OUT: Final[dict[WhyNotRead, str]] = {
    "other": "no object of Kubernetes, left out",
    "template": "a chart's template, left out: lint the chart's folder",
    "patch": "a kustomization's patch, left out: lint the kustomization's folder",
    "base": "not validated, a kustomization changes it: lint the kustomization's folder",
}
"""What is said of files that were left out, by why they were."""


def lint_text(outcome: LintReport, layout: Layout) -> str:
    """Every finding with the line it is about, and how many there are."""
    lines: list[str] = []
    texts = {text.name: text for _, text in outcome.read.texts}
    for finding in outcome.findings:
        lines += [*_paragraph(finding, texts.get(finding.text), layout), ""]
    return "\n".join([*lines, *summary(outcome, layout.width)]) + "\n"


def lint_lines(outcome: LintReport) -> str:
    """One finding a line, ``file:line:column: severity: message [rule]``."""
    return "".join(f"{line_of(finding)}\n" for finding in outcome.findings)


def line_of(finding: Finding) -> str:
    """A finding on one line, in the form that editors and problem matchers know."""
    of = f" ({_object(finding.place)})" if finding.place.source == "-" and finding.place.object else ""
    return f"{where(finding)}: {finding.severity}: {finding.message}{of} [{finding.rule}]"


def where(finding: Finding) -> str:
    """``file:line:column``."""
    place = finding.place
    return f"{place.source}:{place.line or 1}:{place.column or 1}"


def _paragraph(finding: Finding, text: Text | None, layout: Layout) -> list[str]:
    style = layout.style
    marks = ("bold", "red") if finding.severity == "error" else ("bold",)
    head = f"{style(where(finding), 'bold')}: {style(finding.severity, *marks)}: {finding.rule} "
    of = f"({_object(finding.place)})" if finding.place.object else ""
    lines = hanging(head, of, layout.width, 2)
    lines += hanging("  ", finding.message, layout.width, 2)
    place = finding.rendered or finding.place
    if text is not None and place.line is not None:
        lines += _excerpt(text, place, layout.width, "rendered " if finding.rendered else "")
    return lines


def _object(place: Place) -> str:
    """``Deployment demo/web``; what comes through a pipe has no lines to look up, so its document is counted."""
    if place.source != "-" or place.document is None:
        return place.object
    return f"{place.object}, document {place.document}"


def _excerpt(text: Text, place: Place, width: int, of: str) -> list[str]:
    """The line that a finding is about, of a long one the part around the column; ``of``: what its number counts."""
    number, column = place.line or 1, place.column or 1
    start, end = text.bounds(number)
    begin = f"{f'{of}{number}':>6} | "
    room = width - len(begin)
    cut = end - start > room and column > room - _MARGIN
    if cut:
        start += max(column - _MARGIN, 1)
    # A line may be a whole cluster. A character has up to four bytes; where one is cut, nothing is shown of it.
    part = text.data[start : min(end, start + 4 * room + 4)].rstrip()
    if not part:
        return []
    shown = ("…" if cut else "") + part.decode("utf-8", "ignore").replace("\t", " ")
    return [begin + (shown if len(shown) <= room else shown[: room - 1] + "…")]


def summary(outcome: LintReport, width: int) -> list[str]:
    """How many findings there are, in what, and what can be done about them."""
    findings = outcome.findings
    by_severity = Counter(finding.severity for finding in findings)
    parts = [counted(by_severity[each], each) for each in SEVERITIES if by_severity[each]]
    text = f"{', '.join(parts) or 'no findings'} in {_judged(outcome.read)}"
    if outcome.ignored:
        text += f"; {outcome.ignored} ignored"
    mended = sum(bool(finding.fix) for finding in findings)
    if mended:
        text += f"; {mended} can be fixed with --fix"
    return hanging("", text, width, 0)


def _judged(read: Read) -> str:
    """``3 files``, ``98 objects of 1 chart``: of what holds one object each the objects are not counted apart."""
    kinds = Counter(source.unit.noun if source.unit is not None else "file" for source, _ in read.texts)
    of = ", ".join(counted(number, kind) for kind, number in kinds.items()) or counted(0, "file")
    objects = len(read.subjects)
    return of if objects == kinds["file"] == kinds.total() else f"{counted(objects, 'object')} of {of}"


def left_out(read: Read) -> list[str]:
    """What to say of files that were left out, a line for each reason."""
    lines = []
    for why, words in LEFT_OUT.items():
        names = sorted(name for name, reason in read.left_out.items() if reason == why)
        if names:
            lines.append(f"{listed(names, _FILES_NAMED)}: {words}")
    return [*read.notes, *lines, *note_of_deliveries(read.deliveries)]


def rules_text(rules: Sequence[Rule], layout: Layout) -> str:
    """The rules, one a paragraph."""
    longest = max((len(rule.id) for rule in rules), default=0)
    lines = []
    for rule in rules:
        first = f"{layout.style(rule.id, 'bold')}{' ' * (longest - len(rule.id))}  {rule.severity:<7}  "
        lines += hanging(first, rule.sentence, layout.width, longest + 11)
    return "\n".join(lines) + "\n"
