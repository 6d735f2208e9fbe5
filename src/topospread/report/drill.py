"""A drill as a text for people: what happened in each step, how its workloads then stood, and a table of all steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from topospread.answers.rebalance import move_in_words

from .domains import spread_lines
from .drill_events import clock, event_lines
from .layout import Layout
from .paragraphs import counted, hanging, named_row
from .pending import pending_lines
from .pools import pool_lines
from .traffic import step_traffic_lines

if TYPE_CHECKING:
    from topospread.drills import Drill, StepOutcome, StepRange, WorkloadState
    from topospread.rebalancing import Rebalance
    from topospread.service_traffic import Traffic
    from topospread.simulation.result import WorkloadSpread

_GAP = "  "


def drill_text(drill: Drill, layout: Layout, traffic: Sequence[Traffic] = (), mending: Rebalance | None = None) -> str:
    """The whole report.

    Args:
        drill: what is told.
        layout: how.
        traffic: what is expected after each step, where that was asked.
        mending: evictions that mend what is skewed at the end, where they are known.
    """
    blocks = [_block(number, each, layout) for number, each in enumerate(drill.steps)]
    for number, each in enumerate(drill.ranges):
        blocks[number] = "\n".join([blocks[number], *_range(each, drill.runs, layout)]).strip("\n")
    blocks += ["\n".join(_timeline(drill, layout)), _traffic(drill, layout, traffic)]
    blocks += ["\n".join(pool_lines(drill.pools, layout))]
    blocks += ["\n".join(_mending(mending, layout)), "\n".join(layout.remarks(drill.warnings, drill.notes))]
    blocks.append(_summary(drill, layout))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _mending(mending: Rebalance | None, layout: Layout) -> Iterator[str]:
    """What would even out what stays skewed; all of it where all is to be shown."""
    if mending is None:
        return
    number = counted(len(mending.moves), "eviction")
    yield from hanging("", f"What stays skewed is mended by {number}, in this order:", layout.width, 2)
    shown = mending.moves if layout.few(len(mending.moves)) else mending.moves[: layout.most]
    for each in shown:
        yield from hanging("  ", move_in_words(each), layout.width, 4)
    if len(shown) < len(mending.moves):
        yield f"  and {counted(len(mending.moves) - len(shown), 'eviction')} more; -o wide shows all"
    text = "--save FILE writes the cluster as it is then, and topospread rebalance FILE goes on from there"
    yield from hanging("  ", text, layout.width, 4)


def drill_summary(drill: Drill, layout: Layout, traffic: Sequence[Traffic] = ()) -> str:
    """The table of steps, and the numbers."""
    blocks = ["\n".join(_timeline(drill, layout)), _traffic(drill, layout, traffic), _summary(drill, layout)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _traffic(drill: Drill, layout: Layout, traffic: Sequence[Traffic]) -> str:
    if not traffic:
        return ""
    names = (_name(number, each) for number, each in enumerate(drill.steps))
    return "\n".join(step_traffic_lines(list(zip(names, traffic, strict=True)), layout))


def _block(number: int, outcome: StepOutcome, layout: Layout) -> str:
    if not number:
        return "\n".join(_beginning(outcome, layout))
    lines = [layout.style(f"{number}  {outcome.step}", "bold")]
    lines += event_lines(outcome.events, layout)
    lines += [] if outcome.events else ["  nothing happens"]
    lines += _workloads(outcome, layout)
    lines += _rollouts(outcome, layout)
    lines += _autoscaled(outcome, layout)
    lines += _short(outcome, layout)
    if outcome.pending:
        lines += pending_lines(outcome.pending, layout)
    for remark in outcome.remarks:
        lines += hanging("  note: ", remark, layout.width, 4)
    return "\n".join(lines)


def _beginning(outcome: StepOutcome, layout: Layout) -> Iterator[str]:
    """How things stand before the first step: a word, and what waits already."""
    placed = sum(len(each.pods) for each in outcome.events if each.kind == "placed")
    if placed:
        yield from hanging("", f"Beginning: {counted(placed, 'pod')} placed that had no node", layout.width, 2)
    if outcome.pending:
        yield from pending_lines(outcome.pending, layout)
    for remark in outcome.remarks:
        yield from hanging("note: ", remark, layout.width, 2)


def _workloads(outcome: StepOutcome, layout: Layout) -> Iterator[str]:
    """Those that something happened to, with what changed; of many those that stand badly."""
    every = sorted(outcome.changed, key=_goodness)
    shown = every if layout.few(len(every)) else every[: layout.most]
    for each in shown:
        name = layout.style(f"{each.namespace}/{each.name}", "bold")
        yield from hanging(f"  {name}  ", _standing(each), layout.width, 4)
        yield from (f"  {line}" for line in spread_lines(_worth_showing(each), _narrower(layout)))
    if len(shown) < len(every):
        left = every[len(shown) :]
        pods = sum(each.pending for each in left)
        yield f"  and {counted(len(left), 'workload')} more, {counted(pods, 'pod')} pending; -o wide shows all"


def _narrower(layout: Layout) -> Layout:
    return Layout(layout.width - 2, layout.wide, layout.style)


def _goodness(each: WorkloadState) -> tuple[object, ...]:
    """The least comes first."""
    return -each.pending, not each.is_skewed, each.fewest - each.replicas, each.namespace, each.name


def _standing(each: WorkloadState) -> str:
    """``Deployment · 4 of 6 ready · at worst 3 · 2 pending``."""
    parts = [each.kind, f"{each.ready} of {each.replicas} ready"]
    if each.fewest < min(each.ready, each.ready_before):
        parts.append(f"at worst {each.fewest}")
    parts += [f"{each.pending} pending"] if each.pending else []
    parts += [f"{each.terminating} terminating"] if each.terminating else []
    return " · ".join(part.replace(" ", "\xa0") for part in parts)


def _worth_showing(each: WorkloadState) -> list[WorkloadSpread]:
    """Constraints that somebody asked for and whose counts changed, or that are exceeded."""
    return [
        spread
        for spread in each.spread
        if spread.origin != "system" and (spread.is_exceeded or spread.domains.before.tolist() != _after(spread))
    ]


def _after(spread: WorkloadSpread) -> list[int]:
    counts: list[int] = spread.domains.after.tolist()
    return counts


def _short(outcome: StepOutcome, layout: Layout) -> Iterator[str]:
    """What fell short: budgets that were broken, pods that a drain leaves."""
    for breach in outcome.breaches:
        text = f"{breach.healthy} healthy of the {breach.needed} that it needs, at {clock(breach.at)}"
        yield from hanging(f"  PodDisruptionBudget {breach.budget} broken: ", text, layout.width, 4)
    reasons: dict[str, list[str]] = {}
    for left in outcome.not_evicted:
        reasons.setdefault(left.why, []).append(f"{left.pod.namespace}/{left.pod.name} on {left.pod.node}")
    for why, pods in reasons.items():
        yield from hanging("  not evicted: ", f"{layout.names(pods)}: {why}", layout.width, 4)


def _rollouts(outcome: StepOutcome, layout: Layout) -> Iterator[str]:
    for each in outcome.rollouts:
        name = f"{each.namespace}/{each.name}"
        said = f"over, {each.replicas} of {each.replicas}" if each.replicas else "no pod is replaced by it"
        if not each.is_over:
            old = f", {counted(each.old, 'old pod')} left" if each.old else ""
            said = layout.style(f"gets stuck at {each.updated} of {each.replicas}{old}", "bold", "red")
        yield from hanging(f"  rollout of {name}: ", said, layout.width, 4)


def _autoscaled(outcome: StepOutcome, layout: Layout) -> Iterator[str]:
    """How far an autoscaler came."""
    each = outcome.autoscaled
    if each is None:
        return
    said = f"all {each.least} to {each.most} replicas of {each.target} find a node"
    if each.fits < each.most:
        words = f"breaks at {each.fits + 1} replicas of {each.target}, between {each.least} and {each.most}"
        said = f"{layout.style(words, 'bold', 'red')}: {each.why}" if each.why else layout.style(words, "bold", "red")
    yield from hanging(f"  autoscaler {each.namespace}/{each.name}: ", said, layout.width, 4)


def _range(each: StepRange, runs: int, layout: Layout) -> Iterator[str]:
    """What is drawn in a cluster, and what it may come to."""
    if each.stuck:
        yield from hanging("  ", f"a rollout gets stuck in {each.stuck} of {runs} runs", layout.width, 4)
    for (workload, key), (least, most) in each.skews.items():
        if least != most:
            name = workload.partition(" ")[2]
            yield from hanging("  ", f"{name}: skew {least} to {most} on {key} in {runs} runs", layout.width, 4)
    if each.pending[0] != each.pending[1]:
        yield from hanging("  ", f"{each.pending[0]} to {each.pending[1]} pods pending in {runs} runs", layout.width, 4)


def _timeline(drill: Drill, layout: Layout) -> Iterator[str]:
    """A line for each step: when it was over, and how things stood."""
    rows = [("", "from", "settled", "ready", "at worst", "pending", "skew")]
    ranges: Sequence[StepRange | None] = drill.ranges or [None] * len(drill.steps)
    pairs = zip(drill.steps, ranges, strict=True)
    rows += [_row(number, each, of_all) for number, (each, of_all) in enumerate(pairs)]
    rest = [max(len(row[i]) for row in rows) for i in range(1, 7)]
    room = layout.width - sum(rest) - len(_GAP) * 6
    first = max(len(row[0]) for row in rows if len(row[0]) <= max(room, len("beginning")))
    for number, row in enumerate(rows):
        cells = (f"{cell:>{width}}" for cell, width in zip(row[1:], rest, strict=True))
        for line in named_row(row[0], first, _GAP + _GAP.join(cells)):
            yield line if number else layout.style(line, "bold")


def _row(number: int, outcome: StepOutcome, of_all: StepRange | None) -> tuple[str, str, str, str, str, str, str]:
    name = _name(number, outcome)
    ready = [each.ready for each in outcome.events]
    pending = str(sum(len(group.pods) for group in outcome.pending))
    skews = [spread.skew for each in outcome.changed for spread in each.spread if spread.hard]
    skew = str(max(skews)) if skews else ""
    if of_all is not None and of_all.skews:
        pending = _span(of_all.pending)
        skew = _span((max(low for low, _ in of_all.skews.values()), max(high for _, high in of_all.skews.values())))
    return (
        name,
        clock(outcome.begins),
        clock(outcome.ends),
        str(outcome.ready),
        str(min(ready, default=outcome.ready)),
        pending,
        skew,
    )


def _name(number: int, outcome: StepOutcome) -> str:
    return f"{number}  {outcome.step}" if number else "beginning"


def _span(numbers: tuple[int, int]) -> str:
    return str(numbers[0]) if numbers[0] == numbers[1] else f"{numbers[0]}–{numbers[1]}"


def _summary(drill: Drill, layout: Layout) -> str:
    pending = sum(len(group.pods) for group in drill.pending)
    left = sum(len(each.not_evicted) for each in drill.steps)
    parts: Sequence[str] = [
        counted(len(drill.steps) - 1, "step"),
        f"{counted(pending, 'pod')} pending at the end",
        f"{counted(len(drill.breaches), 'budget')} broken",
        *([f"{counted(left, 'pod')} not evicted"] if left else []),
        *([f"{counted(len(drill.stuck), 'rollout')} stuck"] if drill.stuck else []),
        *([f"partial: {drill.partial}"] if drill.partial else []),
    ]
    return layout.style(", ".join(parts), "bold")
