"""An autoscaler in a drill: when nothing happens any more, pools grow for pods that wait. The model is `scaling`'s."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from topospread.api.inventory import Inventory
from topospread.api.node import Node
from topospread.api.pools import NodePool
from topospread.api.well_known_labels import ZONE
from topospread.simulation.result import PoolUse
from topospread.simulation.scaling import PoolScaler

from .world import World


class PoolGrowth:
    """The pools of a drill; their new nodes are there at once, and none is taken away again."""

    def __init__(self, world: World, pools: Sequence[NodePool]) -> None:
        self._world = world
        self._scaler = PoolScaler.of(pools)

    def rest(self) -> None:
        """Let time pass until nothing happens any more and no new node would help a pod that waits."""
        self._world.rest()
        while (node := self._wanted()) is not None:
            self._world.note("added", nodes=[node.name], detail="by the autoscaler")
            self._world.replan(partial(_with, node))
            self._world.rest()

    def uses(self, keys: Collection[str]) -> tuple[PoolUse, ...]:
        """Return the use of each pool, with the domains that it could add and that no node has."""
        if not self._scaler.pools:
            return ()
        nodes = [each for each in self._world.cluster.nodes.nodes if each is not None]
        return tuple(self._scaler.uses(nodes, {ZONE, *keys}))

    def _wanted(self) -> Node | None:
        if not self._scaler.pools:
            return None
        run = self._world.run
        waiting = [each.queued for each in self._world.pods.waiting.values() if each.queued is not None]
        waiting.sort(key=lambda queued: -queued.priority)
        return self._scaler.wanted(run.scheduler, run.plan.workloads, waiting)


def _with(node: Node, inventory: Inventory) -> Inventory:
    return replace(inventory, nodes=[*inventory.nodes, node])
