"""Simulate the failure of every zone or node, or every Deployment's rollout, one at a time. Sort the results worst
first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta
from msgspec.structs import replace as replace_fields

from topospread.answer import ExceededSkew, Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.well_known_labels import ZONE
from topospread.base import Base, Word, worst
from topospread.cluster.device_use import DeviceUse
from topospread.controllers.planned import Workload
from topospread.controllers.revisions import TEMPLATE_HASH_LABEL
from topospread.errors import UsageError
from topospread.plain_data import PlainData
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation.missed_selectors import missed_selectors
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import spreads
from topospread.simulation.unknown import is_unjudged, unjudged_parts
from topospread.simulation.unknown import merged as merged_parts
from topospread.text import not_in_namespace

from .drill import RUNS, options_of_run
from .drill_run import DrillRun
from .forked import answers, can_fork, cores
from .interruption import Interrupted
from .notes import not_replaced
from .result import LostReplicas, StepOutcome, grown_over, newly_lost, newly_pending, step_within
from .shards import DrillPart, Shard, mark, whole_marks
from .steps import Fail, NodeChoice, Rollout, Step

EachKind = Literal["zone", "node", "deploy"]


class DrillOutcome(Base, frozen=True):
    """The result of one drill of ``--each``."""

    target: Annotated[str, Meta(description="The zone, the node, or NAMESPACE/NAME of the Deployment.")]
    step: Annotated[str, Meta(description="The step of the drill.")]
    verdict: Annotated[Word, Meta(description="Whether it ends without harm.")]
    holds: Annotated[bool, Meta(description="Whether the verdict is yes.")]
    pending: Annotated[int, Meta(description="Newly pending pods at the end.")]
    pending_of: Annotated[
        tuple[str, ...], Meta(description="Workloads of these pods, NAMESPACE/NAME, most pods first.")
    ]
    lost: Annotated[int, Meta(description="Largest number of missing ready pods at any moment, without DaemonSets.")]
    gone: Annotated[tuple[str, ...], Meta(description="Largest number of workloads without a ready pod at any moment.")]
    broken: Annotated[tuple[str, ...], Meta(description="Violated PodDisruptionBudgets.")]
    stuck: Annotated[bool, Meta(description="Whether a rollout is not complete at the end.")]
    settled: Annotated[float, Meta(description="Seconds until the last event.")]
    not_replaced: Annotated[
        tuple[str, ...], Meta(description="Terminating StatefulSet pods on NotReady nodes, NAMESPACE/NAME.")
    ]
    lost_quorum: Annotated[
        tuple[LostReplicas, ...],
        Meta(description="StatefulSets that lost most of their pods and do not replace them."),
    ]
    unjudged: Annotated[int, Meta(description="Pending pods that are not judged.")]
    exceeds: Annotated[
        tuple[ExceededSkew, ...],
        Meta(description="Skew over maxSkew that a rollout leaves, the largest of 8 runs. It is no harm."),
    ] = ()


_Spreads = Mapping[ObjectKey, Sequence[ConstraintArithmetic]]


class _Begun(NamedTuple):
    """A drill before its step, and the constraints of each workload."""

    play: DrillRun
    outcome: StepOutcome
    spreads: _Spreads


_Found = tuple[DrillOutcome, tuple[Unjudged, ...]]
"""A drill's outcome, and the unmodelled parts of its pending pods."""


@dataclass(frozen=True)
class EachDrill(PlainData):
    """The outcomes of all drills, worst first.

    Attributes:
        partial: where the run was interrupted; "" if it is complete.
        part: the shard, if only one was requested.
        unjudged: parts of pods that topospread does not model.
        namespace: namespace whose workloads are judged; None for all.
    """

    kind: EachKind
    outcomes: tuple[DrillOutcome, ...]
    warnings: tuple[str, ...] = ()
    partial: str = ""
    part: DrillPart | None = None
    unjudged: tuple[Unjudged, ...] = ()
    namespace: str | None = None

    @property
    def verdict(self) -> Word:
        """Yes if all drills end without harm."""
        return worst(each.verdict for each in self.outcomes)

    @property
    def holds(self) -> bool:
        """True if all drills end without harm."""
        return self.verdict == "yes"


def drill_each(  # noqa: PLR0913 - what to play, and how it is shared out
    inventory: Inventory,
    kind: EachKind,
    options: SimulationOptions,
    workers: int | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    shard: Shard | None = None,
    namespace: str | None = None,
) -> EachDrill:
    """Simulate the failure of every zone or node, or the rollout of every Deployment, one at a time.

    Args:
        inventory: the initial cluster.
        kind: zone, node or deploy.
        options: the simulation options.
        workers: number of parallel processes; by default one for each core.
        progress: receives the number of finished drills and the total.
        shard: run only this shard; `merged` merges shards.
        namespace: judge only the workloads of this namespace; None for all namespaces.

    Raises:
        InputError: if the API server denies an object.
        UsageError: if there is no such object.
        Interrupted: on Ctrl-C, with the finished drills.
    """
    first = _begun(inventory, options)
    play = first.play
    own = [each for each in play.state.run.plan.workloads if namespace in (None, each.namespace)]
    if not own and namespace is not None:
        raise UsageError(not_in_namespace(namespace, {each.namespace for each in play.state.run.plan.workloads}))
    every = [
        each for each in targets_of(play, kind) if kind != "deploy" or namespace in (None, each[0].partition("/")[0])
    ]
    if not every:
        raise UsageError(f"--each {kind}: there is none")
    targets = shard.share(every) if shard is not None else every
    part = mark(shard, [name for name, _ in every]) if shard is not None else None
    devices = play.state.cluster.objects.devices
    drawn = {f"{each.namespace}/{each.name}" for each in own if kind == "deploy" and _counts_old_pods(each, first)}
    again = [each for each in targets if each[0] in drawn]
    total = len(targets) + (RUNS - 1) * len(again)
    found: dict[str, list[_Found]] = {name: [] for name, _ in targets}
    warnings = tuple(_warnings(first, own, kind))

    def anew(target: tuple[str, Step], how: SimulationOptions, number: int) -> _Found:
        begun = _begun(inventory, how, number, devices)
        return _outcome(target, begun, begun.play.go_on(target[1]), namespace)

    def bracketed(target: tuple[str, Step], of: _Found, number: int) -> _Found:
        """Return the outcome. Its verdict becomes no if harm also results when unmodelled filters admit every node."""
        outcome, parts = of
        if outcome.verdict != "unknown" or not _has_harm(outcome):
            return of
        other, _ = anew(target, replace(options_of_run(options, number), assumes_unjudged=True), number)
        return (replace_fields(outcome, verdict="no") if other.verdict == "no" else outcome), parts

    def run(number: int, some: Sequence[tuple[str, Step]]) -> None:
        """Run drills with the random choices of a run, and add their outcomes to ``found``."""
        before = sum(map(len, found.values()))

        def told(done: int, _: int) -> None:
            if progress is not None:
                progress(before + done, total)

        how = options_of_run(options, number)
        if not can_fork():
            played = [bracketed(each, anew(each, how, number), number) for each in some]
        else:
            begun = _begun(inventory, how, number, devices) if number else first

            def ask(target: tuple[str, Step]) -> _Found:
                return bracketed(target, _outcome(target, begun, begun.play.go_on(target[1]), namespace), number)

            played = answers(ask, some, workers or cores(), told)
        for each in played:
            found[each[0].target].append(each)

    def all_of(partial: str = "") -> EachDrill:
        ordered = sorted((_of_runs(each) for each in found.values() if each), key=lambda each: _goodness(each[0]))
        unjudged = merged_parts(*(parts for _, parts in ordered))
        outcomes = tuple(outcome for outcome, _ in ordered)
        return EachDrill(kind, outcomes, warnings, partial, part, unjudged, namespace)

    _look_once(play)
    devices.share(devices, max(len(targets), 1))
    for number in range(RUNS if again else 1):
        try:
            run(number, again if number else targets)
        except Interrupted as interrupted:
            for each in interrupted.finished:
                found[each[0].target].append(each)
            ended = (
                f"in run {number + 1} of {RUNS}"
                if number
                else f"after {sum(map(bool, found.values()))} of {len(targets)}"
            )
            raise Interrupted(all_of(f"ended {ended}")) from None
    return all_of()


def _begun(
    inventory: Inventory, options: SimulationOptions, number: int = 0, devices: DeviceUse | None = None
) -> _Begun:
    """Begin a drill, which shares the steps of the search for devices."""
    play = DrillRun(inventory, options, {}, number)
    play.says_how_spread = False
    if devices is not None:
        play.state.cluster.objects.devices.share(devices)
    begin = play.begin()
    return _Begun(play, begin, _spreads(play, play.state.run.plan.workloads))


def _spreads(play: DrillRun, of: Sequence[Workload]) -> _Spreads:
    found = spreads(play.state.run, of)
    return {key_of(each): found.get(id(each), ()) for each in of}


def _warnings(begun: _Begun, own: Sequence[Workload], kind: EachKind) -> Iterator[str]:
    state = begun.play.state
    yield from state.warnings
    yield from missed_selectors((f"{each.namespace}/{each.name}", begun.spreads[key_of(each)]) for each in own)
    if state.down and kind != "deploy":
        yield f"nodes that are already NotReady: {len(state.down)}; no drill fails them"


def _counts_old_pods(workload: Workload, begun: _Begun) -> bool:
    """Return whether a hard constraint of a Deployment also counts pods of the old revision.

    Then the skew after a rollout depends on the order of its pods.
    """
    constraints = begun.spreads[key_of(workload)]
    return workload.kind == "Deployment" and any(
        one.hard and TEMPLATE_HASH_LABEL not in one.selector for one in constraints
    )


def _of_runs(runs: Sequence[_Found]) -> _Found:
    """Return the first outcome with harm, else the first one, with the largest skew of all runs."""
    outcome, parts = next((each for each in runs if each[0].verdict == "no"), runs[0])
    largest: dict[str, ExceededSkew] = {}
    for each in (one for found, _ in runs for one in found.exceeds):
        if each.topology_key not in largest or each.skew > largest[each.topology_key].skew:
            largest[each.topology_key] = each
    return replace_fields(outcome, exceeds=tuple(largest.values())), parts


def merged(parts: Sequence[tuple[str, EachDrill]]) -> EachDrill:
    """Merge shards, each with its file name, into the result of a single run.

    Raises:
        UsageError: if the shards do not belong together, or one is incomplete.
    """
    whole_marks(parts)
    if len(namespaces := {each.namespace for _, each in parts}) > 1:
        raise UsageError(f"the shards judge different namespaces (-n): {', '.join(sorted(map(str, namespaces)))}")
    found = sorted((outcome for _, each in parts for outcome in each.outcomes), key=_goodness)
    warnings = dict.fromkeys(warning for _, each in parts for warning in each.warnings)
    unjudged = merged_parts(*(each.unjudged for _, each in parts))
    return EachDrill(parts[0][1].kind, tuple(found), tuple(warnings), unjudged=unjudged, namespace=namespaces.pop())


def over_so_far(parts: Sequence[EachDrill]) -> EachDrill:
    """Combine the finished parts (at least one) into an incomplete result."""
    marks = [each.part for each in parts if each.part is not None]
    found = sorted((outcome for each in parts for outcome in each.outcomes), key=_goodness)
    ended = f"ended after {len(found)} of {marks[0].targets}"
    unjudged = merged_parts(*(each.unjudged for each in parts))
    return EachDrill(parts[0].kind, tuple(found), parts[0].warnings, ended, None, unjudged, parts[0].namespace)


def _look_once(play: DrillRun) -> None:
    """Schedule each workload's pods once now, so that the cached results are shared by all forked drills."""
    run = play.state.run
    for workload in run.plan.workloads:
        if workload.template is not None:
            run.scheduler.finds_a_node(workload.template)


def targets_of(play: DrillRun, kind: EachKind) -> list[tuple[str, Step]]:
    """Return the name of each zone, node or Deployment, with the step that fails or rolls it out.

    Nodes that are NotReady already cannot fail, nor zones of only such nodes.
    """
    state = play.state
    nodes = [each for each in state.cluster.nodes.nodes if each is not None and each.name not in state.down]
    if kind == "deploy":
        deployments = [each for each in state.run.plan.workloads if each.kind == "Deployment" and each.replicas]
        return [
            (f"{each.namespace}/{each.name}", Rollout(f"{each.namespace}/deploy/{each.name}")) for each in deployments
        ]
    if kind == "node":
        return [(each.name, Fail(NodeChoice("node", each.name))) for each in nodes]
    zones = dict.fromkeys(each.labels[ZONE] for each in nodes if ZONE in each.labels)
    return [(each, Fail(NodeChoice(ZONE, each))) for each in zones]


def _outcome(target: tuple[str, Step], begun: _Begun, outcome: StepOutcome, namespace: str | None) -> _Found:
    play, begin, before = begun
    is_judged = play.is_unaffected([target[1]], [begin, outcome])
    evicted = {f"{pod.namespace}/{pod.name}" for each in outcome.events if each.kind == "evicted" for pod in each.pods}
    begin, outcome = step_within(begin, namespace), step_within(outcome, namespace)
    open_before, open_after = (
        sum(len(each.pods) for each in step.pending if is_unjudged(each)) for step in (begin, outcome)
    )
    broken = {each.budget for each in begin.breaches}
    pending = newly_pending(begin, outcome)
    found = DrillOutcome(
        target=target[0],
        step=str(outcome.step),
        lost=sum(max(each.ready_before - each.fewest, 0) for each in outcome.changed if each.kind != "DaemonSet"),
        gone=tuple(
            f"{each.namespace}/{each.name}" for each in outcome.changed if each.ready_before and not each.fewest
        ),
        pending=sum(each.pods for each in pending),
        pending_of=tuple(f"{each.namespace}/{each.workload.partition('/')[2]}" for each in pending),
        broken=tuple(each.budget for each in outcome.breaches if not (each.by_rollout or each.budget in broken)),
        stuck=any(not each.over for each in outcome.rollouts),
        settled=outcome.ends - outcome.begins,
        not_replaced=tuple(
            each.key for each in not_replaced(play.state) if each.key in evicted and namespace in (None, each.namespace)
        ),
        lost_quorum=newly_lost(begin, outcome),
        unjudged=max(open_before, open_after),
        exceeds=tuple(_left_skews(target, before, play)) if isinstance(target[1], Rollout) else (),
        verdict="yes",
        holds=False,
    )
    verdict: Word = "unknown" if found.unjudged and not is_judged else "no" if _has_harm(found) else "yes"
    judged = replace_fields(found, verdict=verdict, holds=verdict == "yes")
    return judged, unjudged_parts([*begin.pending, *outcome.pending])


def _left_skews(target: tuple[str, Step], before: _Spreads, play: DrillRun) -> Iterator[ExceededSkew]:
    rolled = [
        each
        for each in play.state.run.plan.workloads
        if each.kind == "Deployment" and f"{each.namespace}/{each.name}" == target[0]
    ]
    for key, after in _spreads(play, rolled).items():
        for one in grown_over(before.get(key, ()), after):
            yield ExceededSkew(topology_key=one.topology_key, max_skew=one.max_skew, skew=one.skew)


def _has_harm(each: DrillOutcome) -> bool:
    return bool(each.pending or each.broken or each.stuck or each.lost_quorum)


def _goodness(each: DrillOutcome) -> tuple[object, ...]:
    """Return a sort key: the worst drill first."""
    return (
        -each.pending,
        -len(each.lost_quorum),
        not each.stuck,
        -len(each.gone),
        -len(each.broken),
        -each.lost,
        each.target,
    )
