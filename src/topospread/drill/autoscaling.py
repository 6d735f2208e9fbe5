"""Simulate a HorizontalPodAutoscaler that scales from minReplicas to maxReplicas one by one. Metrics are ignored."""

from __future__ import annotations

from topospread.api.inventory import ObjectKey
from topospread.api.workload import HorizontalPodAutoscaler
from topospread.controllers.autoscaling import target_of
from topospread.errors import UsageError
from topospread.text import did_you_mean

from .drill_state import DrillState
from .pods import FollowedPod
from .result import DrillAutoscaler
from .steps import Autoscale


def autoscale(state: DrillState, step: Autoscale) -> DrillAutoscaler:
    """Scale a workload from minReplicas to maxReplicas, and return the most replicas without a pending pod.

    Each pod is placed before the next pod is created. Once a pod is pending, the remaining pods are created at once.

    Raises:
        UsageError: if the autoscaler or its target is missing.
    """
    item = _the_autoscaler(state, step)
    key = target_of(item)
    if key is None or state.workload(key) is None:
        reference = item.spec.scale_target_ref
        raise UsageError(f"{step}: its target {reference.kind} {reference.name} does not exist")
    least, most = item.spec.least, item.spec.max_replicas
    fits, why = most, ""
    for replicas in range(least, most + 1):
        if replicas != _replicas(state, key):
            _scale(state, key, replicas)
        waiting = _waiting(state, key)
        if waiting:
            fits, why = max(replicas - len(waiting), 0), _reason(state, waiting[0])
            break
    if _replicas(state, key) != most:
        _scale(state, key, most)
    return DrillAutoscaler(item.namespace or "default", item.name, f"{key[0]}/{key[2]}", least, most, fits, why)


def _replicas(state: DrillState, key: ObjectKey) -> int:
    workload = state.workload(key)
    return workload.replicas if workload is not None else 0


def _scale(state: DrillState, key: ObjectKey, replicas: int) -> None:
    kind, namespace, name = key
    target = f"{namespace}/{kind.lower()}/{name}"
    state.note("scaled", detail=f"{target}={replicas}")
    state.replan(scale={target: replicas})
    state.settle()


def _waiting(state: DrillState, key: ObjectKey) -> list[FollowedPod]:
    """Return the workload's pods that stay pending after all current work is done."""
    if any(not each.node for each in state.pods.of(key)):
        state.rest()
    return [each for each in state.pods.of(key) if not each.node]


def _reason(state: DrillState, pod: FollowedPod) -> str:
    outcome = state.run.outcome(pod.queued) if pod.queued is not None else None
    return outcome.placement.message if outcome is not None else ""


def _the_autoscaler(state: DrillState, step: Autoscale) -> HorizontalPodAutoscaler:
    *given, name = step.target.split("/")
    namespace = given[0] if len(given) == 2 else None
    every = state.run.plan.inventory.horizontal_pod_autoscalers
    found = [each for each in every if each.name == name and namespace in (None, each.namespace or "default")]
    if len(found) > 1:
        places = ", ".join(sorted(each.namespace or "default" for each in found))
        raise UsageError(f"{step}: several exist, in the namespaces {places}; write NAMESPACE/hpa/{name}")
    if not found:
        names = sorted(each.name for each in every)
        hint = did_you_mean(name, names, f"the input has {', '.join(names[:6])}" if names else "")
        raise UsageError(f"{step}: HorizontalPodAutoscaler {name} not found{hint}")
    return found[0]
