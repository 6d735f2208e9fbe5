"""Place the cluster's own pods, then add replicas until one finds no node."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from msgspec.structs import replace as with_fields

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.pod import Pod
from topospread.api.pools import NodePool
from topospread.api.requests import pod_requests, resource_amounts
from topospread.api.well_known_labels import ZONE
from topospread.controllers.planned import is_refusal
from topospread.drill.drill_run import DrillRun
from topospread.drill.each import targets_of
from topospread.drill.forked import can_fork
from topospread.drill.interruption import Interrupted
from topospread.drill.notes import not_replaced
from topospread.drill.result import StepOutcome
from topospread.drill.steps import Step
from topospread.errors import UsageError
from topospread.simulation.changed_specs import with_specs
from topospread.simulation.final_inventory import inventory_after
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.pending import pending_group
from topospread.simulation.placing import place_all
from topospread.simulation.run import prepare
from topospread.simulation.unknown import merged, unjudged_parts
from topospread.sources.load import load
from topospread.text import listed

from .filling import CapacityQuestion, ParallelRun, Progress, SomeAnswers, capacity_of
from .purchases import Shape, as_pools, purchases, read_shape
from .result import Capacity, CapacityReport, ZoneLoss
from .sizing import sizing
from .wanted import pods_asked, read_more, read_shares, the_pod

# Capacity after each zone's loss: a drill simulates the loss, then replicas fill the remaining cluster.


def after_losses(inventory: Inventory, question: CapacityQuestion, work: ParallelRun) -> list[ZoneLoss]:
    """Return for each zone how many replicas fit if that zone alone is lost, fewest first.

    Raises:
        UsageError: if no node has a zone.
        Interrupted: on Ctrl-C, with `SomeAnswers` for the finished zones.
    """
    begun = _terse(inventory, question)
    zones = targets_of(begun, "zone")
    if not zones:
        raise UsageError("--each zone: there is none")
    waited = _waiting(begun.begin())
    forks = can_fork()

    def lost(zone: tuple[str, Step]) -> ZoneLoss:
        play, before = begun, waited
        if not forks:  # without fork, the effects of one zone's loss would remain for the next
            play = _terse(inventory, question)
            before = _waiting(play.begin())
        outcome = play.go_on(zone[1])
        capacity = capacity_of(play.state.inventory(), question)
        left = tuple(each.key for each in not_replaced(play.state))
        parts = unjudged_parts(outcome.pending)
        return ZoneLoss(zone[0], max(_waiting(outcome) - before, 0), capacity, left, parts)

    try:
        return _ranked(work.answers(lost, zones))
    except Interrupted as ended:
        raise Interrupted(SomeAnswers(_ranked(ended.finished), len(zones))) from None


def _ranked(found: list[ZoneLoss]) -> list[ZoneLoss]:
    return sorted(found, key=lambda each: (each.capacity.rounds, -each.pending, each.target))


def _terse(inventory: Inventory, question: CapacityQuestion) -> DrillRun:
    play = DrillRun(inventory, question.options, {})
    play.says_how_spread = False
    return play


def _waiting(outcome: StepOutcome) -> int:
    return sum(len(each.pods) for each in outcome.pending)


LIMIT = 10_000
"""Default maximum number of rounds."""
_ZONES = 6
"""Maximum number of zones in one sentence."""
SECONDS = 10.0
"""Default time limit of the search for a set of nodes, in seconds."""


@dataclass(frozen=True, slots=True)
class ExtraQuestions:
    """Additional questions about capacity.

    Attributes:
        more: required rounds, or a share of the replicas.
        each_zone: whether to examine each zone's loss as well.
        shapes: sizes of an additional node to try; by default the cluster's node sizes if too few replicas fit.
        workers: number of parallel processes; by default one for each core.
        seconds: time limit of the search for the cheapest set of pool nodes.
    """

    more: int | Fraction = 1
    each_zone: bool = False
    shapes: Sequence[Shape] = ()
    workers: int | None = None
    seconds: float = SECONDS

    def buys(self, found: Capacity) -> bool:
        """Return whether to try one more node: too few replicas fit, or a size is given."""
        if found.pending is None or is_refusal(found.pending.message):
            return False
        return self.is_short(found) or bool(self.shapes)

    def is_short(self, found: Capacity) -> bool:
        """Return whether fewer replicas fit than required."""
        short = any(each.more < pods_asked(self.more, each.share, each.replicas) for each in found.targets)
        return short or any(each.missing for each in found.targets)

    def rounds(self, found: Capacity) -> int:
        """Return the required number of complete rounds."""
        pods = ((pods_asked(self.more, each.share, each.replicas), each.share) for each in found.targets)
        return max(1, *(-(-asked // share) for asked, share in pods))


def capacity(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    *of: str,
    options: SimulationOptions = PLAIN,
    pod: str | os.PathLike[str] | None = None,
    namespace: str | None = None,
    more: int | str = 1,
    each_zone: bool = False,
    shapes: Sequence[str] = (),
    limit: int = LIMIT,
    workers: int | None = None,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> CapacityReport:
    """Return how many more replicas fit until the first stays pending, in addition to all current pods.

    Args:
        inventory: the input, which is not changed.
        of: ``deploy/web``, or several workloads with their replicas per round: ``deploy/web=2``, ``deploy/api=1``.
        options: the control plane and placement options; more replicas evict nothing. If too few replicas fit, the
            cheapest set of pool nodes is searched.
        pod: file with a pod, instead of workloads.
        namespace: namespace of workloads, and of a pod file, without one.
        more: required replicas (rounds for several workloads), or a share of the replicas, ``20%``.
        each_zone: require that they also fit after each zone's loss.
        shapes: sizes of an additional node to try in each zone, ``cpu=8,memory=32Gi``; by default the cluster's node
            sizes if too few replicas fit.
        limit: maximum number of rounds.
        workers: number of parallel processes; by default one for each core.
        seconds: time limit of the search for the cheapest set of pool nodes.
        progress: receives the progress.

    Raises:
        InputError: if the API server denies an object, or a path cannot be read.
        UsageError: if a target is missing or has no replicas, or options cannot be combined.
        topospread.drill.interruption.Interrupted: on Ctrl-C (a KeyboardInterrupt), with the partial result.
    """
    if of and pod is not None:
        raise UsageError("give either workloads or a pod's file")
    wanted = read_more(more)
    if isinstance(wanted, Fraction) and pod is not None:
        raise UsageError(f"--more {more}: a pod's file has no replicas to take a share of; write a number")
    own = None
    if pod is not None:
        own = the_pod(
            load([os.fspath(pod)], namespace=namespace or "default", needs_nodes=False, keeps_whole=True, applied=1),
            os.fspath(pod),
        )
    if options.pools and (each_zone or shapes):
        raise UsageError(f"--pools cannot be combined with {'--each zone' if each_zone else '--node-shape'}")
    limit = max(limit, wanted) if isinstance(wanted, int) else limit
    options = replace(options, tries_groups=True)
    question = CapacityQuestion(read_shares(of, namespace), own, limit, options)
    besides = ExtraQuestions(wanted, each_zone, [read_shape(each) for each in shapes], workers, seconds)
    found = answer(inventory, question, besides, progress)
    if not found.unjudged:
        return found
    assuming = replace(question, options=replace(options, assumes_unjudged=True))
    try:
        assumed = answer(inventory, assuming, replace(besides, shapes=()), progress)
        crowded = None
        if found.taken:
            crowded = answer(_crowded(inventory, found.taken), question, replace(besides, shapes=()), progress)
    except Interrupted as ended:
        raise Interrupted(
            replace(found, partial="ended before pods that are not judged were simulated", is_complete=False)
        ) from ended
    return replace(found, assumed=assumed, crowded=crowded)


def _crowded(inventory: Inventory, taken: Mapping[str, int]) -> Inventory:
    """Return an inventory with these requests subtracted from every node's allocatable: any node may get the pods."""
    nodes = []
    for node in inventory.nodes:
        amounts = resource_amounts(node.status.allocatable if node.status is not None else None)
        left = {name: max(amount - taken.get(name, 0), 0) for name, amount in amounts.items()}
        written = {name: f"{amount}{'m' if name == 'cpu' else ''}" for name, amount in left.items()}
        nodes.append(with_fields(node, status=with_fields(node.status, allocatable=written)) if amounts else node)
    return replace(inventory, nodes=nodes)


def answer(
    inventory: Inventory, question: CapacityQuestion, besides: ExtraQuestions, progress: Progress | None = None
) -> CapacityReport:
    """Return the result for all questions.

    Raises:
        InputError: if the API server denies an object.
        UsageError: if a target is missing, or there is no zone.
        Interrupted: on Ctrl-C, with the partial result.
    """
    run = prepare(inventory, replace(question.options, one_of_many=True), with_spreads=False)
    place_all(run, progress)
    # Parts that topospread does not model and that alone keep current pods pending.
    outcomes = ((each, run.outcomes[id(each)]) for each in run.queue)
    open_pods = [(each, one) for each, one in outcomes if one.verdict is not None and one.verdict.unjudged]
    unjudged = unjudged_parts(pending_group(each.workload, (each.name,), one, run.cluster) for each, one in open_pods)
    may_change = any(part.changes_pod for _, one in open_pods if one.verdict for part in one.verdict.unjudged)
    settled = inventory_after(run)
    warnings = (*run.plan.inventory.warnings, *run.plan.warnings)
    notes = (*run.plan.inventory.notes, *run.plan.notes)
    try:
        found = capacity_of(settled, question, progress)
    except Interrupted as ended:
        rounds = CapacityReport(ended.finished, besides.more, warnings=warnings, notes=notes, unjudged=unjudged)
        raise Interrupted(
            replace(rounds, partial=f"ended in round {rounds.capacity.rounds + 1}", is_complete=False)
        ) from None
    taken, own = Counter[str](), {key_of(each) for each in found.targets}
    for each, _ in open_pods:
        if each.workload is None or key_of(each.workload) not in own:
            taken.update({**pod_requests(each.pod), "pods": 1})
    unjudged = merged(unjudged, _of_end(found))
    notes = (*notes, *_rolled_out(found))
    report = CapacityReport(
        found, besides.more, warnings=warnings, notes=notes, unjudged=unjudged, may_change=may_change, taken=taken
    )
    work = ParallelRun(besides.workers, progress)
    try:
        if besides.each_zone:
            losses = tuple(after_losses(inventory, question, work))
            parts = (part for each in losses for part in (*each.unjudged, *_of_end(each.capacity)))
            report = replace(report, losses=losses, unjudged=merged(unjudged, parts))
        if not (question.options.assumes_unjudged or may_change or _of_end(found)) and besides.buys(found):
            pools, number = question.options.pools, besides.rounds(found)
            keys = [key_of(each) for each in found.targets]
            free = _honoring_taints(settled, keys) if besides.is_short(found) and not besides.each_zone else None
            if free is not None:
                report = replace(report, honoring=capacity_of(free, question))
            if not pools:
                report = replace(report, purchases=tuple(purchases(settled, found, question, besides.shapes, work)))
                if besides.is_short(found) and all(each.rounds < number for each in report.purchases):
                    pools = () if besides.each_zone else as_pools(settled.nodes, found, besides.shapes)
            # If a quota denies the pods, no set of nodes helps.
            if pools and (found.created is None or found.created >= number):
                wider = replace(question, options=replace(question.options, pools=pools))
                unknown = tuple(_unknown_zones(settled, pools))
                report = replace(report, warnings=(*warnings, *unknown))
                report = replace(report, sizing=sizing(settled, wider, number, besides.seconds))
    except KeyboardInterrupt as ended:
        raise Interrupted(_as_far(report, besides, ended, pools=bool(question.options.pools))) from None
    return report


def _unknown_zones(settled: Inventory, pools: Sequence[NodePool]) -> Iterator[str]:
    """Yield a warning if pools are in zones that no node has."""
    zones = {each.labels[ZONE] for each in settled.nodes if ZONE in each.labels}
    new = sorted({each.zone for each in pools if each.zone} - zones)
    if zones and new:
        yield (
            f"--pools: no node is in {listed(new, _ZONES)}; new nodes there are new zones, which constraints count, "
            f"too. The cluster's zones are {listed(sorted(zones), _ZONES)}"
        )


def _of_end(found: Capacity) -> tuple[Unjudged, ...]:
    return unjudged_parts([found.pending] if found.pending is not None else [])


def _as_far(
    report: CapacityReport, besides: ExtraQuestions, ended: KeyboardInterrupt, *, pools: bool
) -> CapacityReport:
    """Return the report with the losses or purchases that were finished before the interruption."""
    some: SomeAnswers = ended.finished if isinstance(ended, Interrupted) else SomeAnswers((), 0)
    if besides.each_zone and not report.losses:
        return replace(
            report, losses=tuple(some.answers), partial=f"ended {some.far('loss', 'losses')}", is_complete=False
        )
    if pools or report.purchases:
        return replace(report, partial="ended before a set of nodes was found")
    return replace(report, purchases=tuple(some.answers), partial=f"ended {some.far('purchase', 'purchases')}")


def _rolled_out(found: Capacity) -> Iterator[str]:
    """Yield a note for each target with a rollout in progress, whose current pods stay."""
    for each in found.targets:
        if each.there != each.replicas - each.missing and each.kind != "Job":
            yield (
                f"{each.namespace}/{each.name} is being rolled out, with {each.there} pods for {each.replicas} "
                "replicas: additional replicas are counted beside these pods"
            )


def _honoring_taints(inventory: Inventory, keys: Collection[ObjectKey]) -> Inventory | None:
    """Return the inventory in which all pods of workloads honor taints, also existing ones; None if they do already."""
    changed = False

    def honors(pod: Pod) -> Pod:
        nonlocal changed
        made = [
            with_fields(each, node_taints_policy="Honor") if each.when_unsatisfiable == "DoNotSchedule" else each
            for each in pod.spec.topology_spread_constraints or ()
        ]
        if made == (pod.spec.topology_spread_constraints or []):
            return pod
        changed = True
        return with_fields(pod, spec=with_fields(pod.spec, topology_spread_constraints=made))

    found = with_specs(inventory, keys, honors)
    return found if changed else None
