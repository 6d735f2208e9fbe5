"""A plan carried out in a drill's world, move by move: what comes of each is what is told, not what was tried.

Where a move comes to something else than was tried, nothing is to be gained by going on: who asks plans anew without.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from topospread.drills.pods import FollowedPod, WorkloadKey, key_of, owner_of
from topospread.drills.world import World

from .movable_pods import why_not_evicted
from .result import PodMove
from .trials import PlannedMove

Ban = tuple[WorkloadKey, str]
"""Pods of a workload on a node, which are not to be moved."""


class CarriedOut(msgspec.Struct, frozen=True):
    """The result of carrying out a plan.

    Attributes:
        surprise: the move that came to something else, where one did.
    """

    moves: tuple[PodMove, ...]
    surprise: Ban | None = None


def carry_out(world: World, plan: Sequence[PlannedMove], keys: Sequence[str]) -> CarriedOut:
    """Evict pod after pod, each when the one before it has its new pod on a node. ``keys``: whose domains count."""
    waiting, done = set(world.pods.waiting), list[PodMove]()
    for each in plan:
        movable, target = each.movable, world.cluster.nodes.names[each.target]
        node = world.cluster.nodes.names[movable.row]
        ban = (key_of(movable.workload), node)
        pod = _pod_of(world, each, node)
        if pod is None or why_not_evicted(world, pod):
            return CarriedOut(tuple(done), ban)
        before = {other.key for other in world.pods.of(key_of(movable.workload))} - {pod.key}
        world.delete([pod], "rebalanced")
        world.settle()
        made = [other for other in world.pods.of(key_of(movable.workload)) if other.key not in before]
        new = next((other for other in made if other.node), None)
        if new is None or len(made) != 1 or world.pods.waiting.keys() - waiting:
            return CarriedOut(tuple(done), ban)
        domains = {key: (_domain(world, key, node), _domain(world, key, new.node)) for key in keys}
        if any(_domain(world, key, target) != after for key, (_, after) in domains.items()):
            return CarriedOut(tuple(done), ban)
        uid = pod.pod.metadata.uid or ""
        done.append(PodMove(pod.namespace, pod.name, owner_of(pod), node, new.name, new.node, domains, uid))
    return CarriedOut(tuple(done))


def _pod_of(world: World, each: PlannedMove, node: str) -> FollowedPod | None:
    """The pod that is meant, or, where it came by an earlier move, one like it on its node."""
    movable = each.movable
    known = world.pods.by_key.get(movable.key)
    if known is not None and known.node == node:
        return known
    there = world.pods.of(key_of(movable.workload))
    return next((pod for pod in there if pod.node == node and pod.labels == movable.pod.labels), None)


def _domain(world: World, key: str, node: str) -> str:
    return world.node(node).labels.get(key, "")
