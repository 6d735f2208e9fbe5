"""What becomes of a history of the scheduling queue, in the form of the oracle's ``queue`` program. It tries no pod.

A history is a list of steps: pods come, change and go, are popped, found unschedulable or done; objects of the cluster
change; time passes. After each step those pods are shown whose place is not what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import msgspec

from conformance.judging.cases import Case, Json, scheduler_of
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from topospread.cluster.cluster import pod_key
from topospread.errors import TopospreadError
from topospread.plugins.cluster_event import ADD, DELETE, UPDATE, ClusterEvent, Resource
from topospread.scheduling.backoff_queue import BackoffSettings
from topospread.scheduling.object_changes import node_changes
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND, QueuedPodInfo
from topospread.scheduling.requeueing import requeueing_of

_START = 1_000_000 * SECOND

_KINDS: dict[Resource, type[KubeObject]] = {
    "Pod": Pod,
    "Node": Node,
    "PersistentVolume": PersistentVolume,
    "PersistentVolumeClaim": PersistentVolumeClaim,
    "StorageClass": StorageClass,
    "CSINode": CSINode,
    "CSIDriver": CSIDriver,
    "CSIStorageCapacity": CSIStorageCapacity,
    "VolumeAttachment": VolumeAttachment,
}


def judge_history(case: Case, *, by_class: bool = False) -> Json:
    """What each step comes to: ``{"name", "verdicts": [{"popped"?, "changed"}], "error"?}``.

    ``by_class``: let the queue take pods of one class as alike, which may save work and must change nothing.
    """
    result: Json = {"name": case.get("name", ""), "verdicts": None}
    try:
        history = _History(case, by_class)
    except TopospreadError as error:
        return result | {"error": str(error)}
    return result | {"verdicts": [history.answer(step) for step in case["steps"]] or None}


class _History:
    """A queue under way."""

    def __init__(self, case: Case, by_class: bool) -> None:
        scheduler = scheduler_of(case)
        framework = next(iter(scheduler.frameworks.values()))
        requeueing = requeueing_of(framework, scheduler.cluster)
        given = case.get("config") or {}
        settings = BackoffSettings(
            given.get("podInitialBackoffSeconds", 1) * SECOND,
            given.get("podMaxBackoffSeconds", 10) * SECOND,
            pops_early=framework.gates.enabled("SchedulerPopFromBackoffQ"),
        )
        self._cluster = scheduler.cluster
        self._by_class = by_class
        self.now = _START
        self.queue = SchedulingQueue(lambda: self.now, lambda pod: requeueing, settings, scheduler.cluster.rules)
        self._latest: dict[str, Pod] = {}
        self._names: dict[str, str] = {}
        self._flying: list[QueuedPodInfo] = []
        self._places: dict[str, str] = {}
        self._steps: dict[str, Callable[[Json], None]] = {
            "add": self._add,
            "update": self._update,
            "delete": lambda step: self.queue.delete(_key(_read(step["pod"], Pod))),
            "activate": self._activate,
            "fail": self._fail,
            "done": self._done,
            "advance": self._advance,
            "flushBackoff": lambda step: self.queue.flush_backoff_completed(),
            "flushUnschedulable": lambda step: self.queue.flush_unschedulable_leftover(),
            "event": self._happen,
        }

    def answer(self, step: Json) -> Json:
        """What a step comes to."""
        answer: Json = {}
        if step["do"] == "pop":
            popped = self.queue.pop()
            if popped is not None:
                self._flying.append(popped)
                answer["popped"] = f"{popped.key} attempt {popped.attempts}"
        else:
            self._steps[step["do"]](step)
        before, self._places = self._places, self._described()
        changed: dict[str, str | None] = {key: place for key, place in self._places.items() if before.get(key) != place}
        changed |= {key: None for key in before if key not in self._places}
        return answer | {"changed": changed}

    def _know(self, pod: Pod) -> None:
        self._latest[pod.metadata.uid or ""] = pod
        self._names[pod.metadata.uid or ""] = _key(pod)

    def _class(self, pod: Pod, *, is_placed: bool = False) -> Hashable:
        return self._cluster.pod_class(pod, is_placed=is_placed).key if self._by_class else None

    def _add(self, step: Json) -> None:
        pod = _read(step["pod"], Pod)
        self._know(pod)
        self.queue.add(pod, kind=self._class(pod))

    def _update(self, step: Json) -> None:
        old, new = _read(step["old"], Pod), _read(step["new"], Pod)
        self._know(new)
        self.queue.update(old, new, kind=self._class(new))

    def _activate(self, step: Json) -> None:
        pods = [_read(each, Pod) for each in step["pods"]]
        self.queue.activate((_key(pod), pod) for pod in pods)

    def _fail(self, step: Json) -> None:
        info = self._landed(step)
        if info is not None:
            info.pod = self._latest[info.uid]
            self.queue.add_unschedulable(info, step.get("unschedulable") or (), step.get("pending") or ())

    def _done(self, step: Json) -> None:
        info = self._landed(step)
        if info is not None:
            self.queue.done(info.uid)

    def _landed(self, step: Json) -> QueuedPodInfo | None:
        return self._flying.pop(step.get("nth", 0) % len(self._flying)) if self._flying else None

    def _advance(self, step: Json) -> None:
        self.now += step["nanoseconds"]

    def _happen(self, step: Json) -> None:
        """As pkg/scheduler/eventhandlers.go tells the queue."""
        kind = _KINDS[step["kind"]]
        old = _read(step["old"], kind) if step.get("old") else None
        new = _read(step["new"], kind) if step.get("new") else None
        limit = step.get("maxPriority")
        check = None if limit is None else lambda pod: (pod.spec.priority or 0) <= limit
        if check is None and kind is Pod and (old is None or new is None):
            self._assigned(old, new)
        elif isinstance(old, Pod) and isinstance(new, Pod):
            self.queue.assigned_pod_updated(old, new)
        else:
            for event in _events(step["kind"], old, new):
                self.queue.move_all(event, old, new, check)

    def _assigned(self, old: Any, new: Any) -> None:
        if old is None:
            self.queue.assigned_pod_added(new, self._class(new, is_placed=True))
        else:
            node = old.spec.node_name or old.nominated_node_name
            self.queue.assigned_pod_deleted(old, self._class(old, is_placed=True) if node else None)

    def _described(self) -> dict[str, str]:
        """Everything the queue knows, by pod."""
        queue = self.queue
        places: dict[str, list[str]] = {}
        infos: dict[str, QueuedPodInfo] = {}
        for name, there in (
            ("active", queue.active.items),
            ("backoff", queue.backoff.infos),
            ("unschedulable", queue.unschedulable.infos),
        ):
            for info in there:
                places.setdefault(info.key, []).append(name)
                infos.setdefault(info.key, info)
        for uid in queue.in_flight:
            places.setdefault(self._names[uid], []).append("in flight")
        return {
            key: "+".join(sorted(names)) + (_described(infos[key]) if key in infos else "")
            for key, names in places.items()
        }


def _events(kind: Resource, old: KubeObject | None, new: KubeObject | None) -> list[ClusterEvent]:
    resource: Resource = "AssignedPod" if kind == "Pod" else kind
    if old is None:
        return [ClusterEvent(resource, ADD)]
    if new is None:
        return [ClusterEvent(resource, DELETE)]
    if isinstance(old, Node) and isinstance(new, Node):
        return node_changes(old, new)
    return [ClusterEvent(resource, UPDATE)]


def _described(info: QueuedPodInfo) -> str:
    expires = "-" if info.backoff_expiration is None else str(info.backoff_expiration - _START)
    text = (
        f" since {info.timestamp - _START} attempts {info.attempts} unschedulable {info.unschedulable_count}"
        f" errors {info.errors} expires {expires}"
    )
    if info.unschedulable_plugins:
        text += f" by {','.join(sorted(info.unschedulable_plugins))}"
    if info.pending_plugins:
        text += f" pending {','.join(sorted(info.pending_plugins))}"
    if info.gating_plugin:
        text += f" gated by {info.gating_plugin}"
    return f"{text} uid {info.uid}"


def _key(pod: Pod) -> str:
    return pod_key(pod.namespace, pod.name)


def _read(data: Any, kind: type[Any]) -> Any:
    return msgspec.convert(data, kind)
