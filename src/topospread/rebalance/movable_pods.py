"""Pods that may be evicted, and the reasons against evicting other pods."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from topospread.controllers.draining import treatment
from topospread.drill.drill_state import DrillState
from topospread.drill.pods import FollowedPod
from topospread.plugins.pod_group_members import group_key

from .trials import Movable

_NOT_MOVED = frozenset({"Pod", "Node", "DaemonSet", "Job"})
"""Kinds whose pods stay: bare pods are not replaced, DaemonSet pods have fixed nodes, Job pods would restart."""


class MovablePods(msgspec.Struct):
    """The pods that may be evicted, and the reason for each other pod of a workload.

    Attributes:
        refused: pod key → why it may not be evicted: the Eviction API denies it, its PodGroup would be disrupted, or
            the API server would deny its replacement.
    """

    pods: list[Movable] = []
    refused: dict[str, str] = {}


def movable_pods(state: DrillState) -> MovablePods:
    """Return the pods that may be evicted in the current state.

    Each eviction waits until the previous replacement is ready, so budgets allow the same pods before every eviction.
    """
    found, rules = MovablePods(), state.run.plan.new_pods
    for each in state.pods.by_key.values():
        if not each.node or each.terminating or each.node in state.down or treatment(each.pod) != "evicted":
            continue
        why = why_not_evicted(state, each)
        group = group_key(each.pod) if state.run.scheduler.has_groups else None
        if group is not None:
            why = f"it would disrupt the PodGroup {group[0]}/{group[1]}"
        if why:
            found.refused[each.key] = why
        else:
            for movable in _movable(state, each):
                who, words = rules.refusal(movable.successor) if rules else ("", "")
                if who:
                    found.refused[each.key] = f"{who} refuses its new pod: {words}"
                else:
                    found.pods.append(movable)
    return found


def why_not_evicted(state: DrillState, pod: FollowedPod) -> str:
    """Return why the Eviction API would deny an eviction now; "" if it would allow it."""
    return state.health.why_not_evicted(pod, healthy=state.is_ready(pod))


def _movable(state: DrillState, each: FollowedPod) -> Iterator[Movable]:
    workload, cluster = each.workload, state.cluster
    if workload is None or workload.template is None or workload.kind in _NOT_MOVED:
        return
    row = cluster.placed.get(each.key)
    if row is None:
        return
    successor = state.successors.like(workload, each)
    yield Movable(
        each.key, workload, each.pod, successor, state.successors.waits(workload), row, cluster.on_node[row][each.key]
    )
