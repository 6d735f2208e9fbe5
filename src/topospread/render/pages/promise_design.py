"""The page of ``promise design``."""

from __future__ import annotations

from topospread.answers.promise_design import DesignedWorkload, DesignLine, PromiseDesign
from topospread.answers.words import counted, listed
from topospread.api.promises import PROMISE
from topospread.render.blocks import Cell, Code, Fact, Page, Part, Section, Span, Table, Verdict
from topospread.text import shell_line

from .pending import unjudged_facts

_HONOR = (
    "with nodeTaintsPolicy: Honor, pods of a lost zone stay elsewhere when it recovers, so the next loss may leave "
    "fewer; without it, they may be pending until it recovers"
)


def page(answer: PromiseDesign) -> Page:
    """Return the page: lines and YAML of a single workload, or a row for each workload."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    parts += [Fact("why", each.says) for each in answer.causes[:2]]
    parts += unjudged_facts(answer.unjudged[:2])
    if len(answer.workloads) == 1:
        (one,) = answer.workloads
        parts += _whole(one)
    else:
        rows = tuple(map(_row, answer.workloads))
        parts.append(Section("", (Table(("WORKLOAD", "", "ADDED"), rows, more="workloads"),)))
        parts += [Section(f"{each.namespace}/{each.name}", tuple(_whole(each)), wide=True) for each in answer.workloads]
    parts += [
        Fact("changes", f"{each.namespace}/{each.name}: {change}")
        for each in answer.workloads
        for change in each.changes
        if each.verdict == "yes"
    ]
    optional = [
        f"{each.namespace}/{each.name}"
        for each in answer.workloads
        if any(line.line == "nodeTaintsPolicy: Honor" and not line.wanted for line in each.lines)
    ]
    if optional:
        parts.append(Fact("choice", f"{listed(optional, 5)}: {_HONOR}"))
    if any(each.declare for each in answer.workloads):
        parts.append(Fact("declare", f"the annotation {PROMISE} makes plan and promise check test it"))
    if answer.edited:
        parts.append(Fact("edited", listed(answer.edited, 5)))
    if answer.unwritten:
        parts.append(Fact("not written", f"{listed(answer.unwritten, 5)}: the design is not decided"))
    if answer.check and (answer.edited or answer.folder):
        parts.append(Fact("check", "", shell_line(answer.check)))
    if answer.folder:
        parts.append(Fact("next", "", shell_line(("kubectl", "diff", "--server-side", "-f", answer.folder))))
    elif not (answer.edited or answer.unwritten) and any(each.manifest for each in answer.workloads):
        parts.append(Fact("next", "--out DIR writes the YAML for kubectl diff --server-side -f DIR"))
    parts += [Fact("warning", each) for each in answer.warnings]
    if answer.notes:
        parts.append(Section("", tuple(Fact("note", each) for each in answer.notes), wide=True))
    return Page(answer.says, tuple(parts))


def _whole(one: DesignedWorkload) -> list[Part]:
    parts: list[Part] = [Fact("wanted", each) for each in one.asked]
    if one.lines:
        heads = ("ADDED", "WITHOUT THIS LINE (OTHERS STAY)")
        parts.append(Section("", (Table(heads, tuple(map(_line, one.lines)), most=20),)))
    if one.manifest:
        # the table shows the comments
        yaml = "\n".join(line for line in one.manifest.split("\n") if not line.startswith("#"))
        parts.append(Section("", (Code(yaml, "yaml"),)))
    title = "Not kept" if one.verdict == "yes" or not one.tried else f"{counted(one.tried, 'design')} failed"
    if one.unmet:
        parts.append(
            Section(title, tuple(Fact("why", each) for each in one.unmet), wide=one.verdict == "yes" or bool(one.lines))
        )
    if one.tried:
        checks = tuple(Fact("checked", each) for each in one.checked)
        parts.append(Section(f"For each of {counted(one.tried, 'design')}", checks, wide=True))
    return parts


def _line(each: DesignLine) -> tuple[Cell, ...]:
    reason, _, _ = each.reason.removeprefix("without it ").partition(": ")
    return _short(each.line), reason if each.wanted else f"by choice: {reason}"


def _short(line: str) -> str:
    return line.removeprefix("topologySpreadConstraints: ")


def _row(one: DesignedWorkload) -> tuple[Cell, ...]:
    name = Span(f"{one.namespace}/{one.name}", "name")
    if one.verdict == "no":
        return name, Span("no design", "bad"), one.unmet[0]
    if one.verdict == "unknown" and one.unmet and not one.lines:
        return name, Span("none found", "unsure"), one.unmet[0]
    added = "; ".join(_short(each.line) for each in one.lines)
    word = Span("designed", "good") if one.verdict == "yes" else Span("not judged", "unsure")
    return name, word, added or "no constraint has to be added"
