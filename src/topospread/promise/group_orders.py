"""Every outcome of one attempt to place a group with a topology constraint, or a gang whose pods differ.

`_Cycle` in scheduling/pod_groups.py runs one such attempt. The pods of several workloads may be in any order, and ties
may go any way.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Protocol

from topospread.cluster.arrays import Ints
from topospread.controllers.planned import QueuedPod
from topospread.plugins.pod_group_members import group_key
from topospread.scheduling.placements import Assignment, placements_by, scores
from topospread.scheduling.pod_groups import bound_rows, scheduled_count
from topospread.simulation.run import Run

from .order_answer import OrderStep


@dataclass(slots=True)
class PodLine:
    """Pods of which only the next one can be placed: they are equal, or their controller creates them in this order.

    The first ``done`` of them are placed. In a line that is ``varied`` the pods of a group differ. Once the group has
    `minCount` pods, any of them may be next.
    """

    pods: list[QueuedPod]
    adverse: bool = False
    done: int = 0
    varied: bool = False

    @property
    def left(self) -> Sequence[QueuedPod]:
        """The pods that are not placed."""
        return self.pods[self.done :]

    @property
    def exist(self) -> Sequence[QueuedPod]:
        """The pods to place that may exist now. A controller may create a pod only after another pod has a node."""
        return self.left[: 1 if any(each.after is not None for each in self.left[1:]) else None]

    @property
    def next(self) -> QueuedPod | None:
        """The next pod to place; ``None`` if all are placed."""
        return self.pods[self.done] if self.done < len(self.pods) else None


class PlacingSearch(Protocol):
    """The search that places pods on savepoints: `OrderSearch`."""

    run: Run

    def key(self) -> Hashable:
        """Return the state's key, which equivalent states share."""

    def enters(self) -> bool:
        """Count a state. Return False if the budget is spent."""

    def ways(self, line: PodLine, queued: QueuedPod) -> Iterator[tuple[OrderStep, int]]:
        """Yield the nodes that kube-scheduler may choose for a pod of a line, with their rows."""

    def placing(self, line: PodLine, step: OrderStep, row: int) -> AbstractContextManager[bool]:
        """Place a step's pod on a node within the context; yield False if its volumes cannot be bound."""


Path = tuple[tuple[PodLine, OrderStep, int], ...]
"""(line, step, node row) for each pod that an attempt places, in order."""
_Placed = tuple[int, ...]
"""Number of placed pods of each line."""
_MOST_CHOICES = 2_000
"""Most combinations of one outcome per domain to compare, and most orders of pods."""


@dataclass
class GroupOrders:
    """The attempts of one group in the present state of a search.

    Attributes:
        lines: the group's pods without nodes.
        least: number of pods that must find nodes together.
        topology_key: the key of the group's topology constraint; "" without one.
        is_whole: whether all outcomes were found.
    """

    search: PlacingSearch
    lines: Sequence[PodLine]
    least: int
    topology_key: str
    is_whole: bool = field(default=True, init=False)

    def outcomes(self) -> tuple[list[Path], bool]:
        """Return the placements of pods that an attempt may bind, and whether an attempt with all pods may fail."""
        exist = [line.exist for line in self.lines]
        if not self.topology_key:
            runs = self._runs(exist, enough=self.least)
            good = [path for placed, paths in runs.items() if sum(placed) >= self.least for path in paths]
            return good, any(sum(placed) < self.least for placed in runs)
        cluster, key = self.search.run.cluster, group_key(exist[0][0].pod)
        assert key is not None, "a pod of a group"
        rows = bound_rows(cluster, key)
        places, scheduled = placements_by(self.topology_key, cluster, rows), scheduled_count(cluster, key)
        # Once the group's domain is fixed, an attempt of several pods is like an attempt of each.
        is_fixed = bool(rows) and self.least == 1
        total = sum(map(len, exist))
        found, fails = list[Path](), list[bool]()
        for order in ([each] for pods in exist for each in pods) if is_fixed else self._orders(exist):
            runs_of = {name: self._within(nodes, order) for name, nodes in places.items()}
            found += [
                path for name, placed in self._chosen(places, runs_of, scheduled) for path in runs_of[name][placed]
            ]
            if is_fixed or len(order) == total:
                fails.append(all(any(sum(each) < self.least for each in runs) for runs in runs_of.values()))
        return found, all(fails) if is_fixed else any(fails) or not fails

    def _orders(self, exist: Sequence[Sequence[QueuedPod]]) -> Iterator[Sequence[QueuedPod]]:
        """Yield every order of enough pods: an order of the lines, in which each line keeps its own order."""
        for number, lengths in enumerate(product(*(range(len(each) + 1) for each in exist))):
            if number > _MOST_CHOICES:
                self.is_whole = False
                return
            if sum(lengths) >= self.least:
                yield from self._merged([each[:length] for each, length in zip(exist, lengths, strict=True)])

    def _merged(self, pods: Sequence[Sequence[QueuedPod]]) -> Iterator[Sequence[QueuedPod]]:
        if not self.search.enters():
            self.is_whole = False
        elif not any(pods):
            yield ()
        else:
            for at in (at for at, each in enumerate(pods) if each):
                rest = [each[place == at :] for place, each in enumerate(pods)]
                yield from ((pods[at][0], *each) for each in self._merged(rest))

    def _within(self, nodes: Ints, pods: Sequence[QueuedPod]) -> dict[_Placed, list[Path]]:
        with self.search.run.scheduler.within(nodes):
            return self._runs([pods])

    def _chosen(
        self, places: dict[str, Ints], runs: dict[str, dict[_Placed, list[Path]]], scheduled: int
    ) -> set[tuple[str, _Placed]]:
        """Return (domain, placed pods) for each outcome that may have the best score of all domains."""
        options = [{each if sum(each) >= self.least else () for each in placed} for placed in runs.values()]
        if prod(map(len, options)) > _MOST_CHOICES:
            self.is_whole = False
            return set()
        cluster, known = self.search.run.cluster, set[tuple[str, _Placed]]()
        classes = [cluster.shared_class(line.pods[0].pod) for line in self.lines]
        framework = self.search.run.scheduler.framework_of(classes[0])
        for choice in product(*options):
            good = [(name, placed) for name, placed in zip(runs, choice, strict=True) if placed]
            assignments = [
                Assignment(places[name], [c for c, n in zip(classes, placed, strict=True) for _ in range(n)], scheduled)
                for name, placed in good
            ]
            points = scores(framework, cluster, assignments) if len(good) > 1 else [0] * len(good)
            known |= {each for each, own in zip(good, points, strict=True) if own == max(points)}
        return known

    def _runs(self, pods: Sequence[Sequence[QueuedPod]], enough: int = 0) -> dict[_Placed, list[Path]]:
        """Return the placed pods → paths with different ends, of all attempts in which each sequence keeps its order.

        ``enough``: number of placed pods at which a run ends, because later pods do not change its outcome.
        """
        found: dict[_Placed, list[Path]] = {}
        self._explore(pods, (), enough, found, set())
        return found

    def _explore(
        self,
        pods: Sequence[Sequence[QueuedPod]],
        path: Path,
        enough: int,
        found: dict[_Placed, list[Path]],
        seen: set[object],
    ) -> None:
        search = self.search
        state = search.key(), tuple(map(len, pods))
        if state in seen:
            return
        seen.add(state)
        if len(path) == enough > 0 or not any(pods):
            placed = tuple(sum(line is each for line, _, _ in path) for each in self.lines)
            found.setdefault(placed, []).append(path)
            return
        if not search.enters():
            self.is_whole = False
            return
        for at in (at for at, each in enumerate(pods) if each):
            queued, rest = pods[at][0], [each[place == at :] for place, each in enumerate(pods)]
            line = self._line_of(queued)
            ways = list(search.ways(line, queued))
            if not ways:
                self._explore(rest, path, enough, found, seen)
            for step, row in ways:
                with search.placing(line, step, row) as is_placed:
                    if is_placed:
                        self._explore(rest, (*path, (line, step, row)), enough, found, seen)
                    else:
                        self.is_whole = False

    def _line_of(self, queued: QueuedPod) -> PodLine:
        return next(line for line in self.lines if any(each is queued for each in line.pods))
