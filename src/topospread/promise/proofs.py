"""Proofs by counting that a promise holds in every order, without a search.

A pod with more open nodes than all other pods can close is always placed (`blocked_nodes`). A DoNotSchedule constraint
keeps its maxSkew if every counted pod obeys it: each pod goes where it is allowed, and incoming pods never lower the
minimum. The skew of a ScheduleAnyway constraint is at most the number of its incoming pods in one domain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from msgspec.structs import replace as with_fields

from topospread.api.pod import Pod
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.cluster import PodClass
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.plugins.interface import PluginError
from topospread.plugins.pod_group_members import pod_priority
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation.run import Run, spread_of
from topospread.text import agreeing

from .blocked_nodes import BlockedNodes, IncomingPods, counts_pod, keeps_away, matching, most_in_domains, open_to_all
from .grouped_pods import GroupedPods
from .orders import rows_of
from .questions import LOSSES, EndQuestion, LeftAfterLoss, NoPending, SkewWithin


class Proof:
    """Bounds on incoming pods that hold in every order.

    Args:
        queue: the pods.
        existing: pods that exist before a rollout; they may be on any node and may be deleted. ``None`` without a
            rollout.
        surge: maximum number of pods above the replicas in a rollout.
        kept: pods that a rollout keeps ready even if new pods find no node; 0 if that is not certain.

    Attributes:
        classes: the class of each incoming pod, and of a rollout's existing pods.
    """

    def __init__(
        self, run: Run, queue: Sequence[QueuedPod], existing: Sequence[Pod] | None = None, surge: int = 0, kept: int = 0
    ) -> None:
        self._surge = surge
        self._kept = kept
        self._existing = existing or ()
        self._run = run
        self._queue = queue
        self._scheduler = run.scheduler
        self._goes_on = existing is not None
        self._groups = GroupedPods(run, queue, in_rollout=self._goes_on)
        pods = [each.pod for each in queue] + [
            with_fields(each, spec=with_fields(each.spec, node_name="")) for each in existing or ()
        ]
        classes = {name: run.cluster.shared_class(pod) for name, pod in {id(each): each for each in pods}.items()}
        self.classes = [classes[id(each)] for each in pods]
        self._distinct = list({each.index: each for each in self.classes}.values())
        self._numbers = list(IncomingPods.of(self.classes).classes.values())
        self._open = -1
        self._find: dict[frozenset[int], bool] = {}

    def of(self, question: EndQuestion) -> str:
        """Return why the promise always holds; "" if no proof is known."""
        try:
            match question:
                case NoPending():
                    return self._why_placed(question.workload)
                case SkewWithin():
                    return self._why_within(question)
                case LeftAfterLoss():
                    return self._why_left(question)
        except PluginError:
            pass
        return ""

    @property
    def _open_to_all(self) -> int:
        if self._open < 0:
            self._open = self._open_to()
        return self._open

    def _open_to(self, classes: Sequence[PodClass] | None = None) -> int:
        """Return a lower bound on the nodes that stay open to pods of these classes (by default, of all).

        Existing pods are left out, because a rollout may delete them or they may be on any node.
        """
        at_once = len(self._queue) + self._surge if self._goes_on else None
        coming = IncomingPods.of(self.classes, goes_on=self._goes_on, at_once=at_once)
        cluster = self._run.cluster
        with cluster.savepoint():
            for each in self._existing:
                if pod_key(each.namespace, each.name) in cluster.placed:
                    cluster.unbind(pod_key(each.namespace, each.name))
            return open_to_all(self._scheduler, coming, classes)

    def _own(self, workload: Workload | None) -> list[PodClass]:
        """Return the class of each incoming pod, of one workload or of all."""
        pairs = zip(self._queue, self.classes, strict=False)  # zip drops the old pods of a rollout, which are last
        return [pod_class for queued, pod_class in pairs if workload in (None, queued.workload)]

    def _why_placed(self, workload: Workload | None) -> str:
        own = self._own(workload)
        if not own:
            return "there is no pod to place"
        every = self._groups.with_partners(own)
        if every is None:
            return ""
        number = self._open_to_all
        if not number and workload is not None and not self._may_evict():
            number = self._open_to(every)
        nodes = f"{number} {'node is' if number == 1 else 'nodes are'}"
        return f"by counting: {nodes} feasible for its pods, wherever other pods are" if number else ""

    def _why_within(self, question: SkewWithin) -> str:
        if self._may_evict():
            return ""
        greatest, highest = 0, question.highest
        for workload in self._run.plan.workloads if question.workload is None else [question.workload]:
            if workload.template is None:
                continue
            pod_class = self._run.cluster.shared_class(workload.template)
            for each in spread_of(self._scheduler, pod_class):
                if each.origin != "system":
                    greatest = max(greatest, self._greatest(pod_class, each))
        return f"by counting: no skew can exceed {greatest}" if greatest <= highest else ""

    def _may_evict(self) -> bool:
        """Return whether a pod without a node may preempt pods of lower priority."""
        cluster = self._run.cluster
        there = [pod_priority(cluster, each) for each in cluster.classes.values() if each.occupancy]
        least = min((each.priority for each in self.classes), default=0)
        least = min([least, *there])
        may = any(each.priority > least and each.pod.spec.preemption_policy != "Never" for each in self._distinct)
        return may and not (self._open_to_all and self._groups.with_partners(self._own(None)) is not None)

    def _greatest(self, pod_class: PodClass, constraint: ConstraintArithmetic) -> int:
        """Return the greatest skew that a constraint can reach."""
        number = matching(self._scheduler, pod_class, constraint, self._numbers)
        if not number or not constraint.domains:
            return constraint.skew
        fewest = 0 if self._goes_on else constraint.minimum
        most = constraint.skew + constraint.minimum
        found = most + min(number, self._in_one(pod_class, constraint)) - fewest
        if self._goes_on or not self._is_obeyed(pod_class, constraint):
            return found
        return min(found, max(constraint.skew, constraint.max_skew))

    def _in_one(self, pod_class: PodClass, constraint: ConstraintArithmetic) -> int:
        """Return how many incoming counted pods fit into one domain: one if they repel each other."""
        counted = [each for each in self._distinct if counts_pod(self._scheduler, pod_class, constraint, each)]
        return 1 if self._keep_apart(counted, constraint.topology_key) else len(self.classes)

    def _keep_apart(self, classes: Sequence[PodClass], key: str) -> bool:
        """Return whether no two incoming pods of these classes can be in one domain of the key."""
        namespaces = self._run.cluster.objects.namespaces
        return self._scheduler.topology_labels is None and all(
            keeps_away(each, key, classes, namespaces) for each in classes
        )

    def _is_obeyed(self, pod_class: PodClass, constraint: ConstraintArithmetic) -> bool:
        """Return whether all counted incoming pods have the same constraint over the same domains."""
        if not constraint.hard or not constraint.counts_itself or self._scheduler.topology_labels is not None:
            return False
        return all(
            any(_same(constraint, each) for each in spread_of(self._scheduler, other))
            for other in self._distinct
            if counts_pod(self._scheduler, pod_class, constraint, other)
        )

    def left(self, loss: str, workload: Workload) -> int:
        """Return the proved number of pods that a loss leaves in every order; 0 without a proof."""
        try:
            return self._left(loss, workload)[0]
        except PluginError:
            return 0

    def _left(self, loss: str, workload: Workload) -> tuple[int, int]:
        """Return the proved numbers of pods left after a loss, and of pods with a node before; (0, 0) without a proof.

        ``loss``: zone or node; "" for none.
        """
        there = [] if self._goes_on else rows_of(self._run, workload.existing)
        own = self._own(workload)
        if workload.template is None:
            return 0, 0
        if not self._find_nodes(own):
            return self._left_if_pending(LOSSES[loss], own, there) if loss else (0, 0)
        pods = len(there) + len(own)
        return pods - (min(self._most_in_one(LOSSES[loss], own, there)) if loss else 0), pods

    def _why_left(self, question: LeftAfterLoss) -> str:
        left, pods = self._left(question.loss, question.workload)
        if left < question.least or not pods:
            return ""
        when = "after every rollout" if self._goes_on else "in every order"
        every = f"all {pods} pods have a node" if pods == question.workload.replicas else f"{pods} pods stay ready"
        if not self._find_nodes(self._own(question.workload)) and not self._goes_on:
            return f"by counting: {when} another {question.loss} has a node for a pending pod, so at least 1 is left"
        find = f"by counting: {when} {every}"
        where = "on one node" if question.loss == "node" else "in one zone"
        most = f", at most {pods - left} {where}, so at least {left} {agreeing('are', left)} left"
        return find + most if question.loss else find

    def _left_if_pending(self, key: str, own: Sequence[PodClass], there: Sequence[int]) -> tuple[int, int]:
        """Return the result of `_left` if some pods may find no node.

        The second number is the pods that a rollout keeps ready; without a rollout all pods, of which some may be
        pending.

        Args:
            key: topology key of the loss.
            own: classes of the workload's incoming pods.
            there: rows of its existing pods.
        """
        partners = self._groups.with_partners(own)
        if not own or there or partners is None or len(partners) > len(own) or self._may_evict():
            return 0, 0
        hard = [each for each in spread_of(self._scheduler, own[0]) if each.hard]
        if self._goes_on:
            most = [self._kept]
            for each in hard if self._kept else ():
                inside = 1 if self._is_within(key, each.topology_key) else self._most_inside(key, each.topology_key)
                if inside and self._is_obeyed(own[0], each):
                    # A constraint that counts only new pods limits old pods separately.
                    both = matching(self._scheduler, own[0], each, self._numbers) > len(own)
                    most += [number * (1 if both else 2) for number in self._most_by_skew(own, there, each, inside)]
            return max(self._kept - min(most), 0), self._kept
        if len({each.index for each in own}) > 1 or not hard:
            return 0, 0
        if not all(self._is_obeyed(own[0], each) and self._counts_just(own, there, each) for each in hard):
            return 0, 0
        return (1, len(own)) if self._spills_over(key, own[0], len(own), hard) else (0, 0)

    def _spills_over(self, key: str, own: PodClass, number: int, hard: Sequence[ConstraintArithmetic]) -> bool:
        """Return whether the pods that get a node are proved to be in more than one domain of a key.

        If all were in one domain, another pod would be pending, and it fits elsewhere.

        While all pods are in one domain of the key, hard constraints allow at most maxSkew there, and admit a pending
        pod to each node that shares none of their domains with it.
        """
        nodes = self._run.cluster.nodes
        codes = nodes.labels(key).codes
        coming = IncomingPods.of(self.classes)
        for code in {codes.item(row) for row in range(nodes.size) if nodes.alive[row]}:
            inside = codes[: nodes.size] == code
            fitting = [
                each.max_skew
                for each in hard
                if len(each.domains) > 1 and len(set(nodes.labels(each.topology_key).codes[: nodes.size][inside])) == 1
            ]
            shared = inside.copy()
            for each in hard:
                wide = nodes.labels(each.topology_key).codes[: nodes.size]
                shared |= np.isin(wide, wide[inside])
            blocked = BlockedNodes(self._scheduler, own, coming)
            if min(fitting, default=number) >= number or not blocked.is_open_among(~shared, hard):
                return False
        return True

    def _find_nodes(self, classes: Sequence[PodClass]) -> bool:
        """Return whether all pods of these classes find a node in every order and no pod of them is preempted."""
        key = frozenset(each.index for each in classes)
        if key not in self._find:
            every = self._groups.with_partners(classes)
            closed = bool(every) and not self._open_to(every)
            self._find[key] = every is not None and (not (closed or self._may_evict()) or self._open_to_all > 0)
        return self._find[key]

    def _most_in_one(self, key: str, own: Sequence[PodClass], there: Sequence[int]) -> list[int]:
        """Return upper bounds on the workload's pods in one domain, one for each limit."""
        codes = self._run.cluster.nodes.labels(key).codes
        held = Counter(codes.item(row) for row in there)
        fullest = max((number for code, number in held.items() if code >= 0), default=0)
        if not own:
            return [fullest]
        found = [len(there) + len(own)]
        apart = list({each.index: each for each in own}.values())
        for name in {key, ZONE, HOSTNAME}:
            if self._keep_apart(apart, name):
                if self._is_within(key, name) and (name == key or not self._lacks(name)):
                    found.append(fullest + 1)
                elif not there and (inside := self._most_inside(key, name)):
                    found.append(inside)
        for each in spread_of(self._scheduler, own[0]):
            wider = self._is_within(key, each.topology_key)
            inside = 1 if wider else self._most_inside(key, each.topology_key)
            if inside and self._is_obeyed(own[0], each):
                found += self._most_by_skew(own, there, each, inside)
        return found

    def _is_within(self, key: str, wider: str) -> bool:
        """Return whether each domain of ``key`` is inside one domain of ``wider``, like a node is inside one zone."""
        pairs = self._pairs(key, wider)
        return key == wider or len(pairs) == len({own for own, _ in pairs})

    def _most_inside(self, key: str, narrower: str) -> int:
        """Return the most domains of a narrower key in one domain of a key; 0 if a narrower domain spans several."""
        pairs = self._pairs(narrower, key)
        if len(pairs) != len({own for own, _ in pairs}) or self._lacks(narrower):
            return 0
        return max(Counter(wide for _, wide in pairs).values(), default=0)

    def _lacks(self, key: str) -> bool:
        """Return whether a node lacks a label."""
        nodes = self._run.cluster.nodes
        return bool((nodes.labels(key).codes[: nodes.size][nodes.alive[: nodes.size]] < 0).any())

    def _pairs(self, key: str, other: str) -> set[tuple[int, int]]:
        nodes = self._run.cluster.nodes
        return {
            (one, two)
            for one, two in zip(nodes.labels(key).codes.tolist(), nodes.labels(other).codes.tolist(), strict=True)
            if one >= 0 and two >= 0
        }

    def _most_by_skew(
        self, own: Sequence[PodClass], there: Sequence[int], constraint: ConstraintArithmetic, inside: int
    ) -> Iterator[int]:
        """Yield upper bounds on the pods in `inside` domains, from the skew of constraints that count only these
        pods."""
        if not self._goes_on:
            if self._counts_just(own, there, constraint):
                skew = max(constraint.skew, constraint.max_skew)
                yield most_in_domains(constraint, len(there) + len(own), skew, inside)
            return
        coming, of_own = (
            matching(self._scheduler, own[0], constraint, IncomingPods.of(each).classes.values())
            for each in (self.classes[: len(self._queue)], own)
        )
        if coming > of_own:
            return  # the constraint also counts pending pods of other workloads
        counted = matching(self._scheduler, own[0], constraint, self._numbers)
        if counted - len(own) >= sum(each.matching for each in constraint.domains):
            # While new pods are placed, the constraint also counts old pods: at most as many as the surge allows.
            yield most_in_domains(constraint, min(counted, len(own) + self._surge), constraint.max_skew, inside)

    def _counts_just(self, own: Sequence[PodClass], rows: Sequence[int], constraint: ConstraintArithmetic) -> bool:
        """Return whether a constraint counts the workload's pods and no others, now and later."""
        column = self._run.cluster.nodes.labels(constraint.topology_key)
        held = Counter(column.codes[row].item() for row in rows)
        counts = {each.name: each.matching for each in constraint.domains if each.matching}
        coming = matching(self._scheduler, own[0], constraint, self._numbers)
        all_own = all(counts_pod(self._scheduler, own[0], constraint, each) for each in own)
        there = {column.values[code] if code >= 0 else "": number for code, number in held.items()}
        return all_own and coming == len(own) and counts == there


def _same(one: ConstraintArithmetic, other: ConstraintArithmetic) -> bool:
    """Return whether the constraints of two classes are equal, except for their position."""
    return replace(one, position=0, origin="pod") == replace(other, position=0, origin="pod")
