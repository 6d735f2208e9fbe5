"""Pods whose evictions are being sent. They are not attempted before their victims are deleted.

Source: framework/preemption/executor.go (``isRunningPreemption``), plugins/defaultpreemption/default_preemption.go
(``PreEnqueue``, ``EventsToRegister``), KEP-4832.
"""

from __future__ import annotations

from collections.abc import Callable

from topospread.api.pod import Pod
from topospread.cluster.cluster import PodKey
from topospread.plugins.cluster_event import ASSIGNED_POD_DELETE, Registration

NAME = "DefaultPreemption"


class Preempting:
    """The pods whose evictions are being sent; ``is_there``: whether a pod exists and is not being deleted."""

    def __init__(self, is_there: Callable[[PodKey], bool]) -> None:
        self._is_there = is_there
        self._running: dict[str, PodKey] = {}

    def begin(self, uid: str) -> None:
        """Record the start of a pod's evictions."""
        self._running[uid] = ""

    def last_victim(self, uid: str, victim: PodKey) -> None:
        """Record the last victim. Once its deletion starts, the pod need not wait any more."""
        self._running[uid] = victim

    def end(self, uid: str) -> None:
        """Record that all evictions were sent, or failed."""
        self._running.pop(uid, None)

    def pre_enqueue(self, pod: Pod) -> bool:
        """Return whether a pod may enter the queue: its last victim is being deleted, or it evicts no pods."""
        victim = self._running.get(pod.metadata.uid or "")
        return victim is None or (victim != "" and not self._is_there(victim))

    @property
    def registrations(self) -> tuple[Registration, ...]:
        """Return the event "pod deleted", with a hint that never requeues: other plugins' hints decide."""
        return (Registration(ASSIGNED_POD_DELETE, lambda pod, old, new: False),)
