"""Placing a template's pods on the given nodes: at once, as a first look, or with all that a simulation does.

Other workloads of the manifests play no part: only the pods that are on the nodes already do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.cluster.cluster import pod_key
from topospread.scheduling.cycle import Scheduler
from topospread.simulation import PendingGroup
from topospread.simulation.run import Options
from topospread.simulation.simulate import simulate

from .given import Given
from .standing import Standing, cluster_of, configuration_of, frameworks_of

MOST_PODS = 20_000
"""Of one workload; larger ones are not tried."""
EFFORT = 1_000_000
"""So many pods and nodes are gone through at most for closer looks, all together: a minute's work."""
_TRIED_ON_ONE_CLUSTER = 50
"""What a cluster knows of many classes of pods makes each further one slower."""
_OWNERS = (
    "replication_controllers",
    "replica_sets",
    "deployments",
    "stateful_sets",
    "daemon_sets",
    "jobs",
    "cron_jobs",
)


class Trials:
    """First looks at one template after the other; a whole simulation is worth its time only where one fails."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._scheduler: Scheduler | None = None
        self._tried = 0
        self._own = _pods_by_owner(given.inventory)
        self._effort = EFFORT

    def fit(self, standing: Standing, more: int = 0) -> bool:
        """Whether so many pods more than the replicas are seen at once to find a node each, the present ones gone.

        False also where that takes a closer look: pods that differ or claim storage.
        """
        storage = any(volume.is_storage for volume in standing.pod.spec.volumes or ())
        replicas = standing.pods.replicas
        return replicas is not None and not storage and self._placed(standing, replicas + more)

    def look_closer(self, standing: Standing) -> bool:
        """Whether a whole simulation is still within the effort that is spent on all of them."""
        self._effort -= len(self._given.inventory.pods) + len(self._given.nodes) + (standing.pods.replicas or 1)
        return self._effort >= 0

    def _placed(self, standing: Standing, wanted: int) -> bool:
        """Place pods, in a savepoint."""
        scheduler = self._next_scheduler()
        cluster, item = scheduler.cluster, standing.pods.item
        with cluster.savepoint():
            for key in self._own.get((type(item).__name__, item.namespace, item.name), ()):
                if key in cluster.placed:
                    cluster.unbind(key)
            names = (f"{item.name}~{number}" for number in range(wanted))
            return all(scheduler.schedule(standing.pod, name).node is not None for name in names)

    def _next_scheduler(self) -> Scheduler:
        if self._scheduler is None or self._tried % _TRIED_ON_ONE_CLUSTER == 0:
            self._scheduler = Scheduler(cluster_of(self._given), frameworks_of(self._given))
        self._tried += 1
        return self._scheduler


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


def simulated(given: Given, items: Sequence[KubeObject]) -> tuple[PendingGroup, ...]:
    """What stays pending when these workloads are created anew.

    Raises:
        InputError: an object that the API server would refuse.
    """
    options = options_of(given)
    inventory = with_only(given.inventory, items)
    version = options.kube_version
    return simulate(inventory, config=options.config, kube_version=version, gates=options.gates).pending


def options_of(given: Given) -> Options:
    """How simulations are run: with the configuration, the version and the gates that are asked about."""
    return Options(configuration_of(given), kube_version=str(given.version), gates=given.gates)


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
