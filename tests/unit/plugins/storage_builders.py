"""Clusters with storage as tests write them: objects in the API's own form, nodes by name and zone."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from topospread.cluster import Cluster, PodClass
from topospread.plugins.interface import Plugin, PluginError, Prepared

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
Json = dict[str, Any]


def cluster(nodes: dict[str, Json], *objects: KubeObject) -> Cluster:
    """Nodes by name with their labels, and storage objects."""
    made = Cluster()
    for name, labels in nodes.items():
        made.add_node(node(name, labels))
    made.objects.add(objects)
    return made


def zonal(**zones: str) -> dict[str, Json]:
    """Nodes by name, each in a zone: ``zonal(n0="a", n1="b")``."""
    return {name: {ZONE: zone, HOST: name} for name, zone in zones.items()}


def node(name: str, labels: Json, **status: Any) -> Node:
    """A node with these labels."""
    return msgspec.convert({"metadata": {"name": name, "labels": labels}, "status": status}, Node)


def pod(*volumes: Json, name: str = "p", namespace: str = "ns", labels: Json | None = None, **spec: Any) -> Pod:
    """A pod with volumes, each written as its source."""
    listed = [{"name": f"v{i}", **volume} for i, volume in enumerate(volumes)]
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": labels}
    return msgspec.convert({"metadata": metadata, "spec": {"volumes": listed, **spec}}, Pod)


def claimed(name: str) -> Json:
    """A pod's volume that is a claim."""
    return {"persistentVolumeClaim": {"claimName": name}}


def claim(name: str, volume: str = "", *, size: str = "1Gi", **more: Any) -> PersistentVolumeClaim:
    """A claim of class ``wait``; bound when it has a volume. ``more``: metadata, status, or fields of the spec."""
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", **more.pop("metadata", {})}
    status = more.pop("status", {})
    spec = {"storageClassName": "wait", "resources": {"requests": {"storage": size}}, **more}
    if volume:
        metadata.setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
        spec["volumeName"] = volume
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, PersistentVolumeClaim)


def volume(name: str, where: Json | None = None, *, size: str = "1Gi", **more: Any) -> PersistentVolume:
    """An available volume of class ``wait`` that nodes with certain labels reach. ``more`` as of `claim`."""
    metadata = {"name": name, **more.pop("metadata", {})}
    status = more.pop("status", {"phase": "Available"})
    spec = {"capacity": {"storage": size}, "storageClassName": "wait", **more}
    if where is not None:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": within(where)}]}}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, PersistentVolume)


def within(labels: Json) -> list[Json]:
    """Requirements that labels have one of some values."""
    return [{"key": key, "operator": "In", "values": values} for key, values in labels.items()]


def storage_class(name: str = "wait", mode: str | None = "WaitForFirstConsumer", **more: Any) -> StorageClass:
    """A class of driver ``disk``."""
    fields = {"metadata": {"name": name}, "provisioner": "disk", "volumeBindingMode": mode, **more}
    return msgspec.convert(fields, StorageClass)


def csi_node(name: str, migrated: str = "", **limits: int | None) -> CSINode:
    """A CSINode with drivers and how many volumes each takes; ``migrated``: its annotation."""
    drivers = [
        {"name": driver, **({} if limit is None else {"allocatable": {"count": limit}})}
        for driver, limit in limits.items()
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    return msgspec.convert(
        {"metadata": {"name": name, "annotations": annotations}, "spec": {"drivers": drivers}}, CSINode
    )


def place(made: Cluster, each: Pod, name: str) -> PodClass:
    """Put a pod on a node."""
    pod_class = made.pod_class(each)
    made.bind(f"{each.namespace}/{each.name}", pod_class, made.nodes.row_of[name])
    return pod_class


def prepare(plugin: Plugin, each: Pod, made: Cluster) -> Prepared:
    """The plugin's say about a pod."""
    return plugin.prepare(made.pod_class(each), made)


def rejections(plugin: Plugin, each: Pod, made: Cluster) -> dict[str, tuple[str, ...]]:
    """Rejected node → reasons; ``*`` when PreFilter rejects the pod as a whole; "error: …" where the plugin fails."""
    prepared = prepare(plugin, each, made)
    if prepared.rejected is not None:
        return {"*": prepared.rejected.reasons}
    found: dict[str, tuple[str, ...]] = {}
    for name, row in made.nodes.row_of.items() if prepared.filter is not None else ():
        assert prepared.filter is not None
        code = int(prepared.filter.filter(np.array([row], dtype=np.int64))[0])
        assert code == int(prepared.filter.filter(slice(0, made.nodes.size))[row]), "one row says what all say"
        if code:
            try:
                found[name] = prepared.filter.status(code).reasons
            except PluginError as error:
                found[name] = (f"error: {error}",)
    return found


WEB: Json = {"app": "web"}


def spread(when: str = "DoNotSchedule", key: str = ZONE, **fields: Any) -> Json:
    """A constraint with maxSkew 1 over zones that counts pods with the labels `WEB`."""
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": {"matchLabels": WEB}} | fields
