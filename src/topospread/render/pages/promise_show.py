"""The page of ``promise show``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from topospread.answers.promise_show import WITHOUT_UNJUDGED, PromisedEvent, PromisedWorkload, PromiseShow
from topospread.answers.words import counted, listed
from topospread.base import Bounds
from topospread.render.blocks import Cell, Fact, Page, Part, Section, Span, Table, Verdict
from topospread.text import shell_line

from .pending import unjudged_facts

_WHEN = {
    "zone-loss": "a zone is lost",
    "node-loss": "a node is lost",
    "drain": "a node drains",
    "rollout": "a rollout",
    "more": "more replicas",
}


def page(answer: PromiseShow) -> Page:
    """Return the page: events of a single workload, or a row for each workload."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    parts += [Fact("why", each.says) for each in answer.causes[:2]]
    parts += unjudged_facts(answer.unjudged[:2])
    if len(answer.workloads) == 1:
        (one,) = answer.workloads
        parts.append(Section("; ".join(one.constraints), (_events(one), *_needed(answer))))
        parts += _worst(one)
    else:
        rows = tuple(_row(each, with_ready=answer.on.pods > 0) for each in answer.workloads)
        heads = "WORKLOAD", "READY" if answer.on.pods else "PODS", "ZONE LOSS", "NODE LOSS", "NODE DRAIN", "ROLLOUT"
        title = "Fewest pods that stay ready. Without a mark: proved, for losses after any rollout"
        parts.append(Section(title, (Table(heads, rows, more="workloads"), *_needed(answer), *_marks(answer, rows))))
        parts += [
            Section(f"{each.namespace}/{each.name}", (_events(each), *_worst(each)), wide=True)
            for each in answer.workloads
        ]
    if answer.next:
        parts.append(Fact("next", "", shell_line(answer.next)))
    if WITHOUT_UNJUDGED in answer.assumed:
        parts.append(Fact("note", WITHOUT_UNJUDGED))
    parts += [Fact("warning", each) for each in answer.warnings]
    if answer.notes:
        parts.append(Section("", tuple(Fact("note", each) for each in answer.notes), wide=True))
    return Page(answer.says, tuple(parts))


_MARKS = {
    "*": "proved for every order of pods, but not after rollouts",
    "?": "between these numbers",
    "alone": "proved, if other workloads leave room",
    "now": "while the pods are on their present nodes",
    "simulated": "in one simulation",
    "sampled": "in several simulations with random choices",
    "pending": "afterwards some pods find no node",
    "blocked": "an eviction may be denied",
    "stuck": "the rollout may not end",
    "not back": "lost pods are not replaced until their node returns",
    "budget": "a PodDisruptionBudget is violated",
}
_GROUNDS = {"seen": "now", "played": "simulated", "drawn": "sampled"}


def _needed(answer: PromiseShow) -> Iterator[Fact]:
    """Yield the number of pods that the loss of a zone or node must leave for the verdict yes."""
    if len(answer.workloads) == 1:
        (one,) = answer.workloads
        ground = _GROUNDS.get(one.ground, one.ground)
        at = f" with {counted(one.replicas, 'replica')}" if one.sizes is not None else ""
        asked = [each for each in one.events if each.needed is not None]
        if one.verdict == "no" and all((each.now or 0) >= (each.needed or 0) for each in asked):
            ground = f"{ground} for other orders of pods; kept as placed now"
        kept = {"yes": f"kept{at}, {ground}", "no": f"not kept{at}, {ground}", "unknown": f"not decided{at}"}[
            one.verdict
        ]
        of = f"its quorum, {one.needed} of {one.replicas}" if one.needed > 1 else "at least 1 pod"
        yield Fact("required", f"{one.declared or f'{of} after a zone or node loss'}: {kept}")
        return
    for each in answer.workloads:
        if each.declared:
            yield Fact("declared", f"{each.namespace}/{each.name}: {each.declared}")
    rest = [each for each in answer.workloads if not each.declared]
    quorums = [f"{each.needed} of {each.namespace}/{each.name}" for each in rest if each.needed > 1]
    of = f"; the quorum of StatefulSets: {listed(quorums, 3)}" if quorums else ""
    whose = "each workload" if len(rest) == len(answer.workloads) else "each other workload"
    if rest:
        yield Fact("required", f"at least 1 pod of {whose} after a zone or node loss{of}")


def _marks(answer: PromiseShow, rows: Iterable[tuple[Cell, ...]]) -> Iterator[Fact]:
    """Yield the meanings of the marks in the rows."""
    text = " ".join(str(cell.text) for row in rows for cell in row if isinstance(cell, Span))
    yield from (
        Fact(mark, f"{meaning}; {_open_reason(answer)}" if mark == "?" else meaning)
        for mark, meaning in _MARKS.items()
        if mark in text
    )


def _open_reason(answer: PromiseShow) -> str:
    """Return why some counts are unknown: pods are unjudged, or the search ended early."""
    parts = [each for each in answer.unjudged if each.what != "budget"]
    opened = [
        each for each in answer.workloads if any(one.when != "more" and one.ground == "none" for one in each.events)
    ]
    ended = "the search of all orders ended early"
    if not parts:
        return ended
    return "pods are not judged" if all(each.has_unjudged for each in opened) else f"{ended}, or pods are not judged"


def _events(one: PromisedWorkload) -> Table:
    has_needs = any((each.needed or 0) > 1 for each in one.events)
    leaves, needed = ("AT LEAST", "REQUIRED") if has_needs else ("LEAVES AT LEAST", "")
    rows: list[tuple[Cell, ...]] = []
    for each, (when, left, *rest) in event_rows(one):
        rows.append((when, left, _need(each) if has_needs else "", *rest))
    return Table(("WHEN", leaves, needed, "THEN, SIMULATED", "HOW KNOWN"), tuple(rows), most=20)


def _need(each: PromisedEvent) -> Span:
    if each.needed is None:
        return Span("")
    role = {"yes": "", "no": "bad", "unknown": "unsure"}[each.leaves.at_least(each.needed)]
    return Span(str(each.needed), role)  # type: ignore[arg-type]


def event_rows(one: PromisedWorkload) -> list[tuple[PromisedEvent, tuple[str, ...]]]:
    """Return each event with the cells of its row, and a row for a loss after a rollout if that differs."""
    rows: list[tuple[PromisedEvent, tuple[str, ...]]] = []
    for each in one.events:
        if each.orders is None:
            when = f"scaled to {each.of}" if each.when == "scale-down" else _WHEN[each.when]
            rows.append((each, (when, _leaves(each.leaves, each), each.then, _ground(each))))
            continue
        if each.now is not None and each.now < each.orders.least:  # the worst case is the current state
            ground = f"as placed now; with new pods {each.orders}, {_known(each.orders, each.needed)}"
            rows.append((each, (_WHEN[each.when], _leaves(Bounds.exactly(each.now), each), each.then, ground)))
        else:
            now = "" if each.now is None else f"{each.now} as placed now"
            now = f"{each.leaves.most} simulated" if each.ground == "played" and not now else now
            known = _known(each.orders, each.needed, each.alone)
            # The fact comes first if the search of all orders only found bounds.
            ground = "; ".join(filter(None, (known, now) if each.orders.known else (now, known)))
            rows.append((each, (_WHEN[each.when], _leaves(each.orders, each), each.then, ground)))
        if each.rolled is not None and each.rolled != each.orders:
            rows.append(
                (
                    each,
                    (
                        "… after any rollout",
                        _leaves(each.rolled, each),
                        "",
                        _known(each.rolled, each.needed, each.alone_rolled),
                    ),
                )
            )
    return rows


def _leaves(bounds: Bounds, each: PromisedEvent) -> str:
    number = str(bounds).replace("–", " or " if bounds.most == bounds.least + 1 else " to ")
    if each.when == "more":
        return f"+{number}"
    is_open = not bounds.known and (each.needed is None or bounds.most >= each.needed)
    return f"{number} of {each.of}{', not decided' if is_open else ''}"


def _known(bounds: Bounds, needed: int | None, alone: int | None = None) -> str:
    """Return whether a count is proved, or proved to be too low; else its value without other workloads, if proved."""
    if bounds.known:
        return "proved"
    if needed is not None and bounds.most < needed:
        return f"can be {bounds.most} or fewer, proved"
    return "" if alone is None else f"{alone} if others leave room"


def _ground(each: PromisedEvent) -> str:
    runs, ground = f"{each.runs} of {each.runs} runs", _GROUNDS.get(each.ground, each.ground)
    if each.when == "drain" and each.runs:
        return f"{ground}, {counted(each.runs, 'node')}"
    if each.when == "rollout" and each.runs:
        return f"{'proved; ' if each.ground == 'proved' else ''}{runs}"
    return runs if each.ground == "drawn" else "not judged" if each.ground == "none" else ground


def _worst(one: PromisedWorkload) -> list[Part]:
    """Return the messages of pods that are pending after an event, for ``-o wide``."""
    told = [each for each in one.events if each.message]
    facts = tuple(
        Fact(_WHEN.get(each.when, each.when), f"{f'{each.worst}: ' if each.worst else ''}{each.message}")
        for each in told
    )
    return [Section("kube-scheduler's messages for these pending pods", facts, wide=True)] if facts else []


def _row(one: PromisedWorkload, *, with_ready: bool) -> tuple[Cell, ...]:
    events = {each.when: each for each in one.events}
    cells = [_cell(one, events.get(when)) for when in ("zone-loss", "node-loss", "drain", "rollout")]
    ready = Span(f"{one.ready}/{one.replicas}", "" if one.ready >= one.replicas else "bad")
    return Span(f"{one.namespace}/{one.name}", "name"), ready if with_ready else one.replicas, *cells


def _cell(one: PromisedWorkload, each: PromisedEvent | None) -> Span:
    """Return the minimum number of pods, and the problem afterwards."""
    if each is None:
        is_open = any(part.ground == "none" and part.when != "more" for part in one.events)
        return Span("?" if is_open or not one.events else "–", "dim")
    after = ", pending" if each.pending else ", not back" if each.missing else ""
    for begin, mark in (("does not end", "blocked"), ("may not end", "stuck"), ("breaks", "budget")):
        after = f", {mark}" if each.then.startswith(begin) else after
    leaves = f"{each.leaves}{'?' if each.ground == 'none' else ''}"
    if each.ground == "none" and each.orders is not None and each.orders.known:
        leaves = f"{each.orders if each.now is None else min(each.now, each.orders.least)}*"
    elif each.ground == "none" and each.now is not None:
        leaves = f"now {each.now}, {leaves}"
    else:
        leaves += f" {_GROUNDS.get(each.ground, '')}".rstrip()
    if each.ground == "none" and each.alone_rolled is not None:
        leaves += f", alone {each.alone_rolled}"
    role = {"yes": "", "no": "bad", "unknown": "unsure"}[
        each.leaves.at_least(one.needed if each.needed is None else each.needed)
    ]
    return Span(f"{leaves}{after}", role)  # type: ignore[arg-type]
