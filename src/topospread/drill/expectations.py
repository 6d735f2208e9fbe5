"""Compare a drill with its expectations. `drill_file` reads their notation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from topospread.api.inventory import key_of
from topospread.controllers.scale import the_workload
from topospread.errors import UsageError

from .result import Drill, WorkloadState


@dataclass(frozen=True, slots=True)
class Expectations:
    """The expectations of a drill; a field that is ``None`` or empty is not checked.

    Attributes:
        pending: maximum number of pending pods at the end.
        skew: maximum skew of any hard constraint at the end.
        skew_of: workload → maximum skew of its constraints at the end.
        ready: workload → minimum number of ready pods at any time.
        left: workload → minimum number of ready pods from the last step on.
        broken_budgets: maximum number of violated PodDisruptionBudgets.
        not_evicted: maximum number of pods that drains leave.
        settled_within: maximum duration of each step in seconds.
    """

    pending: int | None = None
    skew: int | None = None
    skew_of: Mapping[str, int] = field(default_factory=dict)
    ready: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)
    broken_budgets: int | None = None
    not_evicted: int | None = None
    settled_within: float | None = None


@dataclass(frozen=True, slots=True)
class Shortfall:
    """An unmet expectation.

    Attributes:
        path: path of the expectation in the file: ``spec.expect.ready[deploy/web]``.
        message: the actual value.
        of: the constraint or step that fails the expectation, if the expectation covers several.
    """

    path: str
    message: str
    of: str = ""


def shortfalls(drill: Drill, expected: Expectations) -> list[Shortfall]:
    """Return the unmet expectations of the first run that has any.

    Raises:
        UsageError: if an expectation names a missing workload.
    """
    alike = (drill, *drill.others)
    found: dict[tuple[str, str], tuple[Shortfall, set[int]]] = {}
    for number, each in enumerate(alike):
        for shortfall in _of_one(each, expected):
            found.setdefault((shortfall.path, shortfall.of), (shortfall, set()))[1].add(number)
    return [
        replace(
            first, message=f"{first.message} (in {len(runs)} of {len(alike)} runs)" if drill.others else first.message
        )
        for first, runs in found.values()
    ]


def _of_one(drill: Drill, expected: Expectations) -> list[Shortfall]:
    return [*_numbers(drill, expected), *_skews(drill, expected), *_ready(drill, expected), *_times(drill, expected)]


def _numbers(drill: Drill, expected: Expectations) -> Iterator[Shortfall]:
    """Yield unmet expectations about maximum numbers."""
    pending = [f"{each.namespace}/{pod}" for each in drill.pending for pod in each.pods]
    broken = [f"{each.budget} ({each.healthy} healthy pods, {each.needed} needed)" for each in drill.breaches]
    left = [f"{each.namespace}/{each.name}" for step in drill.steps for each in step.not_evicted]
    for name, most, found, what in (
        ("pending", expected.pending, pending, "pending at the end"),
        ("brokenBudgets", expected.broken_budgets, broken, "broken"),
        ("notEvicted", expected.not_evicted, left, "not evicted"),
    ):
        if most is not None and len(found) > most:
            yield Shortfall(f"spec.expect.{name}", f"{len(found)} {what}, at most {most} expected: {_listed(found)}")


def _skews(drill: Drill, expected: Expectations) -> Iterator[Shortfall]:
    for each in drill.workloads if expected.skew is not None else ():
        for spread in each.spread:
            if spread.hard and expected.skew is not None and spread.skew > expected.skew:
                words = (
                    f"{_name(each)} has skew {spread.skew} on {spread.topology_key}, at most {expected.skew} expected"
                )
                yield Shortfall("spec.expect.skew", words, f"{_name(each)} {spread.topology_key}")
    for target, most in expected.skew_of.items():
        path = f"spec.expect.skew[{target}]"
        each = _named(drill, target, path)
        for spread in each.spread:
            if spread.origin != "system" and spread.skew > most:
                words = f"{_name(each)} has skew {spread.skew} on {spread.topology_key}, at most {most} expected"
                yield Shortfall(path, words, spread.topology_key)


def _ready(drill: Drill, expected: Expectations) -> Iterator[Shortfall]:
    every = [("ready", each, drill.steps[1:]) for each in expected.ready.items()]
    for name, (target, least), steps in (*every, *(("left", each, drill.steps[-1:]) for each in expected.left.items())):
        path = f"spec.expect.{name}[{target}]"
        workload = _named(drill, target, path)
        key = key_of(workload)
        found = [(state.fewest, step.step) for step in steps for state in step.changed if key_of(state) == key] or [
            (workload.ready, "")
        ]
        fewest, step = min(found, key=lambda each: each[0])
        if fewest < least:
            during = f" (during {step})" if step else ""
            yield Shortfall(path, f"{_name(workload)} had {fewest} ready{during}, at least {least} expected")


def _times(drill: Drill, expected: Expectations) -> Iterator[Shortfall]:
    for each in drill.steps[1:]:
        took = each.ends - each.begins
        if expected.settled_within is not None and took > expected.settled_within:
            words = f"{each.step} settled after {took:.0f} s, at most {expected.settled_within:.0f} s expected"
            yield Shortfall("spec.expect.settledWithin", words, each.step)


def _named(drill: Drill, target: str, path: str) -> WorkloadState:
    by_key = {key_of(each): each for each in drill.workloads}
    try:
        return by_key[the_workload(target, by_key)]
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _name(each: WorkloadState) -> str:
    return f"{each.kind} {each.namespace}/{each.name}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
