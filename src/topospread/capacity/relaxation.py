"""Lower bounds on the price of nodes to add, from resources, hard constraints, labels and taints.

Ignored rules (inter-pod affinity, volumes, scores) can only reduce the capacity. A set of nodes that is too small here
is therefore too small in the cluster. For each possible global minimum, the least price is a knapsack problem in each
domain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from topospread.api.pools import NodePool, new_names
from topospread.api.well_known_labels import HOSTNAME
from topospread.cluster.arrays import Floats, Ints
from topospread.cluster.cluster import pod_key
from topospread.cluster.nodes import PODS
from topospread.controllers.planned import QueuedPod
from topospread.plugins.inter_pod_affinity import REASON_ANTI_AFFINITY, REASON_EXISTING
from topospread.plugins.node_resources_fit import NodeResourcesFit, Room
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, counts_of
from topospread.scheduling.verdict import Rejection, Verdict
from topospread.simulation.run import Run, spread_of
from topospread.simulation.scaling import with_node

FIT = NodeResourcesFit.name
EXACT = 5_000
"""Maximum number of pods for which the price of each number of pods is computed."""
UNLIMITED = 1 << 40
"""More pods than any node can have: no limit."""
_STAY = frozenset({"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", FIT})
"""Filters whose rejections stay valid if pods or nodes are added."""


class Cover(Protocol):
    """A requirement, and the price to meet it."""

    @property
    def pools(self) -> Sequence[PoolPart]:
        """The properties of each pool that matter for this requirement."""

    def price(self, counts: Sequence[int], first: int, prices: Sequence[int], most: Sequence[int]) -> float:
        """Return the least price of more nodes that meet the requirement; infinite if impossible.

        Args:
            counts: new nodes of each pool.
            first: first pool to which nodes may be added.
            prices: price of a node of each pool.
            most: new nodes that each pool may have.
        """


@dataclass(frozen=True, slots=True)
class PoolPart:
    """The properties of a pool that matter for one requirement.

    Attributes:
        domain: index of its nodes' domain; −1 without a domain.
        room: capacity of one node.
    """

    domain: int
    room: int
    eligible: bool = True


@dataclass(frozen=True, slots=True)
class DomainCover:
    """A requirement by domain: no domain may exceed the minimum by more than ``max_skew``.

    Attributes:
        need: pods to place, or an amount of a resource.
        there: whether existing nodes make each domain eligible.
        counts: pods that the constraint counts in each domain.
        rooms: capacity of existing nodes in each domain.
        max_skew: maximum skew; None for no limit.
        known: cache: (prices, node limits) → first pool → domain → least price by number of pods.
    """

    need: int
    there: Sequence[bool]
    counts: Sequence[int]
    rooms: Sequence[int]
    pools: Sequence[PoolPart]
    max_skew: int | None = None
    min_domains: int = 1
    known: dict[tuple[int, ...], list[list[Floats]]] = field(default_factory=dict)

    def price(self, counts: Sequence[int], first: int, prices: Sequence[int], most: Sequence[int]) -> float:
        """Return the least price over all possible final minimums. See `Cover.price`."""
        rooms, there, coming = list(self.rooms), list(self.there), set()
        for at, pool in enumerate(self.pools):
            if pool.domain >= 0 and counts[at]:
                rooms[pool.domain] += counts[at] * pool.room
                there[pool.domain] |= pool.eligible
            if pool.domain >= 0 and at >= first and most[at] > counts[at]:
                coming.add(pool.domain)
        if self.need > EXACT:
            return self._in_parts(self.need - sum(rooms), counts, first, prices, most)
        costs = self._costs(first, prices, most)
        if self.max_skew is None:
            return float(costs[0][max(0, self.need - rooms[0])])
        number = sum(there)
        best = math.inf
        if number < self.min_domains:
            best = self._at_level(0, self.max_skew, rooms, there, costs)
            if number + sum(not there[each] for each in coming) < self.min_domains:
                return best
        if not number:
            return 0.0  # domains that may still be added are unknown
        counted = sum(each for each, has in zip(self.counts, there, strict=True) if has)
        for level in range((counted + self.need) // number, -1, -1):
            found = self._at_level(level, level + self.max_skew, rooms, there, costs)
            if math.isinf(found) and sum(max(0, level + self.max_skew - each) for each in self.counts) < self.need:
                break
            best = min(best, found)
        return best

    def _at_level(
        self, least: int, most: int, rooms: Sequence[int], there: Sequence[bool], costs: Sequence[Floats]
    ) -> float:
        """Return the least price if every domain finally has between ``least`` and ``most`` pods."""
        lowest = [max(0, least - count) if has else 0 for count, has in zip(self.counts, there, strict=True)]
        spare = [max(0, most - count) - low for count, low in zip(self.counts, lowest, strict=True)]
        left = self.need - sum(lowest)
        if left < 0 or sum(spare) < left:
            return math.inf
        found = np.full(left + 1, math.inf)
        found[0] = 0.0
        for cost, low, room, more in zip(costs, lowest, rooms, spare, strict=True):
            better = np.full(left + 1, math.inf)
            for extra in range(min(more, left) + 1):
                np.minimum(
                    better[extra:], found[: left + 1 - extra] + cost[max(0, low + extra - room)], out=better[extra:]
                )
            found = better
        return float(found[left])

    def _costs(self, first: int, prices: Sequence[int], most: Sequence[int]) -> list[Floats]:
        """Return domain → number of pods → least price from pools ``first`` and later: a knapsack problem for each."""
        key = (*prices, *most)
        if key not in self.known:
            costs = [np.concatenate([[0.0], np.full(self.need, math.inf)]) for _ in self.rooms]
            tables = [list(costs)]
            for pool, price, number in reversed(list(zip(self.pools, prices, most, strict=True))):
                if pool.domain >= 0 and pool.room:
                    before = costs[pool.domain]
                    now = before.copy()
                    for nodes in range(1, min(number, -(-self.need // pool.room)) + 1):
                        held = min(nodes * pool.room, self.need)
                        np.minimum(now[held:], before[: self.need + 1 - held] + nodes * price, out=now[held:])
                        np.minimum(now[1:held], nodes * price, out=now[1:held])
                    costs[pool.domain] = now
                tables.append(list(costs))
            self.known[key] = tables[::-1]
        return self.known[key][first]

    def _in_parts(
        self, left: int, counts: Sequence[int], first: int, prices: Sequence[int], most: Sequence[int]
    ) -> float:
        """Return a lower bound on the price for large amounts: nodes are divisible, and domains are ignored."""
        price = 0.0
        offers = sorted(
            (prices[at] / pool.room, (most[at] - counts[at]) * pool.room)
            for at, pool in enumerate(self.pools)
            if at >= first and pool.room
        )
        for rate, amount in offers:
            if left <= 0:
                break
            price += min(amount, left) * rate
            left -= amount
        return math.inf if left > 0 else price


@dataclass(frozen=True, slots=True)
class NodeCover:
    """A requirement by node: no node may exceed the minimum by more than ``max_skew``.

    Attributes:
        counts: counted pods on each existing node, int64[nodes].
        rooms: additional pods that fit on each existing node, int64[nodes].
    """

    need: int
    counts: Ints
    rooms: Ints
    pools: Sequence[PoolPart]
    max_skew: int

    def price(self, counts: Sequence[int], first: int, prices: Sequence[int], most: Sequence[int]) -> float:
        """Return the least price over all possible final minimums. See `Cover.price`."""
        own = [(counts[at], pool) for at, pool in enumerate(self.pools) if counts[at]]
        highest = min(
            [int((self.counts + self.rooms).min(initial=UNLIMITED)), *(pool.room for _, pool in own if pool.eligible)]
        )
        best = math.inf
        number = len(self.counts) + sum(each for each, pool in own if pool.eligible)
        for level in range(min(highest, (int(self.counts.sum()) + self.need) // max(number, 1)), -1, -1):
            most_on_one = level + self.max_skew
            left = self.need - int(np.clip(most_on_one - self.counts, 0, self.rooms).sum())
            left -= sum(number * min(pool.room, most_on_one) for number, pool in own)
            price = 0.0
            offers = sorted(
                (prices[at] / size, size * (most[at] - counts[at]))
                for at, pool in enumerate(self.pools)
                if at >= first
                and most[at] > counts[at]
                and (size := min(pool.room, most_on_one)) > 0
                and (pool.room >= level or not pool.eligible)
            )
            for rate, amount in offers:
                if left > 0:
                    price += min(amount, left) * rate
                    left -= amount
            if left <= 0:
                best = min(best, price)
        return best


def covers(run: Run, targets: Sequence[tuple[Sequence[QueuedPod], int]], pools: Sequence[NodePool]) -> list[Cover]:
    """Return the requirements of the pods.

    Args:
        run: the cluster without new nodes. Its queue has the pods of other workloads.
        targets: possible pods of each workload, and the number to place.
        pools: the pools.
    """
    for pods, _ in targets:
        run.scheduler.view(run.cluster.shared_class(pods[0].pod))  # a new resource adds a column, for all classes
    sights = [(_Sight(run, pods, pools), need) for pods, need in targets if _are_alike(run, pods)]
    coming = [*run.queue, *(pods[0] for pods, _ in targets)]
    found: list[Cover] = [cover for sight, need in sights for cover in sight.covers(need, coming)]
    if len(sights) > 1:
        found += _of_resources(sights, pools)
    return found


def _are_alike(run: Run, pods: Sequence[QueuedPod]) -> bool:
    """Return whether the pods are of one class. Pods of several revisions are not bounded."""
    return len({run.cluster.shared_class(each.pod).key for each in pods}) == 1


class _Sight:
    """Existing nodes and a new node of each pool, evaluated for one class of pods.

    Attributes:
        rooms: room for more pods on each node, int64[rows]; 0 if a filter rejects it permanently.
        new: room on a new node of each pool.
        amounts: resource column → a pod's request.
        free: free resources of nodes that accept the class, int64[rows, resources].
        new_free: free room on a new node of each pool.
    """

    def __init__(self, run: Run, pods: Sequence[QueuedPod], pools: Sequence[NodePool]) -> None:
        self._run, self._pod, self._pools = run, pods[0], pools
        self._class = run.cluster.shared_class(pods[0].pod)
        self.before = {_place(each): each for each in spread_of(run.scheduler, self._class)}
        filters = {each.plugin: each.filter for each in run.scheduler.view(self._class).plugins.filters}
        fit = filters.get(FIT)
        self._is_limited = fit is not None
        self.amounts = fit.amounts if isinstance(fit, Room) else {}
        self.rooms = self._rooms(list(range(run.cluster.nodes.size)), self._verdict())
        self.free = np.where(self.rooms[:, None] > 0, self._free(slice(0, len(self.rooms))), 0)
        self.new: list[int] = []
        self.new_free: list[Ints] = []
        self.after: list[dict[tuple[str, int], ConstraintArithmetic]] = []
        apart = [self._look(pool) for pool in pools]
        if apart and all(apart):
            self.rooms = np.minimum(self.rooms, 1)

    def covers(self, need: int, coming: Sequence[QueuedPod]) -> Iterator[Cover]:
        """Yield requirements for room and for hard constraints that count only the target's new pods."""
        yield DomainCover(need, [True], [0], [int(self.rooms.sum())], [PoolPart(0, each) for each in self.new])
        for place, constraint in self.before.items():
            if constraint.hard and constraint.counts_itself and self._counts_no_other(place, constraint, coming):
                yield self._spread(place, constraint, need)

    def _counts_no_other(
        self, place: tuple[str, int], constraint: ConstraintArithmetic, coming: Sequence[QueuedPod]
    ) -> bool:
        """Return whether no other workload adds counted pods, which could raise the minimum."""
        own, selects = self._pod.workload, constraint.selects
        others = (each for each in coming if each.workload is not own and each.namespace == own.namespace)
        counted = _total(constraint)
        return not any(selects is None or selects.matches(each.pod.labels) for each in others) and all(
            place in each and _total(each[place]) == counted for each in self.after
        )

    def _spread(self, place: tuple[str, int], constraint: ConstraintArithmetic, need: int) -> Cover:
        key, skew = constraint.topology_key, constraint.max_skew
        column = self._run.cluster.nodes.labels(key)
        counts = {each.name: each.matching for each in constraint.domains}
        if key == HOSTNAME:
            rows = [next(iter(column.rows_with(name))) for name in counts]
            parts = [PoolPart(0, room, room > 0) for room in self.new]
            return NodeCover(need, np.array([*counts.values()], dtype=np.int64), self.rooms[rows], parts, skew)
        own = [pool.labels.get(key) for pool in self._pools]
        names = list(dict.fromkeys([*counts, *(name for name in own if name is not None)]))
        parts = [
            PoolPart(
                -1 if name is None else names.index(name), room, any(name == each.name for each in after[place].domains)
            )
            for name, room, after in zip(own, self.new, self.after, strict=True)
        ]
        held = [int(self.rooms[list(column.rows_with(name))].sum()) for name in names]
        there, matching = [name in counts for name in names], [counts.get(name, 0) for name in names]
        return DomainCover(need, there, matching, held, parts, skew, constraint.min_domains)

    def _look(self, pool: NodePool) -> bool:
        """Evaluate one more node of a pool with its DaemonSet pods. Return whether it rejects a second pod."""
        cluster, scheduler = self._run.cluster, self._run.scheduler
        nodes = [each for each in cluster.nodes.nodes if each is not None]
        node = pool.node(next(new_names(pool, nodes)), nodes)
        with cluster.savepoint():
            with_node(scheduler, self._run.plan.workloads, node)
            self.after.append({_place(each): each for each in spread_of(scheduler, self._class)})
            row, verdict = cluster.nodes.row_of[node.name], self._verdict()
            room = int(self._rooms([row], verdict)[0])
            self.new_free.append(self._free(row) if room else self._free(row) * 0)
            apart = False
            if room > 1 and node.name in verdict.feasible:
                scheduler.bind(pod_key(self._pod.namespace, self._pod.name), self._class, row)
                second = scheduler.verdict(self._pod.pod, f"{self._pod.name}-second").rejected.get(node.name)
                apart = second is not None and (second.plugin == "NodePorts" or _is_kept_apart(second))
        self.new.append(1 if apart else room)
        return apart

    def _verdict(self) -> Verdict:
        return self._run.scheduler.verdict(self._pod.pod, self._pod.name)

    def _free(self, rows: slice | int | Sequence[int]) -> Ints:
        nodes = self._run.cluster.nodes
        return nodes.allocatable[rows] - nodes.used[rows]

    def _rooms(self, rows: Sequence[int], verdict: Verdict) -> Ints:
        nodes, free = self._run.cluster.nodes, self._free(rows)
        rooms = free[:, PODS] if self._is_limited else np.full(len(rows), UNLIMITED, dtype=np.int64)
        for column, amount in self.amounts.items():
            rooms = np.minimum(rooms, free[:, column] // amount)
        for at, row in enumerate(rows):
            why = verdict.rejected.get(nodes.names[row]) if nodes.alive[row] else None
            if not nodes.alive[row] or (why is not None and (why.plugin in _STAY or _is_kept_apart(why))):
                rooms[at] = 0
        return np.maximum(rooms, 0)


def _of_resources(sights: Sequence[tuple[_Sight, int]], pools: Sequence[NodePool]) -> Iterator[Cover]:
    """Yield the common resource requirements of several workloads."""
    for column in {each for sight, _ in sights for each in sight.amounts}:
        need = sum(sight.amounts.get(column, 0) * number for sight, number in sights)
        size = min(len(sight.free) for sight, _ in sights)  # rows of trial nodes are free again
        free = np.maximum.reduce([sight.free[:size, column] for sight, _ in sights])
        new = [max(int(sight.new_free[at][column]) for sight, _ in sights) for at in range(len(pools))]
        parts = [PoolPart(0, max(each, 0)) for each in new]
        yield DomainCover(need, [True], [0], [int(np.maximum(free, 0).sum())], parts)


def _total(constraint: ConstraintArithmetic) -> int:
    return int(counts_of(constraint.domains).sum())


def _is_kept_apart(why: Rejection) -> bool:
    return any(each in (REASON_ANTI_AFFINITY, REASON_EXISTING) for each in why.reasons)


def _place(constraint: ConstraintArithmetic) -> tuple[str, int]:
    return constraint.origin, constraint.position
