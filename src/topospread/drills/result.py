"""The result of a drill as data: what happened when, the workloads after each step, and the shortfalls.

Nothing is printed or decided here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory
from topospread.base import Word
from topospread.plain_data import PlainData
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
"""Nodes fall silent or tell of themselves again, are tainted, cordoned, uncordoned or added; a workload is scaled,
manifests are applied, a rollout begins; pods are evicted (or deleted by their controller), are gone after they were
terminating, or get nodes."""


class PodThere(msgspec.Struct, frozen=True):
    """A pod that something happened to.

    Attributes:
        workload: ``Deployment/web``, "" for a pod of nobody's.
        node: where it was, or where it went.
    """

    namespace: str
    name: str
    workload: str
    node: str


class Event(msgspec.Struct, frozen=True):
    """Something that happened.

    Attributes:
        at: seconds since the drill began.
        nodes: the nodes it is about.
        pods: the pods it is about.
        detail: a taint, why pods were evicted, what was scaled.
        ready, pending: how many pods of workloads are ready, and how many wait, just after it.
    """

    at: float
    kind: EventKind
    nodes: tuple[str, ...] = ()
    pods: tuple[PodThere, ...] = ()
    detail: str = ""
    ready: int = 0
    pending: int = 0


class WorkloadState(msgspec.Struct, frozen=True):
    """One workload after a step.

    Attributes:
        replicas: how many pods it is to have.
        ready: how many are on nodes whose kubelets are there.
        ready_before: how many were, when the step began.
        fewest: the fewest that were ready at any moment of the step.
        pending: how many wait for a node.
        terminating: how many are being deleted on nodes that are down.
        spread: its constraints, with the pods of each domain before and after the step.
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
    def is_skewed(self) -> bool:
        """True if a constraint's skew is more than its maxSkew."""
        return any(each.is_exceeded for each in self.spread)


class BudgetBreach(msgspec.Struct, frozen=True):
    """A PodDisruptionBudget that had fewer healthy pods than it wants.

    Attributes:
        budget: ``namespace/name``.
        at: when it was worst, in seconds since the drill began.
        healthy, needed: pods that were ready then, and how many it wants.
    """

    budget: str
    at: float
    healthy: int
    needed: int


class RolloutState(msgspec.Struct, frozen=True):
    """A rollout under way, or just over.

    Attributes:
        updated: how many pods of the new revision are ready.
        replicas: how many there are to be.
        old: how many pods of old revisions are left.
    """

    kind: str
    namespace: str
    name: str
    updated: int
    replicas: int
    old: int

    @property
    def is_over(self) -> bool:
        """True if it is complete."""
        return not self.old and self.updated == self.replicas


class AutoscalerState(msgspec.Struct, frozen=True):
    """The progress of an autoscaler.

    Attributes:
        target: what it scales, ``Deployment/web``.
        least, most: its minReplicas and maxReplicas.
        fits: with so many replicas none waited yet.
        why: kube-scheduler's sentence on the first that waited, "" where none did.
    """

    namespace: str
    name: str
    target: str
    least: int
    most: int
    fits: int
    why: str


class NotEvicted(msgspec.Struct, frozen=True):
    """A pod that a drain leaves, although it is meant to go, and why."""

    pod: PodThere
    why: str


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The result of one step.

    Attributes:
        step: as it was given; "" for how things stood at the beginning.
        begins, ends: seconds since the drill began; the end is that of the last thing that happened.
        ready: how many pods of workloads are ready after it.
        changed: workloads that something happened to, or that something is wrong with.
        pending: pods that wait after it, grouped.
        breaches: budgets that were broken.
        not_evicted: pods that a drain could not evict.
        rollouts: those under way after it, and those that it completed.
        remarks: sentences on what decides here and is easily missed.
        autoscaled: how far an autoscaler came, in a step that lets it go to its most replicas.
        after: everything that is there after it, for what is asked of that, where the drill was to keep it.
    """

    step: str
    begins: float
    ends: float
    ready: int = 0
    events: tuple[Event, ...] = ()
    changed: tuple[WorkloadState, ...] = ()
    pending: tuple[PendingGroup, ...] = ()
    breaches: tuple[BudgetBreach, ...] = ()
    not_evicted: tuple[NotEvicted, ...] = ()
    rollouts: tuple[RolloutState, ...] = ()
    remarks: tuple[str, ...] = ()
    autoscaled: AutoscalerState | None = None
    after: Inventory | None = field(default=None, repr=False, compare=False)


class StepRange(msgspec.Struct, frozen=True):
    """The results of a step in several drills that differ only in random choices.

    Attributes:
        pending: the fewest and the most pods that wait after it.
        skews: workload (``Deployment shop/web``) and topology key → the least and the greatest skew of its own
            constraints.
        stuck: in how many of the drills a rollout was not over.
    """

    pending: tuple[int, int]
    skews: dict[tuple[str, str], tuple[int, int]]
    stuck: int


class NewlyPending(msgspec.Struct, frozen=True):
    """Pods of one workload that are pending at the end, beyond those of the beginning.

    Attributes:
        workload: ``Deployment/web``.
        pods: their number.
    """

    namespace: str
    workload: str
    pods: int


class Harm(msgspec.Struct, frozen=True):
    """The harm of one drill. Pods that were pending at the beginning, and budgets broken then, are none.

    Attributes:
        pending: pods that are judged, by workload.
        stuck: rollouts that are not complete at the end.
        breaches: budgets that were broken.
        not_evicted: pods that drains did not evict.
    """

    pending: tuple[NewlyPending, ...]
    stuck: tuple[RolloutState, ...]
    breaches: tuple[BudgetBreach, ...]
    not_evicted: tuple[NotEvicted, ...]

    def __bool__(self) -> bool:
        return bool(self.pending or self.stuck or self.breaches or self.not_evicted)


def newly_pending(begin: StepOutcome, end: StepOutcome) -> tuple[NewlyPending, ...]:
    """Return the judged pods that are pending after a step, beyond those that were pending at the beginning."""
    before: Counter[tuple[str, str]] = Counter()
    after: Counter[tuple[str, str]] = Counter()
    for group in begin.pending:
        before[group.namespace, group.workload] += len(group.pods)
    for group in end.pending:
        if not is_unjudged(group):  # a pod that was open before and is refused now was pending all the time
            after[group.namespace, group.workload] += len(group.pods)
    return tuple(NewlyPending(*key, pods) for key, pods in (after - before).items())


@dataclass(frozen=True)
class Drill(PlainData):
    """The whole answer.

    Attributes:
        steps: the beginning, and one for each step.
        nodes: how many there are at the end.
        workloads: all of them as they stand at the end.
        runs: how many drills were played that are alike but for what is drawn; ``steps`` are of the first.
        ranges: what came of each step in all of them; empty where there was one.
        others: the drills beside the first, where there were several.
        warnings, notes: sentences for a person; warnings must be seen.
        partial: where it was ended before its end, in words; "" for a drill that is whole.
        pools: what came of the pools of nodes that an autoscaler grows, by name.
        assumed: if pods are not judged, the same drill as if filters that topospread does not model let every node
            pass.
        begun: the `BegunDrill`, from which the answer's fixes are tried.
    """

    steps: tuple[StepOutcome, ...]
    nodes: int
    workloads: tuple[WorkloadState, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    runs: int = 1
    ranges: tuple[StepRange, ...] = ()
    partial: str = ""
    others: tuple[Drill, ...] = field(default=(), repr=False, compare=False)
    pools: tuple[PoolUse, ...] = ()
    assumed: Drill | None = field(default=None, repr=False, compare=False)
    begun: Any = field(default=None, repr=False, compare=False)

    @property
    def pending(self) -> tuple[PendingGroup, ...]:
        """Pods that wait at the end."""
        return self.steps[-1].pending

    @property
    def breaches(self) -> tuple[BudgetBreach, ...]:
        """Budgets that were broken in any step, each at its worst."""
        worst: dict[str, BudgetBreach] = {}
        for each in (breach for step in self.steps for breach in step.breaches):
            if each.budget not in worst or each.healthy < worst[each.budget].healthy:
                worst[each.budget] = each
        return tuple(worst.values())

    @property
    def stuck(self) -> tuple[RolloutState, ...]:
        """Rollouts that are not over at the end."""
        return tuple(each for each in self.steps[-1].rollouts if not each.is_over)

    @property
    def harm(self) -> Harm:
        """The harm that did not exist at the beginning; of several runs, that of the first run with any."""
        own = self._own_harm
        return own if own else next(filter(None, (each._own_harm for each in self.others)), own)

    @property
    def unjudged(self) -> tuple[Unjudged, ...]:
        """Parts that topospread does not model and that keep pods pending at the beginning or the end."""
        runs = (self, *self.others)
        return unjudged_parts(
            group for each in runs for step in (each.steps[0], each.steps[-1]) for group in step.pending
        )

    @property
    def verdict(self) -> Word:
        """Yes if it ends without harm; unknown if that depends on parts that topospread does not model."""
        if self.assumed is None and not self.unjudged:
            return "no" if self.harm else "yes"
        return "no" if self.harm and (self.assumed is None or self.assumed.harm) else "unknown"

    @property
    def holds(self) -> bool:
        """True if it ends without harm."""
        return self.verdict == "yes"

    @property
    def _own_harm(self) -> Harm:
        begin = self.steps[0]
        stuck = {(each.kind, each.namespace, each.name) for each in begin.rollouts if not each.is_over}
        broken = {each.budget for each in begin.breaches}
        return Harm(
            pending=newly_pending(begin, self.steps[-1]),
            stuck=tuple(each for each in self.stuck if (each.kind, each.namespace, each.name) not in stuck),
            breaches=tuple(each for each in self.breaches if each.budget not in broken),
            not_evicted=tuple(each for step in self.steps for each in step.not_evicted),
        )
