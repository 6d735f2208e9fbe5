"""Rollouts of changed pod templates, simulated once, that do not complete."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.drill.drill import drill
from topospread.drill.result import DrillRollout
from topospread.drill.steps import Rollout
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions

KINDS = {"Deployment": "deployments", "StatefulSet": "stateful_sets"}
"""Kind whose rollouts are simulated → attribute of the inventory."""


@dataclass(frozen=True, slots=True)
class StuckRollout:
    """A rollout of the new template that does not complete.

    Attributes:
        key: kind, namespace and name of the workload.
        old: the rollout after a restart with the old template; None if it cannot be rolled out.
        new: the rollout of the new template.
    """

    key: ObjectKey
    old: DrillRollout | None
    new: DrillRollout


def changed_templates(before: Inventory, after: Inventory) -> Iterator[ObjectKey]:
    """Yield the workloads whose pod template changes and whose controller then replaces their pods."""
    for kind, attribute in KINDS.items():
        old = {(each.namespace, each.name): each for each in getattr(before, attribute)}
        for new in getattr(after, attribute):
            was = old.get((new.namespace, new.name))
            by_hand = getattr(new.spec, "paused", None) or (
                kind == "StatefulSet" and new.spec.update_strategy and new.spec.update_strategy.type == "OnDelete"
            )
            if was is not None and was.spec.template != new.spec.template and not by_hand:
                yield key_of(new)


def stuck_rollouts(
    before: Inventory, after: Inventory, options: SimulationOptions, keys: Collection[ObjectKey], seconds: float
) -> tuple[list[StuckRollout], list[ObjectKey]]:
    """Return the rollouts that do not complete, and the workloads whose rollout was not simulated.

    Args:
        before: the objects of the old state and the cluster.
        after: the objects of the new state and the cluster.
        options: the control plane.
        keys: workloads to roll out.
        seconds: time after which no further rollout is simulated.
    """
    options = replace(options.answered_by, preemption=False)
    ends = time.monotonic() + seconds
    found: list[StuckRollout] = []
    untried: list[ObjectKey] = []

    def rolled(inventory: Inventory, key: ObjectKey) -> DrillRollout | None:
        kind, namespace, name = key
        with suppress(UsageError):
            steps = drill(inventory, [Rollout(f"{namespace}/{kind}/{name}")], options, runs=1).steps
            return next((each for each in steps[-1].rollouts if key_of(each) == key), None)
        return None

    for key in keys:
        if time.monotonic() > ends:
            untried.append(key)
            continue
        new = rolled(after, key)
        if new is not None and not new.over:
            found.append(StuckRollout(key, rolled(before, key), new))
    return found, untried
