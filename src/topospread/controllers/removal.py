"""The order in which a controller deletes surplus pods.

Source: pkg/controller/controller_utils.go (``ActivePodsWithRanks``, ``ActivePods``),
pkg/controller/replicaset/replica_set.go (``getPodsRankedByRelatedPodsOnSameNode``,
``getIndirectlyRelatedPods``), which sort with Go's ``sort.Sort``.

Nearly equal times are compared by uid instead, but equal times are not. Such comparisons can contradict each other, so
the result depends on Go's sort and on the order of pods in the controller's cache.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key

import msgspec

from topospread.api.labels import Selector
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.api.timestamps import seconds
from topospread.scheduling.go_sort import go_sorted
from topospread.whole_number import whole_number

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
_COST = re.compile(r"0|-[0-9]+|[1-9][0-9]*")


def is_active(pod: Pod) -> bool:
    """Return whether a pod is neither finished nor terminating (``IsPodActive``)."""
    status = pod.status
    return (status is None or status.phase not in FINISHED_PHASES) and pod.metadata.deletion_timestamp is None


def is_leaving(pod: Pod) -> bool:
    """Return whether the pod is terminating on a node. Finished pods and pods without a node are deleted at once."""
    return pod.terminating and bool(pod.spec.node_name) and pod.phase not in FINISHED_PHASES


class _Candidate(msgspec.Struct, frozen=True):
    """The values of a pod that the rules compare; times in seconds since 1970, None if missing."""

    pod: Pod
    first: tuple[bool, int, bool, int, int]
    ready_since: float | None
    restarts: tuple[int, int]
    created: float | None


_Tie = Callable[[_Candidate, _Candidate], int]
"""Function that compares two pods that are equal in all other values."""


def removal_order(pods: Sequence[Pod], related: Iterable[Pod], now: float | None) -> list[Pod]:
    """Return the pods of a ReplicaSet or ReplicationController in the order of removal.

    In this order: without a node; Pending before Unknown before Running; not ready; lower pod-deletion-cost; more
    related active pods on its node; ready for a shorter time; more restarts; younger. Times are compared by their
    logarithm, then by uid.

    Args:
        pods: active pods.
        related: result of `related_pods`; empty without an owner.
        now: time from which ages are computed, to compare their logarithms; None compares times directly.
    """
    on_node = Counter(pod.spec.node_name for pod in related if is_active(pod))
    candidates = [_candidate(pod, deletion_cost(pod), on_node[pod.spec.node_name]) for pod in pods]
    return [each.pod for each in _sorted(candidates, now, _by_uid)]


def related_pods(pods: Iterable[Pod], namespace: str, selectors: Sequence[Selector]) -> list[Pod]:
    """Return the pods that one owner's ReplicaSets select, including pods of other owners
    (``getIndirectlyRelatedPods``).

    A ReplicaSet or ReplicationController without an owner has no related pods, not even its own.
    """
    if not selectors:
        return []
    return [
        pod
        for pod in pods
        if pod.namespace == namespace and any(selector.matches(pod.labels) for selector in selectors)
    ]


def removal_order_of_job(pods: Sequence[Pod]) -> list[Pod]:
    """Return the pods of a Job in the order of removal: like `removal_order` without costs, ranks and logarithms."""
    return [each.pod for each in _sorted([_candidate(pod, 0, 0) for pod in pods], None, _by_uid)]


def removal_groups(pods: Sequence[Pod], related: Iterable[Pod], now: float | None) -> list[list[Pod]]:
    """Return the removal order as groups. Pods of a group differ only in uids or not at all, as far as rules read."""
    on_node = Counter(pod.spec.node_name for pod in related if is_active(pod))
    candidates = [_candidate(pod, deletion_cost(pod), on_node[pod.spec.node_name]) for pod in pods]
    ordered = _sorted(candidates, now, _undecided)
    groups: list[list[_Candidate]] = []
    for each in ordered:
        if groups and not _compared(groups[-1][0], each, now, _undecided):
            groups[-1].append(each)
        else:
            groups.append([each])
    return [[each.pod for each in group] for group in groups]


def _sorted(candidates: list[_Candidate], now: float | None, tie: _Tie) -> list[_Candidate]:
    def compare(left: _Candidate, right: _Candidate) -> int:
        return _compared(left, right, now, tie)

    return go_sorted(candidates, key=cmp_to_key(compare), orderly=now is None)


def _compared(left: _Candidate, right: _Candidate, now: float | None, tie: _Tie) -> int:
    if left.first != right.first:
        return -1 if left.first < right.first else 1
    if left.first[2] and left.ready_since != right.ready_since:
        return _later_first(left.ready_since, right.ready_since, now) or tie(left, right)
    if left.restarts != right.restarts:
        return -1 if left.restarts > right.restarts else 1
    if left.created != right.created:
        return _later_first(left.created, right.created, now) or tie(left, right)
    return 0


def _undecided(left: _Candidate, right: _Candidate) -> int:
    return 0


def removal_rank(pod: Pod) -> tuple[bool, int, bool]:
    """Return the values that the controller compares before deletion costs. Lower ranks are removed first."""
    return bool(pod.spec.node_name), _PHASES.get(pod.phase, 0), _ready(pod)[0]


def _candidate(pod: Pod, cost: int, on_same_node: int) -> _Candidate:
    return _Candidate(
        pod,
        (*removal_rank(pod), cost, -on_same_node),
        _ready(pod)[1],
        _restarts(pod),
        seconds(pod.metadata.creation_timestamp),
    )


def _ready(pod: Pod) -> tuple[bool, float | None]:
    for condition in (pod.status.conditions or ()) if pod.status else ():
        if condition.type == "Ready":
            ready = condition.status == "True"
            return ready, seconds(condition.last_transition_time) if ready else None
    return False, None


def deletion_cost(pod: Pod) -> int:
    """Return ``controller.kubernetes.io/pod-deletion-cost``, an int32; 0 if missing or not valid."""
    text = pod.metadata.annotations.pod_deletion_cost if pod.metadata.annotations else None
    if not text or not _COST.fullmatch(text):
        return 0
    size = whole_number(text.removeprefix("-")) or 0
    cost = -size if text.startswith("-") else size
    return cost if -(2**31) <= cost < 2**31 else 0


def _restarts(pod: Pod) -> tuple[int, int]:
    """Return the highest restart count of a container, and of a sidecar."""
    if pod.status is None:
        return 0, 0
    sidecars = {each.name for each in pod.spec.init_containers or () if each.restart_policy == "Always"}
    containers = max((each.restart_count or 0 for each in pod.status.container_statuses or ()), default=0)
    return containers, max(
        (each.restart_count or 0 for each in pod.status.init_container_statuses or () if each.name in sidecars),
        default=0,
    )


def _later_first(left: float | None, right: float | None, now: float | None) -> int:
    """Compare two times: a negative number if ``left`` is later. A missing time is the latest (``afterOrZero``)."""
    if left is None or right is None:
        return -1 if left is None else 1
    if now is None:
        return -1 if left > right else 1
    return _logarithm(now - left) - _logarithm(now - right)


def _logarithm(age: float) -> int:
    """Return the truncated base-2 logarithm of an age's nanoseconds; -1 for 0 or less. ``age``: seconds."""
    return int(math.log2(age * 1e9)) if age > 0 else -1


def _by_uid(left: _Candidate, right: _Candidate) -> int:
    first, second = left.pod.metadata.uid or "", right.pod.metadata.uid or ""
    return (first > second) - (first < second)
