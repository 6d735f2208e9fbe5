"""The metrics of a live scheduler as a table of names, labels and buckets.

Source: pkg/scheduler/metrics/metrics.go of 1.37, component-base/metrics/prometheus (``rest_client_*``,
``leader_election_*``, ``kubernetes_*``). Metrics of pod groups, devices and batching are omitted because these features
are not supported, and so are metrics that 1.37 hides as deprecated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

MetricKind = Literal["counter", "gauge", "histogram"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric family. ``buckets`` are a histogram's upper bounds without infinity."""

    kind: MetricKind
    name: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Return buckets like Prometheus' ``ExponentialBuckets``."""
    found = []
    for _ in range(count):
        found.append(start)
        start *= factor
    return tuple(found)


_MILLISECONDS = exponential(0.001, 2, 15)
_REST = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)


def metrics() -> Iterator[Metric]:
    """Yield all families except `EVENTS` and `HINTS`: kube-scheduler's, its client's, its election's, and our own."""
    yield from _KUBE_SCHEDULER
    yield from _COMPONENT
    yield from _OWN


EVENTS = Metric(
    "histogram",
    "scheduler_event_handling_duration_seconds",
    "[ALPHA] Event handling latency in seconds.",
    ("event",),
    exponential(0.0001, 2, 12),
)
HINTS = Metric(
    "histogram",
    "scheduler_queueing_hint_execution_duration_seconds",
    "[ALPHA] Duration for running a queueing hint function of a plugin.",
    ("plugin", "event", "hint"),
    exponential(0.00001, 1.5, 20),
)
_KUBE_SCHEDULER = (
    Metric(
        "counter",
        "scheduler_schedule_attempts_total",
        "[STABLE] Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
        "scheduled, while 'error' means an internal scheduler problem.",
        ("result", "profile"),
    ),
    Metric(
        "histogram",
        "scheduler_scheduling_attempt_duration_seconds",
        "[STABLE] Scheduling attempt latency in seconds (scheduling algorithm + binding)",
        ("result", "profile"),
        _MILLISECONDS,
    ),
    Metric(
        "histogram",
        "scheduler_scheduling_algorithm_duration_seconds",
        "[BETA] Scheduling algorithm latency in seconds",
        (),
        _MILLISECONDS,
    ),
    Metric(
        "histogram",
        "scheduler_preemption_victims",
        "[STABLE] Number of selected preemption victims for preemption initiated by a single pod",
        (),
        exponential(1, 2, 7),
    ),
    Metric(
        "counter", "scheduler_preemption_attempts_total", "[STABLE] Total preemption attempts in the cluster till now"
    ),
    Metric(
        "counter",
        "scheduler_preemption_goroutines_execution_total",
        "[ALPHA] Number of preemption goroutines executed.",
        ("result",),
    ),
    Metric(
        "gauge",
        "scheduler_pending_pods",
        "[STABLE] Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means "
        "number of pods in backoffQ; 'unschedulable' means number of pods in unschedulableEntities that the scheduler "
        "attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never "
        "attempted to schedule because they are gated; 'incomplete' means number of pods in incompletePodGroupPods; "
        "'pending' means number of pods in pendingPodGroupPods.",
        ("queue",),
    ),
    Metric(
        "gauge",
        "scheduler_queued_entities",
        "[ALPHA] Number of queued scheduling entities ('pod' or 'podgroup'; 'pod' stands for individual pods that are "
        "not members of any podgroup) by the queue type. 'active' means number of entities in activeQ; 'backoff' means "
        "number of entities in backoffQ; 'unschedulable' means number of entities in unschedulableEntities that the "
        "scheduler attempted to schedule and failed; 'gated' is the number of unschedulable entities that the "
        "scheduler never attempted to schedule because they are gated.",
        ("queue", "type"),
    ),
    Metric(
        "gauge",
        "scheduler_goroutines",
        "[BETA] Number of running goroutines split by the work they do such as binding.",
        ("operation",),
    ),
    Metric(
        "histogram",
        "scheduler_pod_scheduling_sli_duration_seconds",
        "[BETA] E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might "
        "involve multiple scheduling attempts.",
        ("attempts",),
        exponential(0.01, 2, 20),
    ),
    Metric(
        "histogram",
        "scheduler_pod_scheduling_attempts",
        "[STABLE] Number of attempts to successfully schedule a pod.",
        (),
        exponential(1, 2, 5),
    ),
    Metric(
        "counter",
        "scheduler_pod_scheduled_after_flush_total",
        "[ALPHA] Number of pods that were successfully scheduled after being flushed from unschedulableEntities due "
        "to timeout. This metric helps detect potential queueing hint misconfigurations or event handling issues.",
    ),
    Metric(
        "gauge",
        "scheduler_inflight_events",
        "[ALPHA] Number of events currently tracked in the scheduling queue.",
        ("event",),
    ),
    Metric(
        "counter",
        "scheduler_queue_incoming_pods_total",
        "[STABLE] Number of pods added to scheduling queues by event and queue type.",
        ("queue", "event"),
    ),
    Metric(
        "counter",
        "scheduler_queue_incoming_entities_total",
        "[ALPHA] Number of scheduling entities added to scheduling queues by event, queue type, and entity type. "
        "Entity types are either 'pod' (for individual pods that are not members of any podgroup) or 'podgroup'.",
        ("queue", "event", "type"),
    ),
    Metric(
        "histogram",
        "scheduler_framework_extension_point_duration_seconds",
        "[STABLE] Latency for running all plugins of a specific extension point.",
        ("extension_point", "status", "profile"),
        exponential(0.0001, 2, 12),
    ),
    Metric(
        "histogram",
        "scheduler_plugin_execution_duration_seconds",
        "[BETA] Duration for running a plugin at a specific extension point.",
        ("plugin", "extension_point", "status"),
        exponential(0.00001, 1.5, 20),
    ),
    Metric(
        "gauge",
        "scheduler_cache_size",
        "[ALPHA] Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
        ("type",),
    ),
    Metric(
        "gauge",
        "scheduler_unschedulable_pods",
        "[BETA] The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all "
        "plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin.",
        ("plugin", "profile"),
    ),
)

_COMPONENT = (
    Metric(
        "counter",
        "rest_client_requests_total",
        "[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.",
        ("code", "method", "host"),
    ),
    Metric(
        "histogram",
        "rest_client_request_duration_seconds",
        "[ALPHA] Request latency in seconds. Broken down by verb, and host.",
        ("verb", "host"),
        _REST,
    ),
    Metric(
        "gauge",
        "leader_election_master_status",
        "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates "
        "master. 'name' is the string used to identify the lease. Please make sure to group by name.",
        ("name",),
    ),
    Metric(
        "counter",
        "leader_election_slowpath_total",
        "[ALPHA] Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify "
        "the lease. Please make sure to group by name.",
        ("name",),
    ),
    Metric(
        "gauge",
        "kubernetes_feature_enabled",
        "[BETA] This metric records the data about the stage and enablement of a k8s feature.",
        ("name", "stage"),
    ),
    Metric(
        "gauge",
        "kubernetes_healthcheck",
        "[STABLE] This metric records the result of a single healthcheck.",
        ("name", "type"),
    ),
)

_CONSTRAINT = ("namespace", "workload", "topology_key", "when_unsatisfiable")
_OWN = (
    Metric("gauge", "topospread_build_info", "Version of topospread, and the kube-scheduler version that it acts as.",
           ("version", "kube_version")),
    Metric("gauge", "topospread_tasks", "Running asyncio tasks: permanent tasks, and one for each running binding, "
           "eviction and request."),
    Metric("counter", "topospread_binding_failures_total", "Pods that had a node and could not be bound to it."),
    Metric("gauge", "topospread_skew", "Pods in the fullest domain of a constraint minus pods in the emptiest domain. "
           "Shown are the 200 highest values of workloads whose pods this process attempted.", _CONSTRAINT),
    Metric("gauge", "topospread_blocked_pods", "Pending pods that PodTopologySpread rejected, by constraint that "
           "rejects a domain.", _CONSTRAINT),
    Metric("counter", "topospread_relists_total", "Kinds that had to be listed again after their watch was lost.",
           ("kind",)),
    Metric("counter", "topospread_watch_failures_total", "Lists and watches that failed.", ("kind",)),
    Metric("counter", "topospread_cache_corrections_total", "Nodes and pods that differed from the API server's list "
           "and were corrected.", ("kind",)),
    Metric("counter", "topospread_dropped_events_total", "Kubernetes events that were dropped because too "
           "many were waiting."),
    Metric("counter", "topospread_dropped_log_lines_total", "Log lines that were dropped because stderr was not read."),
    Metric("counter", "topospread_failures_total", "Failures that are retried or not critical."),
    Metric("counter", "topospread_mirrored_bindings_total",
           "With --dry-run: bindings of another scheduler, by result: to one of our best nodes (best), to another "
           "feasible node (other), or to an infeasible node (nowhere).", ("result",)),
    Metric("gauge", "topospread_mirrored_share", "With --dry-run: share of real bindings to one of our best nodes."),
)  # fmt: skip
