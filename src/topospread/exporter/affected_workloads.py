"""Find the workloads that a change affects: they count a pod, repel it, or share its node.

The result may have too many workloads, but never too few, because no other workload is evaluated again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from topospread.api.label_index import SelectorIndex
from topospread.api.labels import Selector
from topospread.api.meta import KubeObject
from topospread.api.workload import ReplicaSet, ReplicationController, Service, StatefulSet
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey
from topospread.cluster.selections import Selection
from topospread.controllers.planned import Workload
from topospread.plugins.affinity_terms import Term, terms_of
from topospread.status.risk import WELL_KNOWN

from .groups import PlanGroup
from .incremental_metrics import NodesOfDomains
from .node_changes import NodeChanges
from .planned_cluster import DirtySet

_MANY = 500
"""Number of simultaneous pod changes above which all workloads count as affected."""
_OWNERS = (ReplicationController, ReplicaSet, StatefulSet)
"""Owners whose selectors the default constraints use."""


@dataclass(slots=True, eq=False)
class Followed:
    """A workload, and the inputs of its metrics.

    Attributes:
        classes: classes of its placed pods and its template.
        selectors: selectors of its constraints, with their numbers in the index of selectors.
        counted: pods that its constraints count. They are stored so that the cluster need not select them again.
        refused_on: names of nodes that have a pod of this workload and would now reject it.
        rules: rules of its constraints that select nodes; None to evaluate it after every node change.
    """

    group: PlanGroup
    workload: Workload
    keys: tuple[PodKey, ...] = ()
    classes: tuple[PodClass, ...] = ()
    selectors: Mapping[Selector, int] = field(default_factory=dict)
    counted: tuple[Selection, ...] = ()
    terms: tuple[Term, ...] = ()
    refused_on: frozenset[str] = frozenset()
    rules: tuple[NodesOfDomains, ...] | None = None


class AffectedWorkloads:
    """Finds affected workloads.

    Args:
        followed: namespace → workloads.
        of_pod: placed pod → workload.
        selecting: selectors of constraints → workload.
        repelling: workloads with required affinity or anti-affinity terms.
    """

    def __init__(
        self,
        cluster: Cluster,
        followed: Mapping[str, Mapping[int, Followed]],
        of_pod: Mapping[PodKey, Followed],
        selecting: SelectorIndex[Followed],
        repelling: Collection[Followed],
    ) -> None:
        self._cluster = cluster
        self._followed = followed
        self._of_pod = of_pod
        self._selecting = selecting
        self._repelling = repelling
        self._refused_on: Counter[str] = Counter()

    def refuse(self, each: Followed, nodes: frozenset[str]) -> None:
        """Set `Followed.refused_on` of a workload."""
        if each.refused_on != nodes:
            self._refused_on.subtract(each.refused_on)
            self._refused_on.update(nodes)
            each.refused_on = nodes

    def by(self, touched: DirtySet) -> Iterator[Followed]:
        """Yield the affected workloads; a workload may occur several times."""
        if touched.everything or len(touched.pods) > _MANY or self._is_felt_by_all(touched.nodes):
            yield from self._all()
            return
        if touched.nodes.any:
            yield from (each for each in self._all() if each.rules is None)
        yield from filter(None, map(self._of_pod.get, touched.moved))
        for pod_class in dict.fromkeys(pod_class for pod_class, _ in touched.pods):
            yield from self._by_class(pod_class)
        rows = set(touched.rows)
        names = self._cluster.nodes.names
        for row in {row for _, row in touched.pods} - rows:
            name = names[row]
            if self._refused_on[name] and any(name in each.refused_on for each in self._on(row)):
                rows.add(row)
        for row in rows:
            yield from self._on(row)
        for item in touched.objects:
            yield from self._by_object(item)

    def _is_felt_by_all(self, changes: NodeChanges) -> bool:
        """Return whether a topology key appeared on its first node or disappeared from its last.

        Then every workload is affected, because its losses are computed for each key that a node has.
        """
        if not changes.any:
            return False
        keys = {rule.topology_key for each in self._all() for rule in each.rules or ()}
        return changes.brings_or_takes_a_key({*WELL_KNOWN, *keys}, self._cluster)

    def _all(self) -> Iterator[Followed]:
        for each in self._followed.values():
            yield from each.values()

    def _on(self, row: int) -> Iterator[Followed]:
        for key in self._cluster.on_node[row] if row < len(self._cluster.on_node) else ():
            found = self._of_pod.get(key)
            if found is not None:
                yield found

    def _by_class(self, pod_class: PodClass) -> Iterator[Followed]:
        yield from self._selecting.matching(pod_class.namespace, pod_class.labels)
        of_space = self._labels_of(pod_class.namespace)
        keeps_away = terms_of(pod_class).anti_affinity
        for each in self._repelling:
            if any(term.matches(pod_class, of_space) for term in each.terms):
                yield each
        for each in self._all() if keeps_away else ():
            if self._are_meant(keeps_away, each):
                yield each

    def _are_meant(self, terms: Iterable[Term], each: Followed) -> bool:
        of_space = self._labels_of(each.workload.namespace)
        return any(term.matches(one, of_space) for term in terms for one in each.classes)

    def _by_object(self, item: KubeObject) -> Iterator[Followed]:
        """Yield workloads that an object affects: by default constraints (Services, owners) or volumes (others)."""
        if isinstance(item, Service):
            selects = Selector.nothing() if item.spec.selector is None else Selector.from_set(item.spec.selector)
            for each in self._followed.get(item.namespace, {}).values():
                if any(selects.matches(one.labels) for one in each.classes):
                    yield each
            return
        if isinstance(item, _OWNERS):
            for each in self._followed.get(item.namespace, {}).values():
                if any(one.owner is not None and one.owner.name == item.name for one in each.classes):
                    yield each
            return
        for each in self._all():
            if any(one.volumes for one in each.classes):
                yield each

    def _labels_of(self, namespace: str) -> Mapping[str, str]:
        found = self._cluster.objects.namespaces.get(namespace)
        return found.labels if found is not None else {}
