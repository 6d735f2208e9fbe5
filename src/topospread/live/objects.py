"""Nodes and the objects that plugins look up, as they come from the API server. Pods are taken in in `pods`.

Every object is kept once, in the cluster and here alike; a change is told to the queue with what was there before
(pkg/scheduler/eventhandlers.go). Volumes and claims can be assumed to be what is just being written
(util/assumecache/assume_cache.go): whatever the API server tells of them takes the assumption's place.
"""

from __future__ import annotations

from typing import Any, Protocol

from topospread.api.meta import KubeObject, ObjectMeta
from topospread.api.node import Node
from topospread.cluster import Cluster
from topospread.plugins.cluster_event import ADD, DELETE, UPDATE, ClusterEvent, Resource
from topospread.scheduling.object_changes import node_changes
from topospread.scheduling.queue import SchedulingQueue
from topospread.whole_number import whole_number

from .kinds import WATCHED, Watched
from .reflector import Key, Sink


class Changed(Protocol):
    """Told of every object that came, changed or went."""

    def __call__(self, item: KubeObject) -> None:
        """``item``: as it is, or was last."""


class Objects:
    """The objects of one kind.

    Attributes:
        known: what the API server says.
    """

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
        """An object came or changed."""
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
        """An object is gone."""
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

    # Assumptions.

    def assume(self, item: KubeObject) -> None:
        """Let plugins see an object as it is being written."""
        self._assumed[item.namespace, item.name] = item
        self._cluster.apply("MODIFIED", item)

    def revert(self, item: KubeObject) -> None:
        """It was not written: what the API server says holds, unless it has said something since."""
        key = (item.namespace, item.name)
        if self._assumed.get(key) is item:
            del self._assumed[key]
            if key in self.known:
                self._cluster.apply("MODIFIED", self.known[key])


class Nodes(Objects):
    """The nodes; of their changes only those count that scheduling reads."""

    def put(self, item: Any) -> None:
        """A node came or changed; heartbeats are no changes."""
        key = ("", item.name)
        old = self.known.get(key)
        if not self._cluster.put_node(item):
            return
        self.known[key] = item
        self._queue.forget_answers()
        self._tell(old, item)
        self._changed(item)

    def _apply_deletion(self, gone: Any) -> None:
        """The queue hears of it first (``deleteNodeFromCache``)."""
        self._queue.move_all(ClusterEvent("Node", DELETE), gone, None)
        self._cluster.apply("DELETED", gone)
        self._queue.forget_answers()

    def _tell(self, old: Any, new: Any) -> None:
        events = [ClusterEvent("Node", ADD)] if old is None else node_changes(old, new)
        for event in events:
            self._queue.move_all(event, old, new)


class ObjectCache:
    """All kinds but pods.

    Attributes:
        changes: how many volumes, claims and other objects behind volumes have changed.
    """

    def __init__(self, cluster: Cluster, queue: SchedulingQueue, changed: Changed) -> None:
        self.by_kind: dict[type[KubeObject], Objects] = {
            each.struct: (Nodes if each.struct is Node else Objects)(each, cluster, queue, changed)
            for each in WATCHED[:-1]
        }

    def sink(self, watched: Watched) -> Sink:
        """Takes the objects of a kind."""
        return self.by_kind[watched.struct]

    def of(self, kind: type[KubeObject]) -> Objects:
        """The objects of a kind."""
        return self.by_kind[kind]


def version_of(metadata: ObjectMeta) -> int:
    """A resource version as a number, to tell which is newer (``CompareResourceVersion``); 0 for none."""
    return whole_number(metadata.resource_version) or 0
