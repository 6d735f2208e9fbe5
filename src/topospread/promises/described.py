"""The workload that sentences are about, on its cluster, and the commands that repeat what was checked on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from topospread.spread_status import WorkloadStatus
from topospread.text import shell_line

from .workload_drills import WorkloadDrills


@dataclass(frozen=True, slots=True)
class DescribedWorkload:
    """The workload that is described, on its cluster.

    Attributes:
        status: how it stands when all pods are placed that can be.
        target: as commands take it.
        is_there: whether its pods have nodes in what was read, none of them placed by us.
        typed: the inputs as they were typed, for commands.
    """

    trials: WorkloadDrills
    status: WorkloadStatus
    target: str
    is_there: bool
    typed: Sequence[str]

    def command(self, *words: str) -> str:
        """A command of topospread on the same input."""
        return shell_line(["topospread", *words[0].split(), *self.typed, *words[1:]])
