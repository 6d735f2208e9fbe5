"""Simulation of a Deployment's rolling update: its strategy limits how old pods are replaced by new ones.

A pod that gets a node is available in the next round, after the controller has acted. A deleted pod disappears at once.
Other workloads' pods are placed before. `controllers.rolling` decides the numbers of pods, with the strategy's values
from `api.rollout`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from topospread.api.pod import Pod
from topospread.api.rollout import Strategy
from topospread.controllers.planned import QueuedPod, Workload
from topospread.controllers.removal import removal_order
from topospread.controllers.revisions import TEMPLATE_HASH_LABEL
from topospread.controllers.rolling import RolloutStatus, to_create, to_remove

from .repeated_simulation import RepeatedSimulation


@dataclass
class RollingUpdate:
    """A rolling update under way.

    Attributes:
        old: pods of old revisions on nodes, in the order of removal.
        old_pending: pending pods of old revisions.
        refused: pods of the new revision that the API server refuses because of a quota.
        waiting: pending pods of the new revision.
        placed: pods of the new revision on nodes.
        last: nodes whose old pods are deleted last, as happens where times and uids order them so.
    """

    simulation: RepeatedSimulation
    workload: Workload
    strategy: Strategy
    template: Pod
    old: list[Pod] = field(default_factory=list)
    old_pending: list[Pod] = field(default_factory=list)
    refused: int = 0
    waiting: list[QueuedPod] = field(default_factory=list)
    placed: int = 0
    last: frozenset[str] = frozenset()
    _available: int = 0

    def __post_init__(self) -> None:
        there = self.workload.existing
        self.old = sorted(removal_order(there, there, None), key=lambda each: each.spec.node_name in self.last)
        self.old_pending = [each.pod for each in self.simulation.queue if each.workload is self.workload]
        quotas = self.simulation.run.plan.quotas
        self._quotas = quotas.copy() if quotas is not None else None
        self.template = _of_a_new_revision(self.template)

    def play(self) -> int | None:
        """Run the update. Return ``None`` if it completes, else the number of new pods with a node.

        The state must be at the simulation's start. It keeps the result.
        """
        self.simulation.carry_out([each for each in self.simulation.queue if each.workload is not self.workload])
        before = None
        while before != (
            now := (len(self.old), len(self.old_pending), len(self.waiting), self.placed, self._available)
        ):
            before, self._available = now, self.placed
            self._scale_up()
            self._scale_down()
        return None if self._standing.is_over else self.placed

    @property
    def _standing(self) -> RolloutStatus:
        waiting, old = len(self.waiting) + self.refused + self.placed - self._available, len(self.old)
        return RolloutStatus(self.workload.replicas, self._available, waiting, old, len(self.old_pending))

    def _scale_up(self) -> None:
        """Create as many new pods as maxSurge allows, and place the pending ones."""
        count = self.placed + len(self.waiting)
        priority = self.template.spec.priority or 0
        self.refused += to_create(self._standing, self.strategy)
        for number in range(count, count + self.refused):
            if self._quotas is not None and self._quotas.refusal(self.template):
                break
            self.refused -= 1
            self.waiting.append(QueuedPod(self.template, f"{self.workload.name}~{number}", self.workload, priority))
        run = self.simulation.carry_out(self.waiting)
        left = [each for each in self.waiting if run.outcomes[id(each)].pending]
        self.placed += len(self.waiting) - len(left)
        self.waiting = left

    def _scale_down(self) -> None:
        """Delete pending old pods, then as many other old pods as maxUnavailable allows."""
        waiting, number = to_remove(self._standing, self.strategy)
        if self._quotas is not None:
            for each in (*self.old_pending[:waiting], *self.old[:number]):
                self._quotas.release(each)
        self.old_pending = self.old_pending[waiting:]
        self.simulation.without(self.old[:number])
        self.old = self.old[number:]


def _of_a_new_revision(template: Pod) -> Pod:
    """Return the pod with another ``pod-template-hash``, in its label and in selectors merged from matchLabelKeys."""
    revision = template.labels.get(TEMPLATE_HASH_LABEL)
    if not revision:
        return template
    text = msgspec.json.encode(template).decode()
    for before in (f'"{TEMPLATE_HASH_LABEL}":"', f'"key":"{TEMPLATE_HASH_LABEL}","operator":"In","values":["'):
        text = text.replace(f'{before}{revision}"', f'{before}{revision}-new"')
    return msgspec.json.decode(text, type=Pod)
