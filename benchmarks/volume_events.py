"""What events about volumes cost, alone and with the placement after them, where every pod has a claim.

python -m benchmarks.volume_events    prints microseconds (medians) as JSON
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import msgspec
from msgspec.structs import replace

from benchmarks.clusters import node
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, VolumeAttachment
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

NODES, PODS, TIMES = 5_000, 20_000, 30
_DRIVER = "disk.csi.example.com"
Json = dict[str, Any]


def measured() -> dict[str, dict[str, float]]:
    """By event: ``alone``, and ``placement``, of a pod that shares a claim with others, after it; microseconds."""
    cluster = _full()
    scheduler = Scheduler(cluster, {"default-scheduler": Framework(default_profile(), gates_for())})
    shared = _pod("shared", "shared")
    scheduler.schedule(shared, "first")
    numbers = iter(range(1 << 20))
    found: dict[str, dict[str, float]] = {}
    for name, event in {"nothing": None, **_EVENTS}.items():
        alone, placement = [], []
        for _ in range(TIMES):
            i = next(numbers)
            item = event(cluster, i) if event is not None else None
            alone.append(_seconds(lambda item=item: item is not None and cluster.apply("MODIFIED", item)))
            placement.append(_seconds(lambda i=i: scheduler.schedule(shared, f"again-{i}")))
        found[name] = {"alone": round(median(alone) * 1e6, 1), "placement": round(median(placement) * 1e6, 1)}
    return found


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _full() -> Cluster:
    """Nodes with a driver, and pods with a bound claim each, whose volumes are attached."""
    cluster = Cluster()
    for i in range(NODES):
        cluster.apply("ADDED", msgspec.convert(node(i, tainted=False), Node))
        cluster.apply("ADDED", _csi_node(_name(i)))
    for name in ("shared", *(f"c-{i}" for i in range(PODS))):
        cluster.apply("ADDED", _volume(name))
        cluster.apply("ADDED", _claim(name))
    for i in range(PODS):
        where = _name(i % NODES)
        cluster.apply("ADDED", _pod(f"p-{i}", f"c-{i}", where))
        cluster.apply("ADDED", _attachment(f"c-{i}", where))
    return cluster


def _name(i: int) -> str:
    return str(node(i, tainted=False)["metadata"]["name"])


def _csi_node(name: str, count: int = 100) -> CSINode:
    driver = {"name": _DRIVER, "nodeID": name, "allocatable": {"count": count}}
    return msgspec.convert({"metadata": {"name": name}, "spec": {"drivers": [driver]}}, CSINode)


def _volume(name: str) -> PersistentVolume:
    spec: Json = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteMany"],
        "csi": {"driver": _DRIVER, "volumeHandle": name},
        "claimRef": {"namespace": "ns", "name": name},
    }
    return msgspec.convert(
        {"metadata": {"name": f"pv-{name}"}, "spec": spec, "status": {"phase": "Bound"}}, PersistentVolume
    )


def _claim(name: str) -> PersistentVolumeClaim:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"}
    metadata = {"namespace": "ns", "name": name, "uid": name, "annotations": annotations}
    spec: Json = {
        "accessModes": ["ReadWriteMany"],
        "volumeName": f"pv-{name}",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": {"phase": "Bound"}}, PersistentVolumeClaim)


def _attachment(name: str, where: str) -> VolumeAttachment:
    spec = {"attacher": _DRIVER, "nodeName": where, "source": {"persistentVolumeName": f"pv-{name}"}}
    return msgspec.convert({"metadata": {"name": f"attached-{name}"}, "spec": spec}, VolumeAttachment)


def _pod(name: str, claim: str, where: str = "") -> Pod:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    containers = [{"name": "app", "resources": {"requests": {"cpu": "10m"}}}]
    spec: Json = {"containers": containers, "volumes": volumes} | ({"nodeName": where} if where else {})
    return msgspec.convert({"metadata": {"namespace": "ns", "name": name, "uid": name}, "spec": spec}, Pod)


def _beaten(item: Any, i: int) -> Any:
    """The object with another resourceVersion."""
    return replace(item, metadata=replace(item.metadata, resource_version=str(i)))


def _claim_of(cluster: Cluster, i: int) -> PersistentVolumeClaim:
    return cluster.objects.persistent_volume_claims["ns", f"c-{i % PODS}"]


def _released(cluster: Cluster, i: int) -> KubeObject:
    volume = cluster.objects.persistent_volumes[f"pv-c-{i % PODS}"]
    return replace(volume, status=msgspec.convert({"phase": "Released"}, type(volume.status)))


def _lost(cluster: Cluster, i: int) -> KubeObject:
    claim = _claim_of(cluster, i)
    return replace(claim, spec=replace(claim.spec, volume_name=None))


_EVENTS: dict[str, Callable[[Cluster, int], KubeObject]] = {
    "a claim's heartbeat": lambda cluster, i: _beaten(_claim_of(cluster, i), i),
    "a CSINode's heartbeat": lambda cluster, i: _beaten(cluster.objects.csi_nodes[_name(i % NODES)], i),
    "an attachment's status": lambda cluster, i: _beaten(
        cluster.objects.volume_attachments[f"attached-c-{i % PODS}"], i
    ),
    "a volume's phase": _released,
    "another pod's claim changes": _lost,
    "a CSINode's limit changes": lambda cluster, i: _csi_node(_name(i % NODES), 50 + i % 7),
    "a volume is attached": lambda cluster, i: replace(
        _attachment(f"c-{i % PODS}", _name(i % NODES)), metadata=replace(_attachment("x", "").metadata, name=f"new-{i}")
    ),
}


if __name__ == "__main__":
    print(json.dumps(measured(), indent=1))
