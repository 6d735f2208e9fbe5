"""What would let a pending pod in, smallest change first: only what was tried and works.

Nothing here decides whether a pod fits: `what_if` carries the simulation out with each change, from its beginning.
"""

from __future__ import annotations

from topospread.api.inventory import Inventory
from topospread.workloads.planned import QueuedPod, Workload

from .owner import owned
from .repeated_simulation import RepeatedSimulation
from .result import Suggestion
from .spec_search import of_spec
from .what_if import PendingPodFacts, WhatIf

_OF_A_KIND = 2
"""How many suggestions of one kind of change to the cluster are enough."""


def suggestions(
    simulation: RepeatedSimulation, inventory: Inventory, subject: QueuedPod, found: PendingPodFacts
) -> tuple[tuple[Suggestion, ...], int]:
    """What lets pods of the subject's workload in, smallest first, and how many changes were not tried.

    The state must be at the simulation's beginning; it is left there. Changes of the spec that place every pod make
    those that place only some superfluous. A rollout that gets stuck comes last.
    """
    workload = subject.workload
    search = WhatIf(simulation, workload, found.baseline)
    owner = owned(inventory, subject, found.constraints, has_pods=_has_pods(workload, simulation, inventory))
    kept: list[tuple[tuple[float, ...], Suggestion]] = []
    if owner is not None:
        kept += ((change.size, tried) for change, tried in of_spec(search, owner, found))
    if any(each.complete for _, each in kept):
        kept = [each for each in kept if each[1].complete]
    by_kind: dict[str, int] = {}
    for change in found.cluster_changes:
        if by_kind.get(change.kind, 0) < _OF_A_KIND and (tried := search.try_out(change)) is not None:
            by_kind[change.kind] = by_kind.get(change.kind, 0) + 1
            kept.append((change.size, tried))
    kept.sort(key=lambda each: (each[1].stuck_at is not None, each[0], each[1].title))
    return tuple(each for _, each in kept), search.untried


def _has_pods(workload: Workload, simulation: RepeatedSimulation, inventory: Inventory) -> bool:
    """Whether pods of a controller were read, on nodes or not."""
    if workload.kind == "Pod" or workload.existing:
        return bool(workload.existing)
    waiting = {(each.namespace, each.name) for each in simulation.queue if each.workload is workload}
    return any((pod.namespace or "default", pod.name) in waiting for pod in inventory.pods)
