"""Every outcome of one attempt to place pods of a group with a topology constraint or of a gang of several workloads.

`_Cycle` in scheduling/pod_groups.py runs one such attempt. The pods may be in any order, and ties may go any way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from topospread.cluster import PodClass
from topospread.cluster.arrays import Ints
from topospread.controllers.planned import QueuedPod
from topospread.plugins.pod_group_members import group_key
from topospread.scheduling.placements import Assignment, placements_by, scores
from topospread.scheduling.pod_groups import bound_classes, scheduled_count

from .order_answer import OrderStep

if TYPE_CHECKING:
    from .orders import OrderSearch, PodLine

Path = tuple[tuple["PodLine", OrderStep, int], ...]
"""(line, step, node row) for each pod that an attempt places, in order."""
_MOST_CHOICES = 2_000
"""Most combinations of one outcome per domain to compare."""


@dataclass
class GroupOrders:
    """The attempts of one group in the present state of a search.

    Attributes:
        lines: the group's pods without nodes.
        least: number of pods that must find nodes together.
        topology_key: the key of the group's topology constraint; "" without one.
    """

    search: OrderSearch
    lines: Sequence[PodLine]
    least: int
    topology_key: str
    is_whole: bool = field(default=True, init=False)
    """Whether all outcomes were found."""

    def outcomes(self) -> tuple[list[Path], bool]:
        """Return the placements of pods that an attempt may bind, and whether an attempt with all pods may fail."""
        exist = [line.exist for line in self.lines]
        if not self.topology_key:
            runs = self._runs(exist, enough=self.least)
            return runs.get(self.least, []), any(count < self.least for count in runs)
        cluster, pod = self.search.run.cluster, exist[0][0].pod
        key = group_key(pod)
        assert key is not None, "a pod of a group"
        rows = [row for each in bound_classes(cluster, key) for row in each.occupancy]
        places, scheduled = placements_by(self.topology_key, cluster, rows), scheduled_count(cluster, key)
        # Once the group's domain is fixed, an attempt of several pods is like an attempt of each.
        first = [exist[0][:number] for number in range(self.least, len(exist[0]) + 1)]
        attempts = [[each] for each in exist[0]] if rows and self.least == 1 else first
        found, fails = dict[object, Path](), list[bool]()
        for at, pods in enumerate(attempts):
            runs_of = {name: self._within(nodes, pods) for name, nodes in places.items()}
            for name, count in self._chosen(places, runs_of, cluster.shared_class(pod), scheduled):
                found |= {(name, at, number): path for number, path in enumerate(runs_of[name][count])}
            fails.append(all(any(count < self.least for count in runs) for runs in runs_of.values()))
        return list(found.values()), all(fails) if attempts is not first else not fails or fails[-1]

    def _within(self, nodes: Ints, pods: Sequence[QueuedPod]) -> dict[int, list[Path]]:
        with self.search.run.scheduler.within(nodes):
            return self._runs([pods])

    def _chosen(
        self, places: dict[str, Ints], runs: dict[str, dict[int, list[Path]]], pod_class: PodClass, scheduled: int
    ) -> Iterator[tuple[str, int]]:
        """Yield (domain, number of placed pods) for each outcome that may have the best score of all domains."""
        options = [{count if count >= self.least else 0 for count in each} for each in runs.values()]
        choices = 1
        for each in options:
            choices *= len(each)
        if choices > _MOST_CHOICES:
            self.is_whole = False
            return
        framework, cluster = self.search.run.scheduler.framework_of(pod_class), self.search.run.cluster
        known = set[tuple[str, int]]()
        for counts in product(*options):
            good = [(name, count) for name, count in zip(runs, counts, strict=True) if count]
            assignments = [Assignment(places[name], [pod_class] * count, scheduled) for name, count in good]
            points = scores(framework, cluster, assignments) if len(good) > 1 else [0] * len(good)
            known |= {each for each, own in zip(good, points, strict=True) if own == max(points)}
        yield from known

    def _runs(self, pods: Sequence[Sequence[QueuedPod]], enough: int = 0) -> dict[int, list[Path]]:
        """Return number of placed pods → paths with different ends, of attempts with these pods of each line.

        ``enough``: number of placed pods at which a run ends, because later pods do not change its outcome.
        """
        found: dict[int, list[Path]] = {}
        self._explore(pods, (), enough, found, set())
        return found

    def _explore(
        self,
        pods: Sequence[Sequence[QueuedPod]],
        path: Path,
        enough: int,
        found: dict[int, list[Path]],
        seen: set[object],
    ) -> None:
        search = self.search
        state = search.key(), tuple(map(len, pods))
        if state in seen:
            return
        seen.add(state)
        if len(path) == enough > 0 or not any(pods):
            found.setdefault(len(path), []).append(path)
            return
        if search.spent():
            self.is_whole = False
            return
        search.found.states += 1
        for at, line in enumerate(self.lines):
            if not pods[at]:
                continue
            rest = [each[place == at :] for place, each in enumerate(pods)]
            ways = list(search.ways(line, pods[at][0]))
            if not ways:
                self._explore(rest, path, enough, found, seen)
            for step, row in ways:
                with search.placing(line, step, row) as is_placed:
                    if is_placed:
                        self._explore(rest, (*path, (line, step, row)), enough, found, seen)
                    else:
                        self.is_whole = False
