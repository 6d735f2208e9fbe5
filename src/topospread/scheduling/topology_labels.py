"""The labels that a pod gets of its node when it is bound, where anything selects by them.

Source: plugin/pkg/admission/podtopologylabels, which writes the node's zone and region into the Binding, and
pkg/registry/core/pod/storage (``copyLabelsWithOverwriting``). kube-scheduler hears of them as of any change of a pod;
it is taken to have heard before the next pod. Nothing here counts pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from topospread.api.labels import LabelSelector
from topospread.api.node import Node
from topospread.api.node_selection import PodAffinityTerm
from topospread.api.pod import Pod
from topospread.api.workload import ReplicaSet, StatefulSet
from topospread.cluster import Cluster, PodClass
from topospread.cluster.objects import ClusterObjects

TOPOLOGY_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
GATE = "PodTopologyLabelsAdmission"
_REMEMBERED = 1 << 13


class TopologyLabels:
    """The classes that pods belong to once they are bound."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._classes: dict[tuple[int, tuple[str | None, ...]], PodClass] = {}

    def bound(self, pod_class: PodClass, row: int) -> PodClass:
        """The class of a pod that is bound to a node: with its zone and region, whatever the pod itself says."""
        node = self._cluster.nodes.nodes[row]
        assert node is not None, "a pod is bound to a node that is there"
        values = tuple(node.labels.get(key) for key in TOPOLOGY_LABELS)
        known = self._classes.get((pod_class.index, values))
        if known is None:
            labelled = labelled_by(node, pod_class.pod)
            is_same = labelled is pod_class.pod
            known = pod_class if is_same else self._cluster.pod_class(labelled, is_placed=True)
            self._classes[pod_class.index, values] = known
        return known


def labelled_by(node: Node, pod: Pod) -> Pod:
    """The pod with the zone and region of its node, whatever it said itself; the same where the node has none."""
    copied = {key: node.labels[key] for key in TOPOLOGY_LABELS if key in node.labels}
    if not copied:
        return pod
    metadata = msgspec.structs.replace(pod.metadata, labels={**pod.labels, **copied})
    return msgspec.structs.replace(pod, metadata=metadata)


def selects_by_topology(pods: Iterable[Pod], objects: ClusterObjects) -> bool:
    """Whether a selector of these pods, of a disruption budget, Service or controller names one of the labels."""
    return any(map(_names_one, _keys_of_pods(pods))) or any(map(_names_one, _keys_of_objects(objects)))


def _names_one(keys: Iterable[str]) -> bool:
    return not frozenset(TOPOLOGY_LABELS).isdisjoint(keys)


def _keys_of_pods(pods: Iterable[Pod]) -> Iterator[Iterable[str]]:
    for pod in pods:
        for constraint in pod.spec.topology_spread_constraints or ():
            yield _keys(constraint.label_selector)
            yield constraint.match_label_keys or ()
        for term in _affinity_terms(pod):
            yield _keys(term.label_selector)
            yield term.match_label_keys or ()
            yield term.mismatch_label_keys or ()


def _keys_of_objects(objects: ClusterObjects) -> Iterator[Iterable[str]]:
    for budget in objects.pod_disruption_budgets.values():
        yield _keys(budget.spec.selector)
    for service in (each for services in objects.services.values() for each in services.values()):
        yield service.spec.selector or ()
    for controller in objects.replication_controllers.values():
        yield controller.spec.selector or ()
    owners: list[ReplicaSet | StatefulSet] = [*objects.replica_sets.values(), *objects.stateful_sets.values()]
    for owner in owners:
        yield _keys(owner.spec.selector)


def _keys(selector: LabelSelector | None) -> Iterator[str]:
    if selector is not None:
        yield from selector.match_labels or ()
        yield from (each.key for each in selector.match_expressions or ())


def _affinity_terms(pod: Pod) -> Iterator[PodAffinityTerm]:
    affinity = pod.spec.affinity
    for each in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ():
        if each is not None:
            yield from each.required_during_scheduling_ignored_during_execution or ()
            preferred = each.preferred_during_scheduling_ignored_during_execution or ()
            yield from (term.pod_affinity_term for term in preferred if term.pod_affinity_term is not None)
