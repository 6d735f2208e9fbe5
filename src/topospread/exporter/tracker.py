"""Keep the metrics of a watched cluster up to date by evaluating only affected workloads.

A workload's metrics are computed by the code of `status`. The caller passes changes to `put` and `delete`, and calls
`work` repeatedly.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory
from topospread.api.label_index import SelectorIndex
from topospread.api.labels import Selector
from topospread.api.meta import KubeObject, ObjectMeta
from topospread.api.node import Namespace, Node, NodeCondition, NodeStatus
from topospread.api.pod import Pod
from topospread.api.policy import LimitRange, PriorityClass, RuntimeClass
from topospread.api.storage import StorageClass
from topospread.api.timestamps import snapshot_time
from topospread.cluster.cluster import PodKey
from topospread.controllers.planned import Workload
from topospread.errors import InputError
from topospread.plugins.affinity_terms import terms_of
from topospread.simulation.options import SimulationOptions
from topospread.status.constraints import spreads_of
from topospread.status.members import Members, workloads_of
from topospread.status.one_workload import Asked, looked_at
from topospread.status.refused import Refusals
from topospread.status.result import WorkloadStatus
from topospread.status.risk import keys_at_risk, losses

from .affected_workloads import AffectedWorkloads, Followed
from .groups import PLANNED, GroupedNamespace, PlanGroup
from .incremental_metrics import IncrementalMetrics, rules_of
from .latest_time import LatestTime
from .pending import BlockedPods, blocked_by
from .planned_cluster import PlannedCluster, PlannedGroup

_OF_ALL: tuple[type[KubeObject], ...] = (PriorityClass, RuntimeClass)
"""Kinds that affect the planning of any pod."""
_BESIDE: tuple[type[KubeObject], ...] = (*_OF_ALL, LimitRange, Namespace, StorageClass)
"""Kinds that the planner needs for every group."""


@dataclass(slots=True)
class WorkDone:
    """Counts of the work done since the start.

    Attributes:
        failures: group → its error. Its metrics are unchanged.
    """

    planned: int = 0
    looked_at: int = 0
    failures: dict[PlanGroup, str] = field(default_factory=dict)


class Tracker:
    """Computes the metrics of a cluster incrementally.

    Args:
        options: version, feature gates and profiles, like for `status`.

    Attributes:
        figures: workload → its status, without node counts and excluded nodes. Its losses are the largest of zone,
            hostname and each key of its constraints.
        blocked: pending pods, by the constraint that keeps them off nodes.
        since: time of the first unprocessed change, in seconds of `time.monotonic`; None without one.
    """

    def __init__(self, options: SimulationOptions) -> None:
        self.planned_cluster = PlannedCluster(options)
        self.done = WorkDone()
        self._refusals = Refusals(self.planned_cluster.scheduler)
        self.figures: dict[Followed, WorkloadStatus] = {}
        self.blocked = BlockedPods()
        self.since: float | None = None
        self._spaces: dict[str, GroupedNamespace] = {}
        self._beside: dict[type[KubeObject], dict[tuple[str, str], Any]] = {kind: {} for kind in _BESIDE}
        self._nodes: dict[str, Node] = {}
        self._latest = LatestTime()
        self._single: dict[tuple[type[KubeObject], str, str], KubeObject] = {}
        self._unplanned: dict[PlanGroup, None] = {}
        self._followed: dict[str, dict[int, Followed]] = {}
        self._of_group: dict[PlanGroup, list[Followed]] = {}
        self._of_pod: dict[PodKey, Followed] = {}
        self._selecting: SelectorIndex[Followed] = SelectorIndex()
        self._repelling: dict[Followed, None] = {}
        self._affected = AffectedWorkloads(
            self.planned_cluster.cluster, self._followed, self._of_pod, self._selecting, self._repelling
        )
        self._unseen: dict[Followed, None] = {}
        self._ask_pending = False

    # Changes.

    def put(self, item: KubeObject) -> bool:
        """Add or update an object. Return whether this may change a metric."""
        kind = type(item)
        if kind in PLANNED:
            return self._put_planned(kind, item)
        if kind in self._beside:
            known = self._beside[kind].get((item.namespace, item.name))
            self._beside[kind][item.namespace, item.name] = item
            if known is None or not _is_same(known, item):
                self._plan_for(item)
        if isinstance(item, Node):
            self._nodes[item.name] = item
            self._hear_of(Node, "", item.name, item)
        if kind not in _OF_ALL and kind is not LimitRange:
            self._single[kind, item.namespace, item.name] = item
        self._note_change()
        return True

    def delete(self, kind: type[KubeObject], namespace: str, name: str, item: KubeObject | None) -> bool:
        """Delete an object; ``item`` is its last state if known."""
        if kind in (Node, Pod):
            self._hear_of(kind, namespace, name, None)
        if kind in PLANNED:
            space = self._spaces.get(namespace)
            self._plan(space.delete(kind, name) if space is not None else ())
            self._note_change()
            return True
        known = self._beside[kind].pop((namespace, name), None) if kind in self._beside else None
        if known is not None:
            self._plan_for(known)
        if kind is Node:
            known = self._nodes.pop(name, None)
        waiting = self._single.pop((kind, namespace, name), None)
        gone = item or known or waiting
        if gone is not None:
            self.planned_cluster.delete(gone)
        self._note_change()
        return True

    def _put_planned(self, kind: type[KubeObject], item: Any) -> bool:
        space = self._spaces.get(item.namespace)
        if space is None:
            space = self._spaces[item.namespace] = GroupedNamespace(item.namespace)
        before = space.of[kind].get(item.name)
        if kind is Pod:
            self._hear_of(Pod, item.namespace, item.name, item)
        touched = space.put(kind, item)
        if before is not None and _is_same(before, item) and not self._rests_on_status(touched):
            return False
        self._plan(touched)
        self._note_change()
        return True

    def _rests_on_status(self, groups: Iterable[PlanGroup]) -> bool:
        """Return whether a controller of these groups will delete pods. Its choice may depend on pod statuses."""
        known = map(self.planned_cluster.known, groups)
        return any(each is None or each.surplus for each in known)

    def _hear_of(self, kind: type[KubeObject], namespace: str, name: str, item: Any) -> None:
        """Update the latest time in any object. A new time may change which pods a controller deletes."""
        before = self._latest.seconds
        told = None
        if item is not None:
            told = snapshot_time([item], ()) if kind is Node else snapshot_time((), [item])
        self._latest.put((kind.__name__, namespace, name), told)
        if self._latest.seconds != before:
            self._plan(self.planned_cluster.surplus)

    def _plan_for(self, item: KubeObject) -> None:
        """Schedule a new plan for every group that an object outside groups may affect."""
        if isinstance(item, _OF_ALL):
            self._plan(self.planned_cluster.groups())
        elif isinstance(item, LimitRange | Namespace):
            self._plan(self.planned_cluster.groups(item.namespace or item.name))

    def _plan(self, groups: Iterable[PlanGroup]) -> None:
        self._unplanned.update(dict.fromkeys(groups))

    def _note_change(self) -> None:
        if self.since is None:
            self.since = time.monotonic()

    # Processing.

    def work(self, until: float) -> bool:
        """Update the metrics until a time of `time.monotonic`. Return whether they are complete."""
        while True:
            if self._single:
                self._take_single()
            elif self._unplanned:
                self._plan_one()
            elif self.planned_cluster.touched.any:
                touched = self.planned_cluster.take_touched()
                if touched.any:
                    self._unseen.update(dict.fromkeys(self._affected.by(touched)))
                if touched.nodes.any:
                    self._carry_over(IncrementalMetrics(self.planned_cluster.cluster, touched.nodes))
                self._ask_pending = True
            elif self._unseen:
                self._look_at_one()
            elif self._ask_pending:
                self.blocked = blocked_by(self.planned_cluster)
                self._ask_pending = False
            else:
                self.since = None
                return True
            if time.monotonic() >= until:
                return False

    def _take_single(self) -> None:
        items, self._single = list(self._single.values()), {}
        beside = Inventory()
        self._add_beside(beside, "")
        try:
            self.planned_cluster.put(items, beside)
        except InputError:
            for each in items:  # the API server denies an object: add each one separately
                try:
                    self.planned_cluster.put([each], beside)
                except InputError as error:
                    self._fail(PlanGroup(each.namespace, type(each).__name__, each.name), str(error))

    def _plan_one(self) -> None:
        group = next(iter(self._unplanned))
        del self._unplanned[group]
        self.done.planned += 1
        space = self._spaces.get(group.namespace)
        given = space.inventory(group) if space is not None else Inventory()
        self._add_beside(given, group.namespace)
        given.nodes = list(self._nodes.values()) if given.daemon_sets else self._clock()
        try:
            planned = self.planned_cluster.take(group, given)
        except InputError as error:
            self._fail(group, str(error))
            return
        self.done.failures.pop(group, None)
        self._follow(group, planned)
        self._ask_pending = True

    def _clock(self) -> list[Node]:
        """Return a node that only carries the current time."""
        seconds = self._latest.seconds
        if seconds is None:
            return []
        now = datetime.fromtimestamp(seconds, UTC).isoformat()
        conditions = [NodeCondition(type="Ready", last_heartbeat_time=now)]
        return [Node(metadata=ObjectMeta(name="clock", uid="clock"), status=NodeStatus(conditions=conditions))]

    def _fail(self, group: PlanGroup, why: str) -> None:
        self.done.failures[group] = why

    def _add_beside(self, given: Inventory, namespace: str) -> None:
        beside = self._beside
        given.priority_classes = list(beside[PriorityClass].values())
        given.runtime_classes = list(beside[RuntimeClass].values())
        given.storage_classes = list(beside[StorageClass].values())
        given.limit_ranges = [each for each in beside[LimitRange].values() if each.namespace == namespace]
        own = beside[Namespace].get(("", namespace))
        given.namespaces = [own] if own is not None else []

    # Workloads.

    def _follow(self, group: PlanGroup, planned: PlannedGroup | None) -> None:
        before: dict[tuple[str, str], list[Followed]] = {}
        for each in self._of_group.pop(group, ()):
            before.setdefault((each.workload.kind, each.workload.name), []).append(each)
        found: list[Followed] = []
        if planned is not None:
            plan = planned.plan
            key_of = {id(pod): key for key, pod in planned.pods.items()}
            owned = {key_of[id(pod)] for each in plan.workloads for pod in each.existing}
            for workload in workloads_of(plan, owned):
                keys = tuple([key_of[id(pod)] for pod in workload.existing])
                alike = before.get((workload.kind, workload.name))
                known = alike.pop(0) if alike else None
                made = known or Followed(group, workload)
                self._renew(made, workload, keys, is_new=known is None)
                found.append(made)
        for left in before.values():
            for each in left:
                self._followed.get(each.group.namespace, {}).pop(id(each), None)
                self._unseen.pop(each, None)
                self.figures.pop(each, None)
                self._repelling.pop(each, None)
                self._select(each, set())
                self._affected.refuse(each, frozenset())
                for key in each.keys:
                    del self._of_pod[key]
        if found:
            self._of_group[group] = found
            self._followed.setdefault(group.namespace, {}).update((id(each), each) for each in found)

    def _renew(self, known: Followed, workload: Workload, keys: tuple[PodKey, ...], *, is_new: bool) -> None:
        """Store a workload that was planned again, and evaluate it if needed."""
        if known.workload.template == workload.template:
            workload.template = known.workload.template  # its class is found by the object
        elif workload.template is None or not self._is_of_class(known.workload.template, workload.template):
            is_new = True
        if is_new or known.keys != keys:
            self._unseen[known] = None
        before, after = set(known.keys), set(keys)
        known.workload, known.keys = workload, keys
        for key in before - after:
            del self._of_pod[key]
        for key in after - before:
            other = self._of_pod.get(key)
            if other is not None:  # the other workload is planned later, without the pod
                other.keys = tuple(each for each in other.keys if each != key)
                self._unseen[other] = None
            self._of_pod[key] = known

    def _select(self, known: Followed, selectors: Set[Selector]) -> None:
        """Replace the selectors of a workload's constraints in the index."""
        namespace = known.group.namespace
        if known.selectors.keys() != selectors:
            for selector, number in known.selectors.items():
                self._selecting.remove(namespace, selector, number)
            known.selectors = {each: self._selecting.add(namespace, each, known) for each in selectors}

    def _is_of_class(self, one: Pod | None, other: Pod) -> bool:
        shared_class = self.planned_cluster.cluster.shared_class
        return one is not None and shared_class(one) is shared_class(other)

    def _carry_over(self, carried: IncrementalMetrics) -> None:
        """Apply appeared and disappeared domains to the metrics of unaffected workloads."""
        for each, known in self.figures.items():
            if each in self._unseen or each.rules is None:
                continue
            found = carried.of(known, each.rules)
            if found is None:
                self._unseen[each] = None
            elif found is not known:
                self.figures[each] = found

    def _look_at_one(self) -> None:
        each = next(iter(self._unseen))
        del self._unseen[each]
        self.done.looked_at += 1
        scheduler, cluster = self.planned_cluster.scheduler, self.planned_cluster.cluster
        members = Members.found(each.keys, cluster)
        spreads = spreads_of(scheduler, each.workload, members)
        found = looked_at(each.workload, members, spreads, Asked(self._refusals, None))
        lost = losses(found.kind, members, keys_at_risk([found], cluster), cluster, most=1)
        self.figures[each] = with_fields(found, losses=lost)
        counted = [constraint for _, spread in spreads.of for constraint in (*spread.hard, *spread.soft)]
        each.counted = tuple(one.pods for one in counted)
        self._select(each, {one.constraint.selector for one in counted})
        template = each.workload.template
        own = () if template is None else (cluster.shared_class(template),)
        each.classes = tuple(dict.fromkeys((*members.classes, *own)))
        required = [terms_of(one) for one in each.classes]
        each.terms = tuple(term for terms in required for term in (*terms.affinity, *terms.anti_affinity))
        if each.terms:
            self._repelling[each] = None
        else:
            self._repelling.pop(each, None)
        self._affected.refuse(each, frozenset(one.node for one in found.refused))
        by_volumes = any(one.volumes for one in each.classes)  # storage may depend on any label
        each.rules = None if by_volumes or spreads.problem else rules_of(spread for _, spread in spreads.of)


def _is_same(before: KubeObject, after: KubeObject) -> bool:
    """Return whether two states give the same plan. Of a pod's status, only phase and nominatedNodeName matter."""
    if isinstance(before, Pod) and isinstance(after, Pod):
        return (
            before.spec == after.spec
            and before.phase == after.phase
            and before.nominated_node_name == after.nominated_node_name
            and _unversioned(before).metadata == _unversioned(after).metadata
        )
    return _unversioned(before) == _unversioned(after)


def _unversioned(item: KubeObject) -> KubeObject:
    return with_fields(item, metadata=with_fields(item.metadata, resource_version=None))
