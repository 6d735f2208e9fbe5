"""The placed pods of a workload, grouped by class and node row."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

import msgspec

from topospread.api.inventory import key_of
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey, pod_key
from topospread.controllers.node_lifecycle import is_silent
from topospread.controllers.planned import Plan, Workload
from topospread.simulation.run import Run

OF_THEIR_NODE = frozenset({"DaemonSet", "Node"})
"""Owners that create pods for a given node."""


class Members(msgspec.Struct, eq=False):
    """The pods of one workload on nodes; ``on``: class → node row → keys of its pods."""

    on: dict[PodClass, dict[int, list[PodKey]]] = {}

    @classmethod
    def found(cls, pods: Iterable[PodKey], cluster: Cluster) -> Members:
        """Return the pods that are placed in the cluster."""
        members = cls()
        placed, on_node = cluster.placed, cluster.on_node
        for key in pods:
            row = placed.get(key)
            if row is not None:
                members.on.setdefault(on_node[row][key], {}).setdefault(row, []).append(key)
        return members

    @property
    def classes(self) -> Iterable[PodClass]:
        """Return the classes, in the order of the pods."""
        return self.on

    def __len__(self) -> int:
        return sum(len(keys) for rows in self.on.values() for keys in rows.values())

    @property
    def by_row(self) -> dict[int, int]:
        """Return node row → number of pods."""
        result: dict[int, int] = {}
        for rows in self.on.values():
            for row, keys in rows.items():
                result[row] = result.get(row, 0) + len(keys)
        return result


def ready_pods(pods: Iterable[Pod], cluster: Cluster) -> Iterator[Pod]:
    """Yield the ready pods on Ready nodes."""
    for each in pods:
        row = cluster.placed.get(pod_key(each.namespace, each.name))
        node = None if row is None else cluster.nodes.nodes[row]
        if node is not None and each.is_ready and not is_silent(node):
            yield each


def owners_of(run: Run) -> dict[PodKey, Workload]:
    """Return pod key → workload, including pods that a controller will delete."""
    owners = dict(run.owners)
    if run.plan.removed:
        by_name = {key_of(each): each for each in run.plan.workloads}
        of_set = {
            (each.namespace, each.name): owner.name
            for each in run.plan.inventory.replica_sets
            if (owner := each.metadata.controller) is not None
        }
        for pod in run.plan.removed:
            made_by = pod.metadata.controller
            if made_by is not None:
                deployment = of_set.get((pod.namespace, made_by.name), "") if made_by.kind == "ReplicaSet" else ""
                who = ("Deployment", deployment) if deployment else (made_by.kind, made_by.name)
                workload = by_name.get((who[0], pod.namespace, who[1]))
                if workload is not None:
                    owners[pod_key(pod.namespace, pod.name)] = workload
    return owners


def workloads_of(plan: Plan, owned: Container[PodKey]) -> Iterator[Workload]:
    """Yield the plan's workloads and placed bare pods, without static pods.

    ``owned`` has the pods of the plan's workloads.
    """
    yield from (each for each in plan.workloads if each.kind != "Node")
    if len(plan.bound) == sum(len(each.existing) for each in plan.workloads):
        return
    for pod in plan.bound:
        bare = pod.metadata.controller is None and not pod.terminating and pod.phase not in FINISHED_PHASES
        if bare and pod_key(pod.namespace, pod.name) not in owned:
            yield Workload("Pod", pod.namespace, pod.name, 1, existing=[pod])
