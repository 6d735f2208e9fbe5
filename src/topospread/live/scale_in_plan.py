"""Compute the deletion costs of ReplicaSets' pods from the watched cluster. `scale_in_keeper` writes them.

A workload opts in with the annotation ``topospread.dev/scale-in: keep-spread`` on a Deployment, or on a ReplicaSet
without a Deployment.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec
import numpy as np

from topospread.api.labels import Selector
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.timestamps import seconds
from topospread.api.workload import KEEP_SPREAD, Deployment, ReplicaSet
from topospread.cluster import Cluster
from topospread.cluster.arrays import Ints
from topospread.cluster.cluster import pod_key
from topospread.controllers.removal import deletion_cost, is_active, removal_rank
from topospread.controllers.scale_in import DomainLoad, new_costs, spread_order
from topospread.plugins.domain_counts import pods_on
from topospread.plugins.interface import PluginError
from topospread.plugins.pod_topology_spread import PodTopologySpread
from topospread.plugins.spread_counts import CountedConstraint, Spread

KINDS: Final = ("Node", "Deployment", "ReplicaSet", "Pod")
Key = tuple[str, str]
"""Namespace and name."""


class Cost(NamedTuple):
    """The deletion cost of one pod."""

    pod: Pod
    cost: int


class ReplicaSetPlan(msgspec.Struct, frozen=True):
    """The deletion costs for one ReplicaSet.

    Attributes:
        costs: costs to write; the pod to remove last comes first.
        excess: largest excess over a hard maxSkew while the pods are removed.
        problem: why no deletion order can be computed; "" if there is one.
    """

    costs: tuple[Cost, ...] = ()
    excess: int = 0
    problem: str = ""


class ScaleInPlans:
    """The watched nodes, pods and owners; `changed` ReplicaSets opted in and must be planned again."""

    def __init__(self) -> None:
        self.changed: set[Key] = set()
        self._cluster = Cluster()
        self._plugin = PodTopologySpread()
        self._deployments: dict[Key, str] = {}
        self._replica_sets: dict[Key, ReplicaSet] = {}
        self._pods: dict[Key, dict[str, Pod]] = defaultdict(dict)
        self._kept: dict[str, set[Key]] = defaultdict(set)
        self._selectors: dict[Key, tuple[Selector, ...]] = {}
        self._sent: dict[str, int] = {}

    @property
    def kept(self) -> list[Key]:
        """The ReplicaSets that opted in."""
        return [key for keys in self._kept.values() for key in keys]

    def put(self, kind: str, item: KubeObject, before: KubeObject | None) -> None:
        """See ClusterListener."""
        if isinstance(item, Pod):
            self._cluster.apply("MODIFIED", item)
            self._pod_changed(item, before if isinstance(before, Pod) else None)
        elif isinstance(item, Node):
            if self._cluster.apply("MODIFIED", item):
                self.changed.update(self.kept)
        elif isinstance(item, ReplicaSet):
            key = item.namespace, item.name
            known = self._replica_sets.get(key)
            self._replica_sets[key] = item
            if known is None or _asked(known) != _asked(item) or known.metadata.uid != item.metadata.uid:
                self._opt(key)
        elif isinstance(item, Deployment):
            self._deployment_changed((item.namespace, item.name), _asked(item))

    def delete(self, kind: str, item: KubeObject) -> None:
        """See ClusterListener."""
        key = item.namespace, item.name
        if isinstance(item, Pod):
            self._cluster.apply("DELETED", item)
            self._sent.pop(item.metadata.uid or "", None)
            owner = _replica_set_of(item)
            if owner is not None:
                self._pods[owner].pop(item.name, None)
                if not self._pods[owner]:
                    del self._pods[owner]
            self._touch(item)
        elif isinstance(item, Node):
            self._cluster.apply("DELETED", item)
            self.changed.update(self.kept)
        elif isinstance(item, ReplicaSet):
            self._replica_sets.pop(key, None)
            self._opt(key)
        elif isinstance(item, Deployment):
            self._deployment_changed(key, None)

    def change(self, key: Key) -> None:
        """Plan a ReplicaSet again, if it still exists."""
        if key in self._kept.get(key[0], ()):
            self.changed.add(key)

    def sent(self, cost: Cost) -> None:
        """Record a written cost that the watch does not show yet."""
        self._sent[cost.pod.metadata.uid or ""] = cost.cost

    def plan(self, key: Key) -> ReplicaSetPlan:
        """Compute the costs of a ReplicaSet's pods."""
        replica_set = self._replica_sets[key]
        wish = self._wish(replica_set)
        if wish != KEEP_SPREAD:
            return ReplicaSetPlan(problem=f'its annotation is "{wish}"; the only value is {KEEP_SPREAD}')
        pods = [each for each in self._pods.get(key, {}).values() if is_active(each) and _owned(each, replica_set)]
        if len(pods) < 2:
            return ReplicaSetPlan()
        try:
            spread = self._plugin.prepare(self._cluster.pod_class(pods[0], is_placed=True), self._cluster).watcher
        except PluginError as error:
            return ReplicaSetPlan(problem=str(error))
        if not isinstance(spread, Spread):
            return ReplicaSetPlan(problem="its pods have no topologySpreadConstraints")
        constraints = (*spread.hard, *spread.soft)
        self._selectors[key] = tuple(each.constraint.selector for each in constraints)
        costs = [self._cost(each) for each in pods]
        ranks = [removal_rank(each) for each in pods]
        ages = [-(seconds(each.metadata.creation_timestamp) or 0.0) for each in pods]
        preferred = sorted(range(len(pods)), key=lambda index: (costs[index], ages[index], pods[index].name))
        preference = [0] * len(pods)
        for place, index in enumerate(preferred):
            preference[index] = place
        loads = [self._load(each, spread, pods) for each in constraints]
        removals = spread_order(loads, ranks, preference)
        written: dict[int, int] = {}
        for rank in set(ranks):
            if rank[0]:  # pods without a node are in no domain: their order does not matter
                order = [index for index in removals.order if ranks[index] == rank]
                written |= new_costs(order, {index: costs[index] for index in order})
        last_first = [index for index in reversed(removals.order) if index in written]
        return ReplicaSetPlan(tuple(Cost(pods[index], written[index]) for index in last_first), removals.excess)

    def _load(self, constraint: CountedConstraint, spread: Spread, pods: Iterable[Pod]) -> DomainLoad:
        rows = slice(0, spread.nodes.size)
        codes = np.where(constraint.takes_part(rows) & spread.nodes.alive[rows], constraint.column.codes[rows], -1)
        domains, here = np.unique(codes[codes >= 0], return_inverse=True)
        domain_of_row = np.full(len(codes), -1)
        domain_of_row[codes >= 0] = here
        counts = np.zeros(len(domains), np.int64)
        np.add.at(counts, here, pods_on(constraint.pods, rows)[codes >= 0])
        return DomainLoad(
            counts=counts,
            domain_of=np.array([self._domain(each, constraint, domain_of_row) for each in pods]),
            max_skew=constraint.constraint.max_skew,
            min_domains=constraint.constraint.min_domains,
            hard=constraint.constraint.when_unsatisfiable == "DoNotSchedule",
        )

    def _domain(self, pod: Pod, constraint: CountedConstraint, domain_of_row: Ints) -> int:
        key = pod_key(pod.namespace, pod.name)
        row, pod_class = self._cluster.placed.get(key), self._cluster.assigned_class(key)
        if row is None or pod_class is None or not constraint.counts_pods_of(pod_class):
            return -1
        return int(domain_of_row[row])

    def _cost(self, pod: Pod) -> int:
        sent = self._sent.get(pod.metadata.uid or "")
        return deletion_cost(pod) if sent is None else sent

    def _pod_changed(self, pod: Pod, before: Pod | None) -> None:
        owner = _replica_set_of(pod)
        if owner is not None:
            self._pods[owner][pod.name] = pod
        if before is None or deletion_cost(before) != deletion_cost(pod):
            self._sent.pop(pod.metadata.uid or "", None)
        if before is None or _compared(before) != _compared(pod):
            self._touch(pod)
            if before is not None and before.labels != pod.labels:
                self._touch(before)

    def _touch(self, pod: Pod) -> None:
        """Mark the ReplicaSets whose order may depend on a pod."""
        owner = _replica_set_of(pod)
        for key in self._kept.get(pod.namespace, ()):
            if key == owner or any(each.matches(pod.labels) for each in self._selectors.get(key, ())):
                self.changed.add(key)

    def _deployment_changed(self, key: Key, asked: str | None) -> None:
        before = self._deployments.pop(key, None)
        if asked is not None:
            self._deployments[key] = asked
        if asked != before:
            for each in [each for each in self._replica_sets if each[0] == key[0]]:
                self._opt(each)

    def _opt(self, key: Key) -> None:
        """Add or remove a ReplicaSet, depending on its annotation."""
        replica_set, kept = self._replica_sets.get(key), self._kept[key[0]]
        if replica_set is not None and self._wish(replica_set) is not None:
            kept.add(key)
            self.changed.add(key)
        else:
            kept.discard(key)
            self.changed.discard(key)
            self._selectors.pop(key, None)

    def _wish(self, replica_set: ReplicaSet) -> str | None:
        owner = replica_set.metadata.controller
        if owner is not None and owner.kind == "Deployment":
            return self._deployments.get((replica_set.namespace, owner.name))
        return _asked(replica_set)


def _asked(item: KubeObject) -> str | None:
    return item.metadata.annotations.scale_in if item.metadata.annotations else None


def _replica_set_of(pod: Pod) -> Key | None:
    owner = pod.metadata.controller
    return (pod.namespace, owner.name) if owner is not None and owner.kind == "ReplicaSet" else None


def _owned(pod: Pod, replica_set: ReplicaSet) -> bool:
    owner = pod.metadata.controller
    return owner is not None and owner.uid == replica_set.metadata.uid


def _compared(pod: Pod) -> tuple[object, ...]:
    """Return the fields of a pod that affect the order."""
    return pod.metadata.uid, removal_rank(pod), pod.spec.node_name, is_active(pod), deletion_cost(pod), pod.labels
