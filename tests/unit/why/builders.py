"""Small clusters as an API server would have them, for tests of explanations."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from tests.parted import parted
from tests.plain_inventory import inventory
from topospread.simulation.options import SimulationOptions
from topospread.simulation.placing import place_all
from topospread.simulation.run import Run, prepare
from topospread.why.explain import explain
from topospread.why.rejections_per_node import RejectionsPerNode
from topospread.why.result import Explanation, Suggestion

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
SPREAD = "PodTopologySpread"
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
GPU = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
Json = dict[str, Any]


def node(name: str, zone: str = "", *, cpu: str = "4", taints: Sequence[Json] = (), cordoned: bool = False) -> Json:
    """A node; a cordoned one has the taint that comes with it."""
    labels = {HOST: name} | ({ZONE: zone} if zone else {})
    spec: Json = {}
    if cordoned:
        spec["unschedulable"] = True
        taints = [*taints, CORDON]
    if taints:
        spec["taints"] = list(taints)
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    metadata = {"name": name, "uid": f"uid-{name}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": {"allocatable": amounts}}


def zones(names: str = "abc") -> list[Json]:
    """A node in each zone, ``a`` in ``zone-a``."""
    return [node(name, f"zone-{name}") for name in names]


def constraint(key: str = ZONE, when: str = "DoNotSchedule", app: str = "web", **more: Any) -> Json:
    """A spread constraint with maxSkew 1."""
    selector = {"matchLabels": {"app": app}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector} | more


def spec(*constraints: Json, cpu: str = "500m", **more: Any) -> Json:
    """The spec of a pod with one container."""
    made: Json = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}], **more}
    return made | ({"topologySpreadConstraints": list(constraints)} if constraints else {})


def pod(
    name: str,
    on: str = "",
    of: Json | None = None,
    *,
    labels: Json | None = None,
    owner: tuple[str, str] | None = None,
    uid: bool = True,
) -> Json:
    """A pod of a spec, on a node or not; ``owner``: kind and name of its controller."""
    metadata: Json = {"name": name, "namespace": "shop", "labels": labels or {"app": "web"}}
    if uid:
        metadata["uid"] = f"uid-{name}"
    if owner is not None:
        metadata["ownerReferences"] = [_reference(*owner)]
    own = copy.deepcopy(of if of is not None else spec()) | ({"nodeName": on} if on else {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": own}


def _reference(kind: str, name: str) -> Json:
    version = {"Rollout": "argoproj.io/v1alpha1", "Job": "batch/v1"}.get(kind, "apps/v1")
    return {"apiVersion": version, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}


def workload(kind: str, replicas: int, of: Json, name: str = "web", *, uid: bool = True, **more: Any) -> Json:
    """A controller whose pods have the label ``app``."""
    labels = {"app": name}
    body: Json = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": of}, **more}
    body |= {"parallelism": replicas, "completions": replicas} if kind == "Job" else {"replicas": replicas}
    if kind == "Job":
        del body["selector"]
        of.setdefault("restartPolicy", "Never")
    if kind == "StatefulSet":
        body["serviceName"] = name
    metadata = {"name": name, "namespace": "shop"} | ({"uid": f"uid-{name}"} if uid else {})
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": copy.deepcopy(body)}


def replica_set(revision: str, replicas: int, of: Json) -> Json:
    """A ReplicaSet of the Deployment web."""
    labels = {"app": "web", "pod-template-hash": revision}
    made = workload("ReplicaSet", replicas, of, f"web-{revision}")
    made["metadata"] |= {"labels": labels, "ownerReferences": [_reference("Deployment", "web")]}
    made["spec"]["selector"] = {"matchLabels": labels}
    made["spec"]["template"]["metadata"]["labels"] = labels
    return made


def replicas(revision: str, of: Json, on: Sequence[str]) -> list[Json]:
    """Pods of a ReplicaSet of the Deployment web, on these nodes ("" for none)."""
    labels = {"app": "web", "pod-template-hash": revision}
    owner = ("ReplicaSet", f"web-{revision}")
    return [pod(f"web-{revision}-{i}", at, of, labels=labels, owner=owner) for i, at in enumerate(on)]


def explained(target: str, *objects: Json, **how: Any) -> Explanation:
    """One of them explained."""
    return explain(inventory(*objects), target, **parted(how))


def by_kind(explanation: Explanation) -> dict[str, Suggestion]:
    """The first suggestion of each kind."""
    return {each.kind: each for each in reversed(explanation.suggestions)}


def prepared(*objects: Json) -> Run:
    """A simulation that has not begun."""
    return prepare(inventory(*objects), SimulationOptions())


def obstacles_of(*objects: Json) -> RejectionsPerNode:
    """What is against the nodes for the first pod that waits, when all pods have been placed that can be."""
    run = prepared(*objects)
    place_all(run)
    queued = next(each for each in run.queue if run.outcomes[id(each)].pending)
    verdict = run.scheduler.verdict(queued.pod, queued.name)
    pod_class = run.cluster.shared_class(queued.pod)
    return RejectionsPerNode(run.scheduler.view(pod_class), run.scheduler.framework_of(pod_class), verdict)
