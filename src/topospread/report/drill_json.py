"""A drill as plain data: documented in ``docs/reference/drill.md``, versioned by ``apiVersion``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topospread.answers.spread import pending_pods, pool_of, spread_outcome
from topospread.base import API_VERSION

if TYPE_CHECKING:
    from topospread.drills import (
        AutoscalerState,
        BudgetBreach,
        Drill,
        Event,
        PodThere,
        RolloutState,
        StepOutcome,
        StepRange,
        WorkloadState,
    )

Json = dict[str, Any]


def drill_json(drill: Drill) -> Json:
    """The whole drill, its keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "DrillResult",
        "holds": drill.holds,
        "nodes": drill.nodes,
        "steps": [_step(each) for each in drill.steps],
        "breaches": [_breach(each) for each in drill.breaches],
        "runs": drill.runs,
        "ranges": [_range(each) for each in drill.ranges],
        "warnings": list(drill.warnings),
        "notes": list(drill.notes),
        "partial": drill.partial,
        "pools": [pool_of(each).to_dict() for each in drill.pools],
    }


def _range(each: StepRange) -> Json:
    return {
        "pending": list(each.pending),
        "stuck": each.stuck,
        "skews": [
            {"workload": workload, "topologyKey": key, "least": least, "most": most}
            for (workload, key), (least, most) in each.skews.items()
        ],
    }


def _step(each: StepOutcome) -> Json:
    return {
        "step": each.step,
        "begins": each.begins,
        "ends": each.ends,
        "ready": each.ready,
        "events": [_event(event) for event in each.events],
        "workloads": [_workload(workload) for workload in each.changed],
        "pending": [pending_pods(group).to_dict() for group in each.pending],
        "breaches": [_breach(breach) for breach in each.breaches],
        "notEvicted": [{**_pod(left.pod), "why": left.why} for left in each.not_evicted],
        "rollouts": [_rollout(rollout) for rollout in each.rollouts],
        "remarks": list(each.remarks),
        "autoscaled": None if each.autoscaled is None else _autoscaled(each.autoscaled),
    }


def _event(each: Event) -> Json:
    return {
        "at": each.at,
        "kind": each.kind,
        "detail": each.detail,
        "nodes": list(each.nodes),
        "pods": [_pod(pod) for pod in each.pods],
        "ready": each.ready,
        "pending": each.pending,
    }


def _pod(each: PodThere) -> Json:
    return {"namespace": each.namespace, "name": each.name, "workload": each.workload, "node": each.node}


def _workload(each: WorkloadState) -> Json:
    return {
        "kind": each.kind,
        "namespace": each.namespace,
        "name": each.name,
        "replicas": each.replicas,
        "readyBefore": each.ready_before,
        "ready": each.ready,
        "fewest": each.fewest,
        "pending": each.pending,
        "terminating": each.terminating,
        "spread": [spread_outcome(spread).to_dict() for spread in each.spread],
    }


def _rollout(each: RolloutState) -> Json:
    return {
        "kind": each.kind,
        "namespace": each.namespace,
        "name": each.name,
        "updated": each.updated,
        "replicas": each.replicas,
        "old": each.old,
        "over": each.is_over,
    }


def _autoscaled(each: AutoscalerState) -> Json:
    return {
        "namespace": each.namespace,
        "name": each.name,
        "target": each.target,
        "least": each.least,
        "most": each.most,
        "fits": each.fits,
        "why": each.why,
    }


def _breach(each: BudgetBreach) -> Json:
    return {"budget": each.budget, "at": each.at, "healthy": each.healthy, "needed": each.needed}
