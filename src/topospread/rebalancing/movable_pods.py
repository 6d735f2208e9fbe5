"""Pods that may be evicted, and the reasons why others may not. Their new nodes are not looked for."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from topospread.drills.pods import FollowedPod
from topospread.drills.world import World
from topospread.workloads.draining import treatment, why_not

from .trials import Movable

_NOT_MOVED = frozenset({"Pod", "Node", "DaemonSet", "Job"})
"""Nobody creates bare pods anew, a DaemonSet's belong to their nodes, and a Job's would begin their work again."""


class MovablePods(msgspec.Struct):
    """The pods that may be evicted, and the reason for each other pod of a workload.

    Attributes:
        refused: pod key → the Eviction API's words, of pods that a disruption budget keeps where they are.
    """

    pods: list[Movable] = []
    refused: dict[str, str] = {}


def movable_pods(world: World) -> MovablePods:
    """The pods that may be evicted as things stand.

    As each eviction waits until its new pod is on a node, budgets allow before every one what they allow now.
    """
    found = MovablePods()
    for each in world.pods.by_key.values():
        if not each.node or each.terminating or each.node in world.down or treatment(each.pod) != "evicted":
            continue
        why = why_not_evicted(world, each)
        if why:
            found.refused[each.key] = why
        else:
            found.pods += _movable(world, each)
    return found


def why_not_evicted(world: World, pod: FollowedPod) -> str:
    """Return why the Eviction API would refuse to evict a pod now; "" if it would not."""
    budgets = [(budget.name, budget.healthy, budget.needed) for budget in world.health.budgets_of(pod)]
    return why_not(budgets, healthy=world.is_ready(pod))


def _movable(world: World, each: FollowedPod) -> Iterator[Movable]:
    workload, cluster = each.workload, world.cluster
    if workload is None or workload.template is None or workload.kind in _NOT_MOVED:
        return
    row = cluster.placed.get(each.key)
    if row is None:
        return
    successor = world.successors.like(workload, each)
    if (successor.spec.scheduler_name or "default-scheduler") not in world.run.scheduler.frameworks:
        return
    yield Movable(
        each.key, workload, each.pod, successor, world.successors.waits(workload), row, cluster.on_node[row][each.key]
    )
