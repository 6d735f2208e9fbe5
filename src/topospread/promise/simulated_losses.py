"""Compare the pods that a zone's loss leaves of two simulated placements, for workloads of which nothing is proved."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.well_known_labels import ZONE
from topospread.base import Bounds
from topospread.drill.placed_pods import without_pods_of
from topospread.simulation.comparison import Comparison
from topospread.simulation.options import SimulationOptions
from topospread.simulation.orders import simulated_order
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate

from .compared import PromiseChange, changed_fields
from .counted import CountedWorkloads
from .fresh import LISTS, workload_of

_ORDERS = 4
"""Number of orders of pods, with other draws among equal nodes, which must all confirm that fewer pods are left."""
_TEMPLATE = "spec.template"
_Zones = Counter[str | None]
"""Zone → placed pods."""
_NONE: _Zones = Counter()
_Pair = tuple[Inventory, Inventory]
_Sides = tuple[SimulationOptions, SimulationOptions]


def simulated_losses(
    comparison: Comparison, inventories: _Pair, sides: _Sides, known: Sequence[PromiseChange]
) -> Iterator[PromiseChange]:
    """Yield the workloads of which fewer simulated pods are left after a zone loss.

    They are worse only if no number is proved on either side, the difference is large, and each simulated order of
    pods before the change leaves more than each order after it. The others have ``is_outweighed``.

    Args:
        comparison: the simulations before and after.
        inventories: the objects before and after. If they differ, only workloads of `known` with another pod template
            are compared, and all their pods are placed again.
        sides: the control planes before and after.
        known: the counts that are already compared.
    """
    simulations, parts = (comparison.before, comparison.after), dict[ObjectKey, tuple[str, ...]]()
    if inventories[0] is inventories[1]:
        parts = {key_of(each.workload): () for each in comparison.workloads if each.moved}
    else:
        for key in dict.fromkeys(each.key for each in known if all(each.replicas)):
            differ = changed_fields(*(workload_of(each, key) for each in inventories))
            parts[key] = tuple(each for each in differ if each.startswith(_TEMPLATE))
        parts = {key: each for key, each in parts.items() if each}
        if any(key_of(each) in parts and each.existing for side in simulations for each in side.workloads):
            inventories = _without_pods(inventories[0], parts), _without_pods(inventories[1], parts)
            simulations = simulate(inventories[0], sides[0]), simulate(inventories[1], sides[1])
    opened = {pod for side in simulations for pod in side.open_pods}
    decided = {each.key for each in known if each.verdict == "no"} | {
        pod.workload_key for side in simulations for pod in side.placements if f"{pod.namespace}/{pod.name}" in opened
    }
    before, after = map(_zones, simulations)
    fewer = {
        key: (before[key], after[key])
        for key in parts
        if key[0] in LISTS and key not in decided and key in before and key in after
        if before[key].total() <= after[key].total() and _left(before[key]) > _left(after[key])
    }
    zones = {each.labels[ZONE] for each in inventories[0].nodes if ZONE in each.labels}
    large = [key for key, pods in fewer.items() if _is_large(*pods, zones)]
    unproved = {key: fewer[key] for key in _unproved(large, inventories, sides, known)}
    worse = _confirmed(unproved, inventories, sides)
    for key, pods in fewer.items():
        was, now = (Bounds.exactly(_left(each)) for each in pods)
        yield PromiseChange(
            key,
            "zone-loss",
            was,
            now,
            (pods[0].total(), pods[1].total()),
            "played",
            is_outweighed=key not in worse,
            parts=parts[key] if key in worse else (),
        )


def _without_pods(inventory: Inventory, keys: Collection[ObjectKey]) -> Inventory:
    for key in keys:
        inventory = without_pods_of(inventory, key)
    return inventory


def _zones(simulation: Simulation) -> dict[ObjectKey, _Zones]:
    """Return workload → zone → placed pods."""
    found: dict[ObjectKey, _Zones] = {}
    for each in simulation.on_nodes():
        found.setdefault(each.workload_key, Counter())[each.zone] += 1
    return found


def _left(pods: _Zones) -> int:
    """Return the number of pods that the loss of their largest zone leaves."""
    return pods.total() - max((number for zone, number in pods.items() if zone is not None), default=0)


def _is_large(before: _Zones, after: _Zones, zones: Collection[str]) -> bool:
    """Return whether the loss of the fullest zone is much worse after a change.

    It is much worse in each of these cases:

    - no pod is left;
    - pods were in every zone before, and are not after the change;
    - at least two pods fewer are left, and these are at least a fifth of all pods.

    Args:
        before: pods by zone before the change. ``after``: the same after it.
        zones: all zones of the cluster.
    """
    lost = _left(before) - _left(after)
    is_without = before.keys() >= {*zones} and not after.keys() >= {*zones}
    return not _left(after) or is_without or (lost >= 2 and lost * 5 >= before.total())


def _unproved(
    keys: Sequence[ObjectKey], inventories: _Pair, sides: _Sides, known: Sequence[PromiseChange]
) -> Iterator[ObjectKey]:
    """Yield the workloads for which no number of pods is proved on either side."""
    counted = {each.key: (each.before.least, each.after.least) for each in known if each.event == "zone-loss"}
    left = [each for each in keys if each not in counted]
    judges = [CountedWorkloads(*side) for side in zip(inventories, sides, strict=True)] if left else []
    for key in keys:
        if key in left:
            least = []
            for each in judges:
                with each.judge(key) as judge:
                    least.append(judge.fewest("zone").orders.least)
            counted[key] = least[0], least[1]
        if not any(counted[key]) and all(each.is_enough for each in judges):
            yield key


def _confirmed(
    pods: Mapping[ObjectKey, tuple[_Zones, _Zones]], inventories: _Pair, sides: _Sides
) -> Collection[ObjectKey]:
    """Return the workloads of which each of `_ORDERS` orders before the change leaves more pods than each after it."""
    left = {key: (_left(was), _left(now)) for key, (was, now) in pods.items()}
    for number in range(1, _ORDERS):
        if left:
            before, after = (
                _zones(simulated_order(one, replace(by, one_of_many=True), random.Random(number), number))
                for one, by in zip(inventories, sides, strict=True)
            )
            pairs = {
                key: (min(was, _left(before.get(key, _NONE))), max(now, _left(after.get(key, _NONE))))
                for key, (was, now) in left.items()
            }
            left = {key: (was, now) for key, (was, now) in pairs.items() if was > now}
    return left
