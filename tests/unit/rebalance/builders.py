"""Workloads whose pods stand where they are put, and what is left when evictions are carried out."""

from __future__ import annotations

from typing import Any

from tests.parted import parted
from tests.unit.drill.builders import budget, inventory, node, nodes, spread
from topospread.api.inventory import Inventory
from topospread.rebalance.rebalance import rebalance
from topospread.rebalance.result import PodMove, Rebalance

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
THREE = nodes("a", "a", "b", "b", "c", "c")
CLAIMS = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}
OTHER_SCHEDULER = {"schedulerName": "volcano"}

__all__ = ["HOST", "ZONE", "budget", "carried_out", "node", "nodes", "rebalance_of", "soft", "spread", "standing"]


def soft(max_skew: int = 1, **more: Any) -> Json:
    """A soft constraint on the zone."""
    return spread(max_skew, whenUnsatisfiable="ScheduleAnyway", **more)


def standing(on: dict[str, int], *constraints: Json, name: str = "web", **more: Any) -> list[Json]:
    """A ReplicaSet in shop with so many pods on each node, of a cpu each; ``more``: of its pods' spec."""
    labels = {"app": name}
    of_web = {"matchLabels": {"app": "web"}}
    own = [
        each | {"labelSelector": {"matchLabels": labels}} if each["labelSelector"] == of_web else each
        for each in constraints
    ]
    cpu = more.pop("cpu", "1")
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]} | more
    if own:
        spec["topologySpreadConstraints"] = own
    metadata = {"name": name, "namespace": "shop", "uid": f"rs-{name}"}
    made: list[Json] = [
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": metadata,
            "spec": {
                "replicas": sum(on.values()),
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
    ]
    numbered = [where for where, number in on.items() for _ in range(number)]
    return made + [_pod(f"{name}-{i}", where, labels, spec, name) for i, where in enumerate(numbered)]


def _pod(name: str, where: str, labels: Json, spec: Json, owner: str) -> Json:
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": f"rs-{owner}", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": labels, "ownerReferences": [reference]},
        "spec": spec | {"nodeName": where},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def rebalance_of(objects: list[Json], **options: Any) -> Rebalance:
    """What to evict."""
    return rebalance(inventory(*objects), **parted(options))


def given(objects: list[Json]) -> Inventory:
    """The objects as they are read."""
    return inventory(*objects)


def carried_out(objects: list[Json], moves: tuple[PodMove, ...]) -> list[Json]:
    """The objects with every evicted pod gone, and the new one on its node."""
    now = list(objects)
    for move in moves:
        gone = next(each for each in now if each["kind"] == "Pod" and each["metadata"]["name"] == move.name)
        now = [each for each in now if each is not gone]
        metadata = gone["metadata"] | {"name": move.created}
        now.append(gone | {"metadata": metadata, "spec": gone["spec"] | {"nodeName": move.target}})
    return now
