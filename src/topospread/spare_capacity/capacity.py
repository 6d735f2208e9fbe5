"""From an inventory to how much more it takes: its own pods are placed first; the rest is asked of what comes then."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from topospread.api.inventory import Inventory
from topospread.config.gates import Gates
from topospread.config.profile import Configuration
from topospread.drills.interruption import Interrupted
from topospread.errors import UsageError
from topospread.simulation.aftermath import inventory_after
from topospread.simulation.placing import place_all
from topospread.simulation.run import SimulationOptions, prepare
from topospread.sources.inputs import Input, inventory_of
from topospread.sources.load import load

from .filling import CapacityQuestion, Effort, Progress, SomeAnswers, capacity_of
from .losses import after_losses
from .purchases import Shape, purchases, read_shape
from .result import Capacity, CapacityReport
from .wanted import read_headroom, read_shares, the_pod

LIMIT = 10_000
"""Rounds that are tried by default."""


@dataclass(frozen=True, slots=True)
class Besides:
    """What is asked beside how much fits now.

    Attributes:
        each_zone: after each zone's loss, too.
        headroom: share of the replicas for which there has to be room.
        buy: what one more node brings.
        shapes: of such nodes; by default those that are there.
        workers: how many processes work at once; by default one for each core.
    """

    each_zone: bool = False
    headroom: Fraction | None = None
    buy: bool = False
    shapes: Sequence[Shape] = ()
    workers: int | None = None


def capacity(  # noqa: PLR0913 - keyword arguments of the public API
    inputs: Input,
    *of: str,
    pod: str | os.PathLike[str] | None = None,
    cluster: str | None = None,
    namespace: str | None = None,
    each_zone: bool = False,
    headroom: str | None = None,
    buy: bool = False,
    shapes: Sequence[str] = (),
    limit: int = LIMIT,
    config: Configuration | str | os.PathLike[str] | None = None,
    seed: int | None = None,
    kube_version: str = "1.37",
    gates: Gates | None = None,
    apiserver_gates: Gates | None = None,
    preemption: bool = True,
    workers: int | None = None,
    progress: Progress | None = None,
) -> CapacityReport:
    """Say how many more replicas fit until the first stays pending, with everything there that is there.

    Args:
        inputs: what was read (`topospread.load`), which is not changed, or the paths to read.
        of: ``deploy/web``, or several in a ratio: ``deploy/web=2``, ``deploy/api=1``.
        pod: the file of a pod of which more are to fit, in place of workloads.
        cluster: beside paths: a made-up cluster, ``zones=3,nodes=12,cpu=8,memory=32Gi``, or a file that holds one.
        namespace: where objects of paths go that name none, and workloads that name none.
        each_zone: ask again after each zone's loss.
        headroom: ``20%``: there has to be room for such a share of the replicas, after each loss, too.
        buy: say what one more node would bring, of each shape in each zone.
        shapes: of such nodes, ``cpu=8,memory=32Gi``; by default those that are there.
        limit: how many rounds of replicas are tried.
        config: kube-scheduler's configuration, or its file; by default that of a kube-scheduler without a file.
        seed: draw among equals where the version's kube-scheduler does; by default the first by name is taken.
        kube_version: the Kubernetes version to act as.
        gates: kube-scheduler's feature gates; by default the version's.
        apiserver_gates: the API server's, which decide what fields its objects keep; by default the version's.
        preemption: pods of the inventory may evict less important ones; more replicas evict nothing.
        workers: how many processes work at once; by default one for each core.
        progress: told how far the work is.

    Raises:
        InputError: an object that the API server would refuse, or a path that cannot be read.
        UsageError: a target that is not there, or has no replicas; options that contradict each other.
        topospread.drills.interruption.Interrupted: Ctrl-C, a KeyboardInterrupt; with what was there.
    """
    if bool(of) == (pod is not None):
        raise UsageError("say what is to fit: workloads, or the file of a pod")
    if headroom is not None and pod is not None:
        raise UsageError("headroom is a share of a workload's replicas, and a pod's file has none")
    options = replace(
        SimulationOptions.of_version(kube_version, config, gates, apiserver_gates), seed=seed, preemption=preemption
    )
    own = None
    if pod is not None:
        own = the_pod(load([os.fspath(pod)], namespace=namespace or "default", needs_nodes=False), os.fspath(pod))
    question = CapacityQuestion(read_shares(of, namespace), own, limit, options)
    besides = Besides(
        each_zone,
        None if headroom is None else read_headroom(headroom),
        buy or bool(shapes),
        [read_shape(each) for each in shapes],
        workers,
    )
    return answer(inventory_of(inputs, cluster, options.apiserver_gates, namespace), question, besides, progress)


def answer(
    inventory: Inventory,
    question: CapacityQuestion,
    besides: Besides,
    progress: Progress | None = None,
) -> CapacityReport:
    """The whole answer.

    Raises:
        InputError: an object that the API server would refuse.
        UsageError: a target is not there, or there is no zone that could be lost.
        Interrupted: Ctrl-C; with what was there, marked as partial.
    """
    run = prepare(inventory, replace(question.options, one_of_many=True), with_spreads=False)
    place_all(run, progress)
    settled = inventory_after(run)
    warnings = (*run.plan.inventory.warnings, *run.plan.warnings)
    notes = (*run.plan.inventory.notes, *run.plan.notes)
    try:
        found = capacity_of(settled, question, progress)
    except Interrupted as ended:
        rounds = CapacityReport(ended.finished, headroom=besides.headroom, warnings=warnings, notes=notes)
        raise Interrupted(replace(rounds, partial=f"ended in round {rounds.capacity.rounds + 1}")) from None
    notes = (*notes, *_rolled_out(found), *_not_asked(found, besides))
    report = CapacityReport(found, headroom=besides.headroom, warnings=warnings, notes=notes)
    work = Effort(besides.workers, progress)
    try:
        if besides.each_zone:
            report = replace(report, losses=tuple(after_losses(inventory, question, work)))
        if besides.buy and found.pending is not None:
            report = replace(report, purchases=tuple(purchases(settled, found, question, besides.shapes, work)))
    except KeyboardInterrupt as ended:
        raise Interrupted(_as_far(report, besides, ended)) from None
    return report


def _as_far(report: CapacityReport, besides: Besides, ended: KeyboardInterrupt) -> CapacityReport:
    """What was there when the losses, or what more nodes bring, were ended."""
    some: SomeAnswers = ended.finished if isinstance(ended, Interrupted) else SomeAnswers((), 0)
    if besides.each_zone and not report.losses:
        return replace(report, losses=tuple(some.answers), partial=f"ended {some.far('loss', 'losses')}")
    return replace(report, purchases=tuple(some.answers), partial=f"ended {some.far('purchase', 'purchases')}")


def _not_asked(found: Capacity, besides: Besides) -> Iterator[str]:
    """What a search that found no end leaves open."""
    if besides.buy and found.pending is None:
        yield "as many as were tried fit: what one more node would bring is not known (--limit)"


def _rolled_out(found: Capacity) -> Iterator[str]:
    """Workloads that have other pods than they want, of which more are counted all the same."""
    for each in found.targets:
        if each.there != each.replicas - each.missing and each.kind != "Job":
            yield (
                f"{each.namespace}/{each.name} is being rolled out, with {each.there} pods for {each.replicas} "
                "replicas: what more there would be is counted beside those pods"
            )
