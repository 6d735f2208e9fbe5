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
"""The kind of object that changed. ``Pod`` covers AssignedPod, UnscheduledPod and TargetPod.

``TargetPod`` is the pending pod itself.
"""

ADD, DELETE = 1 << 0, 1 << 1
NODE_ALLOCATABLE, NODE_LABEL, NODE_TAINT, NODE_CONDITION, NODE_ANNOTATION = (1 << bit for bit in range(2, 7))
NODE_DECLARED_FEATURE, NODE_PREEMPTION_POLICY = 1 << 7, 1 << 8
POD_LABEL, POD_SCALE_DOWN, POD_SCALE_UP, POD_TOLERATION, POD_GATES_ELIMINATED, POD_CLAIM = (
    1 << bit for bit in range(9, 15)
)
ALL = (1 << 15) - 1
UPDATE = ALL & ~(ADD | DELETE)


class ClusterEvent(NamedTuple):
    """An event, or the events that a plugin registers for: ``action`` is a bit set of the constants above."""

    resource: Resource
    action: int

    @property
    def wildcard(self) -> bool:
        """True if the event retries pods independent of the plugins that rejected them: a flush or an activation."""
        return self.resource == "*" and self.action == ALL

    def covers(self, incoming: ClusterEvent) -> bool:
        """Return whether this registration includes ``incoming``, which is equal or more specific."""
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
"""Wildcard events of the five-minute flush and of ``Activate``. They ignore which plugins rejected a pod."""

Hint = Callable[[Pod, Any, Any], bool]
"""Function of (pod, old object, new object) that returns whether the event may make the pending pod schedulable.

The old object is ``None`` if the object was added, the new object if it was deleted. A `PluginError` counts as True.
"""


def takes_room(pod: Pod, *, counts_nominated: bool) -> bool:
    """Return whether a pod has a node, or a nominated node if ``counts_nominated``."""
    return bool(pod.spec.node_name or (counts_nominated and pod.nominated_node_name))


def always(pod: Pod, old: object, new: object) -> bool:
    """Return True. Plugins without their own queueing hint have this hint."""
    return True


class Registration(NamedTuple):
    """An event that may make a rejected pod schedulable, and the plugin's hint for it."""

    event: ClusterEvent
    hint: Hint = always
