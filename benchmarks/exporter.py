"""What `topospread run exporter` costs on a large cluster: first figures, an event until it is shown, a scrape.

python -m benchmarks.exporter    prints the table of docs/performance.md
"""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import msgspec
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from topospread.api.node import Node, NodeCondition
from topospread.api.pod import Pod, PodCondition
from topospread.api.workload import Deployment, ReplicaSet
from topospread.cli.usage import BETWEEN_COLLECTIONS
from topospread.config.gates import gates_for
from topospread.config.load import default_configuration
from topospread.exporter.collector import SeriesLimits, SpreadCollector
from topospread.exporter.tracker import Tracker
from topospread.exporter.watch_health import WatchHealth
from topospread.live.exposition import exposition_of
from topospread.simulation.options import SimulationOptions

NODES, WORKLOADS, PODS, SPACES, TIMES = 5_000, 2_000, 50, 40, 15
TARGET = 0.5
"""Seconds that a scrape may take."""
STORED: dict[str, Any] = {
    "schedulerName": "default-scheduler",
    "priority": 0,
    "preemptionPolicy": "PreemptLowerPriority",
    "restartPolicy": "Always",
    "tolerations": [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ],
}
"""The fields that the API server adds to every pod."""
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
Json = dict[str, Any]


def measured() -> Iterator[tuple[str, list[float]]]:
    """What is measured, in seconds."""
    tracker = Tracker(SimulationOptions(default_configuration(), gates=gates_for()))
    read = [*map(_node, range(NODES)), *(item for number in range(WORKLOADS) for item in _workload(number))]
    gc.set_threshold(*BETWEEN_COLLECTIONS)  # as the process does
    gc.freeze()
    began = time.process_time()
    for item in read:
        tracker.put(item)
    tracker.work(time.monotonic() + 3600)
    yield (
        f"the first figures of {NODES:,} nodes and {WORKLOADS * PODS:,} pods of {WORKLOADS:,} Deployments",
        [time.process_time() - began],
    )
    gc.collect()
    gc.freeze()
    events: dict[str, Callable[[int], object]] = {
        "a node's heartbeat": lambda i: tracker.put(_heartbeat(_node(i), i)),
        "a pod's condition changes": lambda i: tracker.put(_ready(_pod(i, 0), i)),
        "a pod is deleted": lambda i: tracker.delete(Pod, _space(i), f"web-{i}-h-0", None),
        "a pod comes": lambda i: tracker.put(_pod(i, 0)),
        "a node is cordoned": lambda i: tracker.put(_cordoned(_node(i))) if i < 2 else None,
        "a node comes": lambda i: tracker.put(_node(NODES + i)),
        "a node without pods goes": lambda i: tracker.delete(Node, "", f"node-{NODES + i}", None),
        "a node's zone becomes another": lambda i: tracker.put(_moved(_node(3 * i + 30))),
        "a node with its 20 pods goes": lambda i: tracker.delete(Node, "", f"node-{100 + i}", None),
    }
    for name, event in events.items():
        times = 2 if "cordon" in name else TIMES
        yield f"{name}, until it is in the figures", [_seconds(_followed, event, i, tracker) for i in range(times)]
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SpreadCollector(tracker, WatchHealth(), "1.37", SeriesLimits()))
    for name, accept in (("text", ""), ("OpenMetrics", "application/openmetrics-text;version=1.0.0")):
        lines = exposition_of(registry, accept)[0].count(b"\n")
        seconds = [_seconds(exposition_of, registry, accept) for _ in range(TIMES)]
        yield f"a scrape, {name}, {lines:,} lines (at most {TARGET * 1e3:.0f} ms)", seconds


def _followed(event: Callable[[int], object], number: int, tracker: Tracker) -> None:
    event(number)
    tracker.work(time.monotonic() + 3600)


def _seconds(work: Callable[..., object], *given: object) -> float:
    """Processor time: other processes may share the machine."""
    began = time.process_time()
    work(*given)
    return time.process_time() - began


def _space(number: int) -> str:
    return f"space-{number % SPACES}"


def _node(number: int) -> Node:
    labels = {HOST: f"node-{number}", ZONE: f"zone-{number % 3}"}
    metadata = {"name": f"node-{number}", "uid": f"n{number}", "labels": labels}
    amounts = {"cpu": "32", "memory": "128Gi", "pods": "110"}
    return msgspec.convert({"metadata": metadata, "status": {"allocatable": amounts}}, Node)


def _heartbeat(node: Node, number: int) -> Node:
    said = [NodeCondition(type="Ready", last_heartbeat_time=f"2026-01-01T00:00:{number:02}Z")]
    return replace(node, status=replace(node.status, conditions=said))


def _cordoned(node: Node) -> Node:
    return replace(node, spec=replace(node.spec, unschedulable=True))


def _moved(node: Node) -> Node:
    return replace(node, metadata=replace(node.metadata, labels={**node.labels, ZONE: "zone-1"}))


def _ready(pod: Pod, number: int) -> Pod:
    assert pod.status is not None
    said = [PodCondition(type="Ready", status="True", last_transition_time=f"2026-01-01T00:01:{number:02}Z")]
    return replace(pod, status=replace(pod.status, conditions=said))


def _spec(number: int) -> Json:
    selector = {"matchLabels": {"app": f"web-{number}"}}
    spread = [
        {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector},
        {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector},
    ]
    requests = {"requests": {"cpu": "100m", "memory": "128Mi"}}
    return {"containers": [{"name": "c", "image": "i", "resources": requests}], "topologySpreadConstraints": spread}


def _owner(kind: str, name: str) -> list[Json]:
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"{kind}.{name}", "controller": True}]


def _workload(number: int) -> Iterator[Any]:
    name, space = f"web-{number}", _space(number)
    labels = {"app": name}
    selector = {"matchLabels": labels}
    spec: Json = {
        "replicas": PODS,
        "selector": selector,
        "template": {"metadata": {"labels": labels}, "spec": _spec(number)},
    }
    yield msgspec.convert(
        {"metadata": {"name": name, "namespace": space, "uid": f"Deployment.{name}"}, "spec": spec}, Deployment
    )
    hashed = labels | {"pod-template-hash": "h"}
    owned = {"name": f"{name}-h", "namespace": space, "uid": f"ReplicaSet.{name}-h", "labels": hashed}
    owned["ownerReferences"] = _owner("Deployment", name)  # type: ignore[assignment]
    spec = {
        "replicas": PODS,
        "selector": {"matchLabels": hashed},
        "template": {"metadata": {"labels": hashed}, "spec": _spec(number)},
    }
    yield msgspec.convert({"metadata": owned, "spec": spec}, ReplicaSet)
    yield from (_pod(number, place) for place in range(PODS))


def _pod(number: int, place: int) -> Pod:
    name = f"web-{number}-h-{place}"
    metadata = {
        "name": name,
        "namespace": _space(number),
        "uid": name,
        "labels": {"app": f"web-{number}", "pod-template-hash": "h"},
        "ownerReferences": _owner("ReplicaSet", f"web-{number}-h"),
    }
    placed = {**STORED, "nodeName": f"node-{(number * PODS + place) % NODES}"}
    status = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
    return msgspec.convert({"metadata": metadata, "spec": _spec(number) | placed, "status": status}, Pod)


if __name__ == "__main__":
    print("| what | median | slowest |\n|---|--:|--:|")
    for what, seconds in measured():
        print(f"| {what} | {median(seconds) * 1e3:,.1f} ms | {max(seconds) * 1e3:,.1f} ms |", flush=True)
    print(f"\nPeak: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB.")
