"""The input of the rules: linted objects, and the cluster to compare with. `reading` creates it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from topospread.api.inventory import ABSENT, Inventory
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.pools import NodePool
from topospread.config.gates import Gates
from topospread.config.profile import Configuration
from topospread.config.versions import KubeVersion
from topospread.controllers.controllers import API_VERSIONS
from topospread.controllers.ownership import Owners
from topospread.errors import Place
from topospread.sources.collection import Collection, Places
from topospread.sources.hooks import is_passing
from topospread.sources.locations import Location
from topospread.sources.objects import ReadObject

from .pod_source import PodSource
from .problem import Problem

T = TypeVar("T")


class LintSubject(msgspec.Struct, frozen=True, eq=False):
    """A linted object and its location.

    Attributes:
        location: its position in the text.
        label: ``Kind namespace/name``; "" without a name.
        value: the object as plain data; for stored pods with a controller, only its type.
        order: its position in the whole input, from 0.
    """

    location: Location
    label: str
    value: Mapping[str, Any]
    order: int


class Manifest(LintSubject, frozen=True, eq=False):
    """A Kubernetes object that decodes. The API server may still deny it.

    Attributes:
        kind: its key in `KINDS`.
        item: the object in its current API version, with a namespace if its kind is namespaced.
        refused: whether the API server denies it. Simulations omit denied objects.
        stored: whether an API server stored it and set its defaults.
        pods: its pod or pod template; None for other kinds.
    """

    kind: str
    item: KubeObject
    refused: bool
    stored: bool
    pods: PodSource | None


class CustomManifest(Manifest, frozen=True, eq=False):
    """A custom resource with pod templates. Simulations omit it.

    Attributes:
        templates: its pod templates.
    """

    templates: Sequence[PodSource] = ()


class SchedulerConfiguration(LintSubject, frozen=True, eq=False):
    """A KubeSchedulerConfiguration, on its own or in a ConfigMap.

    Paths start at the configuration itself, as in ``profiles[0].pluginConfig[0].args.defaultConstraints[0]``.

    Attributes:
        loaded: the loaded profiles; None if kube-scheduler rejects the configuration.
    """

    loaded: Configuration | None


@dataclass
class TrialEffort:
    """The remaining budget of a run for trial placements, shared by all rules.

    Attributes:
        left: remaining work in pods and nodes; see `trial_placement`.
        left_out: labels of workloads that were not placed, in order.
    """

    left: int = 180_000
    left_out: dict[str, None] = field(default_factory=dict)


@dataclass(eq=False)
class LintInput:
    """The data that rules read, created once per run. `once_per_input` caches results derived from it.

    Attributes:
        gates: kube-scheduler's feature gates in the target Kubernetes version.
        manifests: the linted objects, in order.
        configurations: the linted configurations, with that of ``--config`` last.
        cluster: the cluster of ``--on``, which is not linted itself; None without it.
        configuration: the configuration of ``--config``; None if it is missing or invalid.
        refused: problems for which the API server or kube-scheduler rejects an object.
        unknown_plugins: unknown plugins in the configurations.
        others: objects of kinds that rules do not check.
        unknown_fields: unknown fields in the pod templates of custom resources.
        pools: node pools that can grow.
        spread_from: minimum replicas of a workload that must be spread.
        spread_over: topology key over which it must be spread; "" for any.
        effort: remaining budget for trial placements, shared by all groups of overlays in a run.
    """

    gates: Gates
    manifests: Sequence[Manifest] = ()
    configurations: Sequence[SchedulerConfiguration] = ()
    cluster: Inventory | None = None
    configuration: Configuration | None = None
    refused: Sequence[tuple[LintSubject, Problem]] = ()
    unknown_plugins: Sequence[tuple[LintSubject, Problem]] = ()
    others: Sequence[LintSubject] = ()
    unknown_fields: Sequence[tuple[LintSubject, Problem]] = ()
    pools: Sequence[NodePool] = ()
    spread_from: int = 3
    spread_over: str = ""
    effort: TrialEffort = field(default_factory=TrialEffort)
    _kinds: dict[str, list[Manifest]] = field(default_factory=dict, init=False)

    @property
    def version(self) -> KubeVersion:
        """The target Kubernetes version."""
        return self.gates.kube_version

    @cached_property
    def sources(self) -> list[tuple[Manifest, PodSource]]:
        """The linted pods and pod templates. Objects of a known controller are omitted; its template is linted."""
        found: list[tuple[Manifest, PodSource]] = [
            (each, each.pods) for each in self.manifests if each.pods is not None and not self.owners.created(each.item)
        ]
        custom = [(each, pods) for each in self.others if isinstance(each, CustomManifest) for pods in each.templates]
        return sorted([*found, *custom], key=lambda each: each[0].order) if custom else found

    @cached_property
    def owners(self) -> Owners:
        """The objects that may own others, from the manifests and the cluster."""
        there = () if self.cluster is None else self.cluster.objects()
        known = [(type(each).__name__, each) for each in there if type(each).__name__ in API_VERSIONS]
        return Owners([*known, *((each.kind, each.item) for each in self.manifests if each.kind in API_VERSIONS)])

    def of_kind(self, kind: str) -> list[Manifest]:
        """Return the manifests of one kind."""
        if not self._kinds:
            for each in self.manifests:
                self._kinds.setdefault(each.kind, []).append(each)
        return self._kinds.get(kind, [])

    @cached_property
    def nodes(self) -> list[Node]:
        """All known nodes, from the manifests and the cluster."""
        nodes = {} if self.cluster is None else {node.name: node for node in self.cluster.nodes}
        nodes |= {each.item.name: each.item for each in self.of_kind("Node") if isinstance(each.item, Node)}
        return list(nodes.values())

    @cached_property
    def inventory(self) -> Inventory:
        """The cluster with the manifests applied, as input for a simulation.

        Denied objects and short-lived Helm hooks are omitted.

        All rules share it. A rule that needs changes copies it with `dataclasses.replace` and new lists.
        """
        collection = Collection()
        for each in self._objects():
            # Each object is a path of its own, so a later duplicate replaces an earlier one, as if both were applied.
            collection.add_path([each])
        inventory = Inventory()
        collection.fill(inventory)
        if self.cluster is not None and not self.of_kind("Pod"):
            inventory.pods = list(self.cluster.pods)
            collected, inventory.places = inventory.places, Places(self.cluster.places)
            inventory.places.update(collected)
        why = ABSENT if self.cluster is None else self.cluster.unread.get("StorageClass", "")
        if why and (why != ABSENT or not inventory.storage_classes):
            inventory.unread["StorageClass"] = why
        return inventory

    def _objects(self) -> Iterator[ReadObject]:
        there = set()
        if self.cluster is not None:
            for item in self.cluster.objects():
                # Most objects are pods. Without pod manifests, `inventory` copies the cluster's pods at once.
                if isinstance(item, Pod) and not self.of_kind("Pod"):
                    continue
                key = (type(item).__name__, item.namespace, item.name)
                there.add(key)
                yield ReadObject(key[0], item, self.cluster.places.get(key, Place()))
        for each in self.manifests:
            if not each.refused and not is_passing(each.item, each.location):
                # An object that replaces another inherits its fields; copy it, so that the manifest stays unchanged.
                taken = (each.kind, each.item.namespace, each.item.name) in there
                item = copy.deepcopy(each.item) if taken else each.item
                yield ReadObject(each.kind, item, each.location.rough(each.label))


_KEPT: WeakKeyDictionary[LintInput, dict[Callable[[LintInput], Any], Any]] = WeakKeyDictionary()
"""Input → function of `once_per_input` → its result."""


def once_per_input(find: Callable[[LintInput], T]) -> Callable[[LintInput], T]:
    """Return the function with its results cached per input, as long as the input is alive."""

    @wraps(find)
    def kept(given: LintInput) -> T:
        results = _KEPT.setdefault(given, {})
        if find not in results:
            results[find] = find(given)
        found: T = results[find]
        return found

    return kept
