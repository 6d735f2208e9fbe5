"""The result of a drill as data: events, workloads after each step, and harm.

The modules of the steps compute it; `answers.drill` shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Protocol, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace as with_fields

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.base import Base, Word
from topospread.plain_data import PlainData
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation.result import PendingGroup, PoolUse, WorkloadSpread
from topospread.simulation.unknown import is_unjudged, unjudged_parts

EventKind = Literal[
    "down",
    "up",
    "tainted",
    "cordoned",
    "uncordoned",
    "added",
    "scaled",
    "applied",
    "rollout",
    "evicted",
    "lost",
    "placed",
]


class DrillPod(msgspec.Struct, frozen=True):
    """A pod in an event.

    Attributes:
        workload: ``Deployment/web``; empty for a pod without a workload.
        node: the node that the pod was on, or that it gets.
    """

    namespace: str
    name: str
    workload: str
    node: str


class DrillEvent(msgspec.Struct, frozen=True):
    """An event in a step.

    Attributes:
        at: seconds since the drill began.
        detail: the taint, the reason of evictions, or the scaled workload.
        ready: ready pods of workloads just after the event.
        pending: pending pods just after the event.
    """

    at: float
    kind: EventKind
    detail: str
    nodes: tuple[str, ...]
    pods: tuple[DrillPod, ...]
    ready: int
    pending: int


class WorkloadState(msgspec.Struct, frozen=True):
    """A workload after a step.

    Attributes:
        replicas: desired number of pods.
        ready: number of ready pods.
        ready_before: number of ready pods when the step began.
        fewest: minimum number of ready pods during the step.
        pending: number of pending pods.
        terminating: number of terminating pods on NotReady nodes.
        spread: the workload's constraints, with each domain's pods before and after the step.
    """

    kind: str
    namespace: str
    name: str
    replicas: int
    ready: int
    ready_before: int
    fewest: int
    pending: int
    terminating: int
    spread: tuple[WorkloadSpread, ...] = ()

    @property
    def share(self) -> float:
        """Ready pods as a share of the desired pods."""
        return self.ready / max(self.replicas, 1)

    @property
    def is_skewed(self) -> bool:
        """True if a constraint's skew is more than its maxSkew."""
        return any(each.is_exceeded for each in self.spread)


class BrokenBudget(Base, frozen=True):
    """A PodDisruptionBudget with fewer healthy pods than it requires."""

    budget: Annotated[str, Meta(description="NAMESPACE/NAME of the budget.")]
    at: Annotated[float, Meta(description="Seconds since the drill began.")]
    healthy: Annotated[int, Meta(description="Healthy pods at the worst moment.")]
    needed: Annotated[int, Meta(description="Healthy pods that the budget requires.")]
    by_rollout: Annotated[
        bool, Meta(description="Whether a rollout deleted the pods, which budgets do not limit. It is no harm then.")
    ] = False

    @property
    def namespace(self) -> str:
        """Namespace of the budget."""
        return self.budget.partition("/")[0]


class DrillRollout(Base, frozen=True):
    """A rollout that is in progress after a step, or was completed by the step."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    updated: Annotated[int, Meta(description="Ready pods of the new revision.")]
    replicas: Annotated[int, Meta(description="Desired pods of the workload.")]
    old: Annotated[int, Meta(description="Remaining pods of old revisions.")]
    over: Annotated[bool, Meta(description="Whether the rollout is complete.")]


class DrillAutoscaler(Base, frozen=True):
    """The replicas that an autoscaler reached."""

    namespace: Annotated[str, Meta(description="Namespace of the autoscaler.")]
    name: Annotated[str, Meta(description="Name of the autoscaler.")]
    target: Annotated[str, Meta(description="Workload that it scales, `Deployment/web`.")]
    least: Annotated[int, Meta(description="minReplicas.")]
    most: Annotated[int, Meta(description="maxReplicas.")]
    fits: Annotated[int, Meta(description="Maximum replicas without a pending pod.")]
    why: Annotated[
        str, Meta(description="kube-scheduler's message on the first pending pod; empty if none is pending.")
    ]


class UnevictedPod(Base, frozen=True):
    """A pod that a drain could not evict."""

    namespace: Annotated[str, Meta(description="Namespace of the pod.")]
    name: Annotated[str, Meta(description="Name of the pod.")]
    workload: Annotated[str, Meta(description="`Deployment/web`; empty for a pod without a workload.")]
    node: Annotated[str, Meta(description="Node of the pod.")]
    why: Annotated[str, Meta(description="Why the drain did not evict it.")]


class LostReplicas(Base, frozen=True):
    """A StatefulSet that does not replace lost pods: their NotReady nodes exist, or a lower ordinal is unready."""

    namespace: Annotated[str, Meta(description="Namespace of the StatefulSet.")]
    name: Annotated[str, Meta(description="Name of the StatefulSet.")]
    pods: Annotated[int, Meta(description="Pods that are not replaced.")]
    ready: Annotated[int, Meta(description="Remaining ready pods.")]
    replicas: Annotated[int, Meta(description="Desired pods.")]

    @property
    def is_harm(self) -> bool:
        """True if most pods are lost. Of an odd number of replicas, this is the loss of the quorum."""
        return self.ready * 2 < self.replicas

    @property
    def key(self) -> str:
        """``NAMESPACE/NAME``."""
        return f"{self.namespace}/{self.name}"

    def __str__(self) -> str:
        return f"{self.key} has {self.ready} of {self.replicas}"


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The result of one step.

    Attributes:
        step: the step's text; "" for the initial state.
        begins, ends: seconds since the drill began. The step ends at its last event.
        ready: number of ready pods of workloads after it.
        changed: workloads that changed or have a problem. The initial state lists every workload that a step changes.
        pending: groups of pending pods after it.
        breaches: PodDisruptionBudgets that were violated.
        not_evicted: pods that a drain could not evict.
        lost: StatefulSets with pods that are not replaced, fewest ready pods first.
        rollouts: rollouts that are in progress or that it completed.
        remarks: sentences on important facts that are easily missed.
        autoscaled: the replicas that an autoscaler reached, for an autoscale step.
        after: the cluster after it, if the drill keeps it.
    """

    step: str
    begins: float
    ends: float
    ready: int = 0
    events: tuple[DrillEvent, ...] = ()
    changed: tuple[WorkloadState, ...] = ()
    pending: tuple[PendingGroup, ...] = ()
    breaches: tuple[BrokenBudget, ...] = ()
    not_evicted: tuple[UnevictedPod, ...] = ()
    lost: tuple[LostReplicas, ...] = ()
    rollouts: tuple[DrillRollout, ...] = ()
    remarks: tuple[str, ...] = ()
    autoscaled: DrillAutoscaler | None = None
    after: Inventory | None = field(default=None, repr=False, compare=False)

    @property
    def replaced(self) -> int:
        """Number of evicted or deleted pods whose replacements got nodes."""
        gone, placed = (
            Counter((pod.namespace, pod.workload) for each in self.events if each.kind == kind for pod in each.pods)
            for kind in ("evicted", "placed")
        )
        return sum(pods for (_, workload), pods in (gone & placed).items() if workload)


class _InNamespace(Protocol):
    @property
    def namespace(self) -> str: ...


_Item = TypeVar("_Item", bound=_InNamespace)


def of_namespace(items: Iterable[_Item], namespace: str) -> tuple[_Item, ...]:
    """Return the items of a namespace."""
    return tuple(each for each in items if each.namespace == namespace)


def step_within(step: StepOutcome, namespace: str | None) -> StepOutcome:
    """Return the step with only one namespace's workloads, budgets and rollouts, but all its events."""
    if namespace is None:
        return step
    return replace(
        step,
        changed=of_namespace(step.changed, namespace),
        pending=of_namespace(step.pending, namespace),
        breaches=of_namespace(step.breaches, namespace),
        not_evicted=of_namespace(step.not_evicted, namespace),
        lost=of_namespace(step.lost, namespace),
        rollouts=of_namespace(step.rollouts, namespace),
    )


class SkewRange(Base, frozen=True):
    """The skew of a constraint over several runs."""

    workload: Annotated[str, Meta(description="`Deployment shop/web`")]
    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    least: Annotated[int, Meta(description="Smallest skew.")]
    most: Annotated[int, Meta(description="Largest skew.")]


class StepBounds(Base, frozen=True):
    """The results of a step over several runs."""

    pending: Annotated[tuple[int, int], Meta(description="Fewest and most pending pods.")]
    stuck: Annotated[int, Meta(description="Runs in which a rollout is not complete.")]
    skews: Annotated[tuple[SkewRange, ...], Meta(description="Skews of each constraint.")]


class NewlyPending(msgspec.Struct, frozen=True):
    """Pods of a workload that are pending at the end but were not at the beginning.

    Attributes:
        workload: ``Deployment/web``.
        pods: their number.
    """

    namespace: str
    workload: str
    pods: int


class Harm(msgspec.Struct, frozen=True):
    """The harm of one drill: new pending pods, violated budgets, stuck rollouts and drains, lost StatefulSets.

    Attributes:
        pending: newly pending pods by workload, without unjudged pods.
        stuck: rollouts that are not complete at the end.
        breaches: PodDisruptionBudgets that were newly violated.
        not_evicted: pods that drains did not evict.
        lost: StatefulSets that newly lost most of their pods at the end, and do not replace them.
    """

    pending: tuple[NewlyPending, ...]
    stuck: tuple[DrillRollout, ...]
    breaches: tuple[BrokenBudget, ...]
    not_evicted: tuple[UnevictedPod, ...]
    lost: tuple[LostReplicas, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pending or self.stuck or self.breaches or self.not_evicted or self.lost)


def newly_pending(begin: StepOutcome, end: StepOutcome) -> tuple[NewlyPending, ...]:
    """Return the judged pods that are pending after a step but were not at the beginning, most pods first."""
    before: Counter[tuple[str, str]] = Counter()
    after: Counter[tuple[str, str]] = Counter()
    for group in begin.pending:
        before[group.namespace, group.workload] += len(group.pods)
    for group in end.pending:
        if not is_unjudged(group):  # an unjudged pod stays pending until it is judged, so it is not newly pending
            after[group.namespace, group.workload] += len(group.pods)
    return tuple(NewlyPending(*key, pods) for key, pods in (after - before).most_common())


def newly_lost(begin: StepOutcome, end: StepOutcome) -> tuple[LostReplicas, ...]:
    """Return the StatefulSets whose losses are harm after a step but were not at the beginning."""
    before = {each.key for each in begin.lost if each.is_harm}
    return tuple(each for each in end.lost if each.is_harm and each.key not in before)


def grown_over(
    before: Sequence[ConstraintArithmetic], after: Iterable[ConstraintArithmetic]
) -> Iterator[ConstraintArithmetic]:
    """Yield the hard constraints over their maxSkew whose skew is larger than before."""
    was = {(each.position, each.topology_key): each.skew for each in before}
    for each in after:
        if each.hard and each.skew > max(each.max_skew, was.get((each.position, each.topology_key), 0)):
            yield each


@dataclass(frozen=True)
class Drill(PlainData):
    """The result of a drill.

    Attributes:
        steps: the initial state, then one outcome for each step.
        nodes: number of nodes at the end.
        workloads: all workloads at the end.
        runs: number of runs with different random choices; ``steps`` are those of the first run.
        ranges: results of each step over all runs; empty for a single run.
        others: the other runs.
        warnings, notes: sentences for the user; warnings must be shown.
        partial: where the drill was interrupted; "" if it is complete.
        pools: use of the node pools, by name.
        assumed: the same drill if unmodelled filters admit every node; None if all pods are judged, or unaffected.
        unaffected: whether no node for a pod that is not judged changes the harm (see `unaffected`).
        fallback: the same drill with hard constraints made soft while a domain is lost, if requested.
        namespace: the only namespace in the result (see `within`); None for all.
        elsewhere: the harm in all other namespaces; None if ``namespace`` is None.
        begun: the `BegunDrill`, from which fixes are simulated.
    """

    steps: tuple[StepOutcome, ...]
    nodes: int
    workloads: tuple[WorkloadState, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    runs: int = 1
    ranges: tuple[StepBounds, ...] = ()
    partial: str = ""
    others: tuple[Drill, ...] = field(default=(), repr=False, compare=False)
    pools: tuple[PoolUse, ...] = ()
    assumed: Drill | None = field(default=None, repr=False, compare=False)
    unaffected: bool = False
    fallback: Drill | None = field(default=None, repr=False, compare=False)
    begun: Any = field(default=None, repr=False, compare=False)
    namespace: str | None = None
    elsewhere: Harm | None = None

    @property
    def pending(self) -> tuple[PendingGroup, ...]:
        """Pending pods at the end."""
        return self.steps[-1].pending

    @property
    def breaches(self) -> tuple[BrokenBudget, ...]:
        """PodDisruptionBudgets violated in any step after the beginning, but not by rollouts, each at its worst."""
        worst: dict[str, BrokenBudget] = {}
        for each in (breach for step in self.steps[1:] for breach in step.breaches if not breach.by_rollout):
            if each.budget not in worst or each.healthy < worst[each.budget].healthy:
                worst[each.budget] = each
        return tuple(worst.values())

    @property
    def stuck(self) -> tuple[DrillRollout, ...]:
        """Rollouts that are incomplete at the end."""
        return tuple(each for each in self.steps[-1].rollouts if not each.over)

    @property
    def harm(self) -> Harm:
        """The new harm of the first run that has any."""
        own = self._own_harm
        return own if own else next(filter(None, (each._own_harm for each in self.others)), own)

    @property
    def left_skews(self) -> dict[tuple[ObjectKey, str], tuple[int, int]]:
        """(Rolled-out Deployment, topology key) → (largest skew, maxSkew), for constraints that are `grown_over`.

        The skew is that at the end of any run.
        """
        rolled = {key_of(each) for step in self.steps for each in step.rollouts if each.kind == "Deployment"}
        found: dict[tuple[ObjectKey, str], tuple[int, int]] = {}
        for run in (self, *self.others):
            begun = {key_of(each): [one.arithmetic for one in each.spread] for each in run.steps[0].changed}
            for state in (one for one in run.workloads if key_of(one) in rolled):
                for each in grown_over(begun.get(key_of(state), ()), [one.arithmetic for one in state.spread]):
                    key = key_of(state), each.topology_key
                    found[key] = max(found.get(key, (0, 0)), (each.skew, each.max_skew))
        return found

    @property
    def unjudged(self) -> tuple[Unjudged, ...]:
        """Parts that topospread does not model and that keep pods pending at the beginning or the end."""
        runs = (self, *self.others)
        return unjudged_parts(
            group for each in runs for step in (each.steps[0], each.steps[-1]) for group in step.pending
        )

    @property
    def verdict(self) -> Word:
        """Yes if the drill ends without harm; unknown if that depends on unmodelled parts."""
        if self.unaffected or (self.assumed is None and not self.unjudged):
            return "no" if self.harm else "yes"
        certain = self._is_certain and (self.assumed is None or self.assumed.harm)
        return "no" if certain else "unknown"

    @property
    def _is_certain(self) -> bool:
        """True if there is other harm than stuck rollouts whose pods an admission policy may still change."""
        changing = {
            (group.namespace, group.workload)
            for group in self.pending
            if group.verdict is not None and any(part.changes_pod for part in group.verdict.unjudged)
        }
        harm = self.harm
        stuck = (each for each in harm.stuck if (each.namespace, f"{each.kind}/{each.name}") not in changing)
        return bool(with_fields(harm, stuck=tuple(stuck)))

    @property
    def _own_harm(self) -> Harm:
        begin = self.steps[0]
        stuck = {key_of(each) for each in begin.rollouts if not each.over}
        broken = {each.budget for each in begin.breaches}
        return Harm(
            pending=newly_pending(begin, self.steps[-1]),
            stuck=tuple(each for each in self.stuck if key_of(each) not in stuck),
            breaches=tuple(each for each in self.breaches if each.budget not in broken),
            not_evicted=tuple(each for step in self.steps for each in step.not_evicted),
            lost=newly_lost(begin, self.steps[-1]),
        )
