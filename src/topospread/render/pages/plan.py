"""The page of `plan`: what gets worse and why, then what losses leave, the workloads that change, and the findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topospread.answers.words import listed, noun_of
from topospread.render.blocks import Cell, Fact, Page, Part, Section, Span, Table, Verdict

from .pending import unjudged_facts

if TYPE_CHECKING:
    from topospread.answers.lint import LintFinding
    from topospread.answers.plan import Plan, PromiseSides, SkewSides, WorkloadSides

_FACTS = 2
_NAMES = 3
_WORDS = {"no": Span("worse", "bad"), "unknown": Span("not decided", "unsure"), "yes": Span("")}


def page(answer: Plan) -> Page:
    """Return the page of an answer."""
    changed = [each for each in answer.workloads if each.moved or each.skews]
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    parts += [Fact("why", each.says) for each in answer.causes[:_FACTS]]
    parts += unjudged_facts(answer.unjudged[:_FACTS])
    for setting in answer.settings:
        values = " → ".join(each or "not set" for each in setting.values)
        parts.append(Fact("changed", f"{setting.profile}: {setting.setting}: {values}"))
    if answer.promises:
        parts.append(Section("", (_promises(answer),)))
    if changed:
        rows = tuple(row for each in changed for row in _rows(each))
        heads = ("WORKLOAD", "PLACED", "MOVED", "SKEW", "WHY")
        parts.append(Section("", (Table(heads, rows, most=30),), wide=bool(answer.promises)))
    parts += _findings("New findings", answer.new_findings)
    parts.append(Section("", tuple(_details(answer)), wide=True))
    if not changed:
        parts.append(Fact("unchanged", "0 pods on other nodes"))
    return Page(f"plan: {answer.names[0]} → {answer.names[1]}: {answer.says}", tuple(parts))


def _promises(answer: Plan) -> Table:
    old, new = answer.names
    rows = tuple(
        (f"{each.namespace}/{each.name}", f"losing a {each.loss} leaves", *_left(each), _WORDS[each.verdict])
        for each in answer.promises
    )
    return Table(("WORKLOAD", "", old, new, ""), rows)


def _left(each: PromiseSides) -> tuple[str, str]:
    return f"{each.before} of {each.replicas[0]}", f"{each.after} of {each.replicas[1]}"


def _rows(each: WorkloadSides) -> Iterator[tuple[Cell, ...]]:
    was, now = map(str, each.placed)
    moved = sum(None not in pod.nodes for pod in each.moved)
    why = next((pod.why.says for pod in each.moved if pod.why is not None), "")
    skews = [_skew(one) for one in each.skews if one.skew[0] != one.skew[1]] or [Span("")]
    placed = now if was == now else f"{was} → {now}"
    yield (f"{each.namespace}/{each.name}", placed, moved or "", skews[0], why)
    yield from (("", "", "", one, "") for one in skews[1:])


def _skew(each: SkewSides) -> Span:
    sides = " → ".join("none" if side is None else str(side) for side in each.skew)
    limit = each.max_skew[1] if each.max_skew[1] is not None else each.max_skew[0]
    return Span(f"{sides} (max {limit}, {noun_of(each.topology_key)})", "bad" if each.exceeded else "")


def _findings(title: str, findings: tuple[LintFinding, ...]) -> Iterator[Section]:
    if findings:
        facts = (
            Fact(f"{each.where} {each.level}", f"{each.rule}{f' ({each.object})' if each.object else ''}: {each.says}")
            for each in findings
        )
        yield Section(title, tuple(facts))


def _details(answer: Plan) -> Iterator[Part]:
    for label, names in (("newly pending", answer.newly_pending), ("newly placed", answer.newly_placed)):
        if names:
            yield Fact(label, listed(names, 20))
    if answer.newly_gone:
        yield Fact("evicted for good", listed(answer.newly_gone, 20))
    yield from (Fact("warning", each) for each in answer.warnings)
    yield from _findings("Findings that are gone", answer.gone_findings)
