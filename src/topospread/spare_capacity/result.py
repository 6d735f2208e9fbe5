"""What was found of a cluster's capacity, as data: how many more fit, where, what ends it, and what would help.

Nothing is printed or decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from topospread.plain_data import PlainData
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation.result import DomainOutcome, PendingGroup


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
    """How much more fits in one state of a cluster.

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
        """How many pods of all targets were placed."""
        return sum(each.placed for each in self.targets)

    def has(self, headroom: Fraction) -> bool:
        """Whether every target has room for such a share of its replicas, and none of those is missing."""
        return all(not each.missing and each.more >= wanted(each, headroom) for each in self.targets)


def wanted(target: TargetRoom, headroom: Fraction) -> int:
    """How many more replicas have to fit for a share of those that there are, rounded up."""
    return ceil(target.replicas * headroom)


@dataclass(frozen=True, slots=True)
class ZoneLoss:
    """What fits when a zone is lost and everything that can be replaced elsewhere is.

    Attributes:
        target: the zone.
        pending: how many pods wait then that did not before.
        not_replaced: pods of StatefulSets that are left terminating on its nodes, ``NAMESPACE/NAME``.
    """

    target: str
    pending: int
    capacity: Capacity
    not_replaced: tuple[str, ...] = ()


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


@dataclass(frozen=True)
class CapacityReport(PlainData):
    """The whole answer.

    Attributes:
        losses: after each zone's loss, least room first; empty where that was not asked.
        purchases: one more node each, the largest gain first; empty where that was not asked.
        headroom: share of the replicas for which there has to be room, ``None`` where that is no question.
        partial: where it was ended before its end, in words; then answers are missing. "" where it is whole.
    """

    capacity: Capacity
    losses: tuple[ZoneLoss, ...] = ()
    purchases: tuple[Purchase, ...] = ()
    headroom: Fraction | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    partial: str = ""

    @property
    def holds(self) -> bool:
        """Whether there is the headroom that was asked for, now and after each loss; not told of a partial answer."""
        states = (self.capacity, *(each.capacity for each in self.losses))
        return not self.partial and (self.headroom is None or all(each.has(self.headroom) for each in states))
