"""Several drills that are alike but for what is drawn, as ranges; who plays them is not here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .result import Drill, SkewRange, StepBounds, StepOutcome


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
