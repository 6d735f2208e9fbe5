"""Rules about what only shows when the pods are placed: the engine simulates them on the nodes that are given."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.workload import CronJob
from topospread.errors import InputError

from .examples import constraint, deployment
from .given import Given, Subject
from .placement_rules import HOSTNAME
from .pod_source import pod_source
from .problem import Problem
from .rule import Example, Rule
from .selector_rules import SPREAD

if TYPE_CHECKING:  # The engine is loaded by who needs it: without nodes nobody does.
    from topospread.scheduling.cycle import Scheduler
    from topospread.simulation import PendingGroup

    from .standing import Held, Standing

_MOST_PODS = 20_000
"""Of one workload; and so many pods are placed again at most to see which constraints it takes."""
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


def _deadlocks(given: Given) -> Iterator[tuple[Subject, Problem]]:
    from .standing import standings

    candidates = [each for each in standings(given) if _may_deadlock(each)]
    left = _MOST_PODS
    for standing, pending in _pending(given, candidates):
        hard = _hard(standing)
        left -= (len(hard) + 1) * (standing.pods.replicas or 1)
        if left < 0:
            return
        guilty = [held for held in hard if not _pending_without(given, standing, held)]
        if len(guilty) > 1:
            keys = " and ".join(held.counts.topology_key for held in guilty)
            wanted = f"{pending} of {standing.pods.replicas} pods stay" if pending > 1 else "a pod stays"
            message = f"{wanted} pending on these nodes: {keys} hold each other up, and without one of them all fit"
            yield standing.manifest, Problem(f"{standing.pods.path}.topologySpreadConstraints", message)


def _hard(standing: Standing) -> list[Held]:
    return [held for held in standing.constraints if held.counts.hard]


def _may_deadlock(standing: Standing) -> bool:
    replicas = standing.pods.replicas
    several = len({held.counts.topology_key for held in _hard(standing)}) > 1
    return several and not isinstance(standing.pods.item, CronJob) and (replicas is None or replicas <= _MOST_PODS)


def _pending(given: Given, candidates: Sequence[Standing]) -> Iterator[tuple[Standing, int]]:
    """The workloads some of whose pods stay pending for their constraints, each placed alone, and how many."""
    for each in _tight(given, candidates):
        try:
            pending = _by_spreading(_simulated(given, [each.pods.item]))
        except InputError:
            continue  # Validation says so.
        if pending:
            yield each, pending


def _tight(given: Given, candidates: Sequence[Standing]) -> Iterator[Standing]:
    """The workloads that are not seen at once to fit: few are worth a whole simulation."""
    from topospread.scheduling.cycle import Scheduler

    from .standing import cluster_of, frameworks_of

    scheduler = None
    for number, each in enumerate(candidates):
        if number % _TRIED_ON_ONE_CLUSTER == 0:
            scheduler = Scheduler(cluster_of(given), frameworks_of(given))
        assert scheduler is not None
        if not _is_plain(each) or not _fits(scheduler, each):
            yield each


def _is_plain(standing: Standing) -> bool:
    """Whether its pods are all alike, claim no storage, and are the first that its constraints count."""
    storage = any(volume.is_storage for volume in standing.pod.spec.volumes or ())
    counted = any(held.counts.skew or held.counts.fewest for held in standing.constraints)
    return standing.pods.replicas is not None and not storage and not counted


def _fits(scheduler: Scheduler, standing: Standing) -> bool:
    """Whether all its pods find a node; they are taken off again."""
    placed = []
    fits = True
    for number in range(standing.pods.replicas or 0):
        placement = scheduler.schedule(standing.pod, f"{standing.pods.item.name}~{number}")
        if placement.node is None:
            fits = False
            break
        placed.append(placement.pod)
    for key in placed:
        scheduler.cluster.unbind(key)
    return fits


def _by_spreading(groups: Iterable[PendingGroup]) -> int:
    """How many pods stay pending, among other things, for their spread constraints."""
    return sum(
        len(group.pods)
        for group in groups
        if group.verdict is not None and any(each.plugin == "PodTopologySpread" for each in group.verdict.rejections)
    )


def _pending_without(given: Given, standing: Standing, left_out: Held) -> bool:
    """Whether pods stay pending without one of the constraints."""
    item = copy.deepcopy(standing.pods.item)
    changed = pod_source(item)
    if changed is None:
        return True
    own = changed.spec.topology_spread_constraints or []
    changed.spec.topology_spread_constraints = [
        each for position, each in enumerate(own) if position != left_out.counts.position
    ]
    try:
        return bool(_simulated(given, [item]))
    except InputError:
        return True


def _simulated(given: Given, items: Sequence[KubeObject]) -> tuple[PendingGroup, ...]:
    """What stays pending when these workloads alone are created anew, beside the pods of others on the nodes."""
    from topospread.simulation.simulate import simulate

    from .standing import configuration_of

    configuration = configuration_of(given)
    inventory = _with_only(given.inventory, items)
    return simulate(inventory, config=configuration, kube_version=str(given.version), gates=given.gates).pending


def _with_only(inventory: Inventory, items: Sequence[KubeObject]) -> Inventory:
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


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"
_ZONES = constraint(_OWN)
_BY_NODE = constraint(_OWN, key=HOSTNAME).removeprefix("topologySpreadConstraints:\n")
_UNEVEN = "zones=2,nodes=3+1"

RULES = (
    Rule(
        id="constraints-deadlock",
        sentence="Hard constraints of one pod can all be kept on the nodes there are.",
        why="Zones with different numbers of nodes cannot be even by zone and by node at once: the pod that one "
        "constraint wants in a zone is refused by the other on every node of it, and stays pending.",
        link=f"{SPREAD}#example-conflicting-topologyspreadconstraints",
        severity="error",
        check=_deadlocks,
        wrong=Example(deployment(_ZONES + _BY_NODE), cluster=_UNEVEN),
        right=Example(deployment(_ZONES + _BY_NODE.replace("DoNotSchedule", "ScheduleAnyway")), cluster=_UNEVEN),
        needs="simulation",
    ),
)
