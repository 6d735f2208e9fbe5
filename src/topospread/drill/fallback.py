"""Make hard constraints soft while a domain is lost: ``drill --fallback``.

Pending pods are scheduled again with soft constraints. When the domain recovers, pods that are still pending get their
hard constraints back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as with_fields
from functools import partial

from msgspec.structs import replace

from topospread.api.inventory import Inventory
from topospread.api.spread import TopologySpreadConstraint
from topospread.cluster.cluster import PodKey, pod_key
from topospread.controllers.fallback import counted_lost, hard_keys, lost_domains, softened

from .drill_state import DrillState

Constraints = list[TopologySpreadConstraint] | None


class Fallback:
    """The pods of a drill whose hard constraints are temporarily soft."""

    def __init__(self, state: DrillState) -> None:
        self._state = state
        self._hard: dict[PodKey, Constraints] = {}

    def apply(self) -> bool:
        """Make hard constraints of pending pods soft if they count a lost domain. Return whether any changed."""
        state = self._state
        waiting = {key: each for key, each in state.pods.waiting.items() if not each.is_refused}
        keys = {key for each in waiting.values() for key in hard_keys(each.pod)}
        nodes = (each for each in state.cluster.nodes.nodes if each is not None)
        lost = lost_domains(nodes, keys)
        soft: dict[PodKey, Constraints] = {}
        for key, each in waiting.items() if lost else ():
            verdict = state.run.scheduler.pending_verdict(each.pod, each.name) if hard_keys(each.pod) else None
            if verdict is None or "PodTopologySpread" not in verdict.rejectors:
                continue
            if counted := counted_lost(verdict.arithmetic, lost):
                self._hard.setdefault(key, each.pod.spec.topology_spread_constraints)
                soft[key] = softened(each.pod, {name for name, _ in counted}).spec.topology_spread_constraints
        self._change(soft)
        return bool(soft)

    def end(self) -> None:
        """Restore the hard constraints of pods that are still pending."""
        self._change({key: hard for key, hard in self._hard.items() if key in self._state.pods.waiting})
        self._hard.clear()

    def _change(self, constraints: Mapping[PodKey, Constraints]) -> None:
        if constraints:
            self._state.replan(partial(_with, constraints))


def _with(constraints: Mapping[PodKey, Constraints], inventory: Inventory) -> Inventory:
    pods = [
        replace(each, spec=replace(each.spec, topology_spread_constraints=constraints[key]))
        if (key := pod_key(each.namespace, each.name)) in constraints
        else each
        for each in inventory.pods
    ]
    return with_fields(inventory, pods=pods)
