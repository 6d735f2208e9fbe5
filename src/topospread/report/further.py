"""What other commands would add to a report, with the line to type; nothing is asked of them here."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from topospread.text import shell_line

from .paragraphs import counted


class FurtherCommands(msgspec.Struct, frozen=True):
    """Other commands with the input of this one, as they are typed.

    Attributes:
        evictions: how many `rebalance` needs, ``None`` where that was not worked out, or nothing mends it all.
    """

    rebalance: str
    drill: str
    capacity: str
    evictions: int | None = None

    def mending(self, what: str, more: str = "") -> str:
        """Which evictions mend what is skewed."""
        if self.evictions is None:
            return f"{self.rebalance}{more} says which few evictions mend {what}"
        return f"{self.rebalance}{more} mends {what} with {counted(self.evictions, 'eviction')}, and says which"

    def losses(self) -> str:
        """What follows when a zone is lost."""
        return f"{self.drill} --each zone plays the loss of each zone: what stays pending, and how skewed it comes back"

    def rollout(self, target: str) -> str:
        """How a rollout ends."""
        command = f"{self.drill} --rollout {shell_line([target])}"
        return f"{command} plays its next rollout: how skewed it ends, and whether it gets stuck"

    def room(self, target: str) -> str:
        """How many more fit."""
        return f"{self.capacity} {shell_line([target])} says how many more fit, where, and what ends it"

    def purchase(self, target: str) -> str:
        """Which node lets pods in."""
        return f"{self.capacity} {shell_line([target])} says which new node, in which zone, lets the most in"


_SCALED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job")


def of_pending(commands: FurtherCommands, kind: str, target: str) -> Iterator[str]:
    """For a workload whose pods wait."""
    if kind in _SCALED:
        yield commands.purchase(target)


def of_constrained(commands: FurtherCommands, kind: str, target: str) -> Iterator[str]:
    """For a workload that is placed, and whose hard constraints count."""
    if kind == "Deployment":
        yield commands.rollout(target)
    elif kind in _SCALED:
        yield commands.room(target)
