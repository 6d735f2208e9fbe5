"""A cluster's capacity as data: how many more fit, where, what ends it, and what would help.

Nothing is printed or decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from topospread.answer import Unjudged
from topospread.base import Word
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation.result import DomainOutcome, PendingGroup, PoolRefusal


@dataclass(frozen=True, slots=True)
class TargetRoom:
    """One of the workloads that are asked about.

    Attributes:
        kind: ``Pod`` where a pod's file was given.
        share: how many replicas of it a round has.
        replicas: how many it is to have now; 0 for a pod's file.
        there: how many pods of it have nodes; others than are wanted while it is rolled out.
        missing: how many of those found no node, before anything more is asked for.
        more: how many fit beyond them, in whole rounds.
        placed: how many were placed until the first stayed pending, whole rounds or not.
    """

    kind: str
    namespace: str
    name: str
    share: int
    replicas: int
    there: int
    missing: int
    more: int
    placed: int


@dataclass(frozen=True, slots=True)
class DomainRoom:
    """One domain of a topology key.

    Attributes:
        name: "" for nodes without the label.
        more: how many of the pods went there.
        nodes: how many nodes it has.
        rejected: reason → nodes that reject the pod that stays pending.
    """

    name: str
    more: int
    nodes: int
    rejected: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyRoom:
    """The domains of one topology key.

    Attributes:
        outcomes: for a hard constraint of the pod that stays pending, domain → its sum and why.
        arithmetic: that constraint's.
    """

    topology_key: str
    domains: tuple[DomainRoom, ...]
    arithmetic: ConstraintArithmetic | None = None
    outcomes: Mapping[str, DomainOutcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Capacity:
    """The number of replicas that fit in one state of a cluster.

    Attributes:
        rounds: how many times every target's share was placed whole.
        targets: in the order in which they were given.
        keys: by the targets' topology keys, and by zone.
        pending: the pod that stays pending, and why; ``None`` where the limit was reached before.
        waiting: pods of other workloads that wait for a node already.
        nodes: how many there are.
        evicts: pods that the one that stays pending could evict, being more important; "" where none.
    """

    rounds: int
    targets: tuple[TargetRoom, ...]
    keys: tuple[KeyRoom, ...]
    pending: PendingGroup | None
    waiting: int
    nodes: int
    evicts: str = ""

    @property
    def placed(self) -> int:
        """The number of placed pods of all targets."""
        return sum(each.placed for each in self.targets)


@dataclass(frozen=True, slots=True)
class ZoneLoss:
    """The number of replicas that fit after a zone is lost and its pods are replaced where possible.

    Attributes:
        target: the zone.
        pending: how many pods wait then that did not before.
        not_replaced: pods of StatefulSets that are left terminating on its nodes, ``NAMESPACE/NAME``.
        unjudged: parts of pods that wait then, which topospread does not model.
    """

    target: str
    pending: int
    capacity: Capacity
    not_replaced: tuple[str, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()


@dataclass(frozen=True, slots=True)
class Purchase:
    """One more node.

    Attributes:
        shape: ``like node-1``, or as it was given.
        zone: "" where nodes have none.
        gain: how many more pods of the targets are placed than without it.
        rounds: how many whole rounds fit with it.
    """

    shape: str
    zone: str
    gain: int
    rounds: int


@dataclass(frozen=True, slots=True)
class SizedPool:
    """A pool and its nodes in a set.

    Attributes:
        there: nodes that exist.
        add: nodes to add.
        most: nodes that there may be, ``None`` for any number.
        price: price of one node; ``None`` if pools have none.
        refused: why a new node would not take the pod that finds no node now; ``None`` if it would.
        may_grow: whether a limit lets one more node come now.
    """

    name: str
    zone: str
    there: int
    add: int
    most: int | None
    price: Fraction | None
    refused: PoolRefusal | None
    may_grow: bool


@dataclass(frozen=True, slots=True)
class Sizing:
    """The cheapest set of nodes of pools with which enough replicas fit.

    Attributes:
        verdict: ``yes``: there is a set; ``no``: no set suffices; ``unknown``: the search ended before.
        pools: in the order of the files.
        capacity: what fits with the set; ``None`` without one.
        is_cheapest: whether every cheaper set was excluded by counting or by a simulation.
        is_limited: whether counting finds no set for the largest numbers of nodes alone that pools may have.
        simulated: sets that were simulated.
        seconds: time that the search had, if it ended for that.
        unjudged: parts of the pod that finds no node with a set, which topospread does not model.
    """

    verdict: Word
    pools: tuple[SizedPool, ...]
    capacity: Capacity | None
    is_cheapest: bool
    is_limited: bool
    simulated: int
    seconds: float | None = None
    unjudged: tuple[Unjudged, ...] = ()


@dataclass(frozen=True, slots=True)
class CapacityReport:
    """The whole answer.

    Attributes:
        more: rounds that have to fit, or a share of the replicas.
        losses: after each zone's loss, least room first; empty where that was not asked.
        purchases: one more node each, the largest gain first; empty where no node was tried.
        sizing: the cheapest set of nodes of pools; ``None`` if there are no pools, or enough fits.
        unjudged: parts of pods that topospread does not model; without them the pods would have a node.
        may_change: admission that is not evaluated may change pods, so that nodes that reject them may take them.
        assumed: the same answer as if those parts let every node pass; ``None`` if every pod is judged.
        partial: where it was ended before its end, in words; then answers are missing. "" where it is whole.
        is_complete: whether every state that was asked about was filled, so that only nodes to add may be missing.
    """

    capacity: Capacity
    more: int | Fraction
    losses: tuple[ZoneLoss, ...] = ()
    purchases: tuple[Purchase, ...] = ()
    sizing: Sizing | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    may_change: bool = False
    assumed: CapacityReport | None = None
    partial: str = ""
    is_complete: bool = True
