"""Questions about the end of every order of pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.controllers.planned import QueuedPod, Workload
from topospread.simulation.run import Run, spreads
from topospread.text import agreeing

LOSSES = {"zone": ZONE, "node": HOSTNAME}


@dataclass(frozen=True, slots=True)
class OrderEnd:
    """A cluster in which no remaining pod can be placed.

    Attributes:
        pending: the pods without a node.
        placed: workload by ``id`` → rows of its pods, including pods that existed before.
        is_now: whether this is the current state, in which only ready pods are placed.
    """

    run: Run
    pending: Sequence[QueuedPod]
    placed: dict[int, list[int]]
    is_now: bool = False


class EndQuestion(Protocol):
    """A condition for every end state."""

    def wrong(self, end: OrderEnd) -> str:
        """Return the problem of an end state; "" if it has no problem."""


@dataclass(frozen=True, slots=True)
class NoPending:
    """All pods of one workload, or of all workloads, are placed."""

    workload: Workload | None = None

    def __str__(self) -> str:
        return "no pod stays pending"

    def wrong(self, end: OrderEnd) -> str:
        """Return the numbers of pending pods by workload, as text."""
        pending = [each for each in end.pending if self.workload in (None, each.workload)]
        if not pending:
            return ""
        counts = Counter(f"{each.namespace}/{each.workload.name}" for each in pending)
        of = ", ".join(f"{number} of {name}" for name, number in counts.items())
        return f"{of} {agreeing('stay', len(pending))} pending"


@dataclass(frozen=True, slots=True)
class SkewWithin:
    """No explicit constraint, DoNotSchedule or ScheduleAnyway, of one workload or of all exceeds this skew."""

    highest: int
    workload: Workload | None = None

    def __str__(self) -> str:
        return f"no skew is more than {self.highest}"

    def wrong(self, end: OrderEnd) -> str:
        """Return the first constraint that exceeds the skew, as text."""
        found = spreads(end.run)
        for workload in end.run.plan.workloads if self.workload is None else [self.workload]:
            for each in found.get(id(workload), ()):
                if each.origin != "system" and each.skew > self.highest:
                    return f"{workload.namespace}/{workload.name} has skew {each.skew} on {each.topology_key}"
        return ""


@dataclass(frozen=True, slots=True)
class LeftAfterLoss:
    """After the loss of any single domain, enough pods of a workload are on nodes elsewhere.

    Attributes:
        loss: zone or node; "" if nothing is lost, and pods on all nodes count.
        least: number of pods that have to be left.
        step: drill step that loses the domain: ``fail`` or ``drain``.
        budget: pods that disruption budgets keep in a drain.
    """

    loss: str
    workload: Workload
    least: int
    step: Literal["fail", "drain"] = "fail"
    budget: int = 0

    def __str__(self) -> str:
        lost = f"the loss of any {self.loss}" if self.loss else "kube-scheduler"
        return f"{lost} leaves {self.least} of {self.workload.namespace}/{self.workload.name}"

    def wrong(self, end: OrderEnd) -> str:
        """Return the domain whose loss leaves the fewest pods, as text; "" if it leaves enough."""
        left, names, rows = self._worst(end)
        if left >= self.least:
            return ""
        of = f"{left} of {self.workload.replicas}"
        if not names:
            return f"{of} {agreeing('are ready' if end.is_now else 'have a node', left)}"
        lost = f"{'draining' if self.step == 'drain' else 'losing'} {names[0]}"
        before = f" (only {rows} {'ready before' if end.is_now else 'had a node'})"
        return f"{lost} leaves {of}" + (before if rows < self.workload.replicas else "")

    def left(self, end: OrderEnd) -> int:
        """Return the fewest pods that the loss of one domain leaves."""
        return self._worst(end)[0]

    def _worst(self, end: OrderEnd) -> tuple[int, list[str], int]:
        rows = end.placed.get(id(self.workload), [])
        if not self.loss:
            return len(rows), [], len(rows)
        column = end.run.cluster.nodes.labels(LOSSES[self.loss])
        lost = Counter(column.codes.item(row) for row in rows)
        most = max((number for code, number in lost.items() if code >= 0), default=0)
        names = sorted(column.values[code] for code, number in lost.items() if number == most and code >= 0)
        return max(len(rows) - most, min(self.budget, len(rows))), names, len(rows)
