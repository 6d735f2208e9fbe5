"""Small clusters and workloads for drills; `told` plays steps on them."""

from __future__ import annotations

from typing import Any

from tests.parted import parted
from tests.plain_inventory import inventory
from topospread.drill.drill import drill
from topospread.drill.result import Drill, StepOutcome
from topospread.drill.steps import NodeChoice, Step

ZONE = "topology.kubernetes.io/zone"
Json = dict[str, Any]


def node(name: str, zone: str = "", **more: Any) -> Json:
    """A node with room for ten pods, of a cpu each."""
    labels = {"kubernetes.io/hostname": name} | ({ZONE: zone} if zone else {})
    amounts = {"cpu": more.pop("cpu", "10"), "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": more,
        "status": {"allocatable": amounts},
    }


def nodes(*zones: str) -> list[Json]:
    """``a1, a2`` for ``"a", "a"``."""
    seen: dict[str, int] = {}
    made = []
    for zone in zones:
        seen[zone] = seen.get(zone, 0) + 1
        made.append(node(f"{zone}{seen[zone]}", zone))
    return made


def spread(max_skew: int = 1, **more: Any) -> Json:
    """A hard constraint on the zone, over the pods of ``web``."""
    selector = {"matchLabels": {"app": "web"}}
    return {
        "maxSkew": max_skew,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
    } | more


def workload(kind: str, name: str = "web", replicas: int = 3, spec: Json | None = None, **more: Any) -> Json:
    """A workload whose pods want a cpu each; ``spec``: of its pods."""
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]} | (spec or {}),
    }
    own: Json = {"selector": {"matchLabels": labels}, "template": template}
    if kind == "Job":
        own = {"template": template | {"spec": template["spec"] | {"restartPolicy": "Never"}}, "parallelism": replicas}
    elif kind != "DaemonSet":
        own["replicas"] = replicas
    version = "batch/v1" if kind == "Job" else "apps/v1"
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": own | more}


def running(*ready: bool, **status: Any) -> list[Json]:
    """A Deployment ``web`` with a pod on each node a1, b1 and c1, which is ready or not."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "u", "controller": True}
    deployment = workload("Deployment", replicas=len(ready))
    template = deployment["spec"]["template"]
    labels = {"app": "web", "pod-template-hash": "1"}
    of_set = {"replicas": len(ready), "selector": {"matchLabels": labels}}
    of_set["template"] = template | {"metadata": {"labels": labels}}
    above = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    metadata = {"name": "web-1", "namespace": "shop", "uid": "u", "labels": labels, "ownerReferences": [above]}
    made: list[Json] = [
        deployment | {"metadata": deployment["metadata"] | {"uid": "d"}},
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": of_set},
    ]
    for zone, one in zip("abc", ready, strict=False):
        own = {"name": f"web-{zone}", "namespace": "shop", "labels": labels, "ownerReferences": [owner]}
        conditions = [{"type": "Ready", "status": "True" if one else "False"}]
        spec = template["spec"] | {"nodeName": f"{zone}1"}
        stored = {"phase": "Running", "conditions": conditions} | ({} if one else status)
        made.append({"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": spec, "status": stored})
    return made


def budget(name: str = "web", **spec: Any) -> Json:
    """A budget over the pods of a workload."""
    metadata = {"name": name, "namespace": "shop"}
    selector = {"matchLabels": {"app": name}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": spec | {"selector": selector},
    }


def rolling(surge: int | str, unavailable: int | str) -> Json:
    """A Deployment's strategy."""
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def told(objects: list[Json], *steps: Step, **options: Any) -> Drill:
    """A drill."""
    return drill(inventory(*objects), steps, **parted(options))


def at(text: str) -> NodeChoice:
    """Nodes, as on the command line."""
    key, _, value = text.partition("=")
    return NodeChoice(key, value)


def happened(outcome: StepOutcome) -> list[tuple[float, str, int]]:
    """When what happened, to how many nodes or pods."""
    return [(each.at, each.kind, len(each.pods) or len(each.nodes)) for each in outcome.events]
