"""The interface through which metrics and logs observe a live scheduler.

The names are those of kube-scheduler's metrics (pkg/scheduler/metrics/metrics.go).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AttemptResult = Literal["scheduled", "unschedulable", "error"]
Code = Literal["Success", "Unschedulable", "UnschedulableAndUnresolvable", "Error", "Skip"]
"""Status of an extension point."""
HintResult = Literal["Queue", "QueueSkip", "Error"]
"""Result of a queueing hint."""
MirrorResult = Literal["best", "other", "nowhere"]
"""Result of a comparison: pod bound to one of our best nodes, another feasible node, or an infeasible one."""
WatchChange = Literal["listing", "listed", "watching", "open", "heard", "relisting", "failed", "absent"]
"""States of a watch. ``watching``: requested; ``open``: the server answers; ``heard``: an event without changes."""


@dataclass(frozen=True, slots=True)
class PendingPods:
    """Numbers of pending pods by queue (``scheduler_pending_pods``)."""

    active: int = 0
    backoff: int = 0
    unschedulable: int = 0
    gated: int = 0


class Observer:
    """Receives reports from the scheduler. Times are seconds. Every method does nothing unless it is overridden."""

    def attempting(self, pod: str) -> None:
        """Report the start of an attempt for a pod, ``namespace/name``."""

    def attempted(self, profile: str, result: AttemptResult, seconds: float) -> None:
        """Report the end of an attempt: the binding, or the decision that no node is feasible."""

    def decided(self, profile: str, seconds: float) -> None:
        """Report the duration of filter, score and preemption for a pod (``scheduling_algorithm_duration_seconds``)."""

    def bound(self, pod: str, node: str, profile: str, attempts: int, sli_seconds: float) -> None:
        """Report a bound pod and its number of attempts. ``sli_seconds`` is the time since it was first schedulable."""

    def bound_after_flush(self) -> None:
        """Report a bound pod that was attempted without an event, after waiting too long (``after_flush_total``)."""

    def binding_failed(self, pod: str, node: str, why: str) -> None:
        """Report a pod that could not be bound to its node."""

    def event_handled(self, event: str, seconds: float) -> None:
        """Report that cluster and queue were updated for an event (``event_handling_duration_seconds``)."""

    def hinted(self, plugin: str, event: str, result: HintResult, seconds: float) -> None:
        """Report a queueing hint (``queueing_hint_execution_duration_seconds``)."""

    def incoming(self, queue: str, event: str, pods: int) -> None:
        """Report pods that entered a queue because of an event (``queue_incoming_pods_total``)."""

    def pending(self, counts: PendingPods) -> None:
        """Report the numbers of pending pods. Called often."""

    def preempted(self, pod: str, node: str, victims: int) -> None:
        """Report the number of victims of a pod."""

    def preemption_attempted(self, profile: str) -> None:
        """Report that a pod without a feasible node searched for victims (``preemption_attempts_total``)."""

    def preemption_ended(self, result: Literal["success", "error"], seconds: float) -> None:
        """Report that the evictions for a pod succeeded or failed."""

    def requested(self, verb: str, code: str, seconds: float) -> None:
        """Report the end of a request: HTTP method and status, or ``<error>`` without an answer."""

    def watching(self, kind: str, change: WatchChange, why: str = "") -> None:
        """Report the state of a kind's watch; ``why`` is the reason for a failure."""

    def cached(self, nodes: int, pods: int, assumed_pods: int) -> None:
        """Report the size of the cluster (``scheduler_cache_size``); called often."""

    def extension_point(self, point: str, status: Code, profile: str, seconds: float) -> None:
        """Report the duration of all plugins at an extension point (``framework_extension_point_duration_seconds``)."""

    def plugin(self, plugin: str, point: str, status: Code, seconds: float) -> None:
        """Report the duration of a plugin (``plugin_execution_duration_seconds``)."""

    def dropped(self, events: int, why: str) -> None:
        """Report dropped Kubernetes events. ``why`` is a clause with the same words for the same cause."""

    def corrected(self, kind: str, name: str) -> None:
        """Report that a comparison with the API server corrected an object."""

    def failed(self, what: str, why: str) -> None:
        """Report a failure that is retried or not critical."""

    def mirrored(self, result: MirrorResult, pod: str, node: str, why: str) -> None:
        """Report a real binding with ``--dry-run``, and the difference if it is not among our best nodes."""
