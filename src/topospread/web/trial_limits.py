"""Bounds on the nodes, pods, simulated time and work of one trial: a short URL can name a million replicas."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from topospread.api.inventory import Inventory
from topospread.api.meta import KubeObject
from topospread.api.workload import DaemonSet
from topospread.drill.drill_state import DrillState
from topospread.drill.steps import AddNodes, Autoscale, Scale, Step, Wait
from topospread.errors import UsageError

MOST_NODES: Final = 10_000
"""Maximum nodes after a step, unless the served cluster has more than half of this number."""
MOST_PODS: Final = 50_000
"""Maximum pods after a step, unless the served cluster has more than half of this number."""
MOST_WAITED: Final = 7 * 24 * 3600.0
"""Maximum seconds of one wait."""
MOST_SECONDS: Final = 60.0
"""Maximum seconds of work on one request's steps."""

ASKING: Final = ("replicas", "completions", "parallelism", "min_replicas")
"""Fields of a spec that set a number of pods."""


class TrialTooLongError(UsageError):
    """The work on a trial takes longer than `MOST_SECONDS`."""


@dataclass(slots=True)
class TrialLimits:
    """The bounds for the steps of one request; ``nodes`` and ``pods`` are counts of the served cluster."""

    nodes: int
    pods: int
    _until: float = field(default_factory=lambda: time.monotonic() + MOST_SECONDS)

    def check_work(self) -> None:
        """Raise TrialTooLongError if the time for the work is over."""
        if time.monotonic() > self._until:
            raise TrialTooLongError(f"this takes more than {MOST_SECONDS:g} s of work; the command has no such limit")

    def check(self, step: Step, state: DrillState, applied: Sequence[KubeObject]) -> None:
        """Check a step before the engine starts it.

        Raises:
            UsageError: if the step needs too many nodes or pods, or waits longer than `MOST_WAITED`.
            TrialTooLongError: if the request has used its `MOST_SECONDS` of work.
        """
        if isinstance(step, Wait) and step.seconds > MOST_WAITED:
            raise UsageError(f"wait at most {MOST_WAITED / 3600:g}h, got {step.seconds / 3600:g}h")
        self.check_work()
        current = state.run.plan.inventory
        new = step.number if isinstance(step, AddNodes) else 0
        nodes = len(state.cluster.nodes) + new
        self._bounded(nodes, max(MOST_NODES, 2 * self.nodes), "nodes")
        of_daemon_sets = new * len(current.daemon_sets) + nodes * sum(isinstance(each, DaemonSet) for each in applied)
        pods = len(state.pods.by_key) + sum(_more(step, current, applied)) + of_daemon_sets
        self._bounded(pods, max(MOST_PODS, 2 * self.pods), "pods")

    def _bounded(self, asked: int, most: int, what: str) -> None:
        if asked > most:
            raise UsageError(f"a trial may have at most {most:,} {what}, this step needs {asked:,}")


def _more(step: Step, current: Inventory, applied: Sequence[KubeObject]) -> Iterator[int]:
    if isinstance(step, Scale):
        yield step.replicas
    if isinstance(step, Autoscale):
        scaled = [each for each in current.horizontal_pod_autoscalers if step.target.endswith(f"/{each.name}")]
        yield max((each.spec.max_replicas for each in scaled), default=0)
    yield from pods_asked(applied)


def pods_asked(items: Iterable[KubeObject]) -> Iterator[int]:
    """Yield the pods to expect of each object: the largest of its `ASKING` fields, at least 1; 0 for a Node."""
    for item in items:
        spec = getattr(item, "spec", None)
        numbers = [getattr(spec, name, None) or 0 for name in ASKING]
        yield max(1, *numbers) if type(item).__name__ != "Node" else 0
