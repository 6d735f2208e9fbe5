"""The clusters and pods that are measured: the same as `conformance/oracle/cmd/schedbench` makes.

Node template: 4 cpu, 32Gi, 110 pods, three zones, hostname labels. Pods: 100m, 500Mi.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
Json = dict[str, Any]
NO_KEYS: Mapping[str, int] = {}


KEYS: dict[str, dict[str, int]] = {
    "rack100": {"rack": 100},
    "rack1000": {"rack": 1_000},
    **{name: {f"k{i}": 3 + i for i in range(count)} for name, count in (("four", 4), ("eight", 8))},
}
"""Kind of pod → topology keys besides zone and hostname, each with its number of domains."""


def node(i: int, *, tainted: bool = False, keys: Mapping[str, int] = NO_KEYS) -> Json:
    """Return node ``i``. None of the measured pods tolerates a tainted node.

    Args:
        keys: further topology keys → number of their domains.
    """
    amounts = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    name = f"node-{i:05d}"
    made: Json = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "labels": {HOST: name, ZONE: f"zone-{i % 3}", **{key: f"{key}-{i % count}" for key, count in keys.items()}},
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }
    if tainted:
        made["spec"] = {"taints": [{"key": "maintenance", "effect": "NoSchedule"}]}
    return made


def constraints(kind: str, app: str) -> list[Json]:
    """Spread constraints of a kind of pod, as schedbench has them."""

    def constraint(key: str, skew: int, when: str, **more: object) -> Json:
        selector = {"matchLabels": {"app": app}}
        return {
            "maxSkew": skew,
            "topologyKey": key,
            "whenUnsatisfiable": when,
            "labelSelector": selector,
            **more,
        }

    if kind in ("four", "eight"):
        when = ("DoNotSchedule", "ScheduleAnyway")
        return [constraint(key, 2, when[i % 2]) for i, key in enumerate(KEYS[kind])]
    if kind == "shared":
        selector = {"matchLabels": {"team": "one"}}
        return [each | {"labelSelector": selector} for each in constraints("hard2", app)]
    found = {
        "hard": [constraint(ZONE, 5, "DoNotSchedule")],
        "soft": [constraint(ZONE, 5, "ScheduleAnyway")],
        "anti": [constraint(ZONE, 5, "ScheduleAnyway")],
        "hard2": [constraint(ZONE, 1, "DoNotSchedule"), constraint(HOST, 1, "ScheduleAnyway")],
        "honor": [constraint(ZONE, 1, "DoNotSchedule", minDomains=3, nodeTaintsPolicy="Honor")],
        "rack100": [constraint("rack", 1, "DoNotSchedule")],
        "rack1000": [constraint("rack", 1, "DoNotSchedule")],
    }
    return found.get(kind, [])


def pod_spec(kind: str, app: str) -> Json:
    """The spec of a measured pod."""
    requests = {"cpu": "100m", "memory": "500Mi"}
    spec: Json = {
        "schedulerName": "default-scheduler",
        "containers": [{"name": "pause", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}],
    }
    if found := constraints(kind, app):
        spec["topologySpreadConstraints"] = found
    if kind == "anti":
        term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": app}}}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return spec


def pod(name: str, kind: str, app: str, node_name: str | None = None) -> Json:
    """A pod as the API server would have it."""
    spec = pod_spec(kind, app)
    if node_name:
        spec["nodeName"] = node_name
    labels = {"app": app, "team": "one"} if kind == "shared" else {"app": app}
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def placed(nodes: int, pods: int) -> Iterator[tuple[str, int]]:
    """Names and nodes of pods that are there before."""
    rng = random.Random(1)
    for i in range(pods):
        yield f"init-{i:06d}", rng.randrange(nodes)


def snapshot(nodes: int, pods: int) -> Iterator[Json]:
    """A cluster as ``kubectl get nodes,pods`` writes it, pods of about a kilobyte."""
    pad = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "podIP": "10.0.0.1", "hostIP": "10.0.0.2"}
    conditions = [
        {"type": t, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"} for t in ("Ready", "PodScheduled")
    ]
    yield from map(node, range(nodes))
    for name, row in placed(nodes, pods):
        made = pod(name, "none", "plain", f"node-{row:05d}")
        made["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
        made["metadata"]["resourceVersion"] = "1"
        made["status"] = {**pad, "conditions": conditions}
        yield made


def write_list(path: Path, items: Iterable[Json]) -> None:
    """Write a List in JSON."""
    with path.open("w") as file:
        file.write('{"apiVersion":"v1","kind":"List","items":[')
        for i, each in enumerate(items):
            file.write(("," if i else "") + json.dumps(each))
        file.write("]}")


def write_yaml_list(path: Path, items: Iterable[Json]) -> None:
    """Write a List in YAML as kubectl does, item by item.

    A command's peak would count this process's, had it held all of them when the command was started.
    """
    with path.open("w") as file:
        file.write("apiVersion: v1\nitems:\n")
        for each in items:
            yaml.dump([json.loads(json.dumps(each))], file, Dumper=yaml.CSafeDumper)  # without anchors
        file.write("kind: List\n")


def write_workloads(path: Path, nodes: int, workloads: int, replicas: int) -> None:
    """A cluster full of Deployments, each with its ReplicaSet, pods, a Service and a budget, in one namespace."""
    where = ([f"node-{(i * replicas + at) % nodes:05d}" for at in range(replicas)] for i in range(workloads))
    write_list(path, _full(nodes, where))


def _deployed(name: str, where: list[str]) -> Iterator[Json]:
    labels, hashed = {"app": name}, {"app": name, "pod-template-hash": "5d4f8c7b9"}
    metadata, set_name = {"name": name, "namespace": "ns", "uid": f"uid-{name}"}, f"{name}-5d4f8c7b9"
    spec, selector = pod_spec("hard2", name), {"matchLabels": labels}
    template = {"metadata": {"labels": labels}, "spec": spec}
    deployment = {"replicas": len(where), "selector": selector, "template": template}
    yield {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": deployment}
    owned = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": f"uid-{name}", "controller": True}
    set_metadata = {"name": set_name, "namespace": "ns", "uid": f"uid-{set_name}", "labels": hashed}
    replica_set = deployment | {
        "selector": {"matchLabels": hashed},
        "template": {"metadata": {"labels": hashed}, "spec": spec},
    }
    set_metadata["ownerReferences"] = [owned]
    yield {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": set_metadata, "spec": replica_set}
    service = {"selector": labels, "ports": [{"port": 80}]}
    yield {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": service}
    budget = {"maxUnavailable": 1, "selector": selector}
    yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set_name, "uid": f"uid-{set_name}"}
    for i, at in enumerate(where):
        pod_metadata = {"name": f"{set_name}-{i:05d}", "namespace": "ns", "uid": f"uid-{name}-{i}", "labels": hashed}
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": pod_metadata | {"ownerReferences": [owner | {"controller": True}]},
            "spec": spec | {"nodeName": at},
            "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"},
        }


def write_skewed(path: Path, nodes: int, workloads: int, replicas: int) -> None:
    """The same, but pods stand anywhere, as scale-downs and lost nodes leave them."""
    draw = random.Random(1)
    where = ([f"node-{draw.randrange(nodes):05d}" for _ in range(replicas)] for _ in range(workloads))
    write_list(path, _full(nodes, where))


def _full(nodes: int, where: Iterable[list[str]]) -> Iterator[Json]:
    yield from map(node, range(nodes))
    for i, each in enumerate(where):
        yield from _deployed(f"app-{i}", each)


def write_daemon_sets(path: Path, nodes: int, count: int) -> None:
    """DaemonSets that want a small pod on every node, each with a Service that selects it."""
    items = [node(i) for i in range(nodes)]
    for i in range(count):
        metadata, labels = {"name": f"agent-{i}", "namespace": "ns"}, {"app": f"agent-{i}"}
        container = {"name": "agent", "image": "agent", "resources": {"requests": {"cpu": "10m"}}}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": labels}, "template": template}
        items.append({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec})
        ports = [{"port": 80}]
        service = {"selector": labels, "ports": ports}
        items.append({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": service})
    write_list(path, items)


def write_deployment(path: Path, kind: str, replicas: int) -> None:
    """The workload that is to be placed."""
    labels = {"app": "app-0"}
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "app-0", "namespace": "ns"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(kind, "app-0")},
        },
    }
    path.write_text(json.dumps(manifest))
