"""Collect the data for rules: the nodes that are open to a pod, and the counted pods on each node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from topospread.api.labels import Selector
from topospread.api.node import Node
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.api.taints import untolerated, with_taint_of_cordon
from topospread.plugins.node_matching import requires_node

NOT_OF_THE_GROUP: Final = frozenset(
    {
        "pod-template-hash",
        "controller-revision-hash",
        "pod-template-generation",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
    }
)
"""Labels that controllers and the API server add, which differ within a group of pods."""


@dataclass(frozen=True)
class PodSurroundings:
    """The data that a rule reads.

    Attributes:
        matching: node → counted pods on it.
        counts_itself: 1 when the pod is one of the counted pods, else 0.
    """

    pod: Pod
    nodes: Mapping[str, Node]
    matching: Mapping[str, int]
    counts_itself: int

    @cached_property
    def open(self) -> list[Node]:
        """Return the nodes that selectors, required node affinity and taints allow, regardless of resources."""
        return [node for node in self.nodes.values() if _is_open(node, self.pod)]

    def by_domain(self, key: str) -> Counter[str]:
        """Return domain → counted pods, over all nodes with the key."""
        found: Counter[str] = Counter()
        for name, node in self.nodes.items():
            if key in node.labels:
                found[node.labels[key]] += self.matching.get(name, 0)
        return found


def group_of(pod: Pod, counted: Selector | None) -> Selector:
    """Return the selector of the pods that are counted for a pod."""
    if counted is not None:
        return counted
    return Selector.from_set({key: value for key, value in pod.labels.items() if key not in NOT_OF_THE_GROUP})


def surroundings(
    pod: Pod, counted: Selector | None, nodes: Mapping[str, Node], placed: Iterable[tuple[Pod, str]]
) -> PodSurroundings:
    """Return the data for placing a pod.

    Args:
        counted: selector of the counted pods in its namespace; None for pods with its labels.
        placed: other pods with their node names. Finished and terminating pods are not counted.
    """
    selector = group_of(pod, counted)
    matching: Counter[str] = Counter()
    for each, node in placed:
        if each.namespace != pod.namespace or each.terminating or each.phase in FINISHED_PHASES:
            continue
        if selector.matches(each.labels):
            matching[node] += 1
    return PodSurroundings(pod, nodes, matching, int(selector.matches(pod.labels)))


def _is_open(node: Node, pod: Pod) -> bool:
    taints = with_taint_of_cordon(node).spec.taints or ()
    return requires_node(pod.spec, node) and not untolerated(taints, pod.spec.tolerations or ())
