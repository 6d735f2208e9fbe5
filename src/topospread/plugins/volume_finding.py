"""Filter and score of VolumeBinding: volumes or provisioning on each node for a pod's unbound claims.

Source: plugins/volumebinding/binder.go (``FindPodVolumes``), scorer.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from topospread.api.labels import InvalidSelectorError, Requirement
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from topospread.cluster import NodeTable
from topospread.cluster.arrays import Bools, Ints, Rows
from topospread.config.args import ShapePoint
from topospread.config.version_rules import by_gates, by_version, gated, minor_version, since
from topospread.config.versions import KubeVersion

from .csi_migration import InTree, TranslationError, handle, has_moved, in_tree_plugin, translated_affinity
from .interface import UNRESOLVABLE, PluginError, Scope, Status, length, numbers
from .node_matching import LabelMask, Mask, all_of, any_of
from .pod_volumes import NO_PROVISIONER, is_assumed, reach_mask, selected_node, storage_class_of
from .resource_scoring import RequestedToCapacityRatio, rounded
from .storage_capacity import EnoughCapacity, published_capacity
from .volume_catalog import VolumeCatalog
from .volume_matching import NO_VOLUME, Candidates, Choice, MatchingError, by_size, refuse_attributes_class, requested

REASON_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
REASON_CONFLICT_UNTIL_1_32 = "node(s) had volume node affinity conflict"
REASON_NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
REASON_NO_SPACE = "node(s) did not have enough free storage"
REASON_GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
_CONFLICT, _NONE, _SPACE, _GONE, _ERROR = 1, 2, 4, 8, 16
_FEW = 16
_REFUSED_SINCE = KubeVersion(1, 31)


@dataclass(frozen=True, slots=True)
class VolumeBindingRules:
    """The differences between Kubernetes versions.

    Attributes:
        shape: score by utilisation; empty if storage is not scored (gate VolumeCapacityPriority, off; since 1.33
            StorageCapacityScoring, on since 1.37).
        minor: minor version, which determines the in-tree volumes that CSI drivers handle.
    """

    shape: tuple[ShapePoint, ...] = ()
    attributes_classes: bool = since(
        "1.31",
        "A volume that names a VolumeAttributesClass matches only claims that name it, and no claim while the "
        "gate VolumeAttributesClass is off.",
    )
    refuses_attributes_classes: bool = by_gates(
        lambda gates: gates.kube_version >= _REFUSED_SINCE and not gates.enabled("VolumeAttributesClass"),
        {"1.31": "While that gate is off, until 1.33, a pod fails if its unbound claim names such a class."},
    )
    minor: int = minor_version()
    checks_capacity: bool = gated("CSIStorageCapacity")
    scores_capacity: bool = gated("StorageCapacityScoring")
    maximum_size: bool = since("1.21", "A CSIStorageCapacity's maximumVolumeSize, if set, replaces its capacity.")
    lost_claims: bool = since("1.23", "A claim without its volume rejects the pod as a whole.")
    ephemeral_words: bool = since(
        "1.23",
        "The reason for a missing or foreign claim of an ephemeral volume is `waiting for ephemeral volume "
        'controller to create the persistentvolumeclaim "NAME"`.',
    )
    names_nodes: bool = by_version(
        {"1.18": False, "1.27": True, "1.30": False},
        {
            "1.27": "PreFilter limits the nodes to those of the pod's local volumes.",
            "1.30": "PreFilter no longer limits the nodes to those of local volumes; Filter rejects the others.",
        },
    )
    reason_conflict: str = by_version(
        {"1.18": REASON_CONFLICT_UNTIL_1_32, "1.33": REASON_CONFLICT},
        {"1.33": "The reason for an unusable volume is `node(s) didn't match PersistentVolume's node affinity`."},
    )


class PodVolumeClaims(msgspec.Struct):
    """A pod's claims: bound claims, and claims that wait for their first pod."""

    bound: list[PersistentVolumeClaim] = []
    waiting: list[PersistentVolumeClaim] = []


class VolumesFound(msgspec.Struct):
    """The volumes found for claims on some nodes.

    Attributes:
        codes: 0 if each claim has or can get a volume on the node, else one bit per reason, int64[rows].
        choices: chosen volumes for each claim that waits for its first pod, smallest claim first.
    """

    codes: Ints
    choices: list[Choice]


class FindVolumes:
    """The Filter extension point.

    Raises:
        PluginError: by `status`, if kube-scheduler fails on the node.
    """

    scope = Scope.NODE

    def __init__(self, claims: PodVolumeClaims, catalog: VolumeCatalog, rules: VolumeBindingRules) -> None:
        self._catalog = catalog
        self._cluster = catalog.cluster
        self._rules = rules
        self._errors: list[str] = []
        self._whole: tuple[int, VolumesFound] | None = None
        volumes = self._cluster.objects.persistent_volumes
        self._bound = [volumes.get(claim.spec.volume_name or "") for claim in claims.bound]
        self._selected = [claim for claim in claims.waiting if selected_node(claim) is not None]
        waiting = by_size(claim for claim in claims.waiting if selected_node(claim) is None)
        self._provisions = {id(claim): self._provision(claim) for claim in claims.waiting}
        self._matching_error = 0
        self._candidates: list[Candidates] = []
        try:
            for claim in waiting:
                if rules.refuses_attributes_classes:
                    refuse_attributes_class(claim)
                found = Candidates(claim, catalog, attributes_classes=rules.attributes_classes)
                self._candidates.append(found)
        except MatchingError as error:
            self._matching_error = self._error(str(error))

    @property
    def may_bind(self) -> bool:
        """True if there are volumes that a claim could be bound to."""
        return any(each.volumes for each in self._candidates)

    @property
    def may_score(self) -> bool:
        """True if Score can differ from 0: there are volumes to choose, or there is published capacity."""
        published = any(each.capacity is not None for each in self._provisions.values())
        return self.may_bind or (self._rules.scores_capacity and published)

    @property
    def may_fail(self) -> bool:
        """True if the plugin has failed so far, on a claim or on a node."""
        return bool(self._errors)

    def filter(self, rows: Rows) -> Ints:
        """Return 0 for nodes where each claim has or can get a volume, else a code, int64[rows]."""
        return self.find(rows).codes

    def find(self, rows: Rows) -> VolumesFound:
        """Return the volumes for some nodes. For many nodes, compute all nodes once and cache the result."""
        if isinstance(rows, slice):
            return self._everywhere()
        if len(rows) > _FEW and self.may_bind:
            whole = self._everywhere()
            choices = [Choice(each.candidates, rows, each.places[rows]) for each in whole.choices]
            return VolumesFound(whole.codes[rows], choices)
        return self._find(rows)

    def _everywhere(self) -> VolumesFound:
        """Return the volumes for all nodes, cached until the next change for the score."""
        now = self._cluster.journal.stamp
        if self._whole is None or self._whole[0] != now:
            self._whole = (now, self._find(slice(0, self._cluster.nodes.size)))
        whole = self._whole[1]
        return VolumesFound(whole.codes.copy(), whole.choices)

    def _find(self, rows: Rows) -> VolumesFound:
        codes = self._check_bound(rows)
        failed = codes >= _ERROR
        here = self._selected_here(rows)
        choices = self._choose(rows)
        codes[~failed] |= self._check_waiting(rows, here, choices)[~failed]
        return VolumesFound(codes, choices)

    def status(self, code: int) -> Status:
        """Return the reasons of a code, in kube-scheduler's order."""
        if code >= _ERROR:
            raise PluginError(f'running "VolumeBinding" filter plugin: {self._errors[code // _ERROR - 1]}')
        words = (
            (_CONFLICT, self._rules.reason_conflict),
            (_NONE, REASON_NO_VOLUME),
            (_SPACE, REASON_NO_SPACE),
            (_GONE, REASON_GONE),
        )
        return Status(UNRESOLVABLE, tuple(reason for bit, reason in words if code & bit))

    def _error(self, words: str) -> int:
        if words not in self._errors:
            self._errors.append(words)
        return _ERROR * (self._errors.index(words) + 1)

    def _check_bound(self, rows: Rows) -> Ints:
        """Return a code for each node by its first bound claim with an unusable volume (``checkBoundClaims``)."""
        codes = np.zeros(length(rows), dtype=np.int64)
        for volume in self._bound:
            if volume is None:
                codes[codes == 0] = _GONE
                break
            codes = np.where(codes == 0, self._reach_codes(volume, rows), codes)
        return codes

    def _reach_codes(self, volume: PersistentVolume, rows: Rows) -> Ints:
        reached = self._catalog.reached(volume, rows)
        codes = np.where(reached, 0, _CONFLICT).astype(np.int64)
        plugin = in_tree_plugin(volume.spec)
        if plugin is None:
            return codes
        moved = self._moved(plugin, rows)
        if not moved.any():
            return codes
        try:
            handle(volume)
        except TranslationError as error:
            return np.where(moved, self._error(f"could not translate pv: {error}"), codes)
        mask = reach_mask(translated_affinity(volume, plugin), self._cluster.nodes)
        passes = np.ones(length(rows), dtype=np.bool_) if mask is None else mask(rows)
        return np.where(moved, np.where(passes, 0, _CONFLICT), codes)

    def _moved(self, plugin: InTree, rows: Rows) -> Bools:
        names, csi_nodes = self._cluster.nodes.names, self._cluster.objects.csi_nodes
        found = [has_moved(plugin, csi_nodes.get(names[row]), self._rules.minor) for row in numbers(rows).tolist()]
        return np.array(found, dtype=np.bool_)

    def _selected_here(self, rows: Rows) -> Bools:
        """Return whether each node is the selected node of every claim that has one, bool[rows]."""
        here = np.ones(length(rows), dtype=np.bool_)
        for claim in self._selected:
            here &= numbers(rows) == self._cluster.nodes.row_of.get(selected_node(claim) or "", -1)
        return here

    def _choose(self, rows: Rows) -> list[Choice]:
        choices: list[Choice] = []
        for candidates in self._candidates:
            choices.append(candidates.choose(rows, choices))
        return choices

    def _check_waiting(self, rows: Rows, here: Bools, choices: Sequence[Choice]) -> Ints:
        """Return 0 for nodes where each waiting claim can get a volume, else a code, int64[rows]."""
        if self._matching_error:
            return np.where(here, self._matching_error, _NONE)
        codes = np.where(here, 0, _NONE).astype(np.int64)
        for claim in self._selected:
            codes = np.where(codes == 0, self._provisions[id(claim)].codes(rows), codes)
        for choice in choices:
            lacking = (codes == 0) & (choice.places == NO_VOLUME)
            if lacking.any():
                codes = np.where(lacking, self._provisions[id(choice.candidates.claim)].codes(rows), codes)
        return codes

    def _provision(self, claim: PersistentVolumeClaim) -> Provision:
        objects = self._cluster.objects
        storage_class = objects.storage_classes.get(storage_class_of(claim))
        if storage_class is None and is_assumed(claim, objects):
            return Provision(None)
        if storage_class is None or storage_class.provisioner in ("", NO_PROVISIONER):
            return Provision(any_of([]))
        nodes = self._cluster.nodes
        capacity = None
        if self._rules.checks_capacity:
            maximum_size = self._rules.maximum_size
            capacity = published_capacity(claim, storage_class, objects, nodes, maximum_size=maximum_size)
        return Provision(topology_mask(storage_class, nodes), capacity)

    def provisioned(self, rows: Rows) -> Iterator[tuple[PersistentVolumeClaim, EnoughCapacity, Bools]]:
        """Yield (claim, published capacity, nodes on which the claim's volume would be provisioned, bool[rows])."""
        if not self._rules.scores_capacity:
            return
        here = self._selected_here(rows)
        places: dict[int, Bools] = {id(claim): here for claim in self._selected}
        for choice in self.find(rows).choices:
            places[id(choice.candidates.claim)] = here & (choice.places == NO_VOLUME)
        for claim in [*self._selected, *(each.claim for each in self._candidates)]:
            capacity = self._provisions[id(claim)].capacity
            if capacity is not None:
                yield claim, capacity, places[id(claim)]


class Provision(msgspec.Struct, frozen=True):
    """The nodes where a volume can be provisioned.

    Attributes:
        allowed: nodes in the topologies that the class allows; ``None`` for all nodes.
        capacity: published capacity; ``None`` if it is not checked.
    """

    allowed: Mask | None
    capacity: EnoughCapacity | None = None

    def codes(self, rows: Rows) -> Ints:
        """Return 0 for nodes where a volume can be provisioned, else a code (``checkVolumeProvisions``)."""
        codes = np.zeros(length(rows), dtype=np.int64)
        if self.allowed is not None:
            codes[~self.allowed(rows)] = _NONE
        if self.capacity is not None:
            codes[(codes == 0) & ~self.capacity.enough(rows)] = _SPACE
        return codes


def topology_mask(storage_class: StorageClass, nodes: NodeTable) -> Mask | None:
    """Return the rows in the topologies that a class allows; ``None`` for all (``MatchTopologySelectorTerms``)."""
    terms = storage_class.allowed_topologies
    if not terms:
        return None
    masks: list[Mask] = []
    for term in terms:
        try:
            wanted = [Requirement.checked(each.key, "In", each.values) for each in term.match_label_expressions or ()]
        except InvalidSelectorError:
            continue
        if wanted:
            masks.append(all_of([LabelMask(requirement, nodes) for requirement in wanted]))
    return any_of(masks)


class VolumeScore:
    """The score: the mean over classes of the shape's score for the used share of the chosen volumes.

    If no volume is chosen on a node, some versions use the published capacity. A node without either gets 0
    (``buildScorerFunction``).
    """

    scope = Scope.NODE

    def __init__(self, finder: FindVolumes, shape: Sequence[ShapePoint]) -> None:
        self._finder = finder
        self._shape = RequestedToCapacityRatio(shape)

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Return scores from 0 to 100, int64[rows]."""
        total = np.zeros(length(rows), dtype=np.int64)
        classes = np.zeros(length(rows), dtype=np.int64)
        chosen = self._by_class(rows)
        without = ~np.any([np.zeros(length(rows), dtype=np.bool_), *(each.chosen for each in chosen.values())], axis=0)
        for sums in (*chosen.values(), *self._published(rows, without).values()):
            over = (sums.had == 0) | (sums.wanted > sums.had)
            utilisation = np.where(over, 100, sums.wanted * 100 // np.where(over, 1, sums.had))
            total += np.where(sums.chosen, self._shape.at(utilisation), 0)
            classes += sums.chosen
        return rounded(total / np.maximum(classes, 1))

    def _by_class(self, rows: Rows) -> dict[str, _Sums]:
        sums: dict[str, _Sums] = {}
        for choice in self._finder.find(rows).choices:
            volumes = choice.candidates.volumes
            if not volumes:
                continue
            size = requested(choice.candidates.claim).value()
            sizes = np.array([stock.size.value() for stock in volumes], dtype=np.int64)
            names = np.array([stock.volume.spec.storage_class_name or "" for stock in volumes])
            for name in sorted(set(names.tolist())):
                here = (choice.places != NO_VOLUME) & (names == name)[choice.places]
                each = sums.setdefault(name, _Sums(length(rows)))
                each.chosen |= here
                each.wanted += np.where(here, size, 0)
                each.had += sizes[choice.places] * here
        return sums

    def _published(self, rows: Rows, without: Bools) -> dict[str, _Sums]:
        """Return StorageClass → sums of new volumes' sizes and of published capacity, for nodes in ``without``."""
        sums: dict[str, _Sums] = {}
        for claim, capacity, places in self._finder.provisioned(rows):
            here = places & without
            each = sums.setdefault(claim.spec.storage_class_name or "", _Sums(length(rows)))
            each.chosen |= here
            each.wanted += np.where(here, requested(claim).value(), 0)
            each.had = np.where(here, capacity.size(rows), each.had)
        return sums


class _Sums:
    """Bytes of one StorageClass on each node: of claims (``wanted``), and of their volumes or pools (``had``)."""

    def __init__(self, rows: int) -> None:
        self.chosen: Bools = np.zeros(rows, dtype=np.bool_)
        self.wanted: Ints = np.zeros(rows, dtype=np.int64)
        self.had: Ints = np.zeros(rows, dtype=np.int64)
