"""The answer of `capacity`: the number of additional replicas, the limit, and the node that would help most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar

from msgspec import Meta, field

from topospread.answer import Answer, Asked, Cause, Remedy, Tried, Unjudged
from topospread.api.well_known_labels import ZONE
from topospread.base import Base, Bounds, Word, worst
from topospread.capacity import result
from topospread.capacity.wanted import pods_asked
from topospread.controllers.planned import is_refusal
from topospread.simulation.result import DomainOutcome, PendingGroup
from topospread.simulation.unknown import is_unjudged, merged

from .causes import causes_of
from .spread import limit_words, refusal_words
from .words import agreeing, counted, listed

_NAMES = 4
"""Maximum number of names in one sentence."""


class TargetRoom(Base, frozen=True, kw_only=True):
    """A workload that gets more replicas."""

    kind: Annotated[str, Meta(description="Kind of the workload, `Pod` for a pod's file.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    share: Annotated[int, Meta(description="Replicas of the workload in each round.")]
    replicas: Annotated[int, Meta(description="Replicas that the workload is to have now; 0 for a pod's file.")]
    there: Annotated[int, Meta(description="Pods of the workload that have nodes now.")]
    missing: Annotated[int, Meta(description="Replicas that find no node before any more are asked for.")]
    asked: Annotated[int, Meta(description="Further replicas that have to fit.")]
    more: Annotated[Bounds, Meta(description="Further replicas that fit, in whole rounds.")]
    placed: Annotated[int, Meta(description="Pods that were placed until the first found no node.")]


class DomainRoom(Base, frozen=True, kw_only=True):
    """A domain of a topology key."""

    name: Annotated[str, Meta(description="Value of the topology key; empty for nodes without it.")]
    more: Annotated[int, Meta(description="Further pods that were placed there.")]
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

    rounds: Annotated[Bounds, Meta(description="Whole rounds that fit.")]
    limited: Annotated[bool, Meta(description="Whether the search ended before a pod found no node.")]
    nodes: Annotated[int, Meta(description="Number of nodes.")]
    targets: Annotated[tuple[TargetRoom, ...], Meta(description="Workloads, as they were given.")]
    keys: Annotated[tuple[KeyRoom, ...], Meta(description="Topology keys, hard constraints first.")]
    ends: Annotated[tuple[Cause, ...], Meta(description="Why the next pod finds no node; empty if none was reached.")]
    message: Annotated[str, Meta(description="kube-scheduler's sentence for the next pod.")]
    waiting: Annotated[int, Meta(description="Other pods that had no node before; they are left so.")]
    evicts: Annotated[str, Meta(description="Pods that preemption would evict for the next pod.")]


class ZoneLossRoom(Room, frozen=True, kw_only=True):
    """The number of replicas that fit after a zone's loss."""

    target: Annotated[str, Meta(description="Zone that is lost.")]
    pending_after: Annotated[int, Meta(description="Pods that have no node after the loss and had one before.")]
    not_replaced: Annotated[
        tuple[str, ...], Meta(description="Pods of StatefulSets that are not replaced, NAMESPACE/NAME.")
    ]


class NodePurchase(Base, frozen=True, kw_only=True):
    """One additional node."""

    shape: Annotated[str, Meta(description="`like NODE`, or the shape that was given.")]
    zone: Annotated[str, Meta(description="Zone of the node; empty if nodes have none.")]
    gain: Annotated[int, Meta(description="Further pods that are placed with the node.")]
    rounds: Annotated[int, Meta(description="Whole rounds that fit with the node.")]


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


class SizedZone(Base, frozen=True, kw_only=True):
    """A zone with the set's nodes."""

    name: Annotated[str, Meta(description="Zone; empty for nodes without one.")]
    nodes: Annotated[int, Meta(description="Nodes, those to add included.")]
    more: Annotated[int, Meta(description="Pods of the workloads that are placed there.")]


class Sizing(Base, frozen=True, kw_only=True):
    """The cheapest set of pool nodes with which the replicas fit."""

    verdict: Annotated[
        Word,
        Meta(description="Whether the pools can have enough nodes; unknown if that is not judged."),
    ]
    nodes: Annotated[int, Meta(description="Nodes to add; 0 if no set is known.")]
    price: Annotated[float | None, Meta(description="Price of the set; null if pools have none or no set is known.")]
    cheapest: Annotated[bool, Meta(description="Whether counting or a simulation excluded every cheaper set.")]
    limited: Annotated[bool, Meta(description="Whether only the pools' largest numbers of nodes exclude every set.")]
    simulated: Annotated[int, Meta(description="Sets that were simulated; counting excluded all other cheaper ones.")]
    seconds: Annotated[float | None, Meta(description="Time after which the search ended; null if it sufficed.")]
    least: Annotated[
        float | None,
        Meta(description="With `seconds`: price that every set has at least; nodes if pools have no price."),
    ]
    pools: Annotated[tuple[SizedPool, ...], Meta(description="Pools in the order of the files.")]
    taken: Annotated[
        dict[str, int], Meta(description="NAMESPACE/NAME of another workload → its pending pods that take room there.")
    ]
    zones: Annotated[tuple[SizedZone, ...], Meta(description="Zones with the set; empty if no set is known.")]

    @property
    def words(self) -> str:
        """The set as text: ``+2 large (zone-a), +1 small (zone-b)``."""
        parts = (f"+{each.add} {each.name}{f' ({each.zone})' if each.zone else ''}" for each in self.pools if each.add)
        return ", ".join(parts)

    @property
    def least_words(self) -> str:
        """The lower bound of every set, behind a semicolon; "" without one."""
        if not self.least:
            return ""
        by_price = any(each.price is not None for each in self.pools)
        least = f"costs at least {self.least:g}" if by_price else f"has at least {counted(int(self.least), 'node')}"
        return f"; every set {least}"


class Capacity(Answer, frozen=True, kw_only=True):
    """The answer of `topospread capacity`: do the required additional replicas fit?"""

    PAGE: ClassVar[str] = "topospread.render.pages.capacity:page"

    room: Annotated[Room, Meta(description="What fits now.")]
    losses: Annotated[tuple[ZoneLossRoom, ...], Meta(description="What fits after the loss of each zone, least first.")]
    purchases: Annotated[
        tuple[NodePurchase, ...], Meta(description="One more node of each shape in each zone, largest gain first.")
    ]
    sizing: Annotated[
        Sizing | None,
        Meta(
            description="The cheapest nodes of pools, or without pools the fewest nodes like those that exist if no "
            "single one is enough; null if the replicas fit."
        ),
    ] = None
    warnings: Annotated[tuple[str, ...], Meta(description="Doubts about the input.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="What was added or left out.")] = ()
    partial: Annotated[str, Meta(description="Where it was interrupted; empty if it is whole.")] = ""


def capacity_answer(report: result.CapacityReport) -> Capacity:
    """Return the answer for an engine result."""
    room = Room(**_room(report, report.capacity, report.assumed.capacity if report.assumed else None))
    losses = tuple(_losses(report))
    verdict = _verdict(report, [room, *losses])
    purchases = tuple(
        NodePurchase(shape=each.shape, zone=each.zone, gain=each.gain, rounds=each.rounds)
        for each in (report.purchases if verdict != "unknown" else ())
    )
    sized = _sizing(report.sizing, report.capacity.waiting) if report.sizing is not None else None
    return Capacity(
        kind="Capacity",
        verdict=verdict,
        says=_says(room, losses, verdict, report.partial) + _enough_words(sized, bool(purchases)),
        causes=_causes(room, losses, verdict),
        remedies=tuple(_remedies(report, purchases, sized)) if verdict == "no" else (),
        unjudged=merged(report.unjudged, _not_sized(report, sized.least_words if sized else "")),
        assumed=_assumed(report, verdict),
        on=Asked(nodes=room.nodes),
        room=room,
        losses=losses,
        purchases=purchases,
        sizing=sized,
        warnings=report.warnings,
        notes=report.notes,
        partial=report.partial,
    )


def _room(report: result.CapacityReport, found: result.Capacity, assumed: result.Capacity | None) -> dict[str, Any]:
    """Return the fields of a `Room`. Counts are bounds over both results; other fields come from `found`.

    Args:
        found: the result without assumptions.
        assumed: the result if parts that topospread does not model admit every node.
    """
    other = found if assumed is None else assumed
    targets = tuple(
        TargetRoom(
            kind=each.kind,
            namespace=each.namespace,
            name=each.name,
            share=each.share,
            replicas=each.replicas,
            there=each.there,
            missing=min(each.missing, beside.missing),
            asked=pods_asked(report.more, each.share, each.replicas),
            more=_between(each.more, beside.more),
            placed=each.placed,
        )
        for each, beside in zip(found.targets, other.targets, strict=True)
    )
    return {
        "rounds": _between(found.rounds, other.rounds),
        "limited": found.pending is None,
        "nodes": found.nodes,
        "targets": targets,
        "keys": tuple(_key(each, found.pending) for each in found.keys),
        "ends": _ends(found),
        "message": found.pending.message if found.pending is not None else "",
        "waiting": found.waiting.total(),
        "evicts": found.evicts,
    }


def _sizing(found: result.Sizing, waiting: Counter[str]) -> Sizing:
    pools = tuple(_sized(each, found.verdict) for each in found.pools)
    prices = [each.price * each.add for each in found.pools if each.price is not None]
    keys = found.capacity.keys if found.capacity is not None else ()
    zones = next((each.domains for each in keys if each.topology_key == ZONE), ())
    return Sizing(
        verdict=found.verdict,
        nodes=sum(each.add for each in pools),
        price=float(sum(prices)) if prices and found.verdict == "yes" else None,
        cheapest=found.is_cheapest,
        limited=found.is_limited,
        simulated=found.simulated,
        seconds=found.seconds,
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
        why = f"with +{pool.alone[0]} of it alone {pool.alone[1]} more {agreeing('fit', pool.alone[1])}"
    elif not pool.add and not why:
        why = "not needed" if verdict == "yes" else "not decided"
    return SizedPool(
        name=pool.name,
        zone=pool.zone or None,
        nodes=pool.there,
        add=pool.add,
        most=pool.most,
        price=None if pool.price is None else float(pool.price),
        why_not=why,
    )


def _enough_words(sized: Sizing | None, by_shape: bool) -> str:
    if sized is None:
        return ""
    if sized.verdict != "yes":
        what = "such nodes" if by_shape else "nodes of the pools"
        return f"; no set of {what} is enough" if sized.verdict == "no" else f"; whether {what} suffice is open"
    return f"; {sized.nodes} more {'node is' if sized.nodes == 1 else 'nodes are'} enough"


def _not_sized(report: result.CapacityReport, least: str) -> tuple[Unjudged, ...]:
    """Return why it is unknown whether the pools can provide enough nodes. ``least``: the bound of every set."""
    sized = report.sizing
    if sized is None or sized.verdict != "unknown":
        return ()
    if sized.unjudged:
        return sized.unjudged
    because = f"{sized.seconds:g} s (--seconds) ended after {counted(sized.simulated, 'simulated set')} of nodes{least}"
    return (Unjudged(what="budget", because=because),)


def _between(one: int, other: int) -> Bounds:
    return Bounds(least=min(one, other), most=max(one, other))


def _losses(report: result.CapacityReport) -> Iterator[ZoneLossRoom]:
    assumed = {each.target: each.capacity for each in (report.assumed.losses if report.assumed is not None else ())}
    for each in report.losses:
        yield ZoneLossRoom(
            **_room(report, each.capacity, assumed.get(each.target)),
            target=each.target,
            pending_after=each.pending,
            not_replaced=each.not_replaced,
        )


def _key(key: result.KeyRoom, pending: PendingGroup | None) -> KeyRoom:
    tells = key.arithmetic is not None and pending is not None and pending.verdict is not None
    return KeyRoom(
        topology_key=key.topology_key,
        max_skew=key.arithmetic.max_skew if key.arithmetic is not None else None,
        domains=tuple(_domain(each, key.outcomes.get(each.name), tells=tells) for each in key.domains),
    )


def _domain(room: result.DomainRoom, outcome: DomainOutcome | None, *, tells: bool) -> DomainRoom:
    domain = outcome.domain if outcome is not None else None
    return DomainRoom(
        name=room.name,
        more=room.more,
        nodes=room.nodes,
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
    # Pods that are not judged leave a quota that ends the room as it is.
    last = report.capacity.pending
    is_denied = last is not None and is_refusal(last.message) and not all(map(_enough, rooms[0].targets))
    if found == "no" and report.may_change and not is_denied:
        return "unknown"
    # The search may have stopped early, and losses that were not simulated may leave less room.
    return "unknown" if not report.is_complete and (rooms[0].limited or found == "yes") else found


def _says(room: Room, losses: tuple[ZoneLossRoom, ...], verdict: Word, partial: str) -> str:
    missing = [f"{counted(each.missing, 'replica')} of {_name(each)}" for each in room.targets if each.missing]
    if missing:
        find = "find" if len(missing) > 1 or room.targets[0].missing > 1 else "finds"
        unless = " unless what is not judged lets them in" if verdict == "unknown" else ""
        return f"{' and '.join(missing)} {find} no node{unless}"
    least = "at least " if room.limited else ""
    if len(room.targets) > 1:
        round_ = " and ".join(f"{each.share} {_name(each)}" for each in room.targets)
        text = f"{least}{room.rounds} more {'round' if str(room.rounds) == '1' else 'rounds'} of {round_} fit"
    else:
        (target,) = room.targets
        asked = f" of {target.asked}" if verdict == "no" and target.asked > max(target.more.most, 1) else ""
        text = f"{least}{target.more}{asked} more of {_name(target)} fit{'s' if str(target.more) == '1' else ''}"
    text += "".join(f", {each.rounds} after the loss of {each.target}" for each in losses[:1])
    return f"{text}; {partial}" if partial else text


def _name(target: TargetRoom) -> str:
    return f"{target.namespace}/{target.name}"


def _causes(room: Room, losses: tuple[ZoneLossRoom, ...], verdict: Word) -> tuple[Cause, ...]:
    """Return what limits the current room, or the room after the first loss that leaves too little."""
    short = (each for each in (room, *losses) if any(not _enough(one) for one in each.targets))
    decisive = next(short, room) if verdict == "no" else room
    return decisive.ends


def _enough(target: TargetRoom) -> bool:
    return not target.missing and target.more.least >= target.asked


def _remedies(
    report: result.CapacityReport, purchases: Iterable[NodePurchase], sized: Sizing | None
) -> Iterator[Remedy]:
    """Yield the cheapest set of pool nodes, and single nodes that are enough."""
    asked = [(each, pods_asked(report.more, each.share, each.replicas)) for each in report.capacity.targets]
    rounds = max(-(-pods // each.share) for each, pods in asked)
    wanted = sum(each.replicas + pods for each, pods in asked)
    tried = Tried(verdict="yes", places=wanted, of=wanted)
    if sized is not None and sized.verdict == "yes":
        yield Remedy(code="add-nodes", says=sized.words, tried=tried)
    for each in purchases:
        if each.rounds >= rounds and not report.losses:
            where = f" in {each.zone}" if each.zone else ""
            yield Remedy(code="add-node", says=f"add 1 node {each.shape}{where}", tried=tried)


def _assumed(report: result.CapacityReport, verdict: Word) -> tuple[str, ...]:
    parts = listed([each.what for each in report.unjudged], _NAMES)
    return (f"the same without and with a node for every pod with {parts}",) if parts and verdict != "unknown" else ()


def _ends(found: result.Capacity) -> tuple[Cause, ...]:
    """Return why the next pod finds no node. Empty if the limit was not reached or the pod cannot be judged."""
    pending = found.pending
    return () if pending is None or is_unjudged(pending) else causes_of(pending)
