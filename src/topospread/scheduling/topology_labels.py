"""Labels that a pod gets from its node at binding, if a selector reads them.

Source: plugin/pkg/admission/podtopologylabels, which writes the node's zone and region into the Binding, and
pkg/registry/core/pod/storage (``copyLabelsWithOverwriting``). kube-scheduler receives the labels as a pod update. Here
the pod has them before the next pod is scheduled.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import msgspec

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.well_known_labels import REGION, ZONE
from topospread.cluster import Cluster, PodClass
from topospread.cluster.objects import ClusterObjects

from .selector_label_keys import keys_of, keys_of_owners, keys_read_by

TOPOLOGY_LABELS = (ZONE, REGION)
GATE = "PodTopologyLabelsAdmission"


class TopologyLabels:
    """The classes that pods belong to once they are bound."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._classes: dict[tuple[int, tuple[str | None, ...]], PodClass] = {}

    def bound(self, pod_class: PodClass, row: int) -> PodClass:
        """Return the class of a pod after binding: the node's zone and region labels replace the pod's own."""
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
    """Return the pod with its node's zone and region labels; the same pod if the node has neither."""
    copied = {key: node.labels[key] for key in TOPOLOGY_LABELS if key in node.labels}
    if not copied:
        return pod
    metadata = msgspec.structs.replace(pod.metadata, labels={**pod.labels, **copied})
    return msgspec.structs.replace(pod, metadata=metadata)


def selects_by_topology(pods: Iterable[Pod], objects: ClusterObjects) -> bool:
    """Return whether a selector of these pods, or of a budget, Service or controller, reads a zone or region label."""
    named = frozenset(TOPOLOGY_LABELS)
    budgets = (keys_of(each.spec.selector) for each in objects.pod_disruption_budgets.values())
    return not all(map(named.isdisjoint, chain(map(keys_read_by, pods), budgets, (keys_of_owners(objects),))))
