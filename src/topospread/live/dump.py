"""The live scheduler's state as plain data, for debugging."""

from __future__ import annotations

from typing import Any

from topospread.scheduling.queued_pod_info import QueuedPodInfo

from .scheduler_context import SchedulerContext

_MOST = 1000
"""Maximum number of pods listed per queue."""


def dump(parts: SchedulerContext) -> dict[str, Any]:
    """Return counts, and the pods by queue."""
    queue, pods, cluster = parts.queue, parts.pods, parts.cluster
    return {
        "nodes": len(cluster.nodes),
        "assignedPods": len(pods.assigned),
        "assumedPods": sorted(pods.assumed)[:_MOST],
        "waitingPods": len(pods.waiting),
        "nominated": {
            cluster.nodes.names[row]: sorted(promised) for row, promised in sorted(cluster.nominated.items())
        },
        "queue": {
            "active": [_queued(each) for each in queue.active.items[:_MOST]],
            "backoff": [_queued(each) for each in queue.backoff.infos[:_MOST]],
            "unschedulable": [_queued(each) for each in queue.unschedulable.infos[:_MOST]],
            "inFlight": list(queue.in_flight)[:_MOST],
        },
    }


def _queued(info: QueuedPodInfo) -> dict[str, Any]:
    told: dict[str, Any] = {"pod": info.key, "attempts": info.attempts, "timestamp": info.timestamp}
    if info.rejectors:
        told["rejectors"] = sorted(info.rejectors)
    if info.gating_plugin:
        told["gate"] = info.gating_plugin
    return told
