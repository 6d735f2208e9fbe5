"""A change that needs no new node: nodeTaintsPolicy Honor in the targets' hard constraints."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.pod import Pod
from topospread.simulation.changed_specs import with_specs


def honoring_taints(inventory: Inventory, keys: Collection[ObjectKey]) -> Inventory | None:
    """Return the inventory in which all pods of workloads honor taints; ``None`` if they do already.

    Their existing pods have the new spec, too, as after a rollout.

    Args:
        keys: kind, namespace and name of each workload.
    """
    changed = False

    def honors(pod: Pod) -> Pod:
        nonlocal changed
        made = [
            replace(each, node_taints_policy="Honor") if each.when_unsatisfiable == "DoNotSchedule" else each
            for each in pod.spec.topology_spread_constraints or ()
        ]
        if made == (pod.spec.topology_spread_constraints or []):
            return pod
        changed = True
        return replace(pod, spec=replace(pod.spec, topology_spread_constraints=made))

    found = with_specs(inventory, keys, honors)
    return found if changed else None
