"""Results that a simulation cannot know because some pods have parts that topospread does not model.

Filters can only reject nodes. Everything is therefore simulated twice: once such pods get no node, and once the
filters that are not modelled accept every node. Pods whose outcome differs between the two simulations are open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import msgspec

from topospread.answer import Unjudged
from topospread.api.inventory import key_of
from topospread.base import Bounds
from topospread.plugins.interface import NotJudgedError

from .result import PendingGroup, Simulation

TO_KNOW = {
    "resourceClaims": "kubectl get resourceslices,deviceclasses,resourceclaims,resourceclaimtemplates -A -o yaml",
    "extendedResources": "kubectl get deviceclasses,resourceslices -o yaml",
    "addedDevices": "-f FILE with the new nodes and their ResourceSlices",
    "schedulerName": "--config FILE, its own KubeSchedulerConfiguration, if it is a kube-scheduler",
    "podGroups": "kubectl get podgroups,workloads -A -o yaml",
    "volumes": "kubectl get pv,pvc,sc,csinode,csidriver,csistoragecapacity -A -o yaml",
}
"""Key of a part that is not modelled → command or option that provides the missing objects."""


def has_open_pods(simulation: Simulation) -> bool:
    """Return whether a pending pod was not judged, at the end or in an earlier attempt."""
    return bool(simulation.unjudged)


def is_unjudged(group: PendingGroup) -> bool:
    """Return whether only a filter that topospread does not model keeps these pods pending."""
    return group.verdict is not None and bool(group.verdict.error and group.verdict.unjudged)


def bracketed(without: Simulation, assumed: Simulation) -> Simulation:
    """Return ``without`` with its open pods, and with bounds on each workload's placed pods.

    Args:
        without: simulation in which pods with unmodelled parts get no node.
        assumed: simulation in which filters that topospread does not model accept every node.
    """
    placed, placed_assumed = _is_placed(without), _is_placed(assumed)
    unjudged = {pod for part in without.unjudged for pod in part.pods}
    waits = {(each.namespace, each.workload) for each in without.pending if not unjudged.isdisjoint(_pods(each))}
    # A StatefulSet does not create the pods after an unjudged pod that has no node.
    unjudged |= {
        pod
        for group in without.pending
        if group.verdict is None and (group.namespace, group.workload) in waits and "not created" in group.message
        for pod in _pods(group)
    }
    both = {**placed, **placed_assumed}
    # Preemption may evict other pods in each simulation, and recreated pods have other names.
    opened = unjudged | {pod for pod in both if placed.get(pod) != placed_assumed.get(pod)}
    most = {key_of(each): each.placed for each in assumed.workloads}
    bounds = {}
    for each in without.workloads:
        other = most.get(key_of(each), each.placed)
        key = f"{each.namespace}/{each.kind}/{each.name}"
        bounds[key] = Bounds.of((each.placed, other))
    return replace(without, open_pods=tuple(pod for pod in both if pod in opened), bounds=bounds)


def _is_placed(simulation: Simulation) -> dict[str, bool]:
    """Return whether each pod that was to be placed, or was evicted, has a node at the end."""
    evicted = {f"{each.namespace}/{each.name}": False for each in simulation.evictions}
    return evicted | {f"{each.namespace}/{each.name}": each.node is not None for each in simulation.placements}


def unjudged_parts(pending: Iterable[PendingGroup]) -> tuple[Unjudged, ...]:
    """Return the unmodelled parts, each with the pending pods that would have a feasible node without it."""
    found = [(group.verdict, _pods(group)) for group in filter(is_unjudged, pending)]
    return unjudged_of((part, pod) for verdict, pods in found if verdict for pod in pods for part in verdict.unjudged)


def unjudged_of(found: Iterable[tuple[NotJudgedError, str]]) -> tuple[Unjudged, ...]:
    """Return one entry for each unmodelled part, with the pods that have it. ``found``: pairs of part and pod."""
    parts: dict[str, tuple[NotJudgedError, list[str]]] = {}
    for part, pod in found:
        parts.setdefault(part.what, (part, []))[1].append(pod)
    return tuple(unjudged_part(part, pods) for part, pods in parts.values())


def unjudged_part(part: NotJudgedError, pods: Iterable[str]) -> Unjudged:
    """Return the entry of an unmodelled part with the pods that have it."""
    provided = part.what == "podGroups" and "not in the input" not in part.because
    return Unjudged(
        what=part.what,
        because=part.because,
        pods=tuple(dict.fromkeys(pods)),
        field=part.field,
        to_know="" if provided else TO_KNOW.get(part.what.partition(" ")[0], ""),
    )


def merged(*parts: Iterable[Unjudged]) -> tuple[Unjudged, ...]:
    """Return one entry for each part that is not modelled, with all its pods."""
    found: dict[str, Unjudged] = {}
    for each in (one for some in parts for one in some):
        before = found.setdefault(each.what, each)
        found[each.what] = msgspec.structs.replace(before, pods=tuple(dict.fromkeys((*before.pods, *each.pods))))
    return tuple(found.values())


def _pods(group: PendingGroup) -> Iterator[str]:
    return (f"{group.namespace}/{name}" for name in group.pods)
