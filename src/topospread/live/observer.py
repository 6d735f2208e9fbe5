"""The interface through which metrics and logs observe a live scheduler.

The words are those of kube-scheduler's metrics (pkg/scheduler/metrics/metrics.go).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AttemptResult = Literal["scheduled", "unschedulable", "error"]
Code = Literal["Success", "Unschedulable", "UnschedulableAndUnresolvable", "Error", "Skip"]
"""What came of an extension point."""
HintResult = Literal["Queue", "QueueSkip", "Error"]
"""What a queueing hint says of a pod that waits."""
WatchChange = Literal["listing", "listed", "watching", "open", "heard", "relisting", "failed", "absent"]
"""``watching``: a watch is asked for; ``open``: the server has begun to answer it; ``heard``: nothing new."""


@dataclass(frozen=True, slots=True)
class PendingPods:
    """Numbers of waiting pods by queue (``scheduler_pending_pods``)."""

    active: int = 0
    backoff: int = 0
    unschedulable: int = 0
    gated: int = 0


class Observer:
    """Is told; answers nothing. Times are seconds. What it has no interest in, it leaves as it is here: passed over."""

    def attempting(self, pod: str) -> None:
        """A pod, ``namespace/name``, is tried."""

    def attempted(self, profile: str, result: AttemptResult, seconds: float) -> None:
        """An attempt ended: for a pod that is bound with its binding, else with the decision that it finds no node."""

    def decided(self, profile: str, seconds: float) -> None:
        """Filter and score of one pod took so long, preemption included (``scheduling_algorithm_duration_seconds``)."""

    def bound(self, pod: str, node: str, profile: str, attempts: int, sli_seconds: float) -> None:
        """A pod was bound, at its so-manieth attempt; ``sli_seconds`` since it first could be tried."""

    def bound_after_flush(self) -> None:
        """A pod was bound that was tried without an event, as it had waited for long (``after_flush_total``)."""

    def binding_failed(self, pod: str, node: str, why: str) -> None:
        """A pod that had a node could not be bound, and is forgotten there."""

    def event_handled(self, event: str, seconds: float) -> None:
        """The cluster and the queue have taken in what arrived (``event_handling_duration_seconds``)."""

    def hinted(self, plugin: str, event: str, result: HintResult, seconds: float) -> None:
        """A plugin was asked whether an event may help a pod (``queueing_hint_execution_duration_seconds``)."""

    def incoming(self, queue: str, event: str, pods: int) -> None:
        """Pods came into a queue by an event (``queue_incoming_pods_total``)."""

    def pending(self, counts: PendingPods) -> None:
        """Report how many pods wait now; called often."""

    def preempted(self, pod: str, node: str, victims: int) -> None:
        """A pod chose so many victims."""

    def preemption_attempted(self, profile: str) -> None:
        """A pod that fits nowhere looked for victims (``preemption_attempts_total``)."""

    def preemption_ended(self, result: Literal["success", "error"], seconds: float) -> None:
        """The evictions for one pod were carried out, or failed."""

    def requested(self, verb: str, code: str, seconds: float) -> None:
        """A request ended: its HTTP method and status, ``<error>`` where none came."""

    def watching(self, kind: str, change: WatchChange, why: str = "") -> None:
        """A kind was listed, is being watched, has to be listed again, cannot be read, or is not there for us."""

    def cached(self, nodes: int, pods: int, assumed_pods: int) -> None:
        """Report the size of the cluster (``scheduler_cache_size``); called often."""

    def extension_point(self, point: str, status: Code, profile: str, seconds: float) -> None:
        """All plugins of an extension point took so long (``framework_extension_point_duration_seconds``)."""

    def plugin(self, plugin: str, point: str, status: Code, seconds: float) -> None:
        """One plugin took so long (``plugin_execution_duration_seconds``)."""

    def dropped(self, events: int, why: str) -> None:
        """Events for people were dropped; ``why``: a clause, the same words for the same cause."""

    def corrected(self, kind: str, name: str) -> None:
        """A comparison with the API server corrected what the scheduler knew of an object."""

    def failed(self, what: str, why: str) -> None:
        """Something that is tried again, or not critical, went wrong."""
