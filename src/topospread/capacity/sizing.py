"""The cheapest set of nodes to add so that enough replicas fit: a search over pools with simulations.

Best-first branch and bound visits sets of new nodes by price, then by number of nodes. `relaxation` excludes sets that
are too small, and the others are simulated. The first sufficient set is the cheapest. A larger set can be worse,
because a new domain is empty. A set is therefore excluded only by the relaxation or by its own simulation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory
from topospread.api.node import Node
from topospread.api.pools import NodePool, new_names
from topospread.api.well_known_labels import REGION, ZONE
from topospread.base import Word
from topospread.cluster.cluster import pod_key
from topospread.controllers.fallback import Domain, lost_domains
from topospread.controllers.planned import QueuedPod
from topospread.errors import UsageError
from topospread.plugins.inter_pod_affinity import REASON_ANTI_AFFINITY
from topospread.simulation.scaling import PoolScaler, lost_of, refusal_of, with_node
from topospread.simulation.unknown import unjudged_parts

from .filling import CapacityQuestion, FilledCluster, capacity_of, fill, prepared
from .relaxation import Cover, covers
from .result import Capacity, SizedPool, Sizing

Counts = tuple[int, ...]
"""New nodes of each pool."""
_ROUNDING = 1e-6
_MOST_ALIKE = 6
"""Number of sets with another pool at the same price that are simulated."""
_MOST_ALONE = 100
"""Number of new nodes of a single pool that is simulated to show why no set suffices."""


def sizing(settled: Inventory, question: CapacityQuestion, rounds: int, seconds: float) -> Sizing:
    """Return the cheapest set of nodes with which the rounds fit and no replica is missing.

    Args:
        settled: the cluster after its pending pods were placed where they fit.
        seconds: time limit of the search.

    Raises:
        UsageError: if some pools have a price and others have none.
    """
    search = _Search.of(settled, replace(question, limit=rounds), seconds)
    for counts in search.sets():
        if counts is None:
            grown = search.grown()
            found = search.judged(grown) if grown is not None else None
            verdict: Word = "unknown" if found is None else "yes"
            return search.told(verdict, grown, found, is_whole=False)
        found = search.judged(counts)
        if found is not None:
            return search.told("yes", counts, found)
        if search.unjudged:
            return search.told("unknown", None, None)
    return search.told("no", None, None)


@dataclass(slots=True)
class _Search:
    """The state of the search.

    Attributes:
        filled: the cluster without new nodes, filled until the first pod finds no node.
        prices: price of a node of each pool, as whole numbers.
        most: new nodes that each pool may have.
        pods: maximum number of new pods.
        lost: zones and regions without a live node, in which no node is added.
        unjudged: unmodelled parts of the pod that stayed pending in a simulation.
        exchanged: number of simulated sets with another pool at the same price.
        bound: lower bound on the price, as a whole number, of the sets that were not examined before time ran out.
    """

    settled: Inventory
    question: CapacityQuestion
    seconds: float
    filled: FilledCluster
    pools: Sequence[NodePool]
    covers: Sequence[Cover]
    prices: Sequence[int]
    most: Sequence[int]
    pods: int
    lost: set[Domain]
    until: float
    simulated: int = 0
    unjudged: tuple[Unjudged, ...] = ()
    bound: int = 0
    exchanged: int = 0

    @classmethod
    def of(cls, settled: Inventory, question: CapacityQuestion, seconds: float) -> _Search:
        """Return the search before its first step."""
        pools = question.options.pools
        filled = prepared(settled, question, question.limit)
        targets = [(each.queue, each.missing + question.limit * each.share) for each in filled.wanted]
        needs = covers(filled.run, targets, pools)
        pods = sum(need for _, need in targets) + len(filled.run.queue)
        lost = lost_domains(settled.nodes, (ZONE, REGION))
        most = [pods if pool.most is None else max(pool.most - sum(map(pool.has, settled.nodes)), 0) for pool in pools]
        most = [0 if lost_of(pool, lost) else number for pool, number in zip(pools, most, strict=True)]
        fill(filled, question)
        until = time.monotonic() + seconds
        return cls(settled, question, seconds, filled, pools, needs, _prices(pools), most, pods, lost, until)

    def sets(self) -> Iterator[Counts | None]:
        """Yield possible sets, cheapest first, then by fewest nodes. Yields None and ends if the time is over."""
        unit, ones = math.gcd(*self.prices), [1] * len(self.pools)
        heap: list[tuple[int, int, int, Counts]] = []

        def push(counts: Counts, first: int) -> None:
            price, nodes = self._further(counts, first, self.prices), self._further(counts, first, ones)
            if price is not None and nodes is not None:
                price = -(-price // unit) * unit + sum(map(int.__mul__, counts, self.prices))
                heappush(heap, (price, nodes + sum(counts), -first, counts))

        push((0,) * len(self.pools), 0)
        while heap:
            if time.monotonic() > self.until:
                self.bound = heap[0][0]
                yield None
                return
            *_, negative, counts = heappop(heap)
            first = -negative
            if first == len(self.pools):
                if any(counts):
                    yield counts
                continue
            push(counts, first + 1)
            more = (*counts[:first], counts[first] + 1, *counts[first + 1 :])
            if more[first] <= self.most[first] and self.pools[first].may_grow(self._nodes(counts)):
                push(more, first)

    def _further(
        self, counts: Counts, first: int, prices: Sequence[int], most: Sequence[int] | None = None
    ) -> int | None:
        """Return a lower bound on the price of nodes to add to `counts`, rounded up; None if no nodes suffice."""
        found = max((each.price(counts, first, prices, most or self.most) for each in self.covers), default=0.0)
        return None if math.isinf(found) else math.ceil(found - _ROUNDING)

    def _nodes(self, counts: Counts) -> list[Node]:
        nodes = list(self.settled.nodes)
        for pool, number in zip(self.pools, counts, strict=True):
            nodes += [pool.node(name, nodes) for name in islice(new_names(pool, nodes), number)]
        return nodes

    def judged(self, counts: Counts) -> Capacity | None:
        """Simulate a set. Return its capacity if it suffices."""
        found = capacity_of(replace(self.settled, nodes=self._nodes(counts)), self.question)
        self.simulated += 1
        self.unjudged = unjudged_parts([found.pending] if found.pending is not None else [])
        return found if found.rounds >= self.question.limit else None

    def grown(self) -> Counts | None:
        """Return the set of a simple autoscaler: for each pending pod the node with the lowest price per room."""
        filled = prepared(self.settled, self.question, self.question.limit)
        rooms = [each.room for each in self.covers[0].pools] if self.covers else [1] * len(self.pools)
        order = sorted(range(len(self.pools)), key=lambda at: (self.prices[at] / max(rooms[at], 1), at))
        scaler = PoolScaler([self.pools[at] for at in order], {each.name: [] for each in self.pools}, lost=self.lost)

        def grow(filled: FilledCluster, queued: QueuedPod) -> bool:
            node = scaler.wanted(filled.run.scheduler, filled.run.plan.workloads, [queued])
            if node is not None:
                with_node(filled.run.scheduler, filled.run.plan.workloads, node)
            return node is not None

        fill(filled, self.question, grow=grow)
        return None if filled.last else tuple(len(scaler.added[each.name]) for each in self.pools)

    def told(self, verdict: Word, counts: Counts | None, found: Capacity | None, *, is_whole: bool = True) -> Sizing:
        """Return the result. ``is_whole`` is False if time ran out."""
        added = counts if counts is not None and verdict == "yes" else (0,) * len(self.pools)
        free = [0 if lost_of(each, self.lost) else self.pods for each in self.pools]
        return Sizing(
            verdict,
            tuple(self._sized(at, added, verdict) for at in range(len(added))),
            found if verdict == "yes" else None,
            is_cheapest=is_whole and verdict == "yes",
            simulated=self.simulated,
            is_limited=verdict == "no"
            and not self.simulated
            and self._further(added, 0, self.prices, free) is not None,
            seconds=None if is_whole else self.seconds,
            least=None if is_whole else self.bound * self._unit,
            unjudged=self.unjudged,
        )

    @property
    def _unit(self) -> Fraction:
        """Price of one unit of the whole-number prices; without prices, 1 node."""
        pairs = zip(self.pools, self.prices, strict=True)
        return next((pool.price / number for pool, number in pairs if pool.price), Fraction(1))

    def _sized(self, at: int, added: Counts, verdict: Word) -> SizedPool:
        number, full, replaces = added[at], None, ""
        pool, run, nodes, refused, alone = self.pools[at], self.filled.run, self.settled.nodes, None, None
        if self.filled.last is not None:
            node = pool.node(next(new_names(pool, nodes)), nodes)
            refused = refusal_of(run.scheduler, run.plan.workloads, node, self.filled.last[0])
        lost = lost_of(pool, self.lost)
        there, grows = sum(map(pool.has, nodes)), pool.may_grow(nodes) and not lost
        if verdict == "no" and grows and refused is None:
            counts = [0] * len(self.pools)
            while counts[at] < min(self.most[at], self.pods, _MOST_ALONE) and pool.may_grow(self._nodes(tuple(counts))):
                counts[at] += 1
            found = capacity_of(replace(self.settled, nodes=self._nodes(tuple(counts))), self.question)
            alone = counts[at], found.rounds
        if number:
            full = self._full(pool)
        elif verdict == "yes" and grows and refused is None:
            replaces = next((self.pools[other].name for other in self._replaceable(at, added)), "")
        pool_words = pool.name, pool.zone, there, number, pool.most, pool.price
        return SizedPool(*pool_words, refused, grows, alone, lost, full, replaces)

    def _replaceable(self, at: int, added: Counts) -> Iterator[int]:
        """Yield the pools of a set whose nodes as many nodes of the pool ``at`` can replace at the same price."""
        for other, number in enumerate(added):
            if not number or self.prices[other] != self.prices[at] or number > self.most[at]:
                continue
            counts = [*added]
            counts[at], counts[other] = number, 0
            if not self.pools[at].may_grow(self._nodes((*counts[:at], number - 1, *counts[at + 1 :]))):
                continue
            if self.exchanged < _MOST_ALIKE and time.monotonic() < self.until and self._suffices(tuple(counts)):
                yield other

    def _suffices(self, counts: Counts) -> bool:
        self.exchanged += 1
        found = capacity_of(replace(self.settled, nodes=self._nodes(counts)), self.question)
        return found.rounds >= self.question.limit

    def _full(self, pool: NodePool) -> tuple[int, tuple[str, ...], tuple[str, ...]] | None:
        """Return the number of pods that a new node takes, the reasons against one more, and their topology keys.

        None for pods of several workloads, for pods that are not judged, and if a spread constraint ends the room.
        """
        if self.filled.last is None or len(self.filled.wanted) > 1:
            return None
        queued, run = self.filled.last[0], self.filled.run
        scheduler, cluster = run.scheduler, run.cluster
        node, pods = pool.node(next(new_names(pool, self.settled.nodes)), self.settled.nodes), 0
        with cluster.savepoint():
            with_node(scheduler, run.plan.workloads, node)
            cluster.withdraw(pod_key(queued.namespace, queued.name))
            row = cluster.nodes.row_of[node.name]
            while pods < self.pods:
                verdict = scheduler.verdict(queued.pod, name := f"{queued.name}-{pods}")
                if node.name not in verdict.feasible or verdict.unjudged:
                    why = verdict.rejected.get(node.name)
                    known = pods and why is not None and why.plugin != "PodTopologySpread" and not verdict.unjudged
                    if not known or why is None:
                        return None
                    apart = queued.pod.spec.affinity.pod_anti_affinity if queued.pod.spec.affinity else None
                    terms = apart.required_during_scheduling_ignored_during_execution if apart is not None else None
                    keys = {each.topology_key for each in terms or () if REASON_ANTI_AFFINITY in why.reasons}
                    return pods, why.reasons, tuple(sorted(keys))
                scheduler.bind(pod_key(queued.namespace, name), cluster.shared_class(queued.pod), row)
                pods += 1
        return None


def _prices(pools: Sequence[NodePool]) -> list[int]:
    """Return integers proportional to the pools' prices; 1 for each pool without prices."""
    given = [each.price for each in pools if each.price is not None]
    if len(given) < len(pools):
        if given:
            missing = next(each.name for each in pools if each.price is None)
            raise UsageError(f"--pools: pool {missing} has no price and others have one: give all a price, or none")
        return [1] * len(pools)
    whole = math.lcm(*(each.denominator for each in given))
    return [int(each * whole) for each in given]
