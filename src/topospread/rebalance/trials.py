"""Simulate single evictions on the state: remove a pod, place its replacement, and undo both.

The replacement is placed twice: while the old pod is terminating, as in a cluster, and after it has disappeared. Both
must choose equivalent domains.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey, pod_key
from topospread.controllers.planned import Workload
from topospread.scheduling.cycle import Scheduler

from .goals import Goal, counts_of

_DELETED = "1970-01-01T00:00:00Z"


class Movable(msgspec.Struct, frozen=True, eq=False):
    """A pod that may be evicted.

    Attributes:
        successor: the controller's replacement.
        waits: whether the replacement is created only after the pod has disappeared, as in a StatefulSet.
    """

    key: PodKey
    workload: Workload
    pod: Pod
    successor: Pod
    waits: bool
    row: int
    pod_class: PodClass


class PlannedMove(msgspec.Struct, frozen=True, eq=False):
    """A pod to evict, and the node row of its replacement."""

    movable: Movable
    target: int


class Tried(msgspec.Struct, frozen=True):
    """The result of a simulated eviction.

    Attributes:
        row: node row of the new pod; None if it stays pending.
        message: the reason why it stays pending.
        differs: whether the new pod is in another domain than the old pod.
        after: goal → its distance after the move, for goals that count the pod.
        worse: whether a constraint's skew exceeds the limit by more than before.
        evener: decrease of the sum of the goals' squared counts; larger is more even.
    """

    row: int | None
    message: str = ""
    differs: bool = False
    after: dict[Goal, int] = {}
    worse: bool = False
    evener: int = 0


class Trials:
    """The cluster state, and the pods that may be moved.

    Attributes:
        distances: goal → the fewest pods that must move until it holds now.
        at: class → node row → pods that may be evicted now.
        beginning: all pods that may be evicted initially.
        latest: the replacement of the latest move.
    """

    def __init__(self, scheduler: Scheduler, goals: Iterable[Goal], movables: Iterable[Movable]) -> None:
        self.scheduler = scheduler
        self.goals = list(goals)
        self.distances: dict[Goal, int] = {}
        self._squares: dict[Goal, int] = {}
        self._excess: dict[Goal, int] = {}
        self._measure(self.goals)
        self.tried = 0
        self.at: dict[PodClass, dict[int, dict[PodKey, Movable]]] = {}
        self._counting: dict[PodClass, list[Goal]] = {}
        self._counted: dict[Goal, list[PodClass]] = {each: [] for each in self.goals}
        self._made = 0
        self.latest: Movable | None = None
        self.beginning = list(movables)
        for each in self.beginning:
            self._put(each)

    @property
    def cluster(self) -> Cluster:
        """The cluster state."""
        return self.scheduler.cluster

    @property
    def unmet(self) -> list[Goal]:
        """Goals to fix, largest distance first."""
        found = [each for each in self.goals if each.wanted and self.distances[each]]
        return sorted(found, key=lambda each: -self.distances[each])

    def counting(self, pod_class: PodClass) -> list[Goal]:
        """The goals whose constraints count pods of a class."""
        found = self._counting.get(pod_class)
        if found is None:
            found = self._counting[pod_class] = [
                each
                for each in self.goals
                if each.may_count(pod_class) and counts_of(each, self.scheduler).counted.counts_pods_of(pod_class)
            ]
            for each in found:
                self._counted[each].append(pod_class)
        return found

    def counted(self, goal: Goal) -> Iterator[PodClass]:
        """Yield the classes of movable pods that a goal's constraint counts."""
        return (each for each in self._counted[goal] if self.at.get(each))

    def look(self, movable: Movable, successor: Pod | None = None) -> Tried:
        """Simulate an eviction and undo it. ``successor`` overrides the replacement pod."""
        successor = successor or movable.successor
        before, with_old = None, None
        if not movable.waits:
            with self.cluster.savepoint():
                self.cluster.put_pod(_terminating(movable, self.cluster), movable.key)
                before = self._placed(movable, successor)
                with_old = before.row
        with self.cluster.savepoint():
            self.cluster.unbind(movable.key)
            found = self._placed(movable, successor)
        if before is None or with_old == found.row:
            return found
        return Tried(
            before.row,
            before.message or found.message,
            differs=before.after != found.after,
            after=before.after,
            evener=before.evener,
        )

    def evict(self, movable: Movable) -> Movable:
        """Move a pod and return its replacement. To undo it, restore a savepoint and call `take_back`."""
        self.cluster.unbind(movable.key)
        self._take(movable)
        self._made += 1
        key = f"{movable.key}+{self._made}"
        self._schedule(movable.successor, key)
        row = self.cluster.placed[key]
        made = Movable(
            key,
            movable.workload,
            movable.successor,
            movable.successor,
            movable.waits,
            row,
            self.cluster.on_node[row][key],
        )
        self._put(made)
        self.latest = made
        self._measure({*self.counting(movable.pod_class), *self.counting(made.pod_class)})
        return made

    def like(self, movable: Movable) -> Movable:
        """Return the pod, or an equivalent pod on its node if the pod came from a move that was undone."""
        there = self.at[movable.pod_class][movable.row]
        return there.get(movable.key) or next(iter(there.values()))

    def take_back(self, old: Movable, made: Movable) -> None:
        """Forget a move after the cluster was restored."""
        self._take(made)
        self._put(old)
        self._measure({*self.counting(old.pod_class), *self.counting(made.pod_class)})

    def _measure(self, goals: Collection[Goal]) -> None:
        for each in goals:
            counts = counts_of(each, self.scheduler)
            self.distances[each], self._squares[each] = counts.distance, counts.squares
            self._excess[each] = counts.excess

    def _placed(self, movable: Movable, successor: Pod) -> Tried:
        key = f"{movable.key}+"
        self.tried += 1
        message = self._schedule(successor, key)
        row = self.cluster.placed.get(key)
        if row is None:
            return Tried(None, message)
        affected = {*self.counting(movable.pod_class), *self.counting(self.cluster.on_node[row][key])}
        counts = [counts_of(each, self.scheduler) for each in affected]
        evener = sum(self._squares[each.goal] - each.squares for each in counts if each.goal.wanted)
        worse = any(each.excess > self._excess[each.goal] for each in counts)
        return Tried(row, after={each.goal: each.distance for each in counts}, worse=worse, evener=evener)

    def _schedule(self, pod: Pod, key: PodKey) -> str:
        """Place a pod under a key. Return kube-scheduler's message if it stays pending."""
        name = key.partition("/")[2]
        assert pod_key(pod.namespace, name) == key
        placement = self.scheduler.schedule(pod, name)
        return placement.message

    def _put(self, each: Movable) -> None:
        self.counting(each.pod_class)
        self.at.setdefault(each.pod_class, {}).setdefault(each.row, {})[each.key] = each

    def _take(self, each: Movable) -> None:
        rows = self.at[each.pod_class]
        del rows[each.row][each.key]
        if not rows[each.row]:
            del rows[each.row]


def _terminating(movable: Movable, cluster: Cluster) -> Pod:
    pod = movable.pod
    metadata = replace(pod.metadata, name=movable.key.partition("/")[2], deletion_timestamp=_DELETED)
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=cluster.nodes.names[movable.row]))
