"""A situation in few words, and the API objects that it stands for, as an API server of 1.37 stores them.

A situation is JSON: `nodes` (`name`, `labels`; `taints`, `unschedulable`, `full`: no room for one more pod), `pods`
that stand `on` them (`labels` of their own, `terminating`, `bare`: without an owner, `plain`: without constraints), the
`pod` that is asked about (`labels`, `constraints`, `nodeSelector`, `affinity`, `tolerations`) and the `pools` of which
new nodes can be made (`name`, `zones`, `labels`, `taints`). It asks nobody.
"""

from __future__ import annotations

import copy
from typing import Any

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
NAMESPACE = "shop"


def node(given: Json, standing: int = 0) -> Json:
    """The node, ready and empty but for its pods; a cordoned one has the taint that the node controller gives it."""
    taints = [dict(each) for each in given.get("taints", ())]
    if given.get("unschedulable"):
        taints.append({"key": UNSCHEDULABLE, "effect": "NoSchedule"})
    room = str(standing) if given.get("full") else "110"
    spec: Json = {"taints": taints} if taints else {}
    if given.get("unschedulable"):
        spec["unschedulable"] = True
    amounts = {"cpu": "8", "memory": "32Gi", "pods": room}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": given["name"], "labels": {HOST: given["name"], **given["labels"]}},
        "spec": spec,
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def merged(constraint: Json, labels: Json) -> Json:
    """The constraint with what `matchLabelKeys` adds to its selector, as the API server has it since 1.34.

    Source: pkg/registry/core/pod/strategy.go, applyMatchLabelKeys.
    """
    out: Json = copy.deepcopy(constraint)
    for key in constraint.get("matchLabelKeys", ()):
        if key in labels:
            terms = out["labelSelector"].setdefault("matchExpressions", [])
            terms.append({"key": key, "operator": "In", "values": [labels[key]]})
    return out


def pod(situation: Json, name: str, given: Json | None = None) -> Json:
    """The pod that is asked about, or one that stands."""
    asked, standing = situation["pod"], given or {}
    labels = standing.get("labels", asked["labels"])
    metadata: Json = {"name": name, "namespace": NAMESPACE, "uid": name, "labels": labels}
    if not standing.get("bare"):
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web", "controller": True}
        ]
    if standing.get("terminating"):
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 600}
    spec: Json = {"containers": [{"name": "web", "image": "web"}]}
    if not standing.get("plain"):
        spec["topologySpreadConstraints"] = [merged(each, labels) for each in asked["constraints"]]
        spec |= {key: asked[key] for key in ("nodeSelector", "affinity", "tolerations") if key in asked}
    if given is not None:
        spec["nodeName"] = given["on"]
    status = {"phase": "Running" if given is not None else "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def pods(situation: Json) -> list[Json]:
    """All that stand, named `web-0` and so on."""
    return [pod(situation, f"web-{i}", each) for i, each in enumerate(situation["pods"])]


def nodes(situation: Json) -> list[Json]:
    """All nodes that are there."""
    standing = [each["on"] for each in situation["pods"]]
    return [node(each, standing.count(each["name"])) for each in situation["nodes"]]


def new_nodes(situation: Json) -> dict[str, Json]:
    """A node such as each pool makes in each of its zones, by `pool/zone`."""
    out = {}
    for pool in situation["pools"]:
        for zone in pool["zones"]:
            labels = {ZONE: zone, **pool.get("labels", {})}
            name = f"new-{pool['name']}-{zone}"
            out[f"{pool['name']}/{zone}"] = node({"name": name, "labels": labels, "taints": pool.get("taints", ())})
    return out


def cluster(situation: Json) -> Json:
    """What the programs of all peers are given: nodes, pods, and the pod asked about."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    return {
        "nodes": nodes(situation),
        "pods": pods(situation),
        "incoming": [pod(situation, "asked")],
        "namespaces": [namespace],
    }


def manifest(situation: Json) -> Json:
    """The Deployment whose pods these are: all that a linter sees."""
    asked = situation["pod"]
    spec: Json = {"containers": [{"name": "web", "image": "web:1"}], "topologySpreadConstraints": asked["constraints"]}
    spec |= {key: asked[key] for key in ("nodeSelector", "affinity", "tolerations") if key in asked}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": NAMESPACE, "labels": asked["labels"]},
        "spec": {
            "replicas": max(len(situation["pods"]), 1) + 1,
            "selector": {"matchLabels": {"app": asked["labels"]["app"]}},
            "template": {"metadata": {"labels": asked["labels"]}, "spec": spec},
        },
    }
