"""Two simulations of the same pods side by side: only what differs. Which two, the caller decides."""

from __future__ import annotations

from dataclasses import dataclass

from .result import PodPlacement, Simulation, WorkloadResult, WorkloadSpread


@dataclass(frozen=True, slots=True)
class PlacementChange:
    """A pod whose node or score differs; ``before`` and ``after`` are the same pod in the two simulations."""

    before: PodPlacement
    after: PodPlacement

    @property
    def moved(self) -> bool:
        """Whether it has another node, or in one of the two none."""
        return self.before.node != self.after.node


@dataclass(frozen=True, slots=True)
class SpreadChange:
    """A workload's constraint that comes out differently; one side is ``None`` where it is not in force."""

    workload: WorkloadResult
    before: WorkloadSpread | None
    after: WorkloadSpread | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two simulations.

    Attributes:
        before, after: the two, named by ``names``.
        placements: pods that are placed elsewhere or with another score, in queue order.
        spreads: constraints that come out differently.
    """

    names: tuple[str, str]
    before: Simulation
    after: Simulation
    placements: tuple[PlacementChange, ...]
    spreads: tuple[SpreadChange, ...]

    @property
    def moved(self) -> tuple[PlacementChange, ...]:
        """Pods that land on another node, or in one of the two on none."""
        return tuple(each for each in self.placements if each.moved)

    @property
    def newly_pending(self) -> tuple[PlacementChange, ...]:
        """Pods that are placed before and pending after."""
        return tuple(each for each in self.moved if each.after.node is None)

    @property
    def newly_placed(self) -> tuple[PlacementChange, ...]:
        """Pods that are pending before and placed after."""
        return tuple(each for each in self.moved if each.before.node is None)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.placements and not self.spreads


def compare(before: Simulation, after: Simulation, names: tuple[str, str]) -> Comparison:
    """What differs between two simulations of the same inventory; pods are the same by namespace and name."""
    there = {(each.namespace, each.name): each for each in after.placements}
    changes = [
        PlacementChange(each, other)
        for each in before.placements
        if (other := there.get((each.namespace, each.name))) is not None
        and (each.node, each.score) != (other.node, other.score)
    ]
    return Comparison(names, before, after, tuple(changes), tuple(_spread_changes(before, after)))


def _spread_changes(before: Simulation, after: Simulation) -> list[SpreadChange]:
    later = {(each.kind, each.namespace, each.name): each for each in after.workloads}
    changes = []
    for workload in before.workloads:
        other = later.get((workload.kind, workload.namespace, workload.name))
        ours = {_key(each): each for each in workload.spread}
        theirs = {_key(each): each for each in other.spread} if other else {}
        for key in {**ours, **theirs}:
            mine, his = ours.get(key), theirs.get(key)
            if mine is None or his is None or (mine.skew, mine.domains) != (his.skew, his.domains):
                changes.append(SpreadChange(workload, mine, his))
    return changes


def _key(spread: WorkloadSpread) -> tuple[str, str, int]:
    return (spread.topology_key, spread.when_unsatisfiable, spread.max_skew)
