"""The page of `plan`: what gets worse and why, then losses, changed workloads and new findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topospread.answers.plan import EVENT_WORDS
from topospread.answers.words import listed, noun_of
from topospread.render.blocks import Cell, Fact, Page, Part, Section, Span, Table, Verdict

from .pending import unjudged_facts

if TYPE_CHECKING:
    from topospread.answers.lint import LintFinding
    from topospread.answers.plan import Plan, PromiseSides, SkewSides, WorkloadSides

_FACTS = 2
_NAMES = 3
_ABOUT = {"zone-loss": "zone-loss", "node-loss": "node-loss", "drains": "drain", "rollout": "rollout"}
"""Event → the promise for it."""


def page(answer: Plan) -> Page:
    """Return the page of a plan."""
    changed = [each for each in answer.workloads if each.moved or each.skews]
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    parts += [Fact("why", each.says) for each in answer.causes[:_FACTS]]
    parts += unjudged_facts(answer.unjudged[:_FACTS])
    parts += [Fact("as if", each) for each in answer.assumed]
    for setting in answer.settings:
        values = " → ".join(each or "not set" for each in setting.values)
        parts.append(Fact("changed", f"{setting.profile}: {setting.setting}: {values}"))
    promises = list(_promises(answer))
    parts += [*_accepted(answer), *promises]
    if changed:
        rows = tuple(row for each in changed for row in _rows(each))
        heads = ("WORKLOAD", "PLACED", "MOVED", "SKEW", "WHY")
        parts.append(Section("", (Table(heads, rows, most=30),), wide=any(not each.wide for each in promises)))
    parts += _findings("New findings", answer.new_findings)
    parts.append(Section("", tuple(_details(answer)), wide=True))
    if not changed:
        parts.append(Fact("unchanged", "0 pods on other nodes"))
    return Page(f"plan: {answer.names[0]} → {answer.names[1]}: {answer.says}", tuple(parts))


def _promises(answer: Plan) -> Iterator[Section]:
    """Yield each workload's counts that differ or break a promise.

    Equal counts are shown only with -o wide, and counts that no other control plane makes worse.
    """
    changed = [each for each in answer.promises if each.verdict != "yes" or each.before != each.after]
    for title, some in (("", changed), ("Promises that stay the same", [*set(answer.promises) - set(changed)])):
        rows = tuple(
            (f"{each.namespace}/{each.name}", EVENT_WORDS[each.event], *_left(each), _word(each), _ground(each))
            for each in answer.promises
            if each in some
        )
        if rows:
            heads = ("WORKLOAD", "LEFT AT LEAST", *answer.names, "", "GROUND")
            is_harmless = bool(answer.settings) and all(each.verdict == "yes" for each in answer.promises)
            yield Section(title, (Table(heads, rows, may_drop=(5,), most=30),), wide=bool(title) or is_harmless)


def _left(each: PromiseSides) -> tuple[str, str]:
    if each.event in ("skew", "never-waits"):
        return "", each.declared
    return f"{each.before} of {each.replicas[0]}", f"{each.after} of {each.replicas[1]}"


def _word(each: PromiseSides) -> Span:
    if each.verdict == "no":
        return Span(f"breaks {each.declared}" if each.declared else "worse", "bad")
    if each.verdict == "unknown":
        return Span("not decided", "unsure")
    if each.better:
        return Span("better", "good")
    was, now = each.replicas
    is_less = each.after.least * was < each.before.least * now
    return Span(f"keeps {each.declared}" if is_less and each.declared else "less" if is_less else "")


def _ground(each: PromiseSides) -> str:
    return "" if each.ground == "none" else each.ground


def _accepted(answer: Plan) -> Iterator[Fact]:
    """Yield, for the first workload, the promises that would accept the change; a fault in its manifest comes first."""
    worse = [each for each in answer.promises if each.verdict == "no"]
    if worse and answer.causes and answer.causes[0].code == "new-finding":
        yield Fact("fix", f"correct {answer.causes[0].says.partition(' ')[0]} first: it may be why fewer pods are left")
        return
    wants: dict[str, str] = {}
    for each in answer.promises if worse else ():
        if (each.namespace, each.name) != (worse[0].namespace, worse[0].name):
            continue
        if each.declared and each.verdict != "no":  # the annotation keeps its other promises
            wants.setdefault(each.declared.partition(">")[0], each.declared)
        about = _ABOUT.get(each.event) if each.verdict == "no" and each.after.least else None
        if about and not (each.event == "node-loss" and "zone-loss" in wants):
            wants[about] = f"{about}>={each.after.least}"
    if any(each.verdict == "no" and _ABOUT.get(each.event) in wants for each in worse):
        says = f"accepts it on {worse[0].namespace}/{worse[0].name}; or keep what was there"
        yield Fact("fix", says, f'topospread.dev/promise: "{" ".join(wants.values())}"')


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
