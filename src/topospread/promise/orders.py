"""Depth-first search of all orders of pods and all ties, on savepoints. A seen state is not searched again.

Any pod may be next at each step: in a cluster, creation times and backoff decide the order. A pending pod is attempted
again after other pods are placed. Preemption is not part of the search.

Pods with parts that topospread does not model are adversaries: each may be on any node that the other filters allow, or
on no node.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topospread.api.pod import Pod
from topospread.cluster import PodClass
from topospread.cluster.arrays import Codes
from topospread.cluster.cluster import pod_key
from topospread.cluster.nodes import CPU
from topospread.controllers.planned import QueuedPod
from topospread.plugins.pod_group_members import group_key, pod_priority
from topospread.simulation.run import Run

from .alike_states import AlikeStates
from .group_orders import GroupOrders, PodLine
from .grouped_pods import GroupedPods
from .order_answer import OrderStep
from .questions import LOSSES, EndQuestion, LeftAfterLoss, OrderEnd

_RANDOM_ORDERS, _RANDOM_SHARE = 200, 0.2
"""Maximum number of random orders, and their share of the time. They follow the first `_FEW_STATES` states."""
_FEW_STATES = 300
"""Number of states to search before random orders."""
_MOST_DOMAINS, _MOST_GATHERED, _GATHERING_SHARE = 8, 300, 0.5
"""Limits of `OrderSearch.gathered`: domains to try, pods of other workloads, and its share of the time."""
_NEVER_LEFT = 2**31
"""More pods than any loss leaves."""
_NOWHERE = 0.2
"""Probability that a random order skips an unjudged pod."""


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """The limits of a search."""

    states: int = 20_000
    seconds: float = 60.0

    @property
    def seconds_of_all(self) -> float:
        """Time limit in seconds for all workloads' searches together: that of 24 searches, at least 10 s."""
        return max(10.0, 24 * self.seconds)

    def ran_out(self, states: int, seconds: float) -> str:
        """Return the name of the exhausted limit; "" if none is exhausted."""
        if states >= self.states:
            return f"not decided within {self.states} states (raise --states)"
        return f"not decided within {self.seconds:g} s (raise --seconds)" if seconds > self.seconds else ""


@dataclass(slots=True)
class Searched:
    """The result of a search.

    Attributes:
        holds: whether an end state without a problem was found.
        order, why: an order to an end state with a problem, and the problem.
        gave_up: why the search is incomplete; "" if it is complete.
        tried: number of random orders.
        left: the fewest pods that a loss leaves in the order.
    """

    states: int = 0
    tried: int = 0
    ends: int = 0
    holds: bool = False
    order: tuple[OrderStep, ...] = ()
    why: str = ""
    gave_up: str = ""
    left: int | None = None
    over: bool = field(default=False, repr=False)

    def ended(self, question: EndQuestion, end: OrderEnd, path: Sequence[OrderStep], rest: Iterable[OrderStep]) -> None:
        """Count an end state. Keep the first order to a problem: the path, and the steps that are left."""
        self.ends += 1
        wrong = question.wrong(end)
        if not wrong:
            self.holds = True
        elif not self.why:
            self.why, self.order = wrong, (*path, *rest)
            if isinstance(question, LeftAfterLoss):
                self.left = question.left(end)
        self.over = self.holds and bool(self.why)


class OrderSearch:
    """The search for one question. It restores the cluster afterwards.

    Args:
        run: the cluster.
        queue: the incoming pods.
        question: the question about each end.
        budget: the limits of the search.
        adversaries: classes of pods, by ``index``, that may go to any feasible node or to no node.
        classes: the class of each incoming pod, if known.
    """

    def __init__(  # noqa: PLR0913 - one keyword
        self,
        run: Run,
        queue: Sequence[QueuedPod],
        question: EndQuestion,
        budget: SearchBudget,
        adversaries: Collection[int] = (),
        *,
        classes: Sequence[PodClass] = (),
    ) -> None:
        self.run = run
        self._question = question
        self._budget = budget
        self._groups, classes = GroupedPods(run, queue), classes or [run.cluster.shared_class(q.pod) for q in queue]
        self._lines = _lines(queue, classes, adversaries, self._groups)
        self._queue = queue
        self._seen: dict[Hashable, bool] = {}  # state → whether the pods to place next may find no nodes
        self._path: list[OrderStep] = []
        self._found = Searched()
        self._limit, self._begun, self._ran_out, self._deepest = budget.states, 0.0, False, 0
        workloads = {id(each.workload): each.workload for each in queue}
        if isinstance(question, LeftAfterLoss):
            workloads[id(question.workload)] = question.workload
        self._placed = {name: rows_of(run, each.existing) for name, each in workloads.items()}

    @cached_property
    def _alike(self) -> AlikeStates:
        profiles = [each.profile for each in self.run.scheduler.frameworks.values()]
        return AlikeStates(self.run.cluster, [each.pod for each in self._queue], profiles, self._groups.topology_keys)

    def gathered(self, asked: LeftAfterLoss, least: int) -> Searched:
        """Try, for each domain, one order that gathers the workload's pods there. Return the one that leaves fewest.

        Each pod goes into the domain if filters allow that, else to the domain with the fewest of the workload's pods
        that lets the next pod in. Pods of other workloads are placed only when no pod of the workload can be.

        Args:
            asked: the question about the loss.
            least: lower bound on the pods that any order leaves; an order that reaches it ends the search.
        """
        found, question = self._found, replace(asked, least=_NEVER_LEFT)
        until = time.monotonic() + self._budget.seconds * _GATHERING_SHARE
        own = [each for each in self._lines if each.pods[0].workload is asked.workload]
        others = [each for each in self._lines if each not in own and len(each.pods) <= _MOST_GATHERED]
        others = [each for each in others if self._at_once(each) == 1 and not self._is_joint(each)]
        if any(map(self._is_joint, own)):
            return found
        column, at_once = self.run.cluster.nodes.labels(LOSSES[asked.loss]), [*map(self._at_once, own)]
        for code in self._domains(column.codes, own):
            with self.run.cluster.savepoint():
                if not self._gather(code, column.codes, own, others, until):
                    self._take_back()
                    break
                is_whole = all(self._is_whole(*each) for each in zip(own, at_once, strict=True))
                if is_whole and (not _has_left(own) or not self._may_go_on()):
                    pending = [pod for line in self._lines for pod in line.left]
                    end = OrderEnd(self.run, pending, self._placed)
                    left = question.left(end)
                    if found.left is None or left < found.left:
                        found.left, found.why, found.ends = left, question.wrong(end), 1
                        found.order = (*self._path, *(_step(each, "", ()) for each in pending if _has_left(own)))
                self._take_back()
            if found.left is not None and found.left <= least:
                break
        found.gave_up = "only one order was simulated"
        return found

    def _at_once(self, line: PodLine) -> int:
        """Return the number of the line's pods to place in one step, more than one in a gang; 0 if they wait."""
        is_alone = line.adverse or not self.run.scheduler.has_groups
        return 1 if is_alone else self._groups.at_once(line.left)

    def _together(self, line: PodLine) -> tuple[int, str] | None:
        return None if line.adverse else self._groups.together(line.pods[0].pod)

    def _is_joint(self, line: PodLine) -> bool:
        """Return whether more than one of the line's pods may be next, or other lines' pods are placed with them."""
        return line.varied or self._together(line) is not None

    def _is_whole(self, line: PodLine, at_once: int) -> bool:
        """Return whether a gang has no node, or its first `at_once` pods were placed before all other pods."""
        if at_once == 1 or not line.done:
            return True
        steps = self._path[:at_once]
        return line.done >= at_once > 0 and [each.name for each in steps] == [each.name for each in line.pods[:at_once]]

    def _gather(self, code: int, codes: Codes, own: Sequence[PodLine], others: Sequence[PodLine], until: float) -> bool:
        """Place pods until no pod can be placed. Return False if the time ran out before that."""
        held: dict[int, NDArray[np.int64]] = {}
        while any(self._goes_towards(code, codes, line, held) for line in own) or any(
            self._goes_towards(code, codes, line, held) for line in others if _has_left(own)
        ):
            if time.monotonic() > until:
                return False
        return True

    def _take_back(self) -> None:
        """Forget the placed pods, after the cluster was restored."""
        self._path.clear()
        for line in self._lines:
            if line.done:
                del self._placed[id(line.pods[0].workload)][-line.done :]
                line.done = 0

    def search(self, *, deep: bool = True) -> Searched:
        """Search all orders until one keeps the promise and one breaks it, or until the budget is spent.

        The search starts with a few states, continues with random orders, which find frequent outcomes soon, and then
        visits all states.

        Args:
            deep: whether to search all states; False stops after the random orders.
        """
        self._begun = time.monotonic()
        if not deep:
            self._draw_orders(self._budget.seconds * _RANDOM_SHARE)
            return self._found
        self._limit = min(self._budget.states, _FEW_STATES)
        self._look()
        if not self._ran_out:
            return self._found
        found = self._found
        found.over, found.gave_up = False, ""
        self._draw_orders(self._budget.seconds * _RANDOM_SHARE)
        if not found.over and self._limit < self._budget.states:
            self._limit, found.states, found.ends = self._budget.states, 0, 0
            self._seen.clear()
            self._look()
        elif not found.over:
            found.gave_up = self._how_far(found)
        return found

    def _domains(self, codes: Codes, own: Sequence[PodLine]) -> list[int]:
        """Return the codes of domains to gather pods in, most room first."""
        nodes, room = self.run.cluster.nodes, dict[int, float]()
        for queued in filter(None, (line.next for line in own)):
            for name in self.run.scheduler.verdict(queued.pod, queued.name).feasible:
                row = nodes.row_of[name]
                free = nodes.allocatable[row] - nodes.used[row]
                code = codes.item(row)
                room[code] = room.get(code, 0) + free[CPU].item()
        return sorted((each for each in room if each >= 0), key=lambda each: -room[each])[:_MOST_DOMAINS]

    def _goes_towards(self, code: int, codes: Codes, line: PodLine, held: dict[int, NDArray[np.int64]]) -> bool:
        """Place a line's next pod in a domain, or where the pod after it may enter. Return whether it was placed.

        Args:
            held: workload by ``id`` → its pods by domain code + 1; index 0 is for nodes without the label.
        """
        queued, nodes = line.next, self.run.cluster.nodes
        if queued is None:
            return False
        verdict = self.run.scheduler.verdict(queued.pod, queued.name)
        feasible = [nodes.row_of[verdict.nodes[at]] for at in np.flatnonzero(verdict.blame < 0).tolist()]
        if not feasible:
            return False
        workload = id(queued.workload)
        if workload not in held:
            held[workload] = np.bincount(codes[self._placed.get(workload, [])] + 1, minlength=int(codes.max()) + 2)
        rows = np.array(feasible, dtype=np.int64)
        number = np.where(codes[rows] == code, -1, held[workload][codes[rows] + 1])
        name = min(nodes.names[row] for row in rows[number == number.min()].tolist())
        row = nodes.row_of[name]
        is_placed = self._place(line, _step(queued, name, ()), row)
        held[workload][codes[row] + 1] += is_placed
        return is_placed

    def _may_go_on(self) -> bool:
        """Return whether a remaining pod finds a node or may preempt other pods."""
        left = filter(None, [line.next for line in self._lines])
        return any(
            self.run.scheduler.verdict(each.pod, each.name).feasible or may_preempt(self.run, each) for each in left
        )

    def _spent(self) -> bool:
        """Return whether the budget is spent. If so, record which limit was reached."""
        found, seconds = self._found, time.monotonic() - self._begun
        if found.states < self._limit and seconds <= self._budget.seconds:
            return False
        found.over = self._ran_out = True
        found.gave_up = self._how_far(found)
        return True

    def enters(self) -> bool:
        """Count a state within an attempt of a group. Return False if the budget is spent."""
        if self._spent():
            return False
        self._found.states += 1
        return True

    def _how_far(self, found: Searched) -> str:
        """Return the exhausted limit and the number of searched states and orders, as text."""
        ran_out = self._budget.ran_out(found.states, time.monotonic() - self._begun)
        begun = sum(len(each.pods) for each in self._lines)
        looked = (
            f"{found.states} states were searched, {found.ends} ends, of {begun} pods at most {self._deepest} placed"
        )
        drawn = f"; {found.tried} orders drawn at random all end well" if found.tried and not found.why else ""
        return f"{ran_out}; {looked}{drawn}"

    def _draw_orders(self, seconds: float) -> None:
        """Simulate random orders until one keeps the promise and one breaks it."""
        found, draws, ends = self._found, random.Random(0), self._found.ends
        if any(map(self._is_joint, self._lines)):
            return
        until = time.monotonic() + seconds
        while not found.over and found.tried < _RANDOM_ORDERS and time.monotonic() < until:
            found.tried += 1
            with ExitStack() as undone:
                if self._plays_on(draws, undone, until):
                    self._end()
        found.ends = ends

    def _plays_on(self, draws: random.Random, undone: ExitStack, until: float) -> bool:
        """Place pods in a random order until no pod fits. Return False if the result is unknown or the time is over."""
        while True:
            if time.monotonic() > until:
                self._found.tried -= 1
                return False
            lines = [each for each in self._lines if each.next]
            draws.shuffle(lines)
            for line in lines:
                is_skipped = line.adverse and draws.random() < _NOWHERE
                placed = None if is_skipped else self._drawn(line, draws, undone)
                if placed is not None:
                    break
                if may_preempt(self.run, line.pods[line.done]):
                    return False
            else:
                return True
            if not placed:
                return False

    def _drawn(self, line: PodLine, draws: random.Random, undone: ExitStack) -> bool | None:
        """Place the pods that a line places together on random nodes.

        Return ``None`` if they find no nodes, and False if their volumes cannot be bound.
        """
        number = self._at_once(line)
        with ExitStack() as attempt:
            for _ in range(number):
                ways = list(self.ways(line, line.left[0]))
                if not ways:
                    return None
                if not attempt.enter_context(self.placing(line, *draws.choice(ways))):
                    return False
            undone.enter_context(attempt.pop_all())
        return True if number else None

    def _look(self) -> None:
        found = self._found
        key = self.key()
        if found.over or key in self._seen:
            return
        if self._spent():
            return
        self._seen[key] = True
        found.states += 1
        self._deepest = max(self._deepest, len(self._path))
        moved = False
        for lines in self._units():
            together = self._together(lines[0])
            if together is not None:
                waits = self._go_together(GroupOrders(self, lines, *together))
            else:
                waits = self._go(lines[0], self._at_once(lines[0])) or lines[0].adverse
            if found.over:
                return
            moved |= not waits
            queued = lines[0].left[0]
            if waits and may_preempt(self.run, queued):
                found.gave_up = f"{queued.namespace}/{queued.workload.name} may evict pods of less priority"
                return
        if not moved:
            self._end()

    def _units(self) -> list[list[PodLine]]:
        """Return the lines with pods to place. One unit has the lines whose pods one attempt places."""
        units: dict[Hashable, list[PodLine]] = {}
        for line in self._lines:
            if line.next:
                unit = id(line) if self._together(line) is None else group_key(line.next.pod)
                units.setdefault(unit, []).append(line)
        return [*units.values()]

    def _go_together(self, group: GroupOrders) -> bool:
        """Search all outcomes of a group's attempt, and go on from there. Return whether its pods may find no nodes."""
        paths, waits = group.outcomes()
        if not group.is_whole and not self._found.over:
            self._found.gave_up = "an attempt of a PodGroup has too many outcomes"
        for path in paths:
            with ExitStack() as placed:
                for each in path:
                    placed.enter_context(self.placing(*each))
                self._look()
            if self._found.over:
                break
        return waits

    def ways(self, line: PodLine, queued: QueuedPod) -> Iterator[tuple[OrderStep, int]]:
        """Yield the nodes that kube-scheduler may choose for a pod of a line; of equivalent nodes only one."""
        verdict = self.run.scheduler.verdict(queued.pod, queued.name)
        best, row_of = verdict.feasible if line.adverse else verdict.best, self.run.cluster.nodes.row_of
        known = set[Hashable]()
        for node in best:
            alike = self._alike.zone(row_of[node]), self._alike.of(row_of[node])
            if alike not in known:
                known.add(alike)
                yield _step(queued, node, tuple(each for each in best if each != node)), row_of[node]

    def key(self) -> Hashable:
        """Return the state's key, which equivalent states share."""
        return self._alike.key(), tuple(each.done for each in self._lines)

    def _go(self, line: PodLine, number: int) -> bool:
        """Search all nodes for the line's next `number` pods, and go on from there. Return whether they may find no
        nodes.

        A gang's pods are placed together. The nodes of its first pods may leave no node for its last pod.
        """
        pods = line.exist if line.varied and number == 1 else line.left[:number][:1]
        ways = [way for each in pods for way in self.ways(line, each)]
        waits = not ways
        for step, row in ways:
            with self.placing(line, step, row) as is_placed:
                if not is_placed:
                    self._found.gave_up = f"{step.namespace}/{step.name} could not be bound to its volumes"
                elif number > 1:
                    key = self.key(), id(line), number
                    if key not in self._seen and not self._spent():
                        self._found.states += 1
                        self._seen[key] = self._go(line, number - 1)
                    waits |= self._seen.get(key, True)
                else:
                    self._look()
            if self._found.over:
                break
        return waits

    @contextmanager
    def placing(self, line: PodLine, step: OrderStep, row: int) -> Iterator[bool]:
        """Place a step's pod on a node within the context; yield False if its volumes cannot be bound."""
        before = line.pods
        if step.name != line.left[0].name:
            left = sorted(line.left, key=lambda each: each.name != step.name)
            line.pods = [*before[: line.done], *left]
        with self.run.cluster.savepoint():
            is_placed = self._place(line, step, row)
            yield is_placed
            if is_placed:
                self._placed[id(line.pods[0].workload)].pop()
                self._path.pop()
                line.done -= 1
        line.pods = before

    def _place(self, line: PodLine, step: OrderStep, row: int) -> bool:
        """Place the next pod of a line on a node; return False if its volumes cannot be bound."""
        queued, run = line.pods[line.done], self.run
        pod_class = run.cluster.shared_class(queued.pod)
        run.scheduler.bind(pod_key(queued.namespace, queued.name), pod_class, row)
        if pod_class.volumes and run.scheduler.reserve(pod_class, row):
            return False
        line.done += 1
        self._path.append(step)
        self._placed.setdefault(id(queued.workload), []).append(row)
        return True

    def _end(self) -> None:
        pending = [pod for line in self._lines for pod in line.left]
        end = OrderEnd(self.run, pending, self._placed)
        self._found.ended(self._question, end, self._path, (_step(each, "", ()) for each in pending))


def _has_left(lines: Sequence[PodLine]) -> bool:
    return any(each.next for each in lines)


def _lines(
    queue: Sequence[QueuedPod], classes: Sequence[PodClass], adversaries: Collection[int], groups: GroupedPods
) -> list[PodLine]:
    """Group the pods into lines by workload and class. Pods with a fixed order, and pods of a gang, share one line."""
    lines: dict[Hashable, PodLine] = {}
    first = dict[Hashable, PodClass]()
    followed = {id(each.after) for each in queue}
    for each, pod_class in zip(queue, classes, strict=True):
        workload = id(each.workload)
        follows = each.after is not None or (workload, "in order") in lines
        in_order = follows or id(each) in followed
        is_grouped = pod_class.index not in adversaries and groups.is_of_gang(each.pod)
        key = (workload, "in order") if in_order or is_grouped else (workload, pod_class.index)
        line = lines.setdefault(key, PodLine([], pod_class.index in adversaries))
        line.pods.append(each)
        line.varied |= is_grouped and first.setdefault(key, pod_class) is not pod_class
    return list(lines.values())


def may_preempt(run: Run, queued: QueuedPod) -> bool:
    """Return whether a pending pod may preempt other pods, which this search does not cover."""
    priority = queued.pod.spec.priority or 0
    return queued.pod.spec.preemption_policy != "Never" and any(
        each.occupancy and pod_priority(run.cluster, each) < priority for each in run.cluster.classes.values()
    )


def rows_of(run: Run, pods: Sequence[Pod]) -> list[int]:
    """Return the node rows of the pods that have a node."""
    placed = run.cluster.placed
    keys = (pod_key(each.namespace, each.name) for each in pods)
    return [placed[key] for key in keys if key in placed]


def _step(queued: QueuedPod, node: str, equal: tuple[str, ...]) -> OrderStep:
    return OrderStep(queued.namespace, f"{queued.workload.kind}/{queued.workload.name}", queued.name, node, equal)
