"""The page of `plan`: what gets worse and why, then losses, changed workloads and new findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from topospread.answers.words import counted, listed, noun_of
from topospread.api.promises import declaration
from topospread.render.blocks import Cell, Fact, Hint, Page, Part, Section, Span, Table, Verdict

from .pending import unjudged_facts
from .promise_check import tried_fixes

if TYPE_CHECKING:
    from topospread.answers.lint import LintFinding
    from topospread.answers.plan import MoveCause, MovedPod, Plan, PromiseSides, SkewSides, WorkloadSides
    from topospread.answers.undeclared import UndeclaredPromise
    from topospread.base import Bounds

_FACTS = 2
_NAMES = 3
_CHANGES = 6
_ABOUT = {
    "zone-loss": "zone-loss", "zone-rolled": "zone-loss", "node-loss": "node-loss", "node-rolled": "node-loss",
    "drains": "drain", "rollout": "rollout",
}  # fmt: skip
"""Event of `promise show` → the kind of promise that limits its harm."""
_EVENTS: Mapping[str, str] = {
    "zone-loss": "zone loss, worst case",
    "zone-rolled": "zone loss after a rollout, worst case",
    "zone-after": "zone loss as placed, pods replaced",
    "node-loss": "node loss, worst case",
    "node-rolled": "node loss after a rollout, worst case",
    "node-after": "node loss as placed, pods replaced",
    "drains": "node drains, worst case",
    "rollout": "rollout, worst case",
    "rolled-out": "rollout, simulated: replaced pods",
    "skew": "promised skew",
    "never-waits": "promise never-waits",
}
"""Event → its words in the table. *Worst case*: of every order of pods; *as placed*: in one simulation."""


def page(answer: Plan) -> Page:
    """Return the page of a plan."""
    # Of another control plane, a workload that only gets or loses default constraints has no row.
    changed = [
        each
        for each in answer.workloads
        if each.moved or any(not answer.settings or None not in one.skew for one in each.skews)
    ]
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    parts += [Fact("why", each.says) for each in answer.causes[:_FACTS]]
    unjudged = (
        replace(each, because=f"{listed(each.pods, _NAMES)}: {each.because}") if each.pods else each
        for each in answer.unjudged[:_FACTS]
    )
    parts += unjudged_facts(unjudged, rest="; the same before and after" if answer.verdict == "yes" else "")
    parts += [Fact("assumed", each) for each in answer.assumed]
    parts += [Fact("note", each) for each in answer.notes]
    parts += [Fact("rule", each) for each in answer.rules]
    promises = list(_promises(answer))
    parts += [*_accepted(answer), *_declared_again(answer), *promises]
    moves = [sum(None not in pod.nodes for pod in each.moved) for each in changed]
    if (number := sum(map(bool, moves))) > 1 or (number and answer.judged_once):
        says = f"{counted(sum(moves), 'pod')} of {counted(number, 'workload')} to other nodes"
        if some := listed(answer.judged_once, _NAMES):
            says += f"; some may move only because pods of {some} are not judged on one side and get no node there"
        parts.append(Fact("moved", says))
    if changed:
        rows = tuple(row for each in changed for row in _rows(each))
        heads = ("WORKLOAD", "PLACED", "MOVED", "SKEW", "WHY")
        is_second = not answer.settings and any(not each.wide for each in promises)
        parts.append(Section("", (Table(heads, rows, most=30),), wide=is_second))
    parts += _settings(answer)
    parts += _findings("New findings", answer.new_findings)
    parts.append(Section("", tuple(_details(answer)), wide=True))
    if not changed:
        parts.append(Fact("unchanged", "the node of every pod"))
    return Page(f"plan: {answer.names[0]} → {answer.names[1]}: {answer.says}", tuple(parts))


def _settings(answer: Plan) -> Iterator[Part]:
    """Yield one fact for settings that change in the same way. Without ``-o wide`` only the first are shown."""
    same: dict[tuple[str, str], list[str]] = {}
    for each in answer.settings:
        change = " → ".join(value or "not set" for value in each.values)
        same.setdefault((each.profile, change), []).append(each.setting)
    facts = [Fact("changed", f"{key[0]}: {', '.join(some)}: {key[1]}") for key, some in same.items()]
    if facts:
        yield Section("", tuple(facts[:_CHANGES]))
    if more := facts[_CHANGES:]:
        yield Hint(f"{counted(len(more), 'changed line')} more")
        yield Section("", tuple(more), wide=True)


def _promises(answer: Plan) -> Iterator[Section]:
    """Yield a section with counts that differ or break a promise, worst workloads first, and one with other counts.

    The second section is for ``-o wide``. If the two states differ in the control plane's settings, it also has the
    counts that differ but get neither better nor worse.
    """
    rank: dict[str, int] = {}
    for each in answer.promises:
        rank[_name(each)] = min(rank.get(_name(each), 2), ("no", "unknown", "yes").index(each.verdict))
    ordered = sorted(answer.promises, key=lambda each: rank[_name(each)])
    changed = [
        each
        for each in ordered
        if each.verdict != "yes"
        or each.better
        or (each.before != each.after and (each.ground == "played" or not answer.settings))
    ]
    equal = [each for each in ordered if each not in changed]
    for title, some in (("", changed), ("Promises that stay the same", equal)):
        rows = tuple((_name(each), _EVENTS[each.event], *_left(each), _word(each), _ground(each)) for each in some)
        if rows:
            heads = ("WORKLOAD", "PODS LEFT BY", *answer.names, "", "HOW KNOWN")
            yield Section(title, (Table(heads, rows, may_drop=(5,), most=30),), wide=bool(title))


def _name(each: PromiseSides | UndeclaredPromise | WorkloadSides) -> str:
    return f"{each.namespace}/{each.name}"


def _left(each: PromiseSides) -> tuple[str, str]:
    if each.event in ("skew", "never-waits"):
        return "", each.declared
    return f"{each.before} of {each.replicas[0]}", f"{each.after} of {each.replicas[1]}"


def _word(each: PromiseSides) -> Span:
    if each.blocks:
        return Span("worse: a drain does not end", "bad")
    if each.verdict == "no":
        worse = "worse, if others leave room" if each.ground == "alone" else "worse"
        worse += f": below its quorum of {each.lost_quorum}" if each.lost_quorum else ""
        return Span(f"breaks {each.declared}" if each.declared else worse, "bad")
    if each.verdict == "unknown":
        return Span("not decided", "unsure")
    if each.unblocks:
        return Span("drains can end now", "good")
    if each.better:
        return Span("better", "good")
    was, now = each.replicas
    is_less = each.after.least * was < each.before.least * now
    return Span(f"keeps {each.declared}" if is_less and each.declared else "fewer" if is_less else "")


def _ground(each: PromiseSides) -> str:
    return {"none": "", "played": "simulated", "alone": "proved"}.get(each.ground, each.ground)


def _accepted(answer: Plan) -> Iterator[Fact]:
    """Yield fixes, and promises to accept the change. If a new lint finding may be the cause, yield only that."""
    worse = [each for each in answer.promises if each.verdict == "no"]
    if worse and answer.causes and answer.causes[0].code == "new-finding":
        yield Fact("fix", f"correct {answer.causes[0].says.partition(' ')[0]} first: it may be the cause")
        return
    yield from tried_fixes(answer.remedies)
    wants: dict[str, str] = {}
    own = [each for each in answer.promises if worse and _name(each) == _name(worse[0])]
    for each in own:
        if each.declared and each.verdict != "no":  # the annotation keeps its other promises
            wants.setdefault(each.declared.partition(">")[0], each.declared)
        about = _ABOUT.get(each.event) if each.verdict == "no" and not each.blocks else None
        least = min((one.after.least for one in own if _ABOUT.get(one.event) == about), default=0)
        if about and least and not (about == "node-loss" and "zone-loss" in wants):
            wants[about] = f"{about}>={least}"
    if not worse:
        return
    accepted = {*wants, *(["node-loss"] if "zone-loss" in wants else ())}
    if all(_ABOUT.get(each.event) in accepted for each in own if each.verdict == "no"):
        where = f"metadata.annotations of {worse[0].kind} {_name(worse[0])}"
        of = "" if {_name(each) for each in worse} == {_name(worse[0])} else f" of {_name(worse[0])}"
        says = f"add it to {answer.names[0]} first, in {where}: then it accepts the change{of}; or undo the change"
        yield Fact("fix", says, declaration(wants.values()))
    else:
        yield Fact("fix", f"undo the change: no declared promise can accept it for {_name(worse[0])}")


def _declared_again(answer: Plan) -> Iterator[Fact]:
    """Yield the lost annotation of the first workload that no longer declares its promises."""
    own = [each for each in answer.undeclared if not each.weaker]
    wants = [each.promise for each in own if each.name == own[0].name and each.namespace == own[0].namespace]
    if wants:
        says = f"declares it again, in metadata.annotations of {own[0].kind} {_name(own[0])}"
        yield Fact("fix", says, declaration(wants))


def _rows(each: WorkloadSides) -> Iterator[tuple[Cell, ...]]:
    was, now = map(str, each.placed)
    moved = sum(None not in pod.nodes for pod in each.moved)
    why = next((_short(pod, pod.why) for pod in each.moved if pod.why is not None), "")
    differing = [one for one in each.skews if one.skew[0] != one.skew[1]]
    skews = [_skew(one, each.placed) for one in differing or each.skews] or [Span("")]
    placed = now if was == now else f"{was} → {now}"
    yield (_name(each), placed, moved or "", skews[0], why)
    yield from (("", "", "", one, "") for one in skews[1:])


def _short(pod: MovedPod, why: MoveCause) -> str:
    """Return a cause for a table's cell: nodes without their domains, and without the pods that moved earlier."""
    if why.points is not None:
        return f"{why.plugin}: new node {why.points[0]:+d} → {why.points[1]:+d} points"
    says = why.says.partition("; ")[0]
    for node in filter(None, pod.nodes):
        says = says.replace(node, node.partition(".")[0])
    return says


def _skew(each: SkewSides, placed: tuple[Bounds, Bounds]) -> Span:
    sides = zip(each.skew, each.domains, placed, strict=True)
    skew = " → ".join(dict.fromkeys(_skew_words(*side) for side in sides))
    limit = " → ".join(dict.fromkeys(str(side) for side in each.max_skew if side is not None))
    return Span(f"{skew} (max {limit}, {noun_of(each.topology_key)})", "bad" if each.exceeded else "")


def _skew_words(skew: int | None, domains: dict[str, int] | None, placed: Bounds) -> str:
    if skew is None:
        return "none"
    return "counts no pod" if domains and placed.least and not any(domains.values()) else str(skew)


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
        yield Fact("evicted, not recreated", listed(answer.newly_gone, 20))
    yield from (Fact("warning", each) for each in answer.warnings)
    yield from _findings("Findings that no longer occur", answer.gone_findings)
