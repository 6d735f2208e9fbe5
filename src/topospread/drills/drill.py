"""A drill: the way from an inventory and steps to what comes of them. What each step does is told by its own module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from dataclasses import replace as with_fields

from topospread.api.inventory import Inventory
from topospread.errors import InputError, Place
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.sources.load import load

from .interruption import Interrupted
from .play import Manifests, Play, Progress
from .result import Drill, SkewRange, StepBounds, StepOutcome
from .steps import Apply, Rollout, Step

# Several drills that are alike but for what is drawn, as ranges; who plays them is not here.


def with_ranges(drills: Sequence[Drill]) -> Drill:
    """The first of some drills with the ranges of all."""
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


_RUNS = 8


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
    """Let things happen to a cluster, one after the other, and say what comes of each.

    Args:
        inventory: the input, which is not changed.
        steps: what happens (`topospread.drills.steps`).
        options: the control plane, and how pods are placed.
        namespace: where objects of manifests go that are applied and name none.
        runs: play so many drills that are alike but for what is drawn in a cluster (which of equal pods is removed,
            which of equal nodes taken, in which order pods get ready), and give ranges; by default 8 where something
            is rolled out or applied.
        keep_after: give everything that is there after each step, too (`StepOutcome.after`; of several drills that are
            alike, those of the first).
        fallback: play them once more with hard constraints that are soft while a domain is lost (`Drill.fallback`).
        progress: told how many steps of how many are over.

    Raises:
        InputError: an object that the API server would refuse, or a path that cannot be read.
        UsageError: a step names what is not there.
        topospread.drills.interruption.Interrupted: Ctrl-C, a KeyboardInterrupt; with what was over as a drill.
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
    """All that a drill is played with; nothing is read any more.

    Attributes:
        inventory: what there is at the beginning.
        manifests: those that steps apply, by their paths.
        options: how pods are placed; its seed is that of the first run.
        falls_back: hard constraints are soft while a domain is lost.
    """

    inventory: Inventory
    steps: tuple[Step, ...]
    manifests: Manifests
    options: SimulationOptions
    falls_back: bool = False


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
        play.falls_back = begun.falls_back
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
