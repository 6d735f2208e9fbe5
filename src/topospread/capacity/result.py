"""A cluster's capacity as data: how many more replicas fit, where, the limit, and possible nodes.

`answers.capacity` builds the answer from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from topospread.answer import Unjudged
from topospread.base import Word
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation.result import DomainOutcome, PendingGroup, PoolRefusal


@dataclass(frozen=True, slots=True)
class TargetRoom:
    """A target workload.

    Attributes:
        kind: kind of the workload; ``Pod`` for a pod file.
        share: its replicas per round.
        replicas: current desired replicas; 0 for a pod file.
        there: number of its placed pods; during a rollout it may differ from ``replicas``.
        missing: number of current replicas without a node.
        more: number of additional pods in complete rounds.
        placed: number of pods placed until the first stayed pending, including incomplete rounds.
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
    """A domain of a topology key.

    Attributes:
        name: "" for nodes without the label.
        more: number of new pods in it.
        nodes: number of its nodes.
        rejected: reason → number of nodes that reject the pending pod.
    """

    name: str
    more: int
    nodes: int
    rejected: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyRoom:
    """The domains of one topology key.

    Attributes:
        outcomes: for a hard constraint of the pending pod, domain → its arithmetic and reasons.
        arithmetic: the arithmetic of this constraint.
    """

    topology_key: str
    domains: tuple[DomainRoom, ...]
    arithmetic: ConstraintArithmetic | None = None
    outcomes: Mapping[str, DomainOutcome] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Capacity:
    """The number of replicas that fit in one state of a cluster.

    Attributes:
        rounds: number of complete rounds.
        targets: the targets, in the order given.
        keys: domains by the targets' topology keys, and by zone.
        pending: the pending pod and the reason; None if the limit on rounds was reached.
        waiting: other workload, ``NAMESPACE/NAME`` → its pods that find no node.
        nodes: number of nodes.
        evicts: lower-priority pods that the pending pod could preempt, as text; "" if there are none.
        created: number of complete rounds that the API server admits, regardless of nodes; None for no limit.
        denied: the first pod that it denies then.
    """

    rounds: int
    targets: tuple[TargetRoom, ...]
    keys: tuple[KeyRoom, ...]
    pending: PendingGroup | None
    waiting: Counter[str]
    nodes: int
    evicts: str = ""
    created: int | None = None
    denied: PendingGroup | None = None

    @property
    def placed(self) -> int:
        """The number of placed pods of all targets."""
        return sum(each.placed for each in self.targets)


@dataclass(frozen=True, slots=True)
class ZoneLoss:
    """The number of replicas that fit after a zone is lost and its pods are replaced where possible.

    Attributes:
        target: the zone.
        pending: number of newly pending pods.
        not_replaced: terminating StatefulSet pods on its nodes, ``NAMESPACE/NAME``.
        unjudged: unmodelled parts of pending pods.
    """

    target: str
    pending: int
    capacity: Capacity
    not_replaced: tuple[str, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()


@dataclass(frozen=True, slots=True)
class Purchase:
    """An additional node.

    Attributes:
        shape: ``like node-1``, or the text as given.
        zone: its zone; "" without zones.
        gain: number of additional target pods.
        rounds: number of complete rounds with it.
    """

    shape: str
    zone: str
    gain: int
    rounds: int


@dataclass(frozen=True, slots=True)
class SizedPool:
    """A pool and its nodes in a set.

    Attributes:
        there: existing nodes.
        add: nodes to add.
        most: maximum number of nodes; None for no limit.
        price: price of one node; ``None`` if the pools have no prices.
        refused: why a new node rejects the pending pod; None if it does not.
        may_grow: whether the limit allows one more node, and its domain is not lost.
        alone: if no set suffices: (new nodes of this pool alone, complete rounds that fit with them).
        lost: the lost domain of its nodes; "" if there is none.
        full: if nodes are added: (pods that one new node takes, reasons against one more, topology keys of the
            required anti-affinity that rejects it); None if not known.
        replaces: pool whose added nodes as many nodes of this pool could replace, at the same price; "" if none.
    """

    name: str
    zone: str
    there: int
    add: int
    most: int | None
    price: Fraction | None
    refused: PoolRefusal | None
    may_grow: bool
    alone: tuple[int, int] | None = None
    lost: str = ""
    full: tuple[int, tuple[str, ...], tuple[str, ...]] | None = None
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Sizing:
    """The cheapest set of nodes of pools with which enough replicas fit.

    Attributes:
        verdict: ``yes``: a set was found; ``no``: no set suffices; ``unknown``: the search ended early.
        pools: in the order of the files.
        capacity: the replicas that fit with the set; ``None`` without a set.
        is_cheapest: whether every cheaper set was excluded by counting or by a simulation.
        is_limited: whether only the pools' limits prevent a set.
        simulated: number of simulated sets.
        seconds: time limit, if the search reached it.
        least: if ``seconds`` is set, a lower bound on the price of every sufficient set (without prices: on its nodes).
        unjudged: unmodelled parts of the pending pod.
    """

    verdict: Word
    pools: tuple[SizedPool, ...]
    capacity: Capacity | None
    is_cheapest: bool
    is_limited: bool
    simulated: int
    seconds: float | None = None
    least: Fraction | None = None
    unjudged: tuple[Unjudged, ...] = ()


@dataclass(frozen=True, slots=True)
class CapacityReport:
    """The result of a capacity question.

    Attributes:
        more: required rounds, or a share of the replicas.
        losses: results after each zone's loss, least room first; empty if not requested.
        purchases: results with one more node, largest gain first; empty if none was tried.
        sizing: the cheapest set of nodes of pools; ``None`` if there are no pools, or enough fits.
        honoring: the result if the targets' hard constraints honor taints; ``None`` if that was not tried.
        unjudged: unmodelled parts that alone keep pods pending.
        may_change: whether unevaluated admission policies may change pods.
        assumed: the result if unmodelled filters admit every node; None if every pod is judged.
        taken: the summed requests of current pods that are not judged, except the targets' own: resource → amount, and
            ``pods`` → their number.
        crowded: the result with `taken` subtracted from every node's allocatable; None if nothing is taken.
        partial: where the work was interrupted; "" if it is complete.
        is_complete: whether every requested state was filled, so that only additional nodes may be missing.
    """

    capacity: Capacity
    more: int | Fraction
    losses: tuple[ZoneLoss, ...] = ()
    purchases: tuple[Purchase, ...] = ()
    sizing: Sizing | None = None
    honoring: Capacity | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    may_change: bool = False
    assumed: CapacityReport | None = None
    taken: Mapping[str, int] = field(default_factory=dict)
    crowded: CapacityReport | None = None
    partial: str = ""
    is_complete: bool = True
