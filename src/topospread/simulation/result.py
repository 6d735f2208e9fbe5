"""The result of a simulation as data: placements, workloads and their spread, pending pods and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import eq
from typing import Annotated, Any, Literal, overload

import msgspec
import numpy as np
from msgspec import Meta

from topospread.admission.dropped_fields import UnusedField
from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey
from topospread.base import Base, Bounds, Word
from topospread.cluster.arrays import Codes
from topospread.controllers.autoscaling import Autoscaling
from topospread.plain_data import PlainData
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain, Domains, counts_of
from topospread.scheduling.verdict import Verdict

Exceeded = Literal["", "before", "others", "full", "scores", "sampled"]
"""The reason why a skew exceeds maxSkew; "" if it does not.

``before``: pods from before the simulation; ``others``: counted pods of other workloads. For ScheduleAnyway also
``full``: the domains with the fewest pods had no feasible node; ``scores``: other scores outweighed the spread;
``sampled``: kube-scheduler did not consider nodes of these domains.
"""

Reasons = Mapping[str, int]
"""Reason → number of nodes that are rejected for it."""


class Placement(Base, frozen=True):
    """A pod that the simulation had to place, with its node or the reason why it is pending."""

    namespace: Annotated[str, Meta(description="Namespace of the pod.")]
    name: Annotated[str, Meta(description="Name of the pod.")]
    workload: Annotated[str, Meta(description="`Deployment/web`, or `Pod/NAME` for a bare pod.")]
    node: Annotated[str | None, Meta(description="Node of the pod; null while it is pending.")]
    zone: Annotated[str | None, Meta(description="Zone of the node; null without a node or its zone.")]
    message: Annotated[
        str, Meta(description="kube-scheduler's message without the part on preemption; empty if the pod has a node.")
    ]
    score: Annotated[int | None, Meta(description="Total score of the node; null while the pod is pending.")]
    nominated_node: Annotated[
        str | None, Meta(description="Node from which pods were evicted to make room for it; null if none.")
    ]

    @property
    def workload_key(self) -> ObjectKey:
        """Kind, namespace and name of the workload."""
        kind, _, name = self.workload.partition("/")
        return kind, self.namespace, name


class EvictedPod(Base, frozen=True):
    """A pod that preemption evicted for a more important pod."""

    namespace: Annotated[str, Meta(description="Namespace of the pod.")]
    name: Annotated[str, Meta(description="Name of the pod.")]
    node: Annotated[str, Meta(description="Node that it was on.")]
    workload: Annotated[str, Meta(description="`Deployment/web`; empty if that is not known.")]
    preemptor: Annotated[str, Meta(description="NAMESPACE/NAME of the pod that it made room for.")]
    created_anew: Annotated[str | None, Meta(description="Pod that its controller creates instead; null if none.")]


class DomainSpread(msgspec.Struct, frozen=True):
    """One domain of a workload's constraint.

    Attributes:
        before, after: matching pods before and after the simulation.
        nodes: number of the domain's nodes that the constraint counts.
        rejected: reason, including spread reasons → number of the domain's nodes that would now reject one more pod.
            Only for workloads with new pods, if some are pending or the domains' counts differ by more than one.
    """

    name: str
    before: int
    after: int
    nodes: int
    rejected: Reasons = {}


class DomainSpreads(Sequence[DomainSpread]):
    """A constraint's eligible domains by name, computed on access because hostname has thousands.

    Attributes:
        rejected: domain → reason → number of nodes; without domains that have no rejection.
    """

    __slots__ = ("_domains", "_earlier", "rejected")
    _domains: Sequence[Domain]
    _earlier: Sequence[Domain]
    rejected: Mapping[str, Reasons]

    def __init__(self, before: Sequence[Domain], after: Sequence[Domain], rejected: Mapping[str, Reasons]) -> None:
        self._domains = after
        self._earlier = before
        eligible = set(self.names) if rejected else set()
        self.rejected = {name: reasons for name, reasons in rejected.items() if reasons and name in eligible}

    @property
    def before(self) -> Codes:
        """Matching pods of each domain before, int32[domains]."""
        if isinstance(self._earlier, Domains) and self._earlier.same_as(self._domains):
            return self._earlier.matching
        earlier = {domain.name: domain.matching for domain in self._earlier}
        return np.array([earlier.get(domain.name, 0) for domain in self._domains], dtype=np.int32)

    @property
    def after(self) -> Codes:
        """Matching pods of each domain now, int32[domains]."""
        return counts_of(self._domains)

    def __len__(self) -> int:
        return len(self._domains)

    @overload
    def __getitem__(self, index: int) -> DomainSpread: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[DomainSpread, ...]: ...

    def __getitem__(self, index: int | slice) -> DomainSpread | tuple[DomainSpread, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        return self._spread(self._domains[index], int(self.before[index]))

    def __iter__(self) -> Iterator[DomainSpread]:
        return map(self._spread, self._domains, self.before.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"DomainSpreads({list(self)!r})"

    @property
    def names(self) -> list[str]:
        """Names of the domains, in order."""
        domains = self._domains
        return domains.names if isinstance(domains, Domains) else [domain.name for domain in domains]

    def _spread(self, domain: Domain, before: int) -> DomainSpread:
        return DomainSpread(domain.name, before, domain.matching, domain.nodes, self.rejected.get(domain.name, {}))


class WorkloadSpread(msgspec.Struct, frozen=True):
    """The result of one constraint of a workload.

    Attributes:
        origin: source of the constraint: ``pod``, ``profile`` or ``system``.
        skew: largest count of an eligible domain minus the global minimum (0 if minDomains is not met), after the
            simulation.
        domains: eligible domains, by name.
        arithmetic: all counts of the constraint after the simulation.
        counted: ``Deployment/web`` → number of its counted pods; empty if only the workload's own pods are counted.
        exceeded: why the skew is more than maxSkew.
    """

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    origin: str
    skew: int
    domains: DomainSpreads
    arithmetic: ConstraintArithmetic
    counted: Mapping[str, int] = {}
    exceeded: Exceeded = ""

    @property
    def hard(self) -> bool:
        """True if the constraint is DoNotSchedule."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @property
    def is_exceeded(self) -> bool:
        """True if the skew is more than maxSkew."""
        return self.skew > self.max_skew

    @property
    def only_domain(self) -> str:
        """The only domain that has pods, if there are several pods and domains; else ""."""
        after = self.domains.after
        if len(after) < 2 or int(np.count_nonzero(after)) != 1 or int(after.max()) < 2:
            return ""
        return self.domains.names[int(after.argmax())]


class WorkloadResult(msgspec.Struct, frozen=True):
    """One workload after the simulation.

    Attributes:
        replicas: desired number of pods.
        existing: pods that were on nodes before.
        placed: pods on nodes now, including ``existing``.
        pending: pods without a node, created or not.
        autoscaling: effect of a HorizontalPodAutoscaler on ``replicas``; ``None`` without one.
    """

    kind: str
    namespace: str
    name: str
    replicas: int
    existing: int
    placed: int
    pending: int
    spread: tuple[WorkloadSpread, ...] = ()
    notes: tuple[str, ...] = ()
    autoscaling: Autoscaling | None = None

    @property
    def is_skewed(self) -> bool:
        """True if the skew of any constraint is more than its maxSkew."""
        return any(each.is_exceeded for each in self.spread)


class DomainOutcome(msgspec.Struct, frozen=True):
    """A domain of a hard constraint, with the reasons why its nodes reject a pending pod.

    Attributes:
        domain: counts and skew of the domain.
        rejected: reason, including spread reasons → number of the domain's nodes that are rejected for it.
    """

    domain: Domain
    rejected: dict[str, int]


class PendingGroup(msgspec.Struct, frozen=True):
    """Pending pods of one workload with the same message.

    Attributes:
        pods: names in queue order.
        message: kube-scheduler's message, or why the pods were not tried (scheduling gates, a pending lower ordinal).
        preemption: the message's part on preemption; "" if preemption did not run.
        verdict: full verdict on the first pod; ``None`` if kube-scheduler does not schedule it.
        outcomes: for each DoNotSchedule constraint in the verdict's arithmetic, its domains.
        unmatched: labels of the pods' ``nodeSelector`` that no node has.
    """

    workload: str
    namespace: str
    pods: tuple[str, ...]
    message: str
    preemption: str = ""
    verdict: Verdict | None = None
    outcomes: tuple[tuple[ConstraintArithmetic, tuple[DomainOutcome, ...]], ...] = ()
    unmatched: tuple[str, ...] = ()


class PoolRefusal(msgspec.Struct, frozen=True):
    """The reason why a pending pod would not go on a new node of a pool.

    Attributes:
        pod: ``namespace/name``.
        plugin: plugin that rejects the node; "" if the pod is not judged.
        reasons: the plugin's reasons.
        lacks: labels of the pod's ``nodeSelector`` that the node does not have.
    """

    pod: str
    plugin: str
    reasons: tuple[str, ...]
    lacks: tuple[str, ...]


class PoolUse(msgspec.Struct, frozen=True):
    """The use of a pool of nodes.

    Attributes:
        there: number of nodes in the input.
        added: names of nodes that were added for pending pods.
        most: maximum number of nodes; ``None`` for no limit.
        paper: topology key → domain that a new node would add. No node has this domain, so no constraint counts it yet.
        may_grow: whether the limits of the pool, and of several pools together, allow one more node outside of lost
            domains.
        refused: for each kind of pending pod, why it does not fit on a new node.
        lost: the lost domain that a new node would belong to; "" if there is none.
    """

    name: str
    zone: str
    there: int
    added: tuple[str, ...]
    most: int | None
    paper: Mapping[str, str] = {}
    may_grow: bool = True
    refused: tuple[PoolRefusal, ...] = ()
    lost: str = ""


@dataclass(frozen=True)
class Simulation(PlainData):
    """The result of a simulation.

    Attributes:
        placements: the placed pods in queue order.
        workloads: in input order.
        pending: the pending pods in groups.
        nodes: number of nodes.
        skipped: kind → number of ignored objects of kinds that have no effect.
        evictions: preempted pods, in order.
        removed: ``namespace/name`` → former node, for pods that ``--scale`` deleted.
        unused: fields that the API server drops or kube-scheduler ignores, also listed in ``warnings``.
        warnings, notes: sentences for the user; warnings must be shown.
        verdicts: full verdicts on the watched pods by ``namespace/name``.
        after: the final cluster if requested; another simulation can start from it.
        pools: the given pools, by name.
        unjudged: parts of pending pods that topospread does not model. Without them, the pods would have nodes.
        open_pods: ``namespace/name`` of pods whose result depends on these parts, of the pod itself or of other pods.
        bounds: ``namespace/Deployment/name`` → bounds on its number of placed pods; empty if all pods are judged.
        begun: the inventory and options of this simulation, from which fixes are simulated.
        bound: function that returns the pods that keep their nodes of the input.
    """

    placements: tuple[Placement, ...]
    workloads: tuple[WorkloadResult, ...]
    pending: tuple[PendingGroup, ...]
    nodes: int
    skipped: Counter[str] = field(default_factory=Counter)
    evictions: tuple[EvictedPod, ...] = ()
    removed: dict[str, str] = field(default_factory=dict)
    unused: tuple[UnusedField, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    after: Inventory | None = None
    pools: tuple[PoolUse, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    open_pods: tuple[str, ...] = ()
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    begun: Any = field(default=None, repr=False, compare=False)
    bound: Callable[[], tuple[Placement, ...]] = field(default=tuple, repr=False, compare=False)

    def on_nodes(self) -> Iterator[Placement]:
        """Yield the pods with a node: those that the simulation placed, then those that keep their nodes."""
        yield from (each for each in self.placements if each.node is not None)
        yield from self.bound()

    @cached_property
    def verdict(self) -> Word:
        """``no`` if a pod is surely pending, ``unknown`` if the result of some pods is open, else ``yes``."""
        return self.verdict_in(None)

    def verdict_in(self, namespace: str | None) -> Word:
        """Return the verdict on the pods of one namespace; of all namespaces by default."""
        opened = {each for each in self.open_pods if namespace in (None, each.partition("/")[0])}
        shown = (each for each in self.pending if namespace in (None, each.namespace))
        if any(f"{each.namespace}/{name}" not in opened for each in shown for name in each.pods):
            return "no"
        return "unknown" if opened else "yes"

    def placement(self, name: str, namespace: str = "default") -> Placement:
        """Return the placement of a pod.

        Raises:
            KeyError: if the simulation had no such pod to place.
        """
        for each in self.placements:
            if (each.namespace, each.name) == (namespace, name):
                return each
        raise KeyError(f"{namespace}/{name}")
