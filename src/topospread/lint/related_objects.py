"""Objects of the cluster that rules compare with the linted pods: workloads and autoscalers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from topospread.api.meta import KubeObject
from topospread.controllers.autoscaling import target_of

from .lint_input import LintInput, once_per_input
from .pod_source import PodSource, pod_source

ScaleTarget = tuple[str, str, str]
"""Kind, namespace and name of a workload."""


class Bounds(NamedTuple):
    """The minimum and maximum replicas of a HorizontalPodAutoscaler."""

    least: int
    most: int


def cluster_sources(given: LintInput) -> Iterator[PodSource]:
    """Yield the pods and templates of ``--on`` that no manifest replaces, without pods of controllers."""
    if given.cluster is None:
        return
    judged = {(each.kind, each.item.namespace, each.item.name) for each in given.manifests}
    for item in given.cluster.objects():
        if (type(item).__name__, item.namespace, item.name) not in judged and item.metadata.controller is None:
            pods = pod_source(item)
            if pods is not None:
                yield pods


def autoscaled(given: LintInput, item: KubeObject) -> Bounds | None:
    """Return the replica bounds that a HorizontalPodAutoscaler sets for a workload; None without one."""
    return _autoscalers(given).get((type(item).__name__, item.namespace, item.name))


@once_per_input
def _autoscalers(given: LintInput) -> dict[ScaleTarget, Bounds]:
    found = {}
    for item in given.inventory.horizontal_pod_autoscalers:
        target = target_of(item)
        if target is not None:
            found[target] = Bounds(item.spec.least, item.spec.max_replicas)
    return found
