"""The function `drill`: run steps on an inventory and return the results. Each step has its own module."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from dataclasses import replace as with_fields

from msgspec import structs

from topospread.api.inventory import Inventory
from topospread.errors import InputError, Place
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.sources.load import load

from .drill_run import DrillRun, Manifests, Progress
from .interruption import Interrupted
from .result import Drill, Harm, SkewRange, StepBounds, StepOutcome, of_namespace, step_within
from .steps import Apply, Rollout, Step

# Results of several runs with different random choices, as ranges.


def with_ranges(drills: Sequence[Drill]) -> Drill:
    """Return the first run with the ranges of all runs."""
    first = drills[0]
    if len(drills) == 1:
        return first
    steps = zip(*(each.steps for each in drills), strict=True)
    return replace(first, runs=len(drills), ranges=tuple(_range(alike) for alike in steps), others=tuple(drills[1:]))


def _range(alike: Sequence[StepOutcome]) -> StepBounds:
    pending = [sum(len(group.pods) for group in each.pending) for each in alike]
    skews: dict[tuple[str, str], list[int]] = {}
    for outcome in alike:
        for state in outcome.changed:
            for spread in state.spread:
                if spread.origin != "system":
                    key = (f"{state.kind} {state.namespace}/{state.name}", spread.topology_key)
                    skews.setdefault(key, []).append(spread.skew)
    return StepBounds(
        pending=(min(pending), max(pending)),
        skews=tuple(SkewRange(*key, min(found), max(found)) for key, found in skews.items()),
        stuck=sum(any(not each.over for each in outcome.rollouts) for outcome in alike),
    )


def within(drill: Drill, namespace: str | None) -> Drill:
    """Return the drill with only one namespace's workloads, budgets and harm; unchanged if `namespace` is None.

    `Drill.elsewhere` gets the harm in other namespaces. The numbers of ready and pending pods in events still include
    all namespaces.
    """
    if namespace is None:
        return drill

    workloads = of_namespace(drill.workloads, namespace)
    ready = {(each.kind, each.name): each.ready for each in workloads}
    steps: list[StepOutcome] = []
    for step in reversed(drill.steps):
        events = ((each, of_namespace(each.pods, namespace)) for each in step.events)
        steps.append(
            replace(
                step_within(step, namespace),
                ready=sum(ready.values()) if drill.workloads else step.ready,
                events=tuple(structs.replace(each, pods=pods) for each, pods in events if pods or not each.pods),
            )
        )
        ready |= {(each.kind, each.name): each.ready_before for each in of_namespace(step.changed, namespace)}
    harm = drill.harm
    found = replace(
        drill,
        steps=tuple(reversed(steps)),
        namespace=namespace,
        workloads=workloads,
        assumed=drill.assumed and within(drill.assumed, namespace),
        fallback=drill.fallback and within(drill.fallback, namespace),
        elsewhere=Harm(
            *(
                tuple(each for each in getattr(harm, name) if each.namespace != namespace)
                for name in Harm.__struct_fields__
            )
        ),
    )
    return with_ranges([found, *(within(each, namespace) for each in drill.others)])


RUNS = 8
"""Default number of runs of a drill with rollouts."""


def drill(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    steps: Sequence[Step],
    options: SimulationOptions = PLAIN,
    *,
    namespace: str | None = None,
    runs: int | None = None,
    keep_after: bool = False,
    fallback: bool = False,
    progress: Progress | None = None,
) -> Drill:
    """Simulate steps on a cluster, one after another, and return the result of each.

    Args:
        inventory: the input, which is not changed.
        steps: the steps (`topospread.drill.steps`).
        options: the control plane and placement options.
        namespace: namespace of objects in applied manifests without ``metadata.namespace``.
        runs: number of runs with different random choices (which equal pod is removed, which equal node is chosen,
            which pod is ready first). Results are ranges. Default: 8 if a step rolls out or applies manifests, else 1.
        keep_after: also return the cluster after each step of the first run (`StepOutcome.after`).
        fallback: also run the drill with hard constraints made soft while a domain is lost (`Drill.fallback`).
        progress: receives the number of finished steps and the total.

    Raises:
        InputError: if the API server denies an object, or a path cannot be read.
        UsageError: if a step names a missing object.
        topospread.drill.interruption.Interrupted: on Ctrl-C (a KeyboardInterrupt), with the finished steps as a drill.
    """
    begun = BegunDrill(inventory, tuple(steps), applied_manifests(steps, namespace), options)
    found = play_runs(begun, runs, keep_after=keep_after, progress=progress)
    if not fallback:
        return found
    try:
        return with_fields(found, fallback=play_runs(with_fields(begun, falls_back=True), runs))
    except KeyboardInterrupt:
        raise Interrupted(with_fields(found, partial="ended while the fallback was played")) from None


@dataclass(frozen=True, slots=True)
class BegunDrill:
    """The complete input of a drill, already read.

    Attributes:
        inventory: the initial cluster.
        manifests: path → objects that steps apply.
        options: the simulation options; the seed is for the first run.
        falls_back: whether hard constraints become soft while a domain is lost.
        placed: (workload, node) of each pod to place before all other pods; the workload is ``NAMESPACE/KIND/NAME``.
        says_how_spread: whether to compute each workload's pods per domain after each step.
    """

    inventory: Inventory
    steps: tuple[Step, ...]
    manifests: Manifests
    options: SimulationOptions
    falls_back: bool = False
    placed: tuple[tuple[str, str], ...] = ()
    says_how_spread: bool = True


def applied_manifests(steps: Sequence[Step], namespace: str | None) -> Manifests:
    """Return the objects of the files that steps apply.

    Raises:
        InputError: if a file cannot be read or used, or contains no object.
    """
    found = {}
    for step in steps:
        if isinstance(step, Apply | Rollout) and step.path:
            read = load(
                [step.path],
                namespace=namespace or "default",
                needs_nodes=False,
                allow_empty=True,
                keeps_whole=True,
                applied=1,
            )
            if not any(True for _ in read.objects()):
                raise InputError("holds no object to apply", Place(step.path))
            found[step.path] = read
    return found


def options_of_run(options: SimulationOptions, run: int) -> SimulationOptions:
    """Return the options of a run; ``options`` are those of the first run, which is number 0."""
    return with_fields(options, seed=(options.seed or 0) + run, draws=True) if run else options


def play_runs(
    begun: BegunDrill,
    runs: int | None,
    *,
    keep_after: bool = False,
    progress: Progress | None = None,
    seconds: float = math.inf,
) -> Drill:
    """Run a drill whose input is already read; see `drill`. No run begins after ``seconds``, except the first.

    Raises:
        InputError: if the API server denies an object.
        UsageError: if a step names a missing object.
        topospread.drill.interruption.Interrupted: on Ctrl-C (a KeyboardInterrupt), with the finished steps as a drill.
    """
    steps, options = begun.steps, begun.options
    number = runs or (RUNS if any(isinstance(each, Apply | Rollout) for each in steps) else 1)

    def played(run: int) -> Drill:
        def told(done: int, total: int) -> None:
            if progress is not None:
                progress(run * total + done, number * total)

        play = DrillRun(begun.inventory, options_of_run(options, run), begun.manifests, run)
        play.keeps_after = keep_after and not run
        play.falls_back = begun.falls_back
        play.placed = begun.placed
        play.says_how_spread = begun.says_how_spread
        return play.play(steps, told)

    done: list[Drill] = []
    until = time.monotonic() + seconds
    try:
        while len(done) < number and not (done and time.monotonic() > until):
            done.append(played(len(done)))
    except KeyboardInterrupt:
        if not done:
            raise
        partial = with_ranges(done)
        raise Interrupted(with_fields(partial, partial=f"ended in run {len(done) + 1} of {number}")) from None
    found = with_fields(with_ranges(done), begun=begun)
    if not found.unjudged or found.unaffected or options.assumes_unjudged:
        return found
    assumed = with_fields(begun, options=with_fields(options, assumes_unjudged=True))
    return with_fields(found, assumed=play_runs(assumed, len(done)))
