"""Node and Namespace: typed structs of the fields that can change a placement (data only)."""

from __future__ import annotations

import msgspec

from .meta import Int64, KubeObject, KubeStruct, ResourceList
from .node_selection import Taint


class NodeSpec(KubeStruct):
    """``spec`` of a node."""

    unschedulable: bool | None = None
    taints: list[Taint] | None = None


class ContainerImage(KubeStruct):
    """An image on the node, with all its names."""

    names: list[str] | None = None
    size_bytes: Int64 | None = None


class NodeCondition(KubeStruct):
    """A condition of a node; topospread reads only the time of the kubelet's last report."""

    type: str = ""
    status: str = ""
    last_heartbeat_time: str | None = None
    last_transition_time: str | None = None


class NodeStatus(KubeStruct):
    """``status`` of a node."""

    allocatable: ResourceList | None = None
    capacity: ResourceList | None = None
    images: list[ContainerImage] | None = None
    declared_features: list[str] | None = None
    conditions: list[NodeCondition] | None = None


class Node(KubeObject):
    """``v1`` Node."""

    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class Namespace(KubeObject):
    """``v1`` Namespace; namespace selectors match its labels."""
