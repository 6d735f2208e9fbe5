"""The input of the rules: what is linted, and the cluster it is compared with. `reading` reads it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pools import NodePool
from topospread.config.gates import Gates
from topospread.config.profile import Configuration
from topospread.config.versions import KubeVersion
from topospread.errors import Place
from topospread.sources.collection import Collection
from topospread.sources.hooks import is_passing
from topospread.sources.locations import Location
from topospread.sources.objects import ReadObject

from .pod_source import PodSource
from .problem import Problem

T = TypeVar("T")


class LintSubject(msgspec.Struct, frozen=True, eq=False):
    """Something that is linted, and where it stands.

    Attributes:
        location: where it stands.
        label: ``Kind namespace/name``; "" when it has no name.
        value: what stands there, as plain data; of stored pods that have a controller only their type.
        order: its position among everything that is linted, from 0.
    """

    location: Location
    label: str
    value: Mapping[str, Any]
    order: int


class Manifest(LintSubject, frozen=True, eq=False):
    """An object of the cluster: one that decodes, whether the API server would take it or not.

    Attributes:
        kind: its key in `KINDS`.
        item: the object, of today's version, with a namespace if its kind has one.
        refused: whether the API server would refuse it; simulations leave it out then.
        stored: whether an API server has stored it and set what it sets.
        pods: the pods it is or makes; None for kinds that make none.
    """

    kind: str
    item: KubeObject
    refused: bool
    stored: bool
    pods: PodSource | None


class CustomManifest(Manifest, frozen=True, eq=False):
    """An object of an unknown kind with templates of pods; simulations leave it out.

    Attributes:
        templates: its templates.
    """

    templates: Sequence[PodSource] = ()


class SchedulerConfiguration(LintSubject, frozen=True, eq=False):
    """A KubeSchedulerConfiguration, on its own or in a ConfigMap.

    Paths are given from the configuration itself, as in ``profiles[0].pluginConfig[0].args.defaultConstraints[0]``.

    Attributes:
        loaded: the profiles in force; None when kube-scheduler would not take it.
    """

    loaded: Configuration | None


@dataclass
class TrialEffort:
    """The effort left in a run for placing templates one by one, shared by all rules.

    Attributes:
        left: pods and nodes that may still be gone through; see `trial_placement`.
        left_out: labels of the workloads that were not placed, in order.
    """

    left: int = 180_000
    left_out: dict[str, None] = field(default_factory=dict)


@dataclass(eq=False)
class LintInput:
    """Everything a rule may look at. Made once a run; `once_per_input` keeps what rules derive from it.

    Attributes:
        gates: kube-scheduler's gates in the Kubernetes version that is asked about.
        manifests: the objects to be judged, in their order.
        configurations: the configurations to be judged, that of ``--config`` last.
        cluster: what ``--on`` holds: looked at and not judged; None when it is not given.
        configuration: that of ``--config``; None when it is not given or does not load.
        refused: what the API server or kube-scheduler would refuse, found while reading.
        unknown_plugins: plugins of the configurations that kube-scheduler does not have.
        others: the objects whose kind plays no part.
        unknown_fields: fields of custom resources' pods that Kubernetes does not know.
        pools: pools of nodes that could grow.
        spread_from: replicas of a workload that has to be spread.
        effort: one for all worlds of a run.
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
    effort: TrialEffort = field(default_factory=TrialEffort)
    _kinds: dict[str, list[Manifest]] = field(default_factory=dict, init=False)

    @property
    def version(self) -> KubeVersion:
        """The Kubernetes version that is asked about."""
        return self.gates.kube_version

    @cached_property
    def sources(self) -> list[tuple[Manifest, PodSource]]:
        """The pods and templates to be judged: of what an owner's template makes, only the template is."""
        found: list[tuple[Manifest, PodSource]] = [
            (each, each.pods)
            for each in self.manifests
            if each.pods is not None and each.item.metadata.controller is None
        ]
        custom = [(each, pods) for each in self.others if isinstance(each, CustomManifest) for pods in each.templates]
        return sorted([*found, *custom], key=lambda each: each[0].order) if custom else found

    def of_kind(self, kind: str) -> list[Manifest]:
        """The manifests of one kind."""
        if not self._kinds:
            for each in self.manifests:
                self._kinds.setdefault(each.kind, []).append(each)
        return self._kinds.get(kind, [])

    @cached_property
    def nodes(self) -> list[Node]:
        """Every node that is known, of the manifests and of the cluster; empty when none is given."""
        nodes = {} if self.cluster is None else {node.name: node for node in self.cluster.nodes}
        nodes |= {each.item.name: each.item for each in self.of_kind("Node") if isinstance(each.item, Node)}
        return list(nodes.values())

    @cached_property
    def inventory(self) -> Inventory:
        """The cluster with the manifests applied to it, as a simulation takes it.

        Refused ones are left out, and Helm's hooks whose pods do not stay.

        Shared by all rules: whoever needs another one makes it with `dataclasses.replace` and lists of its own.
        """
        collection = Collection()
        for each in self._objects():
            # Each is a path of its own: what is given twice is replaced, as applying both would.
            collection.add_path([each])
        inventory = Inventory()
        collection.fill(inventory)
        return inventory

    def _objects(self) -> Iterator[ReadObject]:
        there = set()
        if self.cluster is not None:
            for item in self.cluster.objects():
                key = (type(item).__name__, item.namespace, item.name)
                there.add(key)
                yield ReadObject(key[0], item, self.cluster.places.get(key, Place()))
        for each in self.manifests:
            if not each.refused and not is_passing(each.item):
                # What replaces an object inherits from it, and the manifest is to stay as it was written.
                taken = (each.kind, each.item.namespace, each.item.name) in there
                item = copy.deepcopy(each.item) if taken else each.item
                yield ReadObject(each.kind, item, each.location.rough(each.label))


_KEPT: WeakKeyDictionary[LintInput, dict[Callable[[LintInput], Any], Any]] = WeakKeyDictionary()
"""Input → function of `once_per_input` → its result."""


def once_per_input(find: Callable[[LintInput], T]) -> Callable[[LintInput], T]:
    """Return the function with its results kept, each as long as its input is in use."""

    @wraps(find)
    def kept(given: LintInput) -> T:
        results = _KEPT.setdefault(given, {})
        if find not in results:
            results[find] = find(given)
        found: T = results[find]
        return found

    return kept
