"""A drill: the way from an inventory and steps to what comes of them. What each step does is told by its own module."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields

from topospread.api.inventory import Inventory
from topospread.api.pools import NodePool
from topospread.config.gates import Gates
from topospread.config.profile import Configuration
from topospread.drills import Drill
from topospread.errors import InputError, Place
from topospread.simulation.run import SimulationOptions
from topospread.sources.inputs import Input, inventory_of
from topospread.sources.load import load

from .interruption import Interrupted
from .play import Manifests, Play, Progress
from .ranges import with_ranges
from .steps import Apply, Rollout, Step

_RUNS = 8


def drill(  # noqa: PLR0913 - keyword arguments of the public API
    inputs: Input,
    steps: Sequence[Step],
    *,
    cluster: str | None = None,
    namespace: str | None = None,
    config: Configuration | str | os.PathLike[str] | None = None,
    seed: int | None = None,
    kube_version: str = "1.37",
    gates: Gates | None = None,
    apiserver_gates: Gates | None = None,
    preemption: bool = True,
    runs: int | None = None,
    pools: Sequence[NodePool] = (),
    keep_after: bool = False,
    progress: Progress | None = None,
) -> Drill:
    """Let things happen to a cluster, one after the other, and say what comes of each.

    Args:
        inputs: what was read (`topospread.load`), which is not changed, or the paths to read.
        steps: what happens (`topospread.drills.steps`).
        cluster: beside paths: a made-up cluster, ``zones=3,nodes=12,cpu=8,memory=32Gi``, or a file that holds one.
        namespace: where objects of paths go that name none, and those of manifests that are applied.
        config: kube-scheduler's configuration, or its file; by default that of a kube-scheduler without a file.
        seed: draw among equals where the version's kube-scheduler does; by default the first by name is taken.
        kube_version: the Kubernetes version to act as.
        gates: kube-scheduler's feature gates; by default the version's.
        apiserver_gates: the API server's, which decide what fields its objects keep; by default the version's.
        preemption: evict less important pods for a pod that fits nowhere else.
        runs: play so many drills that are alike but for what is drawn in a cluster (which of equal pods is removed,
            which of equal nodes taken, in which order pods get ready), and give ranges; by default 8 where something
            is rolled out or applied.
        pools: pools of nodes that an autoscaler grows for pods that wait when nothing else happens.
        keep_after: give everything that is there after each step, too (`StepOutcome.after`; of several drills that are
            alike, those of the first).
        progress: told how many steps of how many are over.

    Raises:
        InputError: an object that the API server would refuse, or a path that cannot be read.
        UsageError: a step names what is not there.
        topospread.drills.interruption.Interrupted: Ctrl-C, a KeyboardInterrupt; with what was over as a drill.
    """
    options = SimulationOptions.of_version(kube_version, config, gates, apiserver_gates)
    options = with_fields(options, seed=seed, preemption=preemption, pools=pools)
    manifests = applied_manifests(steps, namespace)
    given = inventory_of(inputs, cluster, options.apiserver_gates, namespace)
    return play_runs(
        BegunDrill(given, tuple(steps), manifests, options), runs, keep_after=keep_after, progress=progress
    )


@dataclass(frozen=True, slots=True)
class BegunDrill:
    """All that a drill is played with; nothing is read any more.

    Attributes:
        inventory: what there is at the beginning.
        manifests: those that steps apply, by their paths.
        options: how pods are placed; its seed is that of the first run.
    """

    inventory: Inventory
    steps: tuple[Step, ...]
    manifests: Manifests
    options: SimulationOptions


def applied_manifests(steps: Sequence[Step], namespace: str | None) -> Manifests:
    """Return the objects of the files that steps apply.

    Raises:
        InputError: if a file cannot be read or used, or holds no object.
    """
    found = {}
    for step in steps:
        if isinstance(step, Apply | Rollout) and step.path:
            read = load([step.path], namespace=namespace or "default", needs_nodes=False, allow_empty=True)
            if not any(True for _ in read.objects()):
                raise InputError("holds no object to apply", Place(step.path))
            found[step.path] = read
    return found


def play_runs(
    begun: BegunDrill, runs: int | None, *, keep_after: bool = False, progress: Progress | None = None
) -> Drill:
    """The same as `drill`, of what was read.

    Raises:
        InputError: an object that the API server would refuse.
        UsageError: a step names what is not there.
        topospread.drills.interruption.Interrupted: Ctrl-C, a KeyboardInterrupt; with what was over as a drill.
    """
    steps, options = begun.steps, begun.options
    number = runs or (_RUNS if any(isinstance(each, Apply | Rollout) for each in steps) else 1)

    def played(run: int) -> Drill:
        def told(done: int, total: int) -> None:
            if progress is not None:
                progress(run * total + done, number * total)

        drawn = with_fields(options, seed=(options.seed or 0) + run, draws=True) if run else options
        play = Play(begun.inventory, drawn, begun.manifests, run)
        play.keeps_after = keep_after and not run
        return play.play(steps, told)

    done: list[Drill] = []
    try:
        while len(done) < number:
            done.append(played(len(done)))
    except KeyboardInterrupt:
        if not done:
            raise
        partial = with_ranges(done)
        raise Interrupted(with_fields(partial, partial=f"ended in run {len(done) + 1} of {number}")) from None
    found = with_fields(with_ranges(done), begun=begun)
    if not found.unjudged or options.assumes_unjudged:
        return found
    assumed = with_fields(begun, options=with_fields(options, assumes_unjudged=True))
    return with_fields(found, assumed=play_runs(assumed, runs))
