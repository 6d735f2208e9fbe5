"""The answer of ``topospread drill``: do the steps end without new harm?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from msgspec import Meta
from msgspec.structs import asdict, replace

from topospread.answer import Answer, Cause
from topospread.api.inventory import ObjectKey, key_of
from topospread.base import Base, Word
from topospread.drill.drill import within
from topospread.drill.result import (
    BrokenBudget,
    DrillAutoscaler,
    DrillRollout,
    LostReplicas,
    StepBounds,
    UnevictedPod,
)
from topospread.errors import UsageError
from topospread.scheduling.disruption_budgets import budget_selector
from topospread.simulation.missed_selectors import missed_selectors
from topospread.simulation.unknown import is_unjudged
from topospread.text import not_in_namespace
from topospread.traffic.result import ExpectedTraffic

from .remedies import DrillRemedy, remedy_of
from .spread import PendingPods, Pool, SpreadOutcome, pending_pods, pool_of, spread_outcome
from .words import agreeing, counted, listed, noun_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from topospread.answer import Unjudged
    from topospread.api.pod import Pod
    from topospread.api.policy import PodDisruptionBudget
    from topospread.drill.result import Drill, DrillEvent, Harm, StepOutcome, WorkloadState
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic
    from topospread.rebalance.result import Rebalance
    from topospread.why.drill_fixes import DrillFix

    Spreads = Mapping[tuple[str, str, str], Sequence[ConstraintArithmetic]]
    """Kind, namespace and name of a workload → its constraints."""


class DrilledWorkload(Base, frozen=True, kw_only=True):
    """A workload after a step."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Desired pods.")]
    ready_before: Annotated[int, Meta(description="Ready pods when the step began.")]
    ready: Annotated[int, Meta(description="Ready pods after the step.")]
    fewest: Annotated[int, Meta(description="Fewest ready pods at any moment of the step.")]
    pending: Annotated[int, Meta(description="Pods without a node.")]
    unjudged: Annotated[int, Meta(description="Pending pods that topospread cannot judge; they may have a node.")]
    terminating: Annotated[int, Meta(description="Terminating pods on NotReady nodes.")]
    constraints: Annotated[tuple[SpreadOutcome, ...], Meta(description="Its constraints, before and after the step.")]


class DrilledPods(Base, frozen=True, kw_only=True):
    """The pods of one workload in an event."""

    namespace: Annotated[str, Meta(description="Namespace of the pods.")]
    workload: Annotated[str, Meta(description="`Deployment/web`; empty for pods without a workload.")]
    nodes: Annotated[dict[str, str], Meta(description="Pod name → its old node, or its new node if it is placed.")]


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
    begins: Annotated[float, Meta(description="Start of the step, in seconds since the drill began.")]
    ends: Annotated[float, Meta(description="Time of the last event, in seconds since the drill began.")]
    ready: Annotated[int, Meta(description="Ready pods of workloads after the step.")]
    events: Annotated[tuple[DrilledEvent, ...], Meta(description="What happened, in order.")]
    workloads: Annotated[
        tuple[DrilledWorkload, ...],
        Meta(description="Workloads that the step changed; for the beginning, those that any step changes."),
    ]
    pending: Annotated[tuple[PendingPods, ...], Meta(description="Pending pods after the step, grouped.")]
    breaches: Annotated[tuple[BrokenBudget, ...], Meta(description="Violated PodDisruptionBudgets in the step.")]
    not_evicted: Annotated[tuple[UnevictedPod, ...], Meta(description="Pods that a drain did not evict.")]
    lost: Annotated[
        tuple[LostReplicas, ...],
        Meta(description="StatefulSets with pods that are not replaced after the step, fewest ready first."),
    ]
    rollouts: Annotated[tuple[DrillRollout, ...], Meta(description="Rollouts under way or completed.")]
    remarks: Annotated[tuple[str, ...], Meta(description="Important facts that are easily missed.")]
    autoscaled: Annotated[DrillAutoscaler | None, Meta(description="The autoscaler of the step; null if none.")]
    traffic: Annotated[ExpectedTraffic | None, Meta(description="Expected traffic, with `--traffic`.")] = None


class MendingEviction(Base, frozen=True, kw_only=True):
    """An eviction that reduces the remaining skew."""

    pod: Annotated[str, Meta(description="NAMESPACE/NAME of the pod to evict.")]
    node: Annotated[str, Meta(description="Node that it is on.")]
    to: Annotated[str, Meta(description="Node of the pod that replaces it.")]


class FallbackGain(Base, frozen=True, kw_only=True):
    """A workload after a step, with and without soft constraints while a domain is lost (``--fallback``)."""

    step: Annotated[int, Meta(description="Number of the step, from 1.")]
    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Desired pods.")]
    ready: Annotated[int, Meta(description="Ready pods without the fallback.")]
    ready_soft: Annotated[int, Meta(description="Ready pods with the fallback.")]
    pending: Annotated[int, Meta(description="Pending pods without the fallback.")]
    pending_soft: Annotated[int, Meta(description="Pending pods with the fallback.")]
    constraints: Annotated[tuple[SpreadOutcome, ...], Meta(description="The workload's constraints with the fallback.")]


class DrillResult(Answer, frozen=True, kw_only=True):
    """Do the steps end without new harm?"""

    PAGE: ClassVar[str] = "topospread.render.pages.drill:page"

    holds: Annotated[bool, Meta(description="Whether the verdict is yes.")]
    nodes: Annotated[int, Meta(description="Number of nodes at the end.")]
    steps: Annotated[tuple[DrillStep, ...], Meta(description="The beginning, and each step.")]
    breaches: Annotated[
        tuple[BrokenBudget, ...], Meta(description="Violated PodDisruptionBudgets, each at its worst moment.")
    ]
    runs: Annotated[int, Meta(description="Runs with different random choices; `steps` are those of the first run.")]
    ranges: Annotated[tuple[StepBounds, ...], Meta(description="Each step over all runs; empty for one run.")]
    partial: Annotated[str, Meta(description="Why the drill ended early; empty if it is complete.")]
    pools: Annotated[tuple[Pool, ...], Meta(description="The pools of `--pools`, by name.")]
    namespace: Annotated[str | None, Meta(description="Namespace of `-n` that the answer is about; null for all.")] = (
        None
    )
    elsewhere: Annotated[
        str, Meta(description="With `-n`: harm in other namespaces, which the verdict leaves out; empty if none.")
    ] = ""
    pending_before: Annotated[
        int, Meta(description="Pods that were already pending at the beginning, which is no harm.")
    ]
    newly_pending: Annotated[
        dict[str, int],
        Meta(description="NAMESPACE/KIND/NAME of a workload → its newly pending pods at the end, most first."),
    ]
    remedies: Annotated[
        tuple[DrillRemedy, ...], Meta(description="Changes that leave fewer pods newly pending, fewest first.")
    ] = ()
    untried: Annotated[int, Meta(description="Changes that were not tried because of the limit on work.")] = 0
    mending: Annotated[
        tuple[MendingEviction, ...], Meta(description="Evictions that remove the remaining skew, in order.")
    ] = ()
    fallback: Annotated[
        tuple[FallbackGain, ...] | None,
        Meta(description="Workloads that `--fallback` changes, for each step; null without the option."),
    ] = None
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings for the user.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes for the user.")] = ()


def drill_answer(
    drill: Drill,
    traffic: Sequence[ExpectedTraffic] = (),
    mending: Rebalance | None = None,
    namespace: str | None = None,
) -> DrillResult:
    """Return the answer for a drill.

    Args:
        drill: the drill.
        traffic: expected traffic after each step.
        mending: evictions that remove the remaining skew.
        namespace: namespace that the answer is about; by default all.

    Raises:
        UsageError: if the namespace has no workload.
    """
    there = {each.namespace for each in drill.workloads}
    if namespace is not None and namespace not in there and not drill.partial:
        raise UsageError(not_in_namespace(namespace, there))
    whole, drill = drill, within(drill, namespace)
    verdict = drill.verdict
    # Pods of other namespaces that are not judged compete for the same nodes.
    unjudged = whole.unjudged if verdict == "unknown" else drill.unjudged
    moved = [*traffic, *[None] * len(drill.steps)]
    steps = tuple(_step(each, told) for each, told in zip(drill.steps, moved, strict=False))
    new = {f"{each.namespace}/{each.workload}": each.pods for each in drill.harm.pending}
    remedies, untried = _fixes(drill)
    is_by_old = any(each.code == "matchLabelKeys" for each in remedies)
    skews = [
        f"{namespace_}/{name} ends with {noun_of(key)} skew up to {skew}, over maxSkew {limit}"
        for ((_, namespace_, name), key), (skew, limit) in drill.left_skews.items()
    ]
    causes = [each.causes for name in new for each in steps[-1].pending if f"{each.namespace}/{each.workload}" == name]
    return DrillResult.like(
        drill,
        kind="DrillResult",
        verdict=verdict,
        says=_says(drill, verdict, unjudged, skews),
        unjudged=unjudged,
        elsewhere="" if drill.elsewhere is None else "; ".join(harm_words(drill.elsewhere, verdict, " newly")),
        causes=next(
            iter(causes), tuple(Cause(code="old-pods-count", says=_OLD_COUNTS) for _ in skews[:1] if is_by_old)
        ),
        newly_pending=new,
        remedies=remedies,
        untried=untried,
        assumed=("the same whether unjudged pods find no node or any node",)
        if drill.unjudged and verdict != "unknown"
        else (),
        holds=verdict == "yes",
        steps=steps,
        pools=tuple(map(pool_of, drill.pools)),
        pending_before=sum(len(each.pods) for each in drill.steps[0].pending),
        mending=tuple(
            MendingEviction(pod=f"{each.namespace}/{each.name}", node=each.node, to=each.target)
            for each in (mending.moves if mending is not None else ())
        ),
        fallback=tuple(_gains(drill, drill.fallback)) if drill.fallback is not None else None,
        warnings=(
            *drill.warnings,
            *missed_selectors(
                (f"{each.namespace}/{each.name}", (one.arithmetic for one in each.spread)) for each in drill.workloads
            ),
        ),
        notes=tuple(drill.notes),
    )


def _gains(drill: Drill, soft: Drill) -> Iterator[FallbackGain]:
    """Yield the workloads that a fallback changes, for each step."""
    states: dict[tuple[str, str, str], list[WorkloadState]] = {}
    for number, steps in enumerate(zip(drill.steps, soft.steps, strict=False)):
        for which, step in enumerate(steps):
            for each in step.changed:
                states.setdefault(key_of(each), [each, each])[which] = each
        for was, now in states.values():
            if _compared(was) != _compared(now):
                yield FallbackGain.like(
                    now,
                    step=number,
                    ready=was.ready,
                    ready_soft=now.ready,
                    pending=was.pending,
                    pending_soft=now.pending,
                    constraints=tuple(map(spread_outcome, now.spread)),
                )


def _compared(state: WorkloadState) -> tuple[int, ...]:
    return state.ready, state.pending, *(each.skew for each in state.spread)


def _fixes(drill: Drill) -> tuple[tuple[DrillRemedy, ...], int]:
    if drill.begun is None or not (drill.harm.pending or drill.harm.not_evicted or drill.left_skews):
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


def harm_words(harm: Harm, verdict: Word, newly: str) -> Iterator[str]:
    """Yield each kind of harm in words.

    Args:
        newly: " newly" if pods were pending before.
    """
    if harm.pending:
        pods = sum(each.pods for each in harm.pending)
        names = listed([f"{each.namespace}/{each.workload.partition('/')[2]}" for each in harm.pending], 2)
        yield f"{counted(pods, 'pod')} of {names} {agreeing('are', pods)}{newly} pending at the end"
    if harm.lost:
        pods = sum(each.pods for each in harm.lost)
        stay = f"{counted(pods, 'pod')} of {'a StatefulSet is' if pods == 1 else 'StatefulSets are'} not replaced"
        yield f"{stay}: {listed([str(each) for each in harm.lost], 2)}"
    if harm.stuck:
        names = listed([f"{each.namespace}/{each.name}" for each in harm.stuck], 2)
        yield f"the rollout of {names} {'may be' if verdict == 'unknown' else 'is'} stuck"
    if harm.breaches:
        names = listed([each.budget for each in harm.breaches], 2)
        yield f"{counted(len(harm.breaches), 'PodDisruptionBudget')} broken: {names}"
    if harm.not_evicted:
        yield f"{counted(len(harm.not_evicted), 'pod')} not evicted"


class GrownSkew(NamedTuple):
    """A hard constraint over its maxSkew whose skew is larger than before.

    Attributes:
        key: kind, namespace and name of the workload.
        position: the constraint's position in the workload.
        counted: domains that count now and did not before.
    """

    key: ObjectKey
    position: int
    noun: str
    before: int
    after: int
    max_skew: int
    counted: tuple[str, ...]


def grown_skews(before: Spreads, after: Spreads) -> Iterator[GrownSkew]:
    """Yield each hard constraint over its maxSkew whose skew is larger than before, the largest first.

    Skew is not harm: it keeps no pod pending until the next pod is created.
    """
    over = [(key, it) for key, found in after.items() for it in found if it.hard and it.skew > it.max_skew]
    for key, each in sorted(over, key=lambda it: -it[1].skew):
        was = next((it for it in before.get(key, ()) if it.position == each.position), None)
        if was is None or each.skew > was.skew:
            known = {it.name for it in was.domains} if was is not None and len(was.domains) < len(each.domains) else ()
            counted = tuple(it.name for it in each.domains if it.name not in known) if known else ()
            noun, skew = noun_of(each.topology_key), was.skew if was is not None else 0
            yield GrownSkew(key, each.position, noun, skew, each.skew, each.max_skew, counted)


def guarding(
    outcome: StepOutcome, templates: Mapping[tuple[str, str, str], Pod], budgets: Iterable[PodDisruptionBudget]
) -> list[str] | None:
    """Return the budgets that select pods which a drain evicted; ``None`` if the step is no drain with evictions.

    Args:
        outcome: the step's outcome.
        templates: namespace, name and kind of a workload → its template.
        budgets: all budgets.
    """
    evicted = {
        (pod.namespace, name, kind)
        for each in outcome.events
        if each.kind == "evicted" and "drain " in outcome.step
        for pod in each.pods
        for kind, _, name in [pod.workload.partition("/")]
    }
    labels = [(key[0], templates[key].labels) for key in evicted if key in templates]
    selectors = ((each, budget_selector(each)) for each in budgets)
    found = {
        f"{each.namespace}/{each.name}"
        for each, selector in selectors
        if selector and any(space == each.namespace and selector.matches(of) for space, of in labels)
    }
    return sorted(found) if evicted else None


_OLD_COUNTS = "a hard constraint without matchLabelKeys: [pod-template-hash] also counts pods of the old revision"


def _says(drill: Drill, verdict: Word, open_parts: Sequence[Unjudged], skews: Sequence[str]) -> str:
    """Return the verdict's sentence: the skew and harm, or the ready pods without harm."""
    end, newly = drill.steps[-1], " newly" if drill.steps[0].pending else ""
    # Name the pods that the steps lost and that are not replaced, even if they are not harm.
    lost_before = {each.key: each.pods for each in drill.steps[0].lost}
    lost = tuple(each for each in end.lost if each.pods > lost_before.get(each.key, 0))
    parts = [*([listed(skews, 1)] if skews else []), *harm_words(replace(drill.harm, lost=lost), verdict, newly)]
    pods = {pod for each in open_parts for pod in each.pods}
    unjudged, namespaces = len(pods), sorted({pod.partition("/")[0] for pod in pods})
    if verdict == "yes" or not (unjudged or parts):
        ready = f"{counted(end.ready, 'pod')} {agreeing('are', end.ready)} ready"
        rolled = [f"{each.namespace}/{each.name}" for each in end.rollouts if each.over]
        if rolled:
            names = listed(rolled, 2)
            ready = f"the rollout of {names} is complete, {ready}, and no pod is{' newly' * bool(end.pending)} pending"
        else:
            ready += f" after {counted(len(drill.steps) - 1, 'step')}, and no pod is newly pending"
        parts.insert(0, ready)
    groups = (group for group in drill.steps[0].pending if not is_unjudged(group))
    before = {f"{group.namespace}/{pod}" for group in groups for pod in group.pods}
    events = (event for step in drill.steps for event in step.events if event.kind == "placed")
    placed = before.intersection(f"{pod.namespace}/{pod.name}" for event in events for pod in event.pods)
    placed -= {f"{group.namespace}/{pod}" for group in end.pending for pod in group.pods}
    if placed:
        of = f"{counted(len(before), 'pod')} that {agreeing('were', len(before))} pending"
        parts.append(f"{len(placed)} of {of} now {agreeing('have', len(placed))} a node")
    if unjudged and verdict == "unknown":
        of = f" of namespace{'s' * (len(namespaces) > 1)} {listed(namespaces, 2)}"
        where = of if drill.namespace is not None else ""
        parts.append(f"{counted(unjudged, 'pod')}{where} {agreeing('are', unjudged)} not judged")
    if drill.partial:
        parts.append(f"partial: {drill.partial}")
    return "; ".join(parts)


def _step(each: StepOutcome, traffic: ExpectedTraffic | None) -> DrillStep:
    unjudged: Counter[tuple[str, str]] = Counter()
    for group in filter(is_unjudged, each.pending):
        unjudged[group.namespace, group.workload] += len(group.pods)
    return DrillStep.like(
        each,
        events=tuple(map(_event, each.events)),
        workloads=tuple(_workload(one, unjudged[one.namespace, f"{one.kind}/{one.name}"]) for one in each.changed),
        pending=tuple(map(pending_pods, each.pending)),
        traffic=traffic,
    )


def _event(each: DrillEvent) -> DrilledEvent:
    pods: dict[tuple[str, str], dict[str, str]] = {}
    for pod in each.pods:
        pods.setdefault((pod.namespace, pod.workload), {})[pod.name] = pod.node
    return DrilledEvent.like(
        each,
        pods=tuple(
            DrilledPods(namespace=namespace, workload=workload, nodes=nodes)
            for (namespace, workload), nodes in pods.items()
        ),
    )


def _workload(each: WorkloadState, unjudged: int) -> DrilledWorkload:
    return DrilledWorkload.like(each, unjudged=unjudged, constraints=tuple(map(spread_outcome, each.spread)))
