"""The profile's plugins that decide whether a pod may enter the queue, and which events may help a pending pod.

`queue` calls them. Source: pkg/scheduler/scheduler.go (``buildQueueingHintMap``),
pkg/scheduler/framework/runtime/framework.go (``fillEnqueueExtensions``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.cluster.cluster import pod_key
from topospread.config.version_rules import gated, rules_for, since
from topospread.plugins.affinity_requeueing import wants_near
from topospread.plugins.cluster_event import (
    ALL,
    DELETE,
    POD_SCALE_DOWN,
    ClusterEvent,
    Hint,
    Registration,
    Resource,
    always,
)
from topospread.plugins.dynamic_resources import DynamicResources
from topospread.plugins.interface import Plugin, PluginError, Requeues
from topospread.plugins.old_versions.node_events import NodeEventRules
from topospread.plugins.scheduling_gates import SchedulingGates

from .framework import Framework
from .verdict import EXTENDER

_ALL_RESOURCES: tuple[Resource, ...] = (
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
    "ResourceClaim",
    "DeviceClass",
    "ResourceSlice",
)
_EVERYTHING = tuple(Registration(ClusterEvent(resource, ALL)) for resource in _ALL_RESOURCES)
"""Registrations for plugins that register no events: all events of all kinds (``UnrollWildCardResource``)."""


@dataclass(frozen=True, slots=True)
class RequeueingRules:
    """The differences between Kubernetes versions in retrying pending pods."""

    hints: bool = gated("SchedulerQueueingHints")
    selective: bool = since(
        "1.22",
        "A pending pod is retried on events that a plugin which rejected it registered for. Before, on every event.",
    )
    spread_hears_of_pods: bool = since(
        "1.31",
        "Without queueing hints, a bound pod moves pods that PodTopologySpread rejected in its "
        "namespace. Before, it moved only pods whose required affinity selects it.",
    )
    handles_nominations: bool = since(
        "1.33", "Queueing hints: a pod that loses its nomination is an event like a deleted pod."
    )


class QueueingStrategy(IntEnum):
    """The action for an unschedulable pod on an event (``queueingStrategy``)."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


class EventWithObjects(NamedTuple):
    """An event of the cluster with the old and new object, passed to queueing hints."""

    event: ClusterEvent
    old: Any
    new: Any


@dataclass(slots=True)
class Requeueing:
    """The plugins of a profile that decide when its pending pods are retried.

    Attributes:
        registrations: plugin → events that may make a pod schedulable that it rejected.
        pre_enqueue: plugin → function that returns whether it admits a pod to the queue.
        near: function that returns whether a pod's required affinity matches another pod; used if hints are off.
    """

    registrations: Mapping[str, tuple[Registration, ...]]
    pre_enqueue: Mapping[str, Callable[[Pod], bool]] = field(default_factory=dict)
    rules: RequeueingRules = RequeueingRules()
    near: Callable[[Pod, Pod], bool] = lambda waiting, other: False
    _interested: dict[ClusterEvent, list[tuple[str, Hint]]] = field(default_factory=dict)

    def interested(self, event: ClusterEvent) -> list[tuple[str, Hint]]:
        """Return the plugins and hints that registered for an event."""
        known = self._interested.get(event)
        if known is None:
            known = self._interested[event] = [
                (plugin, each.hint if self.rules.hints else always)
                for plugin, registrations in self.registrations.items()
                for each in registrations
                if each.event.covers(event)
            ]
        return known

    def concerns(self, plugin: str, event: ClusterEvent) -> bool:
        """Return whether a plugin registered for an event."""
        return any(name == plugin for name, _ in self.interested(event))

    def gate(self, pod: Pod, first: str = "") -> str:
        """Return the PreEnqueue plugin that holds the pod, "" for none. The plugin ``first`` runs first."""
        if first in self.pre_enqueue and not self.pre_enqueue[first](pod):
            return first
        for name, lets_in in self.pre_enqueue.items():
            if name != first and not lets_in(pod):
                return name
        return ""

    def strategy(
        self, pod: Pod, unschedulable: frozenset[str], pending: frozenset[str], happened: EventWithObjects
    ) -> QueueingStrategy:
        """Return the strategy for a rejected pod on an event that is not a wildcard (``isPodWorthRequeuing``)."""
        event, old, new = happened
        found = QueueingStrategy.SKIP
        if not self.rules.hints and not self._is_looked_at(pod, unschedulable | pending, happened):
            return found
        for plugin, hint in self.interested(event):
            waits = plugin in pending
            if not (waits or plugin in unschedulable) or not _may_help(hint, pod, old, new):
                continue
            if waits:
                return QueueingStrategy.IMMEDIATELY
            if not pending:
                return QueueingStrategy.AFTER_BACKOFF
            found = QueueingStrategy.AFTER_BACKOFF
        return found

    def _is_looked_at(self, pod: Pod, rejectors: frozenset[str], happened: EventWithObjects) -> bool:
        """Return whether, with hints off, an event may move a pod (``AssignedPodAdded``, ``AssignedPodUpdated``)."""
        event, _, new = happened
        if event.resource != "AssignedPod" or event.action in (DELETE, POD_SCALE_DOWN):
            return True
        spreads = self.rules.spread_hears_of_pods and "PodTopologySpread" in rejectors
        return (spreads and new.namespace == pod.namespace) or self.near(pod, new)


def pod_worth_requeuing(
    requeueing: Requeueing | None,
    pod: Pod,
    rejectors: tuple[frozenset[str], frozenset[str]],
    happened: EventWithObjects,
    uid: str = "",
) -> QueueingStrategy:
    """Return the strategy of an event for a pending pod (``isPodWorthRequeuing``).

    Args:
        requeueing: plugins of the pod's profile; ``None`` if the profile does not exist.
        rejectors: `QueuedPodInfo.unschedulable_plugins` and `QueuedPodInfo.pending_plugins` of the pod.
        uid: UID of the pending pod, to recognise a wildcard event for this pod.
    """
    unschedulable, pending = rejectors
    if not unschedulable and not pending:
        return QueueingStrategy.AFTER_BACKOFF
    if happened.event.wildcard:
        new = happened.new
        another = new is not None and (new.metadata.uid or pod_key(new.namespace, new.name)) != uid
        return QueueingStrategy.SKIP if another else QueueingStrategy.AFTER_BACKOFF
    if requeueing is None:
        return QueueingStrategy.AFTER_BACKOFF
    return requeueing.strategy(pod, unschedulable, pending, happened)


def requeueing_of(framework: Framework, cluster: Cluster) -> Requeueing:
    """Return the plugins of a profile that decide about requeueing. They look up other objects in the cluster."""
    gates = SchedulingGates()
    rules = rules_for(RequeueingRules, framework.gates)
    node_events = rules_for(NodeEventRules, framework.gates)
    queueing: list[Plugin | Requeues] = [*framework.plugins.values(), gates]
    enabled = framework.profile.enabled("pre_enqueue")
    pre_enqueue = {gates.name: gates.pre_enqueue} if gates.name in enabled else {}
    devices = framework.plugins.get("DynamicResources")
    if isinstance(devices, DynamicResources) and devices.name in enabled:
        pre_enqueue[devices.name] = lambda pod: devices.lets_in(pod, cluster)
    registrations = {each.name: _registrations(each, cluster, rules, node_events) for each in queueing}
    if framework.profile.extenders:
        registrations[EXTENDER] = _EVERYTHING
    return Requeueing(
        registrations,
        pre_enqueue,
        rules,
        lambda waiting, other: wants_near(waiting, other, cluster),
    )


def _registrations(
    plugin: Plugin | Requeues, cluster: Cluster, rules: RequeueingRules, node_events: NodeEventRules
) -> tuple[Registration, ...]:
    if not rules.selective or not isinstance(plugin, Requeues):
        return _EVERYTHING
    found = plugin.events_to_register(cluster)
    return tuple(found if rules.hints else (node_events.without_hints(plugin.name, each) for each in found))


def _may_help(hint: Hint, pod: Pod, old: Any, new: Any) -> bool:
    try:
        return hint(pod, old, new)
    except PluginError:
        return True
