"""The order in which pods of a ReplicaSet should be removed to keep its spread, and the deletion costs for that order.

The controller compares costs only among pods that are equal in whether they have a node, in their phase, and in whether
they are ready (pkg/controller/controller_utils.go, ``ActivePodsWithRanks``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from topospread.cluster.arrays import Bools, Ints
from topospread.plugins.pod_topology_spread import lacks_domains, minimum_in_force

FIRST: Final = 1_000_000
STEP: Final = 1_000
"""Difference between consecutive new costs. The gap leaves room for the costs of later pods."""
_HIGHEST: Final = 2**31 - 1
Rank = tuple[bool, int, bool]
"""Values that the controller compares before costs (`removal.removal_rank`)."""


class DomainLoad(msgspec.Struct, frozen=True, eq=False):
    """The domains of one constraint and the domain of each pod.

    Attributes:
        counts: number of pods in each domain, int64[domains].
        domain_of: index of each pod's domain, -1 for a pod that does not count, int64[pods].
        hard: whether the constraint is DoNotSchedule.
    """

    counts: Ints
    domain_of: Ints
    max_skew: int
    min_domains: int
    hard: bool


class Removals(msgspec.Struct, frozen=True):
    """An order of removal.

    Attributes:
        order: indexes of the pods in the order of removal.
        excess: skew above maxSkew, summed over hard constraints; the highest such sum after any of the removals.
    """

    order: tuple[int, ...]
    excess: int


def spread_order(loads: Sequence[DomainLoad], ranks: Sequence[Rank], preference: Sequence[int]) -> Removals:
    """Order the pods so that the skew stays lowest after every single removal.

    Each step removes the pod that leaves the least skew above maxSkew, first for DoNotSchedule constraints, then for
    ScheduleAnyway constraints. Ties go to the fullest domain of the first constraint, then of the second, and so on.

    Args:
        loads: DoNotSchedule constraints first.
        ranks: rank of each pod (`removal.removal_rank`). The controller removes lower ranks first, whatever the costs.
        preference: tie-breaker of each pod; the lowest is removed first.
    """
    state = _Spread(loads)
    domains = np.stack([each.domain_of for each in loads], axis=1) if loads else np.zeros((len(ranks), 0), np.int64)
    order: list[int] = []
    worst = 0
    by_rank: dict[Rank, list[int]] = defaultdict(list)
    for index in sorted(range(len(ranks)), key=preference.__getitem__, reverse=True):
        by_rank[ranks[index]].append(index)
    for rank in sorted(by_rank):
        # Pods of equal rank in the same domains are interchangeable. Each group is a stack, with the next pod at the
        # end.
        groups: dict[bytes, list[int]] = defaultdict(list)
        for index in by_rank[rank]:
            groups[domains[index].tobytes()].append(index)
        stacks = list(groups.values())
        codes = np.array([domains[stack[0]] for stack in stacks])
        prefer = np.array([preference[stack[-1]] for stack in stacks])
        for _ in by_rank[rank]:
            best = state.best(codes, prefer)
            index = stacks[best].pop()
            order.append(index)
            worst = max(worst, state.remove(domains[index]))
            if stacks[best]:
                prefer[best] = preference[stacks[best][-1]]
            else:
                del stacks[best]
                codes, prefer = np.delete(codes, best, axis=0), np.delete(prefer, best)
    return Removals(tuple(order), worst)


class _Spread:
    """Pod counts by domain during the removals."""

    def __init__(self, loads: Sequence[DomainLoad]) -> None:
        self._loads = loads
        self._counts = [each.counts.copy() for each in loads]

    def best(self, codes: Ints, prefer: Ints) -> int:
        """Return the index of the pod to remove next.

        Args:
            codes: domain of each pod for each constraint, −1 if the pod does not count, int64[pods, constraints].
            prefer: tie-breaker of each pod, int64[pods]; the lowest is removed first.
        """
        left = np.arange(len(codes))
        for hard in (True, False):
            excess = np.zeros(len(left), np.int64)
            for which, load in enumerate(self._loads):
                if load.hard == hard:
                    excess += np.maximum(self._skew_without(which, codes[left, which]) - load.max_skew, 0)
            left = left[excess == excess.min()]
        for which, counts in enumerate(self._counts):
            if len(left) > 1:
                here = codes[left, which]
                held = np.where(here >= 0, counts[here], -1) if len(counts) else here
                left = left[held == held.max()]
        return int(left[prefer[left].argmin()])

    def remove(self, domains: Ints) -> int:
        """Remove a pod from its domains. Return the skew above maxSkew that is left, summed over hard constraints."""
        excess = 0
        for load, counts, domain in zip(self._loads, self._counts, domains.tolist(), strict=True):
            if domain >= 0:
                counts[domain] -= 1
            if load.hard and len(counts):
                lowest = minimum_in_force(len(counts), int(counts.min()), load.min_domains)
                excess += max(int(counts.max()) - lowest - load.max_skew, 0)
        return excess

    def _skew_without(self, which: int, domains: Ints) -> Ints:
        """Return the skew after a pod of each of these domains is removed, int64[domains]."""
        counts = self._counts[which]
        if not len(counts):
            return np.zeros(len(domains), np.int64)
        highest, lowest = int(counts.max()), int(counts.min())
        is_alone: Bools = np.bool_(np.count_nonzero(counts == highest) == 1) & (counts[domains] == highest)
        counted = domains >= 0
        top = np.where(counted & is_alone, highest - 1, highest)
        bottom = np.where(counted, np.minimum(lowest, counts[domains] - 1), lowest)
        if lacks_domains(len(counts), self._loads[which].min_domains):
            bottom = np.zeros_like(bottom)
        skew: Ints = top - bottom
        return skew


def new_costs(order: Sequence[int], costs: Mapping[int, int]) -> dict[int, int]:
    """Return pod → new cost, for as few pods as possible, so that costs strictly increase in the order of removal.

    All new costs are above 0, so a pod without a cost is removed before every pod with one.

    Args:
        order: pods in the order of removal.
        costs: pod → its present cost.
    """
    present = [costs[each] for each in order]
    kept = _longest_rise([(place, cost) for place, cost in enumerate(present) if cost > 0 or not place])
    written = _between(present, kept)
    if written is None:
        written = {place: FIRST + STEP * place for place in range(1, len(order))}
        written |= {0: FIRST} if len(order) > 1 and present[0] >= FIRST + STEP else {}
    return {order[place]: cost for place, cost in written.items() if cost != present[place]}


def _between(present: Sequence[int], kept: Sequence[int]) -> dict[int, int] | None:
    """Return position → new cost for positions not in ``kept``; None if the kept costs leave no room between them."""
    written: dict[int, int] = {}
    for before, after in zip((-1, *kept), (*kept, len(present)), strict=True):
        missing = after - before - 1
        if not missing:
            continue
        low = max(present[before], 0) if before >= 0 else 0
        if after == len(present):
            low = max(low, FIRST)
            high = low + STEP * (missing + 1)
        else:
            high = present[after]
            low = max(low, high - STEP * (missing + 1))
        if high - low <= missing or high > _HIGHEST:
            return None
        for which in range(1, missing + 1):
            written[before + which] = low + which * (high - low) // (missing + 1)
    return written


def _longest_rise(items: Sequence[tuple[int, int]]) -> list[int]:
    """Return the positions of a longest strictly increasing subsequence of costs. ``items``: (position, cost)."""
    ends: list[int] = []
    """n → lowest last cost of an increasing subsequence of n + 1 items."""
    last: list[int] = []
    """n → index of the last item of that subsequence."""
    previous: list[int] = []
    for index, (_, cost) in enumerate(items):
        length = bisect_left(ends, cost)
        previous.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [cost]
        last[length : length + 1] = [index]
    rise: list[int] = []
    index = last[-1] if last else -1
    while index >= 0:
        rise.append(items[index][0])
        index = previous[index]
    return rise[::-1]
