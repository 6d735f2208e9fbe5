"""A cluster's capacity as a text for people: how many more fit, where, what ends it, and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from topospread.answers.reasons import its_nodes
from topospread.drills.remarks import STATEFUL_SETS_WAIT

from .capacity_ends import what_ends
from .layout import Layout
from .paragraphs import counted, hanging, natural, together
from .pending import why_of

if TYPE_CHECKING:
    from topospread.spare_capacity import Capacity, CapacityReport, KeyRoom, Purchase, TargetRoom

_HOSTNAME = "kubernetes.io/hostname"
_ROW = " " * 2
_PURCHASES = 10


def capacity_text(report: CapacityReport, layout: Layout) -> str:
    """The whole report."""
    blocks = [
        [line for each in report.capacity.targets for line in _target(each, report, layout)],
        [line for key in report.capacity.keys for line in _key(key, layout)],
        list(_ending(report.capacity, layout)),
        list(_losses(report, layout)),
        list(_purchases(report, layout)),
        list(layout.remarks(report.warnings, report.notes)),
    ]
    return _text([*blocks, [_summary(report, layout)]])


def capacity_summary(report: CapacityReport, layout: Layout) -> str:
    """How many more fit, now, after losses and with one more node, and what ends it."""
    targets = [line for each in report.capacity.targets for line in _target(each, report, layout)]
    ends = hanging("ends: ", what_ends(report.capacity, layout), layout.width, 2)
    blocks = [[*targets, *ends], list(_losses(report, layout)), list(_purchases(report, layout))]
    return _text([*blocks, [_summary(report, layout)]])


def _text(blocks: Sequence[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block) + "\n"


def _target(each: TargetRoom, report: CapacityReport, layout: Layout) -> Iterator[str]:
    """``shop/web  6 replicas, 12 more fit``."""
    name = layout.style(f"{each.namespace}/{each.name}", "bold")
    limited = report.capacity.pending is None
    more = f"{'at least ' if limited else ''}{each.more} more fit{'s' if each.more == 1 else ''}"
    parts = [counted(each.replicas, "replica")] if each.replicas else []
    parts += [f"{each.missing} of them pending"] if each.missing else []
    parts += [together(more) if each.more or limited else "no more fit"]
    share = f" ({each.share} a round)" if len(report.capacity.targets) > 1 else ""
    yield from hanging(f"{name}  ", ", ".join(parts) + share, layout.width, 4)


def _key(key: KeyRoom, layout: Layout) -> Iterator[str]:
    """The domains of a key: how many went there, and what the next one meets."""
    terms = f"hard  maxSkew\xa0{key.arithmetic.max_skew}" if key.arithmetic is not None else ""
    yield from hanging(f"{layout.style(key.topology_key, 'bold')}  ", terms, layout.width, 4)
    rows = [(each.name or "(no label)", each.more, each.nodes, _meets(key, each.name)) for each in key.domains]
    if not layout.few(len(rows)):
        yield from _summed_up(key, rows, layout)
        return
    name = max((len(row[0]) for row in rows), default=0)
    more = max((len(str(row[1])) for row in rows), default=0)
    nodes = max((len(counted(row[2], "node")) for row in rows), default=0)
    for row in sorted(rows, key=lambda row: natural(row[0])):
        number = f"  {counted(row[2], 'node'):>{nodes}}" if key.topology_key != _HOSTNAME else ""
        begin = f"{_ROW}{row[0]:<{name}}  {'+' + str(row[1]):>{more + 1}}{number}  "
        yield from hanging(begin, row[3], layout.width, min(len(begin), layout.width // 3))


def _meets(key: KeyRoom, domain: str) -> str:
    """What the pod that stays pending meets in a domain."""
    outcome = key.outcomes.get(domain)
    if outcome is not None and key.arithmetic is not None:
        return why_of(key.arithmetic, outcome)
    found = next(each for each in key.domains if each.name == domain)
    return its_nodes(found.rejected, found.nodes)


def _summed_up(key: KeyRoom, rows: Sequence[tuple[str, int, int, str]], layout: Layout) -> Iterator[str]:
    """Many domains: how many of them took how many."""
    noun = "node" if key.topology_key == _HOSTNAME else "domain"
    numbers = Counter(row[1] for row in rows)
    parts = [f"+{more} on {counted(number, noun)}" for more, number in sorted(numbers.items(), reverse=True)]
    yield from hanging(_ROW, layout.names(parts, 6), layout.width, 4)


def _ending(capacity: Capacity, layout: Layout) -> Iterator[str]:
    yield from hanging(layout.style("What ends it", "bold") + "  ", what_ends(capacity, layout), layout.width, 2)
    if capacity.pending is not None:
        yield from hanging("  the next one: ", capacity.pending.message, layout.width, 4)
    if capacity.evicts:
        more = "evicted for them: the next one is more important and would evict"
        yield from hanging("  note: ", f"nothing is {more} {capacity.evicts}", layout.width, 4)
    if capacity.waiting:
        waits = f"beside them {counted(capacity.waiting, 'pod')} found no node before, which is left so"
        yield from hanging("  note: ", waits, layout.width, 4)


def _losses(report: CapacityReport, layout: Layout) -> Iterator[str]:
    """A line each: what fits after a zone's loss, and what ends it then."""
    if not report.losses:
        return
    name = max([len("after the loss of"), *(len(each.target) for each in report.losses)])
    head = f"{'after the loss of':<{name}}  {'more':>5}  {'pending':>7}"
    yield layout.style(head, "bold")
    for each in report.losses:
        more = "/".join(str(target.more) for target in each.capacity.targets)
        begin = f"{each.target:<{name}}  {more:>5}  {each.pending:>7}  "
        left = f"; not replaced: {layout.names(list(each.not_replaced))}" if each.not_replaced else ""
        yield from hanging(begin, what_ends(each.capacity, layout) + left, layout.width, name + 4)
    if any(each.not_replaced for each in report.losses):
        yield from hanging("  note: ", STATEFUL_SETS_WAIT, layout.width, 4)


def _purchases(report: CapacityReport, layout: Layout) -> Iterator[str]:
    """A line each: what one more node brings; of many those that bring most."""
    if not report.purchases:
        return
    shown = report.purchases if layout.wide else report.purchases[:_PURCHASES]
    zone = max([len("zone"), *(len(each.zone) for each in shown)])
    longest = max([len("one more node"), *(len(each.shape) for each in shown)])
    shape = min(longest, layout.width - zone - len("    more fit"))
    yield layout.style(f"{'one more node':<{shape}}  {'zone':<{zone}}  more fit", "bold")
    for each in shown:
        yield from hanging("", f"{each.shape:<{shape}}  {each.zone:<{zone}}  {_gain(each)}", layout.width, 2)
    left = len(report.purchases) - len(shown)
    if left:
        yield f"and {left} more; -o wide shows all"
    if report.purchases[0].gain <= 0:
        yield from hanging("", "no single node helps: what ends it holds in several places", layout.width, 2)


def _gain(each: Purchase) -> str:
    return f"{each.gain:+d}" if each.gain else "0"


def _summary(report: CapacityReport, layout: Layout) -> str:
    capacity = report.capacity
    rounds = counted(capacity.rounds, "round") if len(capacity.targets) > 1 else f"{capacity.rounds} more"
    parts = [rounds + (" fit" if capacity.rounds != 1 or len(capacity.targets) > 1 else " fits")]
    if capacity.pending is None:
        parts = [f"at least {parts[0]}"]
    if report.losses:
        worst = min(each.capacity.rounds for each in report.losses)
        parts.append(f"{worst} after the worst loss{' so far' if report.partial else ''}")
    if report.headroom is not None and not report.partial:
        parts.append(f"headroom of {_percent(report.headroom)}: {'there' if report.holds else 'short'}")
    if report.partial:
        parts.append(f"partial: {report.partial}")
    return layout.style(", ".join(parts), "bold")


def _percent(share: Fraction) -> str:
    return f"{float(share * 100):g}%"
