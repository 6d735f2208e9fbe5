"""Placement of a pod without one of its constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace as with_fields

from topospread.api.pod import Pod
from topospread.config.args import DefaultConstraint
from topospread.config.profile import Profile
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.verdict import Verdict

from .own_constraints import with_constraints
from .result import ChoiceWithout

MOST: Final = 32
"""Number of constraints that are left out, one at a time."""


def without_each(scheduler: Scheduler, pod: Pod, name: str, verdict: Verdict) -> Iterator[ChoiceWithout]:
    """Yield the chosen node without each of the first `MOST` constraints, in the order of the verdict's arithmetic.

    A pod without its only constraint gets the default constraints. A default constraint is removed from the profile.
    """
    for each in verdict.arithmetic[:MOST]:
        judged = _judged_without(scheduler, pod, name, each)
        best = judged.best if judged.feasible else ()
        instead: str | None = None
        if each.origin == "pod" and judged.arithmetic and judged.arithmetic[0].origin != "pod":
            instead = judged.arithmetic[0].origin
        yield ChoiceWithout(
            topology_key=each.topology_key,
            when_unsatisfiable=each.when_unsatisfiable,
            position=each.position,
            origin=each.origin,
            instead=instead,
            node=best[0] if best else None,
            total=judged.total[best[0]] if best else 0,
            equals=len(best),
        )


def _judged_without(scheduler: Scheduler, pod: Pod, name: str, gone: ConstraintArithmetic) -> Verdict:
    if gone.origin == "pod":
        own = pod.spec.topology_spread_constraints or []
        return scheduler.verdict(
            with_constraints(pod, [each for i, each in enumerate(own) if i != gone.position]), name
        )
    framework = scheduler.framework_of(scheduler.cluster.shared_class(pod))
    other = Framework(_profile_without(framework.profile, gone.position), framework.gates)
    return Scheduler(scheduler.cluster, {other.profile.scheduler_name: other}).verdict(pod, name)


def _profile_without(profile: Profile, position: int) -> Profile:
    """Return the profile without one of its default constraints."""
    args = profile.args.pod_topology_spread
    left: list[DefaultConstraint] = [each for i, each in enumerate(args.constraints_in_force) if i != position]
    changed = with_fields(args, defaulting_type="List", default_constraints=tuple(left))
    return with_fields(profile, args=with_fields(profile.args, pod_topology_spread=changed))
