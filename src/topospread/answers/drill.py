"""The answer of ``topospread drill``: do the steps end without new harm?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import asdict, replace

from topospread.answer import Answer
from topospread.base import Base, Word
from topospread.drill.result import (
    BrokenBudget,
    DrillAutoscaler,
    DrillRollout,
    LostReplicas,
    StepBounds,
    UnevictedPod,
)
from topospread.simulation.unknown import is_unjudged
from topospread.traffic.result import ExpectedTraffic

from .remedies import DrillRemedy, remedy_of
from .spread import PendingPods, Pool, SpreadOutcome, pending_pods, pool_of, spread_outcome
from .words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topospread.drill.result import Drill, DrillEvent, StepOutcome, WorkloadState
    from topospread.rebalance.result import Rebalance
    from topospread.why.drill_fixes import DrillFix


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
    unjudged: Annotated[int, Meta(description="Those of the pending pods that are not judged: they may have a node.")]
    terminating: Annotated[int, Meta(description="Pods that are deleted on nodes that are down.")]
    spread: Annotated[tuple[SpreadOutcome, ...], Meta(description="Its constraints, before and after the step.")]


class DrilledPods(Base, frozen=True, kw_only=True):
    """The pods of one workload in an event."""

    namespace: Annotated[str, Meta(description="Namespace of the pods.")]
    workload: Annotated[str, Meta(description="`Deployment/web`; empty for pods without a workload.")]
    nodes: Annotated[dict[str, str], Meta(description="Name of a pod → node that it was on, or that it gets.")]


class DrilledEvent(Base, frozen=True, kw_only=True):
    """An event in a step."""

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
    pods: Annotated[tuple[DrilledPods, ...], Meta(description="Pods of the event, by workload.")]
    ready: Annotated[int, Meta(description="Ready pods of workloads just after the event.")]
    pending: Annotated[int, Meta(description="Pending pods just after the event.")]


class DrillStep(Base, frozen=True, kw_only=True):
    """The state at the beginning, or after one step."""

    step: Annotated[str, Meta(description="The step as it was given; empty for the beginning.")]
    begins: Annotated[float, Meta(description="Seconds since the drill began.")]
    ends: Annotated[float, Meta(description="Seconds since the drill began at the last event.")]
    ready: Annotated[int, Meta(description="Ready pods of workloads after the step.")]
    events: Annotated[tuple[DrilledEvent, ...], Meta(description="What happened, in order.")]
    workloads: Annotated[
        tuple[DrilledWorkload, ...],
        Meta(description="Workloads that the step changed; at the beginning, those that a step changes."),
    ]
    pending: Annotated[tuple[PendingPods, ...], Meta(description="Pending pods after the step, grouped.")]
    breaches: Annotated[tuple[BrokenBudget, ...], Meta(description="Budgets that the step broke.")]
    not_evicted: Annotated[tuple[UnevictedPod, ...], Meta(description="Pods that a drain did not evict.")]
    lost: Annotated[
        tuple[LostReplicas, ...],
        Meta(description="StatefulSets with pods that are not replaced after the step, fewest ready first."),
    ]
    rollouts: Annotated[tuple[DrillRollout, ...], Meta(description="Rollouts under way or completed.")]
    remarks: Annotated[tuple[str, ...], Meta(description="Sentences on what decides and is easily missed.")]
    autoscaled: Annotated[DrillAutoscaler | None, Meta(description="The autoscaler of the step; null if none.")]
    traffic: Annotated[ExpectedTraffic | None, Meta(description="Expected traffic, with `--traffic`.")] = None


class MendingEviction(Base, frozen=True, kw_only=True):
    """An eviction that reduces the remaining skew."""

    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the pod to evict.")]
    node: Annotated[str, Meta(description="Node that it is on.")]
    to: Annotated[str, Meta(description="Node of the pod that replaces it.")]


class FallbackGain(Base, frozen=True, kw_only=True):
    """Pods of a workload after a step: without the fallback to soft constraints while a domain is lost, and with it."""

    step: Annotated[int, Meta(description="Number of the step, from 1.")]
    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Pods that it wants.")]
    ready: Annotated[int, Meta(description="Ready pods without the fallback.")]
    ready_soft: Annotated[int, Meta(description="Ready pods with it.")]
    pending: Annotated[int, Meta(description="Pending pods without it.")]
    pending_soft: Annotated[int, Meta(description="Pending pods with it.")]
    spread: Annotated[tuple[SpreadOutcome, ...], Meta(description="Its constraints with it.")]


class DrillResult(Answer, frozen=True, kw_only=True):
    """Do the steps end without new harm?"""

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
    fallback: Annotated[
        tuple[FallbackGain, ...] | None,
        Meta(description="With `--fallback`: workloads that it changes, after each step; null without the option."),
    ] = None
    warnings: Annotated[tuple[str, ...], Meta(description="Sentences that a person must see.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Sentences that help a person.")] = ()


def drill_answer(
    drill: Drill, traffic: Sequence[ExpectedTraffic] = (), mending: Rebalance | None = None
) -> DrillResult:
    """Return the answer for a drill.

    Args:
        drill: the drill.
        traffic: expected traffic after each step.
        mending: evictions that remove the remaining skew.
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
        says=_says(drill, verdict),
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
        breaches=drill.breaches,
        runs=drill.runs,
        ranges=drill.ranges,
        partial=drill.partial,
        pools=tuple(map(pool_of, drill.pools)),
        pending_before=sum(len(each.pods) for each in drill.steps[0].pending),
        mending=tuple(
            MendingEviction(pod=f"{each.namespace}/{each.name}", node=each.node, to=each.target)
            for each in (mending.moves if mending is not None else ())
        ),
        fallback=tuple(_gains(drill, drill.fallback)) if drill.fallback is not None else None,
        warnings=tuple(drill.warnings),
        notes=tuple(drill.notes),
    )


def _gains(drill: Drill, soft: Drill) -> Iterator[FallbackGain]:
    """Yield the workloads that a fallback changes, for each step."""
    states: dict[tuple[str, str, str], list[WorkloadState]] = {}
    for number, steps in enumerate(zip(drill.steps, soft.steps, strict=False)):
        for which, step in enumerate(steps):
            for each in step.changed:
                states.setdefault((each.kind, each.namespace, each.name), [each, each])[which] = each
        for was, now in states.values():
            if _compared(was) != _compared(now):
                yield FallbackGain(
                    step=number,
                    kind=now.kind,
                    namespace=now.namespace,
                    name=now.name,
                    replicas=now.replicas,
                    ready=was.ready,
                    ready_soft=now.ready,
                    pending=was.pending,
                    pending_soft=now.pending,
                    spread=tuple(map(spread_outcome, now.spread)),
                )


def _compared(state: WorkloadState) -> tuple[int, ...]:
    return state.ready, state.pending, *(each.skew for each in state.spread)


def _fixes(drill: Drill) -> tuple[tuple[DrillRemedy, ...], int]:
    if drill.begun is None or not drill.harm.pending:
        return (), 0
    from topospread.why.drill_fixes import fixes_of

    found = fixes_of(drill)
    return tuple(map(_fix, found.fixes)), found.untried


def _fix(found: DrillFix) -> DrillRemedy:
    remedy = remedy_of(found.suggestion)
    tried = replace(remedy.tried, verdict="no" if found.harm else "yes")
    return DrillRemedy(
        **asdict(replace(remedy, tried=tried)),
        pending=found.pending,
        pending_without=found.before,
        not_evicted=len(found.harm.not_evicted),
    )


def _says(drill: Drill, verdict: Word) -> str:
    """Return the verdict's sentence: the harm, or the ready pods if there is none."""
    harm, end = drill.harm, drill.steps[-1]
    parts = []
    if harm.pending:
        pods = sum(each.pods for each in harm.pending)
        names = listed([f"{each.namespace}/{each.workload.partition('/')[2]}" for each in harm.pending], 2)
        newly = " newly" if drill.steps[0].pending else ""
        parts.append(f"{counted(pods, 'pod')} of {names} {_are(pods)}{newly} pending at the end")
    if end.lost:
        pods = sum(each.pods for each in end.lost)
        stay = f"{counted(pods, 'pod')} of StatefulSets {'stays' if pods == 1 else 'stay'} lost"
        parts.append(f"{stay}: {listed([str(each) for each in end.lost], 2)}")
    if harm.stuck:
        names = listed([f"{each.namespace}/{each.name}" for each in harm.stuck], 2)
        parts.append(f"the rollout of {names} {'may be' if verdict == 'unknown' else 'is'} stuck")
    if harm.breaches:
        names = listed([each.budget for each in harm.breaches], 2)
        parts.append(f"{counted(len(harm.breaches), 'PodDisruptionBudget')} broken: {names}")
    if harm.not_evicted:
        parts.append(f"{counted(len(harm.not_evicted), 'pod')} not evicted")
    unjudged = len({pod for each in drill.unjudged for pod in each.pods})
    if unjudged:
        parts.append(f"{counted(unjudged, 'pod')} {_are(unjudged)} not judged")
    if not parts or (verdict == "yes" and not unjudged):
        steps = counted(len(drill.steps) - 1, "step")
        ready = f"{counted(end.ready, 'pod')} {_are(end.ready)} ready after {steps}, and no pod is newly pending"
        parts.insert(0, ready)
    if drill.partial:
        parts.append(f"partial: {drill.partial}")
    return "; ".join(parts)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _step(each: StepOutcome, traffic: ExpectedTraffic | None) -> DrillStep:
    unjudged: Counter[tuple[str, str]] = Counter()
    for group in filter(is_unjudged, each.pending):
        unjudged[group.namespace, group.workload] += len(group.pods)
    return DrillStep(
        step=each.step,
        begins=each.begins,
        ends=each.ends,
        ready=each.ready,
        events=tuple(map(_event, each.events)),
        workloads=tuple(_workload(one, unjudged[one.namespace, f"{one.kind}/{one.name}"]) for one in each.changed),
        pending=tuple(map(pending_pods, each.pending)),
        breaches=each.breaches,
        not_evicted=each.not_evicted,
        lost=each.lost,
        rollouts=each.rollouts,
        remarks=each.remarks,
        autoscaled=each.autoscaled,
        traffic=traffic,
    )


def _event(each: DrillEvent) -> DrilledEvent:
    pods: dict[tuple[str, str], dict[str, str]] = {}
    for pod in each.pods:
        pods.setdefault((pod.namespace, pod.workload), {})[pod.name] = pod.node
    return DrilledEvent(
        at=each.at,
        kind=each.kind,
        detail=each.detail,
        nodes=each.nodes,
        pods=tuple(
            DrilledPods(namespace=namespace, workload=workload, nodes=nodes)
            for (namespace, workload), nodes in pods.items()
        ),
        ready=each.ready,
        pending=each.pending,
    )


def _workload(each: WorkloadState, unjudged: int) -> DrilledWorkload:
    return DrilledWorkload(
        kind=each.kind,
        namespace=each.namespace,
        name=each.name,
        replicas=each.replicas,
        ready_before=each.ready_before,
        ready=each.ready,
        fewest=each.fewest,
        pending=each.pending,
        unjudged=unjudged,
        terminating=each.terminating,
        spread=tuple(map(spread_outcome, each.spread)),
    )
