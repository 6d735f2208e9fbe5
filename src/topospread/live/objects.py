"""The watched nodes and other objects that plugins read. Pods are in `pods`.

The cluster state and this module share the objects. A change goes to the queue with the previous state
(pkg/scheduler/eventhandlers.go). Volumes and claims can be assumed in a state that is being written
(util/assumecache/assume_cache.go); the next state from the API server replaces the assumption.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topospread.api.meta import KubeObject, ObjectMeta
from topospread.api.node import Node
from topospread.cluster import Cluster
from topospread.plugins.cluster_event import ADD, DELETE, UPDATE, ClusterEvent, Resource
from topospread.scheduling.object_changes import node_changes
from topospread.scheduling.queue import SchedulingQueue
from topospread.whole_number import whole_number

from .kinds import WATCHED, Watched
from .reflector import Key, Sink

Changed = Callable[[KubeObject], None]
"""Called for every new, changed or deleted object, given in its current or last state."""


class Objects:
    """The objects of one kind, ``known`` as the API server has them."""

    def __init__(self, watched: Watched, cluster: Cluster, queue: SchedulingQueue, changed: Changed) -> None:
        self._watched = watched
        self._cluster = cluster
        self._queue = queue
        self._changed = changed
        self._event: Resource | None = watched.event
        self._assumed: dict[Key, KubeObject] = {}
        self.known: dict[Key, Any] = {}

    def keys(self) -> set[Key]:
        """Namespace and name of every object."""
        return set(self.known)

    def put(self, item: Any) -> None:
        """Add or update an object."""
        key = (item.namespace, item.name)
        old = self.known.get(key)
        if old is not None and old.metadata.resource_version == item.metadata.resource_version:
            return
        self.known[key] = item
        self._assumed.pop(key, None)
        if self._cluster.apply("MODIFIED", item):
            self._queue.forget_answers()
        self._tell(old, item)
        self._changed(item)

    def delete(self, key: Key, item: Any) -> None:
        """Delete an object."""
        old = self.known.pop(key, None)
        self._assumed.pop(key, None)
        gone = item or old
        if gone is None:
            return
        self._apply_deletion(gone)
        self._changed(gone)

    def _apply_deletion(self, gone: Any) -> None:
        if self._cluster.apply("DELETED", gone):
            self._queue.forget_answers()
        if self._event is not None:
            self._queue.move_all(ClusterEvent(self._event, DELETE), gone, None)

    def _tell(self, old: Any, new: Any) -> None:
        if self._event is not None:
            self._queue.move_all(ClusterEvent(self._event, ADD if old is None else UPDATE), old, new)

    # Assumed objects.

    def assume(self, item: KubeObject) -> None:
        """Let plugins see an object in the state that is being written."""
        self._assumed[item.namespace, item.name] = item
        self._cluster.apply("MODIFIED", item)

    def revert(self, item: KubeObject) -> None:
        """Undo an assumption, unless the API server has sent a newer state."""
        key = (item.namespace, item.name)
        if self._assumed.get(key) is item:
            del self._assumed[key]
            if key in self.known:
                self._cluster.apply("MODIFIED", self.known[key])


class Nodes(Objects):
    """The nodes. Only changes of scheduling fields count."""

    def put(self, item: Any) -> None:
        """Add or update a node. Heartbeats are not changes."""
        key = ("", item.name)
        old = self.known.get(key)
        if not self._cluster.put_node(item):
            return
        self.known[key] = item
        self._queue.forget_answers()
        self._tell(old, item)
        self._changed(item)

    def _apply_deletion(self, gone: Any) -> None:
        """Notify the queue before the cluster state changes (``deleteNodeFromCache``)."""
        self._queue.move_all(ClusterEvent("Node", DELETE), gone, None)
        self._cluster.apply("DELETED", gone)
        self._queue.forget_answers()

    def _tell(self, old: Any, new: Any) -> None:
        events = [ClusterEvent("Node", ADD)] if old is None else node_changes(old, new)
        for event in events:
            self._queue.move_all(event, old, new)


class ObjectCache:
    """All watched kinds except pods; counts the ``changes`` of volumes, claims and related objects."""

    def __init__(self, cluster: Cluster, queue: SchedulingQueue, changed: Changed) -> None:
        self.by_kind: dict[type[KubeObject], Objects] = {
            each.struct: (Nodes if each.struct is Node else Objects)(each, cluster, queue, changed)
            for each in WATCHED[:-1]
        }

    def sink(self, watched: Watched) -> Sink:
        """Return the sink for a kind's objects."""
        return self.by_kind[watched.struct]

    def of(self, kind: type[KubeObject]) -> Objects:
        """Return the objects of a kind."""
        return self.by_kind[kind]


def version_of(metadata: ObjectMeta) -> int:
    """Return a resource version as a number, for comparison (``CompareResourceVersion``); 0 if missing."""
    return whole_number(metadata.resource_version) or 0
