"""Take pods from the queue and run the scheduling cycle for each, without blocking.

Source: pkg/scheduler/schedule_one.go (``scheduleOnePod``, ``schedulingAlgorithm``, ``skipPodSchedule``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from time import monotonic

from topospread.cluster import Cluster, PodClass
from topospread.plugins.claim_binding import ReservedVolumes
from topospread.plugins.interface import UNRESOLVABLE
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.preemption import Candidate, Preemption
from topospread.scheduling.queued_pod_info import QueuedPodInfo
from topospread.scheduling.topology_labels import TopologyLabels
from topospread.scheduling.verdict import Verdict

from .binder import Placed
from .events import skipped
from .failures import Failure
from .kinds import ReadPod
from .observer import AttemptResult
from .scheduler_context import SchedulerContext
from .volumes import VolumeReservation, Volumes

_NO_STATE = "not found"
"""Error of a plugin whose PreFilter state is missing (pkg/scheduler/framework, ``ErrNotFound``)."""
NOT_PLACED = "TopospreadNotCovered"
"""Name of the plugin that rejects pods that topospread cannot judge. No event requeues them."""


class AssumingScheduler(Scheduler):
    """A scheduling cycle that assumes that claims are bound, because binding volumes takes time."""

    def __init__(self, cluster: Cluster, frameworks: Mapping[str, Framework], volumes: Volumes) -> None:
        super().__init__(cluster, frameworks)
        self._volumes = volumes
        self._reservation: VolumeReservation | None = None
        self._topology_labels = TopologyLabels(cluster)

    def reserve(self, pod_class: PodClass, row: int, *, binds: bool = True) -> str:
        """Reserve volumes without binding them."""
        reserved = self.framework_of(pod_class).reserve(pod_class, self.cluster, row)
        for each in reserved:
            if not isinstance(each, ReservedVolumes):
                return each.bind()
            self._reservation = self._volumes.reserve(each)
        return ""

    def labels_bound_pods(self, so: bool) -> None:
        """Set whether assumed pods get their node's topology labels, which the API server may add to bound pods."""
        self.topology_labels = self._topology_labels if so else None

    def take_reservation(self) -> VolumeReservation | None:
        """Return the volumes reserved for the pod that was just placed."""
        reservation, self._reservation = self._reservation, None
        return reservation


class Attempts:
    """Runs scheduling attempts; ``bind`` and ``preempt`` start work in the background."""

    def __init__(
        self,
        parts: SchedulerContext,
        scheduler: AssumingScheduler,
        bind: Callable[[Placed], None],
        preempt: Callable[[ReadPod, Candidate], None],
    ) -> None:
        self._parts = parts
        self._scheduler = scheduler
        self._bind = bind
        self._preempt = preempt

    def next(self) -> bool:
        """Attempt the next pod. Return False if no pod is left."""
        parts = self._parts
        info = parts.queue.pop()
        if info is None:
            return False
        pod = info.pod
        assert isinstance(pod, ReadPod), "the queue holds what was read"
        if pod.terminating:
            parts.events.record(skipped(pod))
            parts.queue.done(info.uid)
        elif info.key in parts.pods.assumed:
            parts.queue.done(info.uid)
        else:
            self._try(info, pod)
        return True

    def _try(self, info: QueuedPodInfo, pod: ReadPod) -> None:
        parts, scheduler, started = self._parts, self._scheduler, monotonic()
        profile = pod.spec.scheduler_name or "default-scheduler"
        refused = _not_covered(pod)
        if refused:
            parts.failures.handle(info, Failure("Unschedulable", refused, (NOT_PLACED,), event="NotJudged"))
            parts.observer.attempted(profile, "unschedulable", monotonic() - started)
            return
        parts.observer.attempting(info.key)
        scheduler.labels_bound_pods(parts.pods.gets_labels)
        scheduler.cluster.objects.devices.refill()
        measured = parts.times.drawn()
        with parts.times.cycle(scheduler, pod) if measured else nullcontext():
            placement = scheduler.schedule(pod)
        annotations = pod.metadata.annotations
        if placement.node is None and annotations is not None and annotations.fallback is not None:
            soft = parts.fallbacks.softened(pod, self._verdict(pod))
            if soft is not None:
                pod, placement = soft, scheduler.schedule(soft)
        if placement.node is None:
            failure = self._why(pod, profile, measured)
            parts.failures.handle(info, failure)
            result: AttemptResult = "error" if failure.reason == "SchedulerError" else "unschedulable"
            parts.observer.attempted(profile, result, monotonic() - started)
            parts.observer.decided(profile, monotonic() - started)
            return
        parts.observer.decided(profile, monotonic() - started)
        parts.queue.done(info.uid)
        assumption = parts.pods.assume(info.key, pod, placement.node)
        reservation = scheduler.take_reservation()
        framework = scheduler.framework_of(assumption.pod_class)
        timeout = framework.profile.args.volume_binding.bind_timeout_seconds
        self._bind(Placed(info, assumption, profile, reservation, started, timeout, measured))

    def _why(self, pod: ReadPod, profile: str, measured: bool) -> Failure:
        """Return why a pod found no node, and the result of preemption."""
        scheduler = self._scheduler
        promised = bool(scheduler.cluster.nominated)
        verdict = self._verdict(pod)
        if verdict.error and verdict.unjudged:
            return Failure("Unschedulable", verdict.error, (NOT_PLACED,), event="NotJudged")
        if verdict.error:
            return Failure("SchedulerError", verdict.error)
        if self._parts.explanations is not None:
            self._parts.explanations.tell(pod, verdict)
        if not verdict.nodes:
            return Failure("Unschedulable", "no nodes available to schedule pods")
        if verdict.pre_filter and _devices_fail(scheduler.framework_of(scheduler.cluster.shared_class(pod)), verdict):
            return Failure("Unschedulable", f"{verdict.message} {_NO_STATE}", verdict.rejectors, None)
        if not scheduler.preempts(pod):
            return Failure("Unschedulable", verdict.message, verdict.rejectors)
        self._parts.observer.preemption_attempted(profile)
        started = monotonic()
        found = scheduler.preemption(pod, verdict) if promised else scheduler.pending_preemption(pod, verdict)
        if measured:
            self._parts.times.post_filter(profile, bool(found.picked), monotonic() - started)
        return self._preempted(pod, verdict, found)

    def _verdict(self, pod: ReadPod) -> Verdict:
        scheduler = self._scheduler
        return scheduler.verdict(pod) if scheduler.cluster.nominated else scheduler.pending_verdict(pod)

    def _preempted(self, pod: ReadPod, verdict: Verdict, found: Preemption) -> Failure:
        candidate = self._scheduler.pick(found)
        if candidate is None:
            nominated = None if found.keeps_promise else ""
            message = f"{verdict.message} {found.sentence}" if found.sentence else verdict.message
            return Failure("Unschedulable", message, verdict.rejectors, nominated)
        self._preempt(pod, candidate)
        message = (
            f"{verdict.message} preemption: found a potential placement for pod on node {candidate.node}, "
            f"preempting {len(candidate.victims)} victims"
        )
        return Failure("Unschedulable", message, verdict.rejectors, candidate.node)


def _devices_fail(framework: Framework, verdict: Verdict) -> bool:
    """Return whether DynamicResources fails in PostFilter: PreFilter ended before it ran (dynamicresources.go)."""
    ended = any(each.code == UNRESOLVABLE for each in verdict.rejections)
    return ended and "DynamicResources" in framework.profile.enabled("post_filter")


def _not_covered(pod: ReadPod) -> str:
    """Return why topospread cannot judge a pod; "" if it can."""
    if pod.spec.resource_claims:
        return "not placed by topospread: it has resource claims (dynamic resource allocation)"
    if pod.spec.scheduling_group is not None:
        return "not placed by topospread: it belongs to a pod group (gang scheduling)"
    return ""
