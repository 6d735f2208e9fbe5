"""The queue after a rollout or recreation of a workload with a changed spec.

A rollout is not simulated step by step: all new replicas are placed on a cluster without the old ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from topospread.api.pod import Pod
from topospread.controllers.draft import in_scheduling_order
from topospread.controllers.planned import QueuedPod, Workload
from topospread.whole_number import whole_number

from .result import Means
from .target import unbound

MADE_OF_TEMPLATE = frozenset({"Deployment", "ReplicaSet", "ReplicationController"})
"""Kinds whose pods are all equal."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """The queue with a workload's recreated pods.

    Attributes:
        queue: pods to place first.
        later: pods to create once `queue` has been attempted.
        made: the workload's pods in `queue` and `later`.
        gone: existing pods to remove from their nodes.
        kept: number of pods that stay on their nodes.
    """

    queue: tuple[QueuedPod, ...]
    later: tuple[QueuedPod, ...]
    made: tuple[QueuedPod, ...]
    gone: tuple[Pod, ...]
    kept: int


def replaced(
    queue: Sequence[QueuedPod],
    workloads: Sequence[Workload],
    workload: Workload,
    of_pod: Callable[[Pod], Pod],
    means: Means,
) -> Replacement:
    """Return the queue with the workload's pods created from a changed spec.

    A Deployment's replicas are equal. Pods of other kinds may differ, so each pod is changed by itself. If the change
    is in place or only for new pods, pods on nodes stay. Recreated pods come last, because other pending pods may use
    their room first.
    """
    stay = means in ("new pods", "in place")
    waiting = [each for each in queue if each.workload is workload]
    gone = [] if stay else list(workload.existing)
    if workload.kind in MADE_OF_TEMPLATE and workload.template is not None:
        count = len(waiting) if stay else workload.replicas
        made = _alike(workload, of_pod(workload.template), count)
    else:
        made = _one_by_one(workload, gone, waiting, of_pod)
    others = [each for each in queue if each.workload is not workload]
    recreated = means == "recreate"
    queue = in_scheduling_order(others) if recreated else _in_order([*others, *made], workloads)
    later = in_scheduling_order(made) if recreated else ()
    kept = len(workload.existing) if stay else 0
    return Replacement(tuple(queue), tuple(later), tuple(made), tuple(gone), kept)


def with_missing_replicas(
    queue: Sequence[QueuedPod], workloads: Sequence[Workload], workload: Workload, count: int
) -> Sequence[QueuedPod]:
    """Return the queue, in scheduling order, with ``count`` more replicas of a workload.

    Its controller creates them for deleted pods. Without a template the queue is unchanged.
    """
    if workload.template is None:
        return queue
    return _in_order([*queue, *_alike(workload, workload.template, count)], workloads)


def _in_order(queue: Sequence[QueuedPod], workloads: Sequence[Workload]) -> Sequence[QueuedPod]:
    at = {id(each): i for i, each in enumerate(workloads)}
    return in_scheduling_order(sorted(queue, key=lambda each: at.get(id(each.workload), len(at))))


def _alike(workload: Workload, pod: Pod, count: int) -> list[QueuedPod]:
    """Return equal replicas. Their names contain ``~``, which no name in an API server has."""
    priority = pod.spec.priority or 0
    return [QueuedPod(pod, f"{workload.name}~{i}", workload, priority) for i in range(count)]


def _one_by_one(
    workload: Workload, gone: Sequence[Pod], waiting: Sequence[QueuedPod], of_pod: Callable[[Pod], Pod]
) -> list[QueuedPod]:
    """Return a changed copy of each pod. Pods of an OrderedReady StatefulSet stay in order."""
    in_order = workload.kind == "StatefulSet" and any(each.after is not None for each in waiting)
    pods = [(pod.name, unbound(pod)) for pod in gone] + [(each.name, each.pod) for each in waiting]
    if workload.kind == "StatefulSet":
        pods.sort(key=lambda each: _ordinal(each[0]))
    made: list[QueuedPod] = []
    for name, pod in pods:
        changed = of_pod(pod)
        after = made[-1] if in_order and made else None
        made.append(QueuedPod(changed, name, workload, changed.spec.priority or 0, after=after))
    return made


def _ordinal(name: str) -> int:
    ordinal = whole_number(name.rpartition("-")[2])
    return -1 if ordinal is None else ordinal
