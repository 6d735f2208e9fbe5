"""Prometheus metrics of the live scheduler, with kube-scheduler's names.

Source: pkg/scheduler/metrics (``observeScheduleAttemptAndLatency``), pkg/scheduler/schedule_one.go
(``getAttemptsLabel``), client-go/tools/metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from prometheus_client import Gauge

from topospread.config.gates import Gates, gates_known
from topospread.live.exposition import CollectedMetrics
from topospread.live.metric_table import EVENTS, HINTS, Metric, MetricKind, metrics
from topospread.live.observer import AttemptResult, Code, HintResult, Observer, PendingPods, WatchChange
from topospread.live.spread_figures import ConstraintOf
from topospread.live.tallies import CountTallies, DurationTallies
from topospread.version import __version__

from .observer import MirrorResult

MANY_ATTEMPTS = 15


class Metrics(CollectedMetrics, Observer):
    """An observer that counts events of the scheduler and its election.

    Args:
        host: host of the API server, a label of ``rest_client_*``.
    """

    def __init__(self, host: str, gates: Gates) -> None:
        super().__init__()
        self._tallies = {each.name: DurationTallies(each) for each in (*_of_kind("histogram"), EVENTS, HINTS)}
        self._counts = {each.name: CountTallies(each) for each in _of_kind("counter")}
        for each in (*self._tallies.values(), *self._counts.values()):
            self._registry.register(each)
        self._families = {
            each.name: Gauge(each.name, each.help, each.labels, registry=self._registry) for each in _of_kind("gauge")
        }
        self._shown_events: set[str] = set()
        self._children: dict[tuple[str, ...], Any] = {}
        self._host = host
        self._mirrored = {"best": 0, "other": 0, "nowhere": 0}
        self._child("topospread_build_info", __version__, str(gates.kube_version)).set(1)
        for name, span in gates_known(gates.kube_version).items():
            stage = "" if span.stage == "GA" else span.stage
            self._child("kubernetes_feature_enabled", name, stage).set(int(gates.enabled(name)))
        self.pending(PendingPods())

    def attempted(self, profile: str, result: AttemptResult, seconds: float) -> None:
        """See Observer."""
        self._count("scheduler_schedule_attempts_total", result, profile)
        self._observe("scheduler_scheduling_attempt_duration_seconds", (result, profile), seconds)

    def decided(self, profile: str, seconds: float) -> None:
        """See Observer."""
        self._observe("scheduler_scheduling_algorithm_duration_seconds", (), seconds)

    def bound(self, pod: str, node: str, profile: str, attempts: int, sli_seconds: float) -> None:
        """See Observer."""
        label = str(attempts) if attempts < MANY_ATTEMPTS else f"{MANY_ATTEMPTS}+"
        self._observe("scheduler_pod_scheduling_sli_duration_seconds", (label,), sli_seconds)
        self._observe("scheduler_pod_scheduling_attempts", (), attempts)

    def bound_after_flush(self) -> None:
        """See Observer."""
        self._count("scheduler_pod_scheduled_after_flush_total")

    def event_handled(self, event: str, seconds: float) -> None:
        """See Observer."""
        self._observe(EVENTS.name, (event,), seconds)

    def hinted(self, plugin: str, event: str, result: HintResult, seconds: float) -> None:
        """See Observer."""
        self._observe(HINTS.name, (plugin, event, result), seconds)

    def binding_failed(self, pod: str, node: str, why: str) -> None:
        """See Observer."""
        self._count("topospread_binding_failures_total")

    def incoming(self, queue: str, event: str, pods: int) -> None:
        """See Observer."""
        self._counts["scheduler_queue_incoming_pods_total"].add((queue, event), pods)
        self._counts["scheduler_queue_incoming_entities_total"].add((queue, event, "pod"), pods)

    def pending(self, counts: PendingPods) -> None:
        """See Observer."""
        for queue in ("active", "backoff", "unschedulable", "gated"):
            value = getattr(counts, queue)
            self._child("scheduler_pending_pods", queue).set(value)
            self._child("scheduler_queued_entities", queue, "pod").set(value)

    def preempted(self, pod: str, node: str, victims: int) -> None:
        """See Observer."""
        self._observe("scheduler_preemption_victims", (), victims)

    def preemption_attempted(self, profile: str) -> None:
        """See Observer."""
        self._count("scheduler_preemption_attempts_total")

    def preemption_ended(self, result: Literal["success", "error"], seconds: float) -> None:
        """See Observer."""
        self._count("scheduler_preemption_goroutines_execution_total", result)

    def requested(self, verb: str, code: str, seconds: float) -> None:
        """See Observer."""
        self._count("rest_client_requests_total", code, verb, self._host)
        self._observe("rest_client_request_duration_seconds", (verb, self._host), seconds)

    def watching(self, kind: str, change: WatchChange, why: str = "") -> None:
        """See Observer."""
        if change == "relisting":
            self._count("topospread_relists_total", kind)
        elif change == "failed":
            self._count("topospread_watch_failures_total", kind)

    def cached(self, nodes: int, pods: int, assumed_pods: int) -> None:
        """See Observer."""
        for what, value in (("nodes", nodes), ("pods", pods), ("assumed_pods", assumed_pods)):
            self._child("scheduler_cache_size", what).set(value)

    def extension_point(self, point: str, status: Code, profile: str, seconds: float) -> None:
        """See Observer."""
        self._observe("scheduler_framework_extension_point_duration_seconds", (point, status, profile), seconds)

    def plugin(self, plugin: str, point: str, status: Code, seconds: float) -> None:
        """See Observer."""
        self._observe("scheduler_plugin_execution_duration_seconds", (plugin, point, status), seconds)

    def dropped(self, events: int, why: str) -> None:
        """See Observer."""
        self._counts["topospread_dropped_events_total"].add((), events)

    def corrected(self, kind: str, name: str) -> None:
        """See Observer."""
        self._count("topospread_cache_corrections_total", kind)

    def failed(self, what: str, why: str) -> None:
        """See Observer."""
        self._count("topospread_failures_total")

    def leads(self, name: str, leads: bool) -> None:
        """See LeaseObserver."""
        self._child("leader_election_master_status", name).set(int(leads))

    def slow_path(self, name: str) -> None:
        """See LeaseObserver."""
        self._count("leader_election_slowpath_total", name)

    def checked(self, checks: Iterable[tuple[str, str, bool]]) -> None:
        """Record health checks: name, endpoint (``healthz`` …), and success."""
        for name, of, well in checks:
            self._child("kubernetes_healthcheck", name, of).set(int(well))

    def mirrored(self, result: MirrorResult, pod: str, node: str, why: str) -> None:
        """See Observer."""
        self._mirrored[result] += 1
        self._count("topospread_mirrored_bindings_total", result)
        share = self._mirrored["best"] / sum(self._mirrored.values())
        self._families["topospread_mirrored_share"].set(share)

    def rejected(self, waiting: Mapping[tuple[str, str], int]) -> None:
        """Set the numbers of pending pods that a plugin rejected, by plugin and profile."""
        gauge = self._families["scheduler_unschedulable_pods"]
        gauge.clear()
        for (plugin, profile), pods in waiting.items():
            gauge.labels(plugin, profile).set(pods)

    def in_flight(self, events: Mapping[str, int]) -> None:
        """Set the numbers of events kept for pods in flight. Labels stay once they were shown."""
        self._shown_events |= events.keys()
        for event in self._shown_events:
            self._child("scheduler_inflight_events", event).set(events.get(event, 0))

    def log_lines_dropped(self, count: int) -> None:
        """Set the number of log lines dropped since the start."""
        self._counts["topospread_dropped_log_lines_total"].set((), count)

    def running(self, bindings: int, tasks: int) -> None:
        """Set the numbers of running binding cycles and of all tasks."""
        self._child("scheduler_goroutines", "binding").set(bindings)
        self._families["topospread_tasks"].set(tasks)

    def spread(self, skews: Mapping[ConstraintOf, int], blocked: Mapping[ConstraintOf, int]) -> None:
        """Set the skew of workloads, and the number of pods pending because of it, by constraint."""
        for name, figures in (("topospread_skew", skews), ("topospread_blocked_pods", blocked)):
            gauge = self._families[name]
            gauge.clear()
            for labels, value in figures.items():
                gauge.labels(*labels).set(value)

    def _count(self, name: str, *labels: str) -> None:
        self._counts[name].add(labels)

    def _observe(self, name: str, labels: tuple[str, ...], value: float) -> None:
        self._tallies[name].observe(labels, value)

    def _child(self, name: str, *labels: str) -> Any:
        """Return a family's series for labels. Cached, because a lookup costs more than counting."""
        key = (name, *labels)
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = self._families[name].labels(*labels)
        return found


def _of_kind(*kinds: MetricKind) -> list[Metric]:
    return [each for each in metrics() if each.kind in kinds]
