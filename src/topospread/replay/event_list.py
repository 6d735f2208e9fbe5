"""Read changes of nodes and pods from the output of ``kubectl get events -A -o json``.

Events report that a pod was rejected, placed, created or deleted, and that a node was cordoned, became NotReady, or was
added or removed. They do not contain the objects.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory, key_of
from topospread.api.node import Node
from topospread.api.node_selection import Taint
from topospread.api.timestamps import seconds
from topospread.controllers.controllers import Controller, controllers_of
from topospread.errors import InputError, Place
from topospread.sources.files import Source, read_text
from topospread.text import one_line

from .audit_log import mapping_in
from .history import ClusterHistory, PodName
from .refused_pods import ToldRefusal

Json = dict[str, Any]
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
NOT_READY: Final = "node.kubernetes.io/not-ready"
_WHOLE_SECOND: Final = len("2026-11-22T16:42:12Z")
_ASSIGNED: Final = re.compile(r"Successfully assigned \S+ to (\S+)")
_MADE: Final = re.compile(r"Created pod: (\S+)|create Pod (\S+) in StatefulSet \S+ successful")
_DELETED: Final = re.compile(r"Deleted pod: (\S+)|delete Pod (\S+) in StatefulSet \S+ successful")


@dataclass(frozen=True, slots=True)
class EventOccurrence:
    """One occurrence of an event. A repeated event has two, the first and the last.

    Attributes:
        at: time in microseconds (RFC 3339, UTC). A time in whole seconds is the start of the second.
        kind, namespace, name: the object concerned.
    """

    at: str
    reason: str
    message: str
    kind: str
    namespace: str
    name: str

    def refusals(self) -> Iterator[ToldRefusal]:
        """Yield the rejection that this event reports."""
        if self.reason == "FailedScheduling" and self.kind == "Pod":
            yield ToldRefusal((self.namespace, self.name), self.message)


def read_events(path: str | os.PathLike[str]) -> tuple[list[EventOccurrence], int]:
    """Read a list of events, sorted by time; also return their number.

    Raises:
        InputError: if the file cannot be read, or is not a JSON list of events (v1 or events.k8s.io/v1).
    """
    name = os.fspath(path)
    try:
        given = msgspec.json.decode(read_text(Source(name, None)).data)
    except (ValueError, RecursionError):
        raise InputError("the file is not JSON", Place(source=name)) from None
    items = given.get("items") if isinstance(given, dict) else None
    if not isinstance(items, list):
        raise InputError("not a list of events as printed by kubectl get events -A -o json", Place(source=name))
    told = [
        moment for number, item in enumerate(items) for moment in _moments(item, Place(name, object=f"items[{number}]"))
    ]
    return sorted(told, key=lambda each: each.at), len(items)


def _moments(item: Any, place: Place) -> Iterator[EventOccurrence]:
    """Yield the first and last occurrence of an event (core/v1 and events/v1 have different fields for the times)."""
    if not isinstance(item, dict) or item.get("kind", "Event") != "Event":
        raise InputError("not an event", place)
    about = mapping_in(item, "regarding") or mapping_in(item, "involvedObject")
    series = mapping_in(item, "series")
    metadata = mapping_in(item, "metadata")
    old = (
        item.get(name) or item.get(f"deprecated{name[0].upper()}{name[1:]}")
        for name in ("firstTimestamp", "lastTimestamp")
    )
    old_first, old_last = old
    first = item.get("eventTime") or old_first or metadata.get("creationTimestamp")
    last = series.get("lastObservedTime") or old_last or first
    if not isinstance(first, str) or not isinstance(last, str) or None in (seconds(first), seconds(last)):
        raise InputError("the event has no time", place)
    words = [one_line(str(each or "")) for each in (item.get("reason"), item.get("note") or item.get("message"))]
    whom = [one_line(str(about.get(each, ""))) for each in ("kind", "namespace", "name")]
    for at in dict.fromkeys((first, last)):
        yield EventOccurrence(f"{at[:-1]}.000000Z" if len(at) == _WHOLE_SECOND else at, *words, *whom)


class EventReplay:
    """Applies events to a cluster.

    Args:
        history: the cluster, which is changed.
        begin: the snapshot, from which returning nodes and the templates of new pods are taken.
    """

    def __init__(self, history: ClusterHistory, begin: Inventory) -> None:
        self._history = history
        self._known: Mapping[str, Node] = {each.name: each for each in begin.nodes}
        self._makers = {each.key: each for each in controllers_of(begin)}
        self._placed: set[PodName] = set()
        self._about: Mapping[str, Callable[[EventOccurrence], None]] = {
            "Scheduled": self._bind,
            "SuccessfulCreate": self._make,
            "SuccessfulDelete": self._delete,
            "Preempted": self._end,
            "TaintManagerEviction": self._evict,
            "NodeNotSchedulable": self._cordon,
            "NodeSchedulable": self._uncordon,
            "NodeNotReady": self._not_ready,
            "NodeReady": self._ready,
            "RemovingNode": self._remove,
            "RegisteredNode": self._bring_back,
        }

    def apply(self, event: EventOccurrence) -> None:
        """Apply the change that an event reports."""
        does = self._about.get(event.reason)
        if does is not None:
            does(event)

    def _bind(self, event: EventOccurrence) -> None:
        """Place a pod (pkg/scheduler/schedule_one.go: ``Successfully assigned NAMESPACE/POD to NODE``)."""
        found = _ASSIGNED.match(event.message)
        key = event.namespace, event.name
        if found is None or key in self._placed:
            return
        self._placed.add(key)
        self._history.bind(event.at, key, found[1])

    def _make(self, event: EventOccurrence) -> None:
        """Create a pod (pkg/controller/controller_utils.go, pkg/controller/statefulset/stateful_pod_control.go)."""
        name = _first(_MADE, event.message)
        key = event.namespace, name
        if not name or key in self._history.pods:
            return
        maker: Controller | None = self._makers.get(key_of(event))
        if maker is None:
            self._history.unknown += 1
            return
        made = maker.new_pod()
        self._history.pods[key] = with_fields(made, metadata=with_fields(made.metadata, name=name))

    def _delete(self, event: EventOccurrence) -> None:
        self._history.pods.pop((event.namespace, _first(_DELETED, event.message)), None)

    def _end(self, event: EventOccurrence) -> None:
        self._history.pods.pop((event.namespace, event.name), None)

    def _evict(self, event: EventOccurrence) -> None:
        """Delete a pod, unless this was cancelled (pkg/controller/tainteviction: ``Marking for deletion Pod …``)."""
        if event.message.startswith("Marking for deletion"):
            self._end(event)

    def _cordon(self, event: EventOccurrence) -> None:
        self._set(event, lambda node: with_fields(node, spec=with_fields(node.spec, unschedulable=True)))

    def _uncordon(self, event: EventOccurrence) -> None:
        self._set(event, lambda node: with_fields(node, spec=with_fields(node.spec, unschedulable=None)))

    def _not_ready(self, event: EventOccurrence) -> None:
        """Add the node lifecycle controller's taint: unreachable, as if the kubelet had stopped reporting."""
        self._set(event, lambda node: _tainted(node, [Taint(key=UNREACHABLE, effect="NoSchedule")]))

    def _ready(self, event: EventOccurrence) -> None:
        self._set(event, lambda node: _tainted(node, []))

    def _remove(self, event: EventOccurrence) -> None:
        if event.name in self._history.nodes:
            self._history.alter(event.at, event.name, None)

    def _bring_back(self, event: EventOccurrence) -> None:
        """Restore a node from the snapshot. Events name existing and new nodes without their contents."""
        if event.name in self._history.nodes:
            return
        known = self._known.get(event.name)
        if known is None:
            self._history.unknown += 1
        else:
            self._history.alter(event.at, event.name, known)

    def _set(self, event: EventOccurrence, changed: Callable[[Node], Node]) -> None:
        node = self._history.nodes.get(event.name)
        if node is not None:
            self._history.alter(event.at, event.name, changed(node))


def _first(pattern: re.Pattern[str], message: str) -> str:
    found = pattern.match(message)
    return next(filter(None, found.groups())) if found is not None else ""


def _tainted(node: Node, taints: Iterable[Taint]) -> Node:
    """Return the node with these taints instead of its readiness taints."""
    others = [each for each in node.spec.taints or () if each.key not in (UNREACHABLE, NOT_READY)]
    return with_fields(node, spec=with_fields(node.spec, taints=[*others, *taints]))
