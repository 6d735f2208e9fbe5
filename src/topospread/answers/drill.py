"""The answer of ``topospread drill``: do the steps end without harm that did not exist at the beginning?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import asdict

from topospread.answer import Answer, Remedy
from topospread.base import Base
from topospread.service_traffic.result import ExpectedTraffic

from .spread import PendingPods, Pool, SpreadOutcome, pending_pods, pool_of, spread_outcome
from .words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topospread.drills import BudgetBreach, Drill, Event, PodThere, StepOutcome, WorkloadState
    from topospread.rebalancing import Rebalance


class DrillPod(Base, frozen=True, kw_only=True):
    """A pod of an event."""

    namespace: Annotated[str, Meta(description="Namespace of the pod.")]
    name: Annotated[str, Meta(description="Name of the pod.")]
    workload: Annotated[str, Meta(description="`Deployment/web`; empty for a pod without a workload.")]
    node: Annotated[str, Meta(description="Node that the pod was on, or that it gets.")]


class UnevictedPod(Base, frozen=True, kw_only=True):
    """A pod that a drain did not evict."""

    namespace: Annotated[str, Meta(description="Namespace of the pod.")]
    name: Annotated[str, Meta(description="Name of the pod.")]
    workload: Annotated[str, Meta(description="`Deployment/web`; empty for a pod without a workload.")]
    node: Annotated[str, Meta(description="Node of the pod.")]
    why: Annotated[str, Meta(description="Why the drain did not evict it.")]


class DrillEvent(Base, frozen=True, kw_only=True):
    """Something that happened in a step."""

    at: Annotated[float, Meta(description="Seconds since the drill began.")]
    kind: Annotated[
        str,
        Meta(
            description="Of nodes `down`, `up`, `tainted`, `cordoned`, `uncordoned`, `added`; `scaled`, `applied`, "
            "`rollout`; of pods `evicted`, `lost`, `placed`."
        ),
    ]
    detail: Annotated[str, Meta(description="A taint, why pods were evicted, or the workload that was scaled.")]
    nodes: Annotated[tuple[str, ...], Meta(description="Nodes of the event.")]
    pods: Annotated[tuple[DrillPod, ...], Meta(description="Pods of the event.")]
    ready: Annotated[int, Meta(description="Ready pods of workloads just after the event.")]
    pending: Annotated[int, Meta(description="Pending pods just after the event.")]


class DrilledWorkload(Base, frozen=True, kw_only=True):
    """A workload after a step."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Pods that it wants.")]
    ready_before: Annotated[int, Meta(description="Ready pods when the step began.")]
    ready: Annotated[int, Meta(description="Ready pods after the step.")]
    fewest: Annotated[int, Meta(description="Ready pods at the worst moment of the step.")]
    pending: Annotated[int, Meta(description="Pods without a node.")]
    terminating: Annotated[int, Meta(description="Pods that are deleted on nodes that are down.")]
    spread: Annotated[tuple[SpreadOutcome, ...], Meta(description="Its constraints, before and after the step.")]


class BrokenBudget(Base, frozen=True, kw_only=True):
    """A PodDisruptionBudget with fewer healthy pods than it wants."""

    budget: Annotated[str, Meta(description="NAMESPACE/NAME of the budget.")]
    at: Annotated[float, Meta(description="Seconds since the drill began.")]
    healthy: Annotated[int, Meta(description="Healthy pods at the worst moment.")]
    needed: Annotated[int, Meta(description="Pods that it wants.")]


class DrillRollout(Base, frozen=True, kw_only=True):
    """A rollout under way, or one that the step completed."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    updated: Annotated[int, Meta(description="Ready pods of the new revision.")]
    replicas: Annotated[int, Meta(description="Pods that the rollout is for.")]
    old: Annotated[int, Meta(description="Pods of old revisions that are left.")]
    over: Annotated[bool, Meta(description="Whether the rollout is complete.")]


class DrillAutoscaler(Base, frozen=True, kw_only=True):
    """The replicas that an autoscaler reached."""

    namespace: Annotated[str, Meta(description="Namespace of the autoscaler.")]
    name: Annotated[str, Meta(description="Name of the autoscaler.")]
    target: Annotated[str, Meta(description="Workload that it scales, `Deployment/web`.")]
    least: Annotated[int, Meta(description="minReplicas.")]
    most: Annotated[int, Meta(description="maxReplicas.")]
    fits: Annotated[int, Meta(description="Most replicas without a pending pod.")]
    why: Annotated[str, Meta(description="kube-scheduler's sentence on the first pending pod.")]


class DrillStep(Base, frozen=True, kw_only=True):
    """The beginning, or one step."""

    step: Annotated[str, Meta(description="The step as it was given; empty for the beginning.")]
    begins: Annotated[float, Meta(description="Seconds since the drill began.")]
    ends: Annotated[float, Meta(description="Seconds since the drill began at the last event.")]
    ready: Annotated[int, Meta(description="Ready pods of workloads after the step.")]
    events: Annotated[tuple[DrillEvent, ...], Meta(description="What happened, in order.")]
    workloads: Annotated[tuple[DrilledWorkload, ...], Meta(description="Workloads that the step changed.")]
    pending: Annotated[tuple[PendingPods, ...], Meta(description="Pending pods after the step, grouped.")]
    breaches: Annotated[tuple[BrokenBudget, ...], Meta(description="Budgets that the step broke.")]
    not_evicted: Annotated[tuple[UnevictedPod, ...], Meta(description="Pods that a drain did not evict.")]
    rollouts: Annotated[tuple[DrillRollout, ...], Meta(description="Rollouts under way or completed.")]
    remarks: Annotated[tuple[str, ...], Meta(description="Sentences on what decides and is easily missed.")]
    autoscaled: Annotated[DrillAutoscaler | None, Meta(description="The autoscaler of the step; null if none.")]
    traffic: Annotated[ExpectedTraffic | None, Meta(description="Expected traffic, with `--traffic`.")] = None


class SkewRange(Base, frozen=True, kw_only=True):
    """The skew of one constraint over several runs."""

    workload: Annotated[str, Meta(description="`Deployment shop/web`")]
    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    least: Annotated[int, Meta(description="Smallest skew.")]
    most: Annotated[int, Meta(description="Largest skew.")]


class StepBounds(Base, frozen=True, kw_only=True):
    """A step over several runs."""

    pending: Annotated[tuple[int, int], Meta(description="Fewest and most pending pods.")]
    stuck: Annotated[int, Meta(description="Runs in which a rollout is not complete.")]
    skews: Annotated[tuple[SkewRange, ...], Meta(description="Skews of each constraint.")]


class MendingEviction(Base, frozen=True, kw_only=True):
    """An eviction that reduces the skew that stays."""

    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the pod to evict.")]
    node: Annotated[str, Meta(description="Node that it is on.")]
    to: Annotated[str, Meta(description="Node of the pod that replaces it.")]


class DrillRemedy(Remedy, frozen=True, kw_only=True):
    """A change with which the drill was run again."""

    pending: Annotated[int, Meta(description="Newly pending pods at the end with the change, of all workloads.")]
    pending_without: Annotated[int, Meta(description="Newly pending pods at the end without the change.")]


class DrillResult(Answer, frozen=True, kw_only=True):
    """Do the steps end without harm that did not exist at the beginning?"""

    PAGE: ClassVar[str] = "topospread.render.pages.drill:page"

    holds: Annotated[bool, Meta(description="Whether the verdict is yes.")]
    nodes: Annotated[int, Meta(description="Number of nodes at the end.")]
    steps: Annotated[tuple[DrillStep, ...], Meta(description="The beginning, and each step.")]
    breaches: Annotated[tuple[BrokenBudget, ...], Meta(description="Budgets that were broken, each at its worst.")]
    runs: Annotated[int, Meta(description="Drills that differ only in what is drawn; the steps are the first's.")]
    ranges: Annotated[tuple[StepBounds, ...], Meta(description="Each step over all runs; empty for one run.")]
    partial: Annotated[str, Meta(description="Why the drill ended early; empty if it is complete.")]
    pools: Annotated[tuple[Pool, ...], Meta(description="The pools of `--pools`, by name.")]
    pending_before: Annotated[int, Meta(description="Pods that were pending at the beginning; they are no harm.")]
    remedies: Annotated[
        tuple[DrillRemedy, ...], Meta(description="Changes that leave fewer pods newly pending, fewest first.")
    ] = ()
    untried: Annotated[int, Meta(description="Changes that were not tried because the work has a limit.")] = 0
    mending: Annotated[
        tuple[MendingEviction, ...], Meta(description="Evictions that remove the skew that stays, in this order.")
    ] = ()
    warnings: Annotated[tuple[str, ...], Meta(description="Sentences that a person must see.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Sentences that help a person.")] = ()


def drill_answer(
    drill: Drill, traffic: Sequence[ExpectedTraffic] = (), mending: Rebalance | None = None
) -> DrillResult:
    """Return what a drill found as an answer.

    Args:
        drill: the drill.
        traffic: expected traffic after each step.
        mending: evictions that remove the skew that stays.
    """
    verdict = drill.verdict
    moved = [*traffic, *[None] * len(drill.steps)]
    steps = tuple(_step(each, told) for each, told in zip(drill.steps, moved, strict=False))
    new = {(each.namespace, each.workload) for each in drill.harm.pending}
    remedies, untried = _fixes(drill)
    causes = next((each.causes for each in steps[-1].pending if (each.namespace, each.workload) in new), ())
    return DrillResult(
        kind="DrillResult",
        verdict=verdict,
        says=_says(drill),
        causes=causes,
        remedies=remedies,
        untried=untried,
        unjudged=drill.unjudged,
        assumed=("unjudged pods take no node, and any node",)
        if drill.assumed is not None and verdict != "unknown"
        else (),
        holds=verdict == "yes",
        nodes=drill.nodes,
        steps=steps,
        breaches=tuple(map(_breach, drill.breaches)),
        runs=drill.runs,
        ranges=tuple(
            StepBounds(
                pending=each.pending,
                stuck=each.stuck,
                skews=tuple(
                    SkewRange(workload=workload, topology_key=key, least=least, most=most)
                    for (workload, key), (least, most) in each.skews.items()
                ),
            )
            for each in drill.ranges
        ),
        partial=drill.partial,
        pools=tuple(map(pool_of, drill.pools)),
        pending_before=sum(len(each.pods) for each in drill.steps[0].pending),
        mending=tuple(
            MendingEviction(pod=f"{each.namespace}/{each.name}", node=each.node, to=each.target)
            for each in (mending.moves if mending is not None else ())
        ),
        warnings=tuple(drill.warnings),
        notes=tuple(drill.notes),
    )


def _fixes(drill: Drill) -> tuple[tuple[DrillRemedy, ...], int]:
    if drill.begun is None or not drill.harm.pending:
        return (), 0
    from topospread.explanation.drill_fixes import fixes_of

    from .remedies import remedy_of

    found = fixes_of(drill)
    fixes = tuple(
        DrillRemedy(**asdict(remedy_of(each.suggestion)), pending=each.pending, pending_without=each.before)
        for each in found.fixes
    )
    return fixes, found.untried


def _says(drill: Drill) -> str:
    """Return the verdict's sentence: the harm, or the ready pods if there is none."""
    harm, end = drill.harm, drill.steps[-1]
    parts = []
    if harm.pending:
        pods = sum(each.pods for each in harm.pending)
        names = listed([f"{each.namespace}/{each.workload.partition('/')[2]}" for each in harm.pending], 2)
        parts.append(f"{counted(pods, 'pod')} of {names} {_are(pods)} pending at the end")
    if harm.stuck:
        names = listed([f"{each.namespace}/{each.name}" for each in harm.stuck], 2)
        parts.append(f"the rollout of {names} is stuck")
    if harm.breaches:
        names = listed([each.budget for each in harm.breaches], 2)
        parts.append(f"{counted(len(harm.breaches), 'PodDisruptionBudget')} broken: {names}")
    if harm.not_evicted:
        parts.append(f"{counted(len(harm.not_evicted), 'pod')} not evicted")
    unjudged = len({pod for each in drill.unjudged for pod in each.pods})
    if unjudged:
        parts.append(f"{counted(unjudged, 'pod')} {_are(unjudged)} not judged")
    if not parts:
        steps = counted(len(drill.steps) - 1, "step")
        parts.append(f"{counted(end.ready, 'pod')} {_are(end.ready)} ready after {steps}, and no pod is newly pending")
    if drill.partial:
        parts.append(f"partial: {drill.partial}")
    return "; ".join(parts)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _step(each: StepOutcome, traffic: ExpectedTraffic | None) -> DrillStep:
    scaled = each.autoscaled
    return DrillStep(
        step=each.step,
        begins=each.begins,
        ends=each.ends,
        ready=each.ready,
        events=tuple(map(_event, each.events)),
        workloads=tuple(map(_workload, each.changed)),
        pending=tuple(map(pending_pods, each.pending)),
        breaches=tuple(map(_breach, each.breaches)),
        not_evicted=tuple(
            UnevictedPod(
                namespace=left.pod.namespace,
                name=left.pod.name,
                workload=left.pod.workload,
                node=left.pod.node,
                why=left.why,
            )
            for left in each.not_evicted
        ),
        rollouts=tuple(
            DrillRollout(
                kind=one.kind,
                namespace=one.namespace,
                name=one.name,
                updated=one.updated,
                replicas=one.replicas,
                old=one.old,
                over=one.is_over,
            )
            for one in each.rollouts
        ),
        remarks=tuple(each.remarks),
        autoscaled=None
        if scaled is None
        else DrillAutoscaler(
            namespace=scaled.namespace,
            name=scaled.name,
            target=scaled.target,
            least=scaled.least,
            most=scaled.most,
            fits=scaled.fits,
            why=scaled.why,
        ),
        traffic=traffic,
    )


def _event(each: Event) -> DrillEvent:
    return DrillEvent(
        at=each.at,
        kind=each.kind,
        detail=each.detail,
        nodes=tuple(each.nodes),
        pods=tuple(map(_pod, each.pods)),
        ready=each.ready,
        pending=each.pending,
    )


def _pod(each: PodThere) -> DrillPod:
    return DrillPod(namespace=each.namespace, name=each.name, workload=each.workload, node=each.node)


def _workload(each: WorkloadState) -> DrilledWorkload:
    return DrilledWorkload(
        kind=each.kind,
        namespace=each.namespace,
        name=each.name,
        replicas=each.replicas,
        ready_before=each.ready_before,
        ready=each.ready,
        fewest=each.fewest,
        pending=each.pending,
        terminating=each.terminating,
        spread=tuple(map(spread_outcome, each.spread)),
    )


def _breach(each: BudgetBreach) -> BrokenBudget:
    return BrokenBudget(budget=each.budget, at=each.at, healthy=each.healthy, needed=each.needed)
