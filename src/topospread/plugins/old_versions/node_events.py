"""Node events that plugins register for while queueing hints are off.

Without hints, kube-scheduler moves only pods that pass a quick check on the changed node (``preCheckForNode``), so it
may miss a node that is added with a taint. Later versions register more events to compensate. This module does not make
the check, so it skips no pod. Source:
``EventsToRegister`` of each plugin and pkg/scheduler/scheduler.go (``buildQueueingHintMap``) of 1.22 to 1.33.
"""

from __future__ import annotations

from dataclasses import dataclass

from topospread.config.version_rules import since, until
from topospread.plugins.cluster_event import ADD, NODE_LABEL, NODE_TAINT, UPDATE, ClusterEvent, Registration

_ANY_UPDATE = frozenset({"NodeResourcesFit", "NodePorts", "NodeAffinity", "NodeName", "TaintToleration"})


@dataclass(frozen=True, slots=True)
class NodeEventRules:
    """The differences between Kubernetes versions."""

    any_update: bool = until(
        "1.31",
        "Without queueing hints, a node's new labels move pods of every plugin that listens to new "
        "nodes. Before, any change moved pods that NodeResourcesFit, NodePorts, NodeAffinity, "
        "NodeName and TaintToleration rejected.",
    )
    taints: bool = since(
        "1.30", "Without queueing hints, a node's new taints move pods of every plugin that listens to new nodes."
    )

    def without_hints(self, plugin: str, today: Registration) -> Registration:
        """Return a plugin's registration with hints off. ``today``: its registration with hints on."""
        if today.event.resource != "Node":
            return today
        return Registration(ClusterEvent("Node", self._actions(plugin, today.event.action)))

    def _actions(self, plugin: str, today: int) -> int:
        if not self.any_update:
            return today | NODE_TAINT | NODE_LABEL
        if plugin in _ANY_UPDATE or (self.taints and plugin == "NodeUnschedulable"):
            return ADD | UPDATE
        if self.taints:
            return today | NODE_TAINT
        return today & ~NODE_TAINT if plugin == "PodTopologySpread" else today
