"""Random small corners of one cluster, each with nodes and a namespace of its own and a workload that may not fit."""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
POOL = "acme.example/pool"
KINDS = ("Deployment", "Deployment", "StatefulSet", "ReplicaSet", "Job", "Job", "Pod")
GPU: Json = {"key": "acme.example/gpu", "value": "yes", "effect": "NoSchedule"}


def corner(draw: random.Random, number: int) -> tuple[list[Json], list[Json], str]:
    """What is there, the workload that comes last, and how `topospread why` is asked for it."""
    name = f"corner-{number}"
    zones = [f"{name}-{letter}" for letter in "abc"[: draw.randint(2, 3)]]
    nodes = [_node(draw, name, i, zones[i % len(zones)]) for i in range(draw.randint(2, 4))]
    there: list[Json] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, *nodes]
    cpu = draw.choice(["300m", "700m"])
    others = [_pod(f"other-{i}", name, {"app": "other"}, _spec(name, "700m")) for i in range(draw.randint(0, 2))]
    kind, spec = draw.choice(KINDS), _spec(name, cpu) | _wishes(draw, zones)
    replicas = 1 if kind == "Pod" else draw.randint(2, 4)
    return [*there, *others], [_workload(kind, name, spec, replicas)], f"{name}/{kind.lower()}/web"


def _node(draw: random.Random, pool: str, number: int, zone: str) -> Json:
    name = f"{pool}-node-{number}"
    amounts = {"cpu": draw.choice(["1", "2"]), "memory": "4Gi", "pods": "10"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOST: name, ZONE: zone, POOL: pool}},
        "spec": {"taints": [GPU]} if draw.random() < 0.3 else {},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _spec(pool: str, cpu: str) -> Json:
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu, "memory": "16Mi"}}}
    return {"containers": [container], "nodeSelector": {POOL: pool}, "terminationGracePeriodSeconds": 0}


def _wishes(draw: random.Random, zones: list[str]) -> Json:
    """Constraints of all sorts, and what people mistake."""
    own = {"matchLabels": {"app": "web"}}
    if draw.random() < 0.15:
        return {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": ZONE, "labelSelector": own}]}}}
    key = draw.choice([ZONE, ZONE, HOST, "topology.kubernetes.io/zome", "failure-domain.beta.kubernetes.io/zone"])
    constraint: Json = {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": own,
    }
    if draw.random() < 0.3:
        constraint["minDomains"] = len(zones) + 1
    return {"topologySpreadConstraints": [constraint]}


def _pod(name: str, namespace: str, labels: Json, spec: Json) -> Json:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _workload(kind: str, namespace: str, spec: Json, replicas: int) -> Json:
    labels = {"app": "web"}
    if kind == "Pod":
        return _pod("web", namespace, labels, spec)
    template = {"metadata": {"labels": labels}, "spec": spec}
    made: Json = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", "namespace": namespace}}
    if kind == "Job":
        spec["restartPolicy"] = "Never"
        return made | {
            "apiVersion": "batch/v1",
            "spec": {"parallelism": replicas, "completions": replicas, "template": template},
        }
    body: Json = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    if kind == "StatefulSet":
        body |= {"serviceName": "web", "podManagementPolicy": "Parallel"}
    return made | {"spec": body}
