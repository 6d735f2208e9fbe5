"""The fields of objects that scheduling reads. An update that changes none of them is ignored.

Most updates of a watch change only heartbeats, resource versions and statuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from topospread.api.meta import KubeObject, ObjectMeta
from topospread.api.node import Namespace, Node
from topospread.api.policy import PodDisruptionBudget
from topospread.api.storage import CSINode
from topospread.api.workload import ReplicaSet, ReplicationController, Service, StatefulSet


def same_to_scheduling(before: KubeObject, after: KubeObject) -> bool:
    """Return whether two states of an object are equal in every field that a plugin or preemption reads."""
    if before is after:
        return True
    reads = _READ.get(type(after), _everything)
    return bool(reads(before) == reads(after))


def _node(item: Any) -> object:
    status = item.status
    return (item.metadata.labels, item.spec, status.allocatable, status.images, status.declared_features)


def _budget(item: Any) -> object:
    return (item.spec, item.status)


def _selector(item: Any) -> object:
    return item.spec.selector


def _csi_node(item: Any) -> object:
    return (item.metadata.annotations, item.spec)


def _labels(item: Any) -> object:
    return item.metadata.labels


def _everything(item: Any) -> object:
    metadata: ObjectMeta = item.metadata
    if metadata.resource_version is None:
        return item
    return replace(item, metadata=replace(metadata, resource_version=None))


_READ: Mapping[type[KubeObject], Callable[[Any], object]] = {
    Node: _node,
    Namespace: _labels,
    PodDisruptionBudget: _budget,
    Service: _selector,
    ReplicationController: _selector,
    ReplicaSet: _selector,
    StatefulSet: _selector,
    CSINode: _csi_node,
}
