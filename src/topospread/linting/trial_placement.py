"""Placing a template's pods on the given nodes: at once, as a first look, or with all that a simulation does.

Other workloads of the manifests play no part: only the pods that are on the nodes already do.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property

import msgspec
from msgspec.structs import replace as replace_fields

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.pod import Container, PodSpec
from topospread.cluster.cluster import pod_key
from topospread.cluster.pod_class import has_pod_affinity
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.node_local import Work
from topospread.simulation import PendingGroup
from topospread.simulation.run import SimulationOptions
from topospread.simulation.simulate import simulate

from .lint_input import LintInput
from .template_on_nodes import TemplateOnNodes, cluster_of, configuration_of, frameworks_of

MOST_PODS = 20_000
"""Of one workload; larger ones are not tried."""
EFFORT = 1_000_000
"""So many pods and nodes are gone through at most for closer looks, all together: a minute's work."""
_OWNERS = (
    "replication_controllers",
    "replica_sets",
    "deployments",
    "stateful_sets",
    "daemon_sets",
    "jobs",
    "cron_jobs",
)


class TrialPlacements:
    """First looks at one template after the other; a whole simulation is worth its time only where one fails."""

    def __init__(self, given: LintInput) -> None:
        self._given = given
        self._own = _pods_by_owner(given.inventory)
        self._effort = EFFORT
        self._known: dict[Hashable, bool] = {}
        self._images = any(node.status.images for node in given.nodes)

    @property
    def work(self) -> Work:
        """What was done so far."""
        return self._scheduler.work

    @cached_property
    def _scheduler(self) -> Scheduler:
        return Scheduler(cluster_of(self._given), frameworks_of(self._given))

    def fit(self, template: TemplateOnNodes, more: int = 0) -> bool:
        """Whether so many pods more than the replicas are seen at once to find a node each, the present ones gone.

        False also where that takes a closer look: pods that differ or claim storage.
        """
        storage = any(volume.is_storage for volume in template.pod.spec.volumes or ())
        replicas = template.pods.replicas
        return replicas is not None and not storage and self._placed(template, replicas + more)

    def look_closer(self, template: TemplateOnNodes) -> bool:
        """Whether a whole simulation is still within the effort that is spent on all of them."""
        self._effort -= len(self._given.inventory.pods) + len(self._given.nodes) + (template.pods.replicas or 1)
        return self._effort >= 0

    def _placed(self, template: TemplateOnNodes, wanted: int) -> bool:
        """Place pods, in a savepoint; what is like a template that was tried fares as it did."""
        like = self._like(template, wanted)
        if like is None:
            return self._tried(template, wanted)
        if like not in self._known:
            self._known[like] = self._tried(template, wanted)
        return self._known[like]

    def _tried(self, template: TemplateOnNodes, wanted: int) -> bool:
        cluster, item = self._scheduler.cluster, template.pods.item
        with cluster.savepoint():
            for key in self._own_pods(template):
                if key in cluster.placed:
                    cluster.unbind(key)
            names = (f"{item.name}~{number}" for number in range(wanted))
            return all(self._scheduler.schedule(template.pod, name).node is not None for name in names)

    def _own_pods(self, template: TemplateOnNodes) -> list[str]:
        item = template.pods.item
        return self._own.get((type(item).__name__, item.namespace, item.name), [])

    def _like(self, template: TemplateOnNodes, wanted: int) -> Hashable | None:
        """All that decides on a trial, but no names; ``None`` where pods that are there decide otherwise, too.

        A selector's words do not matter beside whether it means the template's own pods and which of those there.
        """
        cluster, spec, namespace = self._scheduler.cluster, template.pod.spec, template.pod.namespace
        own = spec.topology_spread_constraints or []
        if self._own_pods(template) or has_pod_affinity(template.pod) or len(template.constraints) != len(own):
            return None
        if not own or any(cluster.classes_asking(namespace)):
            return None
        counted = []
        for each in template.constraints:
            if each.counts.selects is None:
                return None
            sets = cluster.selections.of(namespace, each.counts.selects).sets
            there = frozenset(found for found in sets if any(one.occupancy for one in found.items.values()))
            counted.append((each.counts.counts_itself, there))
        return namespace, wanted, _without_names(spec, images=self._images), tuple(counted)


def _without_names(spec: PodSpec, *, images: bool) -> bytes:
    """What kube-scheduler reads of a spec, but for the words of selectors and what containers and volumes are called.

    ``images``: some node has images, so that they are compared.
    """
    own = [
        replace_fields(each, label_selector=None, match_label_keys=None)
        for each in spec.topology_spread_constraints or ()
    ]

    def unnamed(containers: Sequence[Container] | None) -> list[Container]:
        return [
            replace_fields(each, name="", image=each.image if images else None, volume_mounts=None)
            for each in containers or ()
        ]

    described = replace_fields(
        spec,
        topology_spread_constraints=own,
        containers=unnamed(spec.containers),
        init_containers=unnamed(spec.init_containers),
        volumes=[each for each in spec.volumes or () if each.restricts],
    )
    return msgspec.json.encode(described)


def _pods_by_owner(inventory: Inventory) -> dict[tuple[str, str, str], list[str]]:
    """Kind, namespace and name of workloads → the keys of their pods on nodes, a Deployment's through ReplicaSets."""
    over = {
        ("ReplicaSet", each.namespace, each.name): (owner.kind, each.namespace, owner.name)
        for each in inventory.replica_sets
        if (owner := each.metadata.controller) is not None
    }
    found: dict[tuple[str, str, str], list[str]] = {}
    for pod in inventory.pods:
        owner = pod.metadata.controller
        if owner is not None and pod.spec.node_name:
            direct = (owner.kind, pod.namespace, owner.name)
            found.setdefault(over.get(direct, direct), []).append(pod_key(pod.namespace, pod.name))
    return found


def simulated(given: LintInput, items: Sequence[KubeObject]) -> tuple[PendingGroup, ...]:
    """What stays pending when these workloads are created anew.

    Raises:
        InputError: an object that the API server would refuse.
    """
    options = options_of(given)
    inventory = with_only(given.inventory, items)
    return simulate(inventory, options).pending


def options_of(given: LintInput) -> SimulationOptions:
    """How simulations are run: with the configuration, the version and the gates that are asked about."""
    return SimulationOptions(configuration_of(given), kube_version=str(given.version), gates=given.gates)


def with_only(inventory: Inventory, items: Sequence[KubeObject]) -> Inventory:
    """The inventory with these workloads alone, to be created anew, and the pods of others that are on nodes."""
    owners = {(type(each).__name__, each.namespace, each.name) for each in items}
    for replica_set in inventory.replica_sets:
        if _is_of(replica_set, owners):
            owners.add(("ReplicaSet", replica_set.namespace, replica_set.name))
    placed = [pod for pod in inventory.pods if pod.spec.node_name and not _is_of(pod, owners)]
    lists: dict[str, list[KubeObject]] = {attribute: [] for attribute in _OWNERS}
    lists["pods"] = list(placed)
    for each in items:
        lists[KINDS[type(each).__name__].attribute].append(each)
    return replace(inventory, **lists)  # type: ignore[arg-type]


def _is_of(item: KubeObject, owners: set[tuple[str, str, str]]) -> bool:
    owner = item.metadata.controller
    return owner is not None and (owner.kind, item.namespace, owner.name) in owners
