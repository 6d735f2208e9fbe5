"""Warn about missing parts of a snapshot, and about objects that kube-scheduler ignores."""

from __future__ import annotations

from collections.abc import Collection

from topospread.api.inventory import Inventory
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.text import listed

_NAMES_SHOWN = 3
_OWNER_LISTS = {
    "ReplicaSet": ("replica_sets", "replicasets"),
    "StatefulSet": ("stateful_sets", "statefulsets"),
    "ReplicationController": ("replication_controllers", "replicationcontrollers"),
}
"""Kind whose selector default constraints use → its list in the inventory, and kubectl's name for it."""


def leave_out_stranded_pods(inventory: Inventory) -> None:
    """Remove pods that are bound to missing nodes, with a warning.

    kube-scheduler does not count them, and the pod garbage collector deletes them. Finished pods stay, because their
    Job counts them.
    """
    nodes = {node.name for node in inventory.nodes}
    staying: list[Pod] = []
    stranded: list[Pod] = []
    for pod in inventory.pods:
        node = pod.spec.node_name
        lost = node and node not in nodes and pod.phase not in FINISHED_PHASES
        (stranded if lost else staying).append(pod)
    if stranded:
        inventory.pods[:] = staying
        missing = sorted({pod.spec.node_name or "" for pod in stranded})
        inventory.warnings.append(
            f"{_count(len(stranded), 'pod is', 'pods are')} left out, because "
            f"{_count(len(missing), 'node is', 'nodes are')} not in the input ({listed(missing, _NAMES_SHOWN)}): "
            f"{listed([f'{pod.namespace}/{pod.name}' for pod in stranded], _NAMES_SHOWN)}"
        )


def warn_of_missing_owners(
    inventory: Inventory, *, services_known: bool = False, told: Collection[str] = frozenset()
) -> None:
    """Warn if a cluster's pods lack the owners from which default constraints take their selectors.

    ``services_known``: whether the snapshot states its number of Services. ``told``: unreadable kinds that already have
    a warning.
    """
    missing = _missing_owners(inventory)
    for kind, names in missing.items():
        if kind in told:
            continue
        inventory.warnings.append(
            f"{_count(sum(names.values()), 'pod belongs', 'pods belong')} to {_count(len(names), kind, kind + 's')} "
            f"not in the input ({listed(names, _NAMES_SHOWN)}): cluster-level default constraints do not apply to "
            f"them, and their workloads are unknown; add {_OWNER_LISTS[kind][1]} to `kubectl get`"
        )
    if not services_known and not inventory.services and any(map(_may_need_a_service, inventory.pods)):
        inventory.warnings.append(
            "no Services are given: cluster-level default constraints do not apply to pods that only a Service "
            "selects; add services to `kubectl get`"
        )


def _missing_owners(inventory: Inventory) -> dict[str, dict[str, int]]:
    """Return kind → ``namespace/name`` of each missing controller → number of pods that name it."""
    known = {
        kind: {(owner.namespace, owner.name) for owner in getattr(inventory, attribute)}
        for kind, (attribute, _) in _OWNER_LISTS.items()
    }
    missing: dict[str, dict[str, int]] = {}
    for pod in inventory.pods:
        if not pod.metadata.owner_references or pod.phase in FINISHED_PHASES:
            continue
        owner = pod.metadata.controller
        if owner is not None and owner.kind in known and (pod.namespace, owner.name) not in known[owner.kind]:
            names = missing.setdefault(owner.kind, {})
            name = f"{pod.namespace}/{owner.name}"
            names[name] = names.get(name, 0) + 1
    return missing


def _may_need_a_service(pod: Pod) -> bool:
    """Return whether only a Service's selector lets default constraints count a pod (``DefaultSelector``)."""
    metadata, owner = pod.metadata, pod.metadata.controller
    stored = bool(metadata.uid or metadata.resource_version or metadata.owner_references)
    # A DaemonSet's pod and a static pod have one node only.
    kinds = (*_OWNER_LISTS, "DaemonSet", "Node")
    return stored and not pod.spec.topology_spread_constraints and (owner is None or owner.kind not in kinds)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
