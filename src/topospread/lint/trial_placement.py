"""Place a template's pods on the given nodes: by a quick trial, or by a full simulation.

Only pods on nodes count; other workloads of the manifests are not placed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from weakref import ref

import msgspec
from msgspec.structs import replace as replace_fields

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS, OWNER_LISTS
from topospread.api.meta import KubeObject
from topospread.api.pod import Container, PodSpec
from topospread.cluster.cluster import pod_key
from topospread.cluster.pod_class import has_pod_affinity
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.node_local import Work
from topospread.simulation.options import SimulationOptions
from topospread.simulation.result import PendingGroup
from topospread.simulation.simulate import simulate

from .lint_input import LintInput, once_per_input
from .pod_source import pod_source
from .template_on_nodes import TemplateOnNodes, cluster_of, configuration_of, frameworks_of

MOST_PODS = 20_000
"""Workloads with more pods are not placed."""
_SIMULATION = 250
"""Fixed cost of a simulation, in pods or nodes of about 12 µs each. The budget `TrialEffort` is about two seconds."""
_LARGEST_CLUSTER = 10_000
"""Maximum cost that the cluster's size adds, so that at least 24 simulations always run."""
_OTHER = 4
"""Cost of each other object, such as a PodDisruptionBudget, which every simulation reads."""
_POD = 5
"""Cost of one pod in a quick trial."""
_LARGE_SPEC = 20_000
"""Bytes of a pod's spec beyond which each pod costs more, for example for thousands of affinity terms."""


class TrialPlacements:
    """Quick trial placements of templates. Only templates that fail need a full simulation."""

    def __init__(self, given: LintInput) -> None:
        self._input = ref(given)  # the input owns this object: a strong reference would be a cycle
        self._own = _pods_by_owner(given.inventory)
        self._known: dict[Hashable, tuple[int, int]] = {}
        """Key of a trial → (wanted pods, placed pods)."""
        self._images = any(node.status.images for node in given.nodes)

    @property
    def _given(self) -> LintInput:
        given = self._input()
        assert given is not None, "whoever asks has the input"
        return given

    @property
    def work(self) -> Work:
        """The work done so far."""
        return self._scheduler.work

    @cached_property
    def _scheduler(self) -> Scheduler:
        return Scheduler(cluster_of(self._given), frameworks_of(self._given))

    def fit(self, template: TemplateOnNodes, more: int = 0) -> bool:
        """Return whether a quick trial without the template's present pods places all replicas and `more` pods.

        Return False, too, if the pods claim storage or their number is unknown, because this needs a full simulation.
        """
        storage = any(volume.is_storage for volume in template.pod.spec.volumes or ())
        replicas = template.pods.replicas
        return replicas is not None and not storage and self._placed(template, replicas + more)

    def look_closer(self, template: TemplateOnNodes, simulations: int = 1) -> bool:
        """Return whether the budget allows the full simulations. If not, record the template as left out."""
        effort = self._given.effort
        if simulations * _cost(self._given, template.pods.replicas) * _weight(template) <= effort.left:
            return True
        effort.left_out[template.manifest.label] = None
        return False

    def _placed(self, template: TemplateOnNodes, wanted: int) -> bool:
        """Return whether `wanted` pods find nodes, perhaps from an earlier trial of an equivalent template."""
        like = self._like(template) or id(template)
        asked, placed = self._known.get(like, (0, 0))
        effort, weight = self._given.effort, _weight(template)
        is_affordable = effort.left > (0 if weight == 1 else _POD * wanted * weight)
        if asked < wanted and placed == asked and is_affordable:
            asked, placed = self._known[like] = wanted, self._tried(template, wanted)
            effort.left -= _POD * (placed + 1) * weight
        return placed >= wanted

    def _tried(self, template: TemplateOnNodes, wanted: int) -> int:
        """Return how many of `wanted` pods find a node before the first that does not. Undo the trial."""
        cluster, item = self._scheduler.cluster, template.pods.item
        with cluster.savepoint():
            for key in self._own_pods(template):
                if key in cluster.placed:
                    cluster.unbind(key)
            names = (f"{item.name}~{number}" for number in range(wanted))
            found = (self._scheduler.schedule(template.pod, name).node for name in names)
            return sum(1 for _ in takewhile(lambda node: node is not None, found))

    def _own_pods(self, template: TemplateOnNodes) -> list[str]:
        item = template.pods.item
        return self._own.get((type(item).__name__, item.namespace, item.name), [])

    def _like(self, template: TemplateOnNodes) -> Hashable | None:
        """Return a key that is equal for templates with the same trial result; None if the template cannot share one.

        A selector is represented by its matches: whether it selects the template's pods, and which present pods.
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
        return namespace, _without_names(spec, images=self._images), tuple(counted)


def _without_names(spec: PodSpec, *, images: bool) -> bytes:
    """Return the fields of a spec that kube-scheduler reads, without selector values and names.

    Args:
        spec: the pod's spec.
        images: whether a node has images, so that image names matter.
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
    """Return (kind, namespace, name) of workloads → keys of their placed pods.

    A Deployment's pods are found by its ReplicaSets.
    """
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


trials_of = once_per_input(TrialPlacements)
"""The quick trials of an input, shared by all rules."""


def _weight(template: TemplateOnNodes) -> int:
    """Return the factor by which the size of its spec makes a pod more expensive."""
    return 1 + len(msgspec.json.encode(template.pod.spec)) // _LARGE_SPEC


def _cost(given: LintInput, replicas: int | None) -> int:
    return _SIMULATION + (replicas or 1) + min(_size(given), _LARGEST_CLUSTER)


@once_per_input
def _size(given: LintInput) -> int:
    """Return the cost of the objects that every simulation reads."""
    inventory = given.inventory
    of_kind = {each.attribute: len(getattr(inventory, each.attribute)) for each in KINDS.values()}
    others = sum(count for name, count in of_kind.items() if name not in ("nodes", "pods", *OWNER_LISTS))
    return 2 * of_kind["pods"] + of_kind["nodes"] + _OTHER * others


def spend(given: LintInput, item: KubeObject) -> None:
    """Subtract the cost of a workload's own simulation from the budget."""
    pods = pod_source(item)
    given.effort.left -= _cost(given, pods.replicas if pods is not None else 1)


def simulated(given: LintInput, item: KubeObject) -> tuple[PendingGroup, ...]:
    """Return the pods that stay pending if this workload is created again.

    Raises:
        InputError: if the API server denies an object.
    """
    spend(given, item)
    options = options_of(given)
    return simulate(with_only(given.inventory, item), options).pending


def options_of(given: LintInput) -> SimulationOptions:
    """Return the simulation options: configuration, version and feature gates."""
    return SimulationOptions(configuration_of(given), kube_version=str(given.version), gates=given.gates)


def with_only(inventory: Inventory, item: KubeObject) -> Inventory:
    """Return the inventory with this workload, to be created again, and only placed pods of other workloads."""
    owners = {(type(item).__name__, item.namespace, item.name)}
    for replica_set in inventory.replica_sets:
        if _is_of(replica_set, owners):
            owners.add(("ReplicaSet", replica_set.namespace, replica_set.name))
    placed = [pod for pod in inventory.pods if pod.spec.node_name and not _is_of(pod, owners)]
    lists: dict[str, list[KubeObject]] = {attribute: [] for attribute in OWNER_LISTS}
    lists["pods"] = list(placed)
    lists[KINDS[type(item).__name__].attribute].append(item)
    return replace(inventory, **lists)  # type: ignore[arg-type]


def _is_of(item: KubeObject, owners: set[tuple[str, str, str]]) -> bool:
    owner = item.metadata.controller
    return owner is not None and (owner.kind, item.namespace, owner.name) in owners
