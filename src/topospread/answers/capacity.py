"""The answer of `capacity`: the number of additional replicas, the limit, and the node that would help most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Annotated, Any, ClassVar

from msgspec import Meta, field
from msgspec.structs import replace

from topospread.answer import Answer, Asked, Cause, Remedy, Tried, Unjudged
from topospread.api.well_known_labels import ZONE
from topospread.base import Base, Bounds, Word, worst
from topospread.capacity import result
from topospread.capacity.wanted import pods_asked
from topospread.controllers.planned import is_refusal
from topospread.simulation.result import DomainOutcome, PendingGroup
from topospread.simulation.unknown import is_unjudged, merged
from topospread.text import shell_line

from .causes import causes_of
from .reasons import on_it
from .spread import limit_words, refusal_words
from .words import agreeing, counted, joined, listed

_NAMES = 4
"""Maximum number of names in one sentence."""


class TargetRoom(Base, frozen=True, kw_only=True):
    """A workload that gets more replicas."""

    kind: Annotated[str, Meta(description="Kind of the workload, `Pod` for a pod's file.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    share: Annotated[int, Meta(description="Replicas of the workload in each round.")]
    replicas: Annotated[int, Meta(description="Desired replicas now; 0 for a pod's file.")]
    there: Annotated[int, Meta(description="Pods of the workload that have nodes now.")]
    missing: Annotated[int, Meta(description="Current replicas that find no node.")]
    asked: Annotated[int, Meta(description="Required additional replicas.")]
    more: Annotated[Bounds, Meta(description="Additional replicas that fit, in complete rounds.")]
    placed: Annotated[int, Meta(description="Pods that were placed before the first found no node.")]


class DomainRoom(Base, frozen=True, kw_only=True):
    """A domain of a topology key."""

    name: Annotated[str, Meta(description="Value of the topology key; empty for nodes without it.")]
    more: Annotated[int, Meta(description="Additional pods that were placed there.")]
    nodes: Annotated[int, Meta(description="Nodes of the domain.")]
    rejected: Annotated[dict[str, int], Meta(description="Reason → nodes that reject the next pod.")]
    matching: Annotated[
        int | None, Meta(description="Pods that the constraint counts there; null without a constraint.")
    ] = None
    skew: Annotated[int | None, Meta(description="Skew if the next pod were placed there.")] = None
    allowed: Annotated[bool | None, Meta(description="Whether that skew is allowed.")] = None


class KeyRoom(Base, frozen=True, kw_only=True):
    """The domains of a topology key."""

    topology_key: Annotated[str, Meta(description="Label of nodes.")]
    max_skew: Annotated[int | None, Meta(description="maxSkew of the next pod's hard constraint; null without one.")]
    domains: Annotated[tuple[DomainRoom, ...], Meta(description="Domains in the order of their names.")]


class Room(Base, frozen=True, kw_only=True):
    """The number of replicas that fit in one state of the cluster."""

    rounds: Annotated[Bounds, Meta(description="Complete rounds that fit.")]
    limited: Annotated[bool, Meta(description="Whether the limit on rounds was reached before a pod found no node.")]
    nodes: Annotated[int, Meta(description="Number of nodes.")]
    targets: Annotated[tuple[TargetRoom, ...], Meta(description="Target workloads, in the order given.")]
    keys: Annotated[tuple[KeyRoom, ...], Meta(description="Topology keys, hard constraints first.")]
    ends: Annotated[
        tuple[Cause, ...], Meta(description="Why the next pod finds no node; empty if the limit on rounds was reached.")
    ]
    message: Annotated[str, Meta(description="kube-scheduler's message for the next pod.")]
    waiting: Annotated[int, Meta(description="Pods of other workloads that find no node.")]
    evicts: Annotated[str, Meta(description="Pods that kube-scheduler would evict for the next pod.")]


class ZoneLossRoom(Room, frozen=True, kw_only=True):
    """The number of replicas that fit after a zone's loss."""

    target: Annotated[str, Meta(description="Zone that is lost.")]
    pending_after: Annotated[int, Meta(description="Pods that become pending through the loss.")]
    not_replaced: Annotated[
        tuple[str, ...], Meta(description="Pods of StatefulSets that are not replaced, NAMESPACE/NAME.")
    ]


class NodePurchase(Base, frozen=True, kw_only=True):
    """One additional node."""

    shape: Annotated[str, Meta(description="`like NODE`, `like NODE of pool NAME`, or the shape that was given.")]
    zone: Annotated[str, Meta(description="Zone of the node; empty if nodes have none.")]
    gain: Annotated[int, Meta(description="Additional pods that are placed with the node.")]
    rounds: Annotated[int, Meta(description="Complete rounds that fit with the node.")]


class SizedPool(Base, frozen=True, kw_only=True):
    """A node pool, and its part of the cheapest set."""

    name: Annotated[str, Meta(description="Name of the pool.")]
    zone: Annotated[str | None, Meta(description="Zone of its nodes; null if it has none.")]
    nodes: Annotated[int, Meta(description="Nodes that exist.")]
    add: Annotated[int, Meta(description="Nodes to add.")]
    most: Annotated[int | None, Meta(description="Largest number of nodes; null without a limit.")] = field(name="max")
    price: Annotated[float | None, Meta(description="Price of one node; null if pools have none.")]
    why_not: Annotated[
        str, Meta(description="Why the set has no node of it: rejected, not needed or not enough; empty if it has.")
    ]
    takes: Annotated[str, Meta(description="Pods that one new node takes, and why no more; empty if not known.")] = ""


class SizedZone(Base, frozen=True, kw_only=True):
    """A zone with the set's nodes."""

    name: Annotated[str, Meta(description="Zone; empty for nodes without one.")]
    nodes: Annotated[int, Meta(description="Nodes, including added nodes.")]
    more: Annotated[int, Meta(description="Additional replicas that are placed there.")]


class Sizing(Base, frozen=True, kw_only=True):
    """The cheapest set of pool nodes with which the replicas fit."""

    verdict: Annotated[
        Word,
        Meta(description="Whether the pools can provide enough nodes."),
    ]
    nodes: Annotated[int, Meta(description="Nodes to add; 0 if no set is known.")]
    price: Annotated[float | None, Meta(description="Price of the set; null if pools have none or no set is known.")]
    cheapest: Annotated[bool, Meta(description="Whether counting or a simulation excluded every cheaper set.")]
    limited: Annotated[bool, Meta(description="Whether only the pools' limits exclude every set.")]
    simulated: Annotated[int, Meta(description="Simulated sets; counting excluded all other cheaper sets.")]
    seconds: Annotated[float | None, Meta(description="Time limit of the search, if it was reached; else null.")]
    least: Annotated[
        float | None,
        Meta(description="If `seconds` is set: lower bound on the price of every set; without prices, on its nodes."),
    ]
    pools: Annotated[tuple[SizedPool, ...], Meta(description="Pools in the order of the files.")]
    taken: Annotated[
        dict[str, int],
        Meta(description="NAMESPACE/NAME of another workload → number of its pending pods that take room there."),
    ]
    zones: Annotated[tuple[SizedZone, ...], Meta(description="Zones with the set; empty if no set is known.")]

    @property
    def words(self) -> str:
        """The set as text: ``+2 large (zone-a), +1 small (zone-b)``."""
        parts = (f"+{each.add} {each.name}{f' ({each.zone})' if each.zone else ''}" for each in self.pools if each.add)
        return ", ".join(parts)

    @property
    def least_words(self) -> str:
        """The lower bound as text, starting with a semicolon; "" without a bound."""
        if not self.least:
            return ""
        by_price = any(each.price is not None for each in self.pools)
        least = f"costs at least {self.least:g}" if by_price else f"has at least {counted(int(self.least), 'node')}"
        return f"; every set {least}"


class Capacity(Answer, frozen=True, kw_only=True):
    """The answer of `topospread capacity`: do the required additional replicas fit?"""

    PAGE: ClassVar[str] = "topospread.render.pages.capacity:page"

    room: Annotated[Room, Meta(description="Room in the current cluster.")]
    losses: Annotated[tuple[ZoneLossRoom, ...], Meta(description="Room after the loss of each zone, smallest first.")]
    purchases: Annotated[
        tuple[NodePurchase, ...], Meta(description="One more node of each shape in each zone, largest gain first.")
    ]
    sizing: Annotated[
        Sizing | None,
        Meta(
            description="Cheapest set of pool nodes. Without pools: the fewest copies of existing nodes, if no single "
            "node is enough. Null if the replicas fit."
        ),
    ] = None
    next: Annotated[
        str, Meta(description="Command that drills each zone's loss with the set of pool nodes; empty without a set.")
    ] = ""
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings about the input.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes about the input.")] = ()
    partial: Annotated[str, Meta(description="Where the work was interrupted; empty if it is complete.")] = ""


def capacity_answer(
    report: result.CapacityReport, words: Sequence[str] | None = None, pools: Sequence[str] = ()
) -> Capacity:
    """Return the answer for an engine result.

    Args:
        report: the engine's result.
        words: words of a command line for the same input.
        pools: files with node pools.
    """
    others = [each for each in (report.assumed, report.crowded) if each is not None]
    room = Room(**_room(report, report.capacity, [each.capacity for each in others]))
    losses = tuple(_losses(report))
    verdict = _verdict(report, [room, *losses])
    purchases = tuple(NodePurchase.like(each) for each in (report.purchases if verdict != "unknown" else ()))
    sized = _sizing(report.sizing, report.capacity.waiting) if report.sizing is not None else None
    return Capacity.like(
        report,
        kind="Capacity",
        verdict=verdict,
        says=_says(room, losses, verdict, report.partial) + _enough_words(sized, bool(purchases)),
        causes=_causes(room, losses, verdict) + (_of_quota(report) if verdict == "no" else ()),
        remedies=tuple(_remedies(report, purchases, sized)) if verdict == "no" else (),
        unjudged=merged(report.unjudged, _not_sized(report, sized.least_words if sized else "")),
        assumed=_assumed(report, verdict),
        on=Asked(nodes=room.nodes),
        room=room,
        losses=losses,
        purchases=purchases,
        sizing=sized,
        next=shell_line(
            ["topospread", "drill", "--each", "zone", *(words or ()), *chain(*(("--pools", each) for each in pools))]
        )
        if sized is not None and sized.verdict == "yes" and not purchases
        else "",
    )


def _room(report: result.CapacityReport, found: result.Capacity, others: Sequence[result.Capacity]) -> dict[str, Any]:
    """Return the fields of a `Room`. Counts are bounds over all results. All other fields come from `found`.

    Args:
        found: the result without assumptions.
        others: the results if parts that topospread does not model admit every node, and if pods that are not judged
            take room from every node.
    """
    every = [found, *others]
    targets = tuple(
        TargetRoom.like(
            each[0],
            missing=min(one.missing for one in each),
            asked=pods_asked(report.more, each[0].share, each[0].replicas),
            more=Bounds.of([one.more for one in each]),
        )
        for each in zip(*(each.targets for each in every), strict=True)
    )
    return {
        "rounds": Bounds.of([each.rounds for each in every]),
        "limited": found.pending is None,
        "nodes": found.nodes,
        "targets": targets,
        "keys": tuple(_key(each, found.pending) for each in found.keys),
        "ends": next(filter(None, map(_ends, every)), ()),
        "message": found.pending.message if found.pending is not None else "",
        "waiting": found.waiting.total(),
        "evicts": found.evicts,
    }


def _sizing(found: result.Sizing, waiting: Counter[str]) -> Sizing:
    pools = tuple(_sized(each, found.verdict) for each in found.pools)
    prices = [each.price * each.add for each in found.pools if each.price is not None]
    keys = found.capacity.keys if found.capacity is not None else ()
    zones = next((each.domains for each in keys if each.topology_key == ZONE), ())
    return Sizing.like(
        found,
        nodes=sum(each.add for each in pools),
        price=float(sum(prices)) if prices and found.verdict == "yes" else None,
        cheapest=found.is_cheapest,
        limited=found.is_limited,
        least=None if found.least is None else float(found.least),
        pools=pools,
        taken=dict((waiting - found.capacity.waiting).most_common()) if found.capacity is not None else {},
        zones=tuple(SizedZone(name=each.name, nodes=each.nodes, more=each.more) for each in zones),
    )


def _sized(pool: result.SizedPool, verdict: Word) -> SizedPool:
    why = refusal_words(pool.refused, pool.zone) if pool.refused is not None else ""
    if not pool.may_grow:
        why = limit_words(pool.lost, pool.there, pool.most)
    elif pool.alone is not None:
        why = f"with only +{pool.alone[0]} of it, {pool.alone[1]} more {agreeing('fit', pool.alone[1])}"
    elif not pool.add and not why:
        why = "not needed" if verdict == "yes" else "not decided"
        why = f"as good as {pool.replaces}" if pool.replaces else why
    return SizedPool.like(
        pool,
        zone=pool.zone or None,
        nodes=pool.there,
        price=None if pool.price is None else float(pool.price),
        why_not=why,
        takes=_takes(*pool.full) if pool.full is not None else "",
    )


def _takes(pods: int, reasons: Sequence[str], keys: Sequence[str]) -> str:
    """Return the number of pods that one new node takes, and why it takes no more."""
    why = f"required podAntiAffinity over {joined(keys)}" if keys else ""
    return f"1 new node takes {counted(pods, 'pod')}, then it {on_it(dict.fromkeys(reasons, 1))}" + (
        f": {why}" if why else ""
    )


def _enough_words(sized: Sizing | None, by_shape: bool) -> str:
    if sized is None:
        return ""
    if sized.verdict != "yes":
        what = "such nodes" if by_shape else "nodes of the pools"
        return (
            f"; no set of {what} is enough" if sized.verdict == "no" else f"; it is undecided whether {what} are enough"
        )
    return f"; {sized.nodes} more {'node is' if sized.nodes == 1 else 'nodes are'} enough"


def _not_sized(report: result.CapacityReport, least: str) -> tuple[Unjudged, ...]:
    """Return why it is unknown whether the pools can provide enough nodes. ``least``: text of the lower bound."""
    sized = report.sizing
    if sized is None or sized.verdict != "unknown":
        return ()
    if sized.unjudged:
        return sized.unjudged
    because = f"{sized.seconds:g} s (--seconds) ended after {counted(sized.simulated, 'simulated set')} of nodes{least}"
    return (Unjudged(what="budget", because=because),)


def _losses(report: result.CapacityReport) -> Iterator[ZoneLossRoom]:
    others = [one for of in (report.assumed, report.crowded) if of is not None for one in of.losses]
    for each in report.losses:
        yield ZoneLossRoom(
            **_room(report, each.capacity, [one.capacity for one in others if one.target == each.target]),
            target=each.target,
            pending_after=each.pending,
            not_replaced=each.not_replaced,
        )


def _key(key: result.KeyRoom, pending: PendingGroup | None) -> KeyRoom:
    tells = key.arithmetic is not None and pending is not None and pending.verdict is not None
    outcomes = {} if pending is not None and is_unjudged(pending) else key.outcomes
    return KeyRoom(
        topology_key=key.topology_key,
        max_skew=key.arithmetic.max_skew if key.arithmetic is not None else None,
        domains=tuple(_domain(each, outcomes.get(each.name), tells=tells) for each in key.domains),
    )


def _domain(room: result.DomainRoom, outcome: DomainOutcome | None, *, tells: bool) -> DomainRoom:
    domain = outcome.domain if outcome is not None else None
    return DomainRoom.like(
        room,
        rejected=dict(room.rejected),
        matching=domain.matching if domain is not None else None,
        skew=domain.skew if domain is not None else None,
        allowed=domain.allowed if domain is not None and tells else None,
    )


def _verdict(report: result.CapacityReport, rooms: list[Room]) -> Word:
    """Return whether the required replicas fit in every examined state."""
    words = [
        "no" if target.missing else target.more.at_least(target.asked) for room in rooms for target in room.targets
    ]
    found = worst(words)
    # A verdict of no stays if a quota denies the next pod: a quota does not depend on parts that are not judged.
    last = report.capacity.pending
    is_denied = last is not None and is_refusal(last.message) and not all(map(_enough, rooms[0].targets))
    if found == "no" and report.may_change and not is_denied:
        return "unknown"
    # The search may have stopped early, and losses that were not simulated may leave less room.
    return "unknown" if not report.is_complete and (rooms[0].limited or found == "yes") else found


def _says(room: Room, losses: tuple[ZoneLossRoom, ...], verdict: Word, partial: str) -> str:
    missing = [f"{counted(each.missing, 'current replica')} of {_name(each)}" for each in room.targets if each.missing]
    if missing:
        find = "finds" if sum(each.missing for each in room.targets) == 1 else "find"
        unless = " unless filters that are not judged admit them" if verdict == "unknown" else ""
        is_short = verdict == "no" and len(room.targets) == 1 and room.targets[0].asked > 1
        none = f", so none of {room.targets[0].asked} more replicas fits" if is_short else ""
        return f"{' and '.join(missing)} {find} no node{unless}{none}"
    least = "at least " if room.limited else ""
    if len(room.targets) > 1:
        round_ = " and ".join(f"{each.share} {_name(each)}" for each in room.targets)
        asked = max(-(-each.asked // each.share) for each in room.targets)
        noun, of, counts = "round", round_, [each.rounds for each in (room, *losses[:1])]
    else:
        (target,) = room.targets
        asked, noun, of = target.asked, "replica", _name(target)
        counts = [each.targets[0].more for each in (room, *losses[:1])]
    fit, *left = (
        f"{each} of {asked}" if verdict == "no" and asked > max(each.most, 1) else str(each) for each in counts
    )
    text = f"{least}{fit} more {noun} of {of} fits" if fit == "1" else f"{least}{fit} more {noun}s of {of} fit"
    if noun == "replica" and (replicas := room.targets[0].replicas):
        text += f" besides its {replicas}" + (f" ({replicas + counts[0].least} in all)" if counts[0].known else "")
    text += "".join(f", {left[0]} after the loss of {each.target}" for each in losses[:1])
    return f"{text}; {partial}" if partial else text


def _name(target: TargetRoom) -> str:
    return f"{target.namespace}/{target.name}"


def _causes(room: Room, losses: tuple[ZoneLossRoom, ...], verdict: Word) -> tuple[Cause, ...]:
    """Return the causes that limit the current room, or the room after the first loss that leaves too little.

    It is not known what limits the room if only unjudged filters may reject the first pod.
    """
    short = (each for each in (room, *losses) if any(not _enough(one) for one in each.targets))
    if verdict == "no":
        return next(short, room).ends
    return room.ends if room.rounds.known or room.rounds.least else ()


def _enough(target: TargetRoom) -> bool:
    return not target.missing and target.more.least >= target.asked


def _remedies(
    report: result.CapacityReport, purchases: Iterable[NodePurchase], sized: Sizing | None
) -> Iterator[Remedy]:
    """Yield the change that needs no node, the cheapest set of pool nodes, and single nodes that are enough."""
    asked = [(each, pods_asked(report.more, each.share, each.replicas)) for each in report.capacity.targets]
    rounds = max(-(-pods // each.share) for each, pods in asked)
    wanted = sum(each.replicas + pods for each, pods in asked)
    tried = Tried(verdict="yes", places=wanted, of=wanted)
    free = report.honoring
    if free is not None and free.rounds >= rounds and not any(each.missing for each in free.targets):
        names = listed([f"{each.namespace}/{each.name}" for each in free.targets], _NAMES)
        yield Remedy(code="nodeTaintsPolicy", says=f"nodeTaintsPolicy: Honor in {names}", tried=tried)
    if sized is not None and sized.verdict == "yes":
        yield Remedy(code="add-nodes", says=sized.words, tried=tried)
    for each in purchases:
        if each.rounds >= rounds and not report.losses:
            where = f" in {each.zone}" if each.zone else ""
            yield Remedy(code="add-node", says=f"add 1 node {each.shape}{where}", tried=tried)


def _assumed(report: result.CapacityReport, verdict: Word) -> tuple[str, ...]:
    parts = listed([each.what for each in report.unjudged], _NAMES)
    return (f"the same whether pods with {parts} find no node or any node",) if parts and verdict != "unknown" else ()


def _ends(found: result.Capacity) -> tuple[Cause, ...]:
    """Return why the next pod finds no node; empty if all rounds fit, or if only unjudged filters reject the pod."""
    pending = found.pending
    return () if pending is None or is_unjudged(pending) else causes_of(pending)


def _of_quota(report: result.CapacityReport) -> tuple[Cause, ...]:
    """Return the quota that denies some of the required pods even if all nodes had room."""
    found = report.capacity
    asked = max(-(-pods_asked(report.more, each.share, each.replicas) // each.share) for each in found.targets)
    if found.created is None or found.denied is None or found.created >= asked or is_refusal(_last(found)):
        return ()
    (cause,) = causes_of(found.denied)
    what = "more" if len(found.targets) == 1 else "more rounds"
    return (replace(cause, says=f"ResourceQuotas admit {found.created} of {asked} {what}: {cause.says}"),)


def _last(found: result.Capacity) -> str:
    return found.pending.message if found.pending is not None else ""
