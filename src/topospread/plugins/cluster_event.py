"""Cluster events as plugins register for them and the scheduling queue receives them.

Source: k8s.io/kube-scheduler/framework/types.go (``ClusterEvent``), pkg/scheduler/framework/types.go
(``MatchClusterEvents``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from topospread.api.pod import Pod

Resource = Literal[
    "Pod",
    "AssignedPod",
    "UnscheduledPod",
    "TargetPod",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CSINode",
    "CSIDriver",
    "CSIStorageCapacity",
    "StorageClass",
    "VolumeAttachment",
    "DeviceClass",
    "ResourceClaim",
    "ResourceSlice",
    "PodGroup",
    "*",
]
"""What an event is of; ``Pod`` stands for the three after it, ``TargetPod`` for the waiting pod itself."""

ADD, DELETE = 1 << 0, 1 << 1
NODE_ALLOCATABLE, NODE_LABEL, NODE_TAINT, NODE_CONDITION, NODE_ANNOTATION = (1 << bit for bit in range(2, 7))
NODE_DECLARED_FEATURE, NODE_PREEMPTION_POLICY = 1 << 7, 1 << 8
POD_LABEL, POD_SCALE_DOWN, POD_SCALE_UP, POD_TOLERATION, POD_GATES_ELIMINATED, POD_CLAIM = (
    1 << bit for bit in range(9, 15)
)
ALL = (1 << 15) - 1
UPDATE = ALL & ~(ADD | DELETE)


class ClusterEvent(NamedTuple):
    """Something that happened, or, registered by a plugin, kinds of it: ``action`` is a sum of the above."""

    resource: Resource
    action: int

    @property
    def wildcard(self) -> bool:
        """True if it means every pod, whatever rejected it: a flush, an activation."""
        return self.resource == "*" and self.action == ALL

    def covers(self, incoming: ClusterEvent) -> bool:
        """Return whether who registered this wants to hear of ``incoming``, which is the same or more specific."""
        if self.wildcard:
            return True
        return (
            (self.resource in (incoming.resource, "*") or self._of_pods(incoming))
            and self.action & incoming.action != 0
            and incoming.action <= self.action
        )

    def _of_pods(self, incoming: ClusterEvent) -> bool:
        return self.resource == "Pod" and incoming.resource in ("AssignedPod", "UnscheduledPod", "TargetPod")


ASSIGNED_POD_ADD = ClusterEvent("AssignedPod", ADD)
ASSIGNED_POD_DELETE = ClusterEvent("AssignedPod", DELETE)
UNSCHEDULABLE_TIMEOUT = FORCE_ACTIVATE = ClusterEvent("*", ALL)
"""The five minutes are over, or somebody wants the pod tried: every plugin's rejection is put aside."""

Hint = Callable[[Pod, Any, Any], bool]
"""Whether an event may make a waiting pod schedulable: (pod, old object, new object), typed structs.

The old one is ``None`` where something was added, the new one where it is gone. A `PluginError` counts as yes.
"""


def takes_room(pod: Pod, *, counts_nominated: bool) -> bool:
    """Return whether a pod has a node, or a nominated node if ``counts_nominated``."""
    return bool(pod.spec.node_name or (counts_nominated and pod.nominated_node_name))


def always(pod: Pod, old: object, new: object) -> bool:
    """The hint of those who have none."""
    return True


class Registration(NamedTuple):
    """An event that may make a pod schedulable that the plugin rejected, and the plugin's hint on it."""

    event: ClusterEvent
    hint: Hint = always
