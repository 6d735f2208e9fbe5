"""The existing volume that a claim would bind, for each node.

Source: k8s.io/component-helpers/storage/volume/pv_helpers.go (``FindMatchingVolume``): a volume that names the claim,
else the smallest one that fits and is reachable from the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cmp_to_key

import msgspec
import numpy as np

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.quantity import Quantity, parse_quantity
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim
from topospread.cluster.arrays import Bools, Ints, Rows

from .interface import length
from .pod_volumes import claim_uid, storage_class_of
from .volume_catalog import ZERO, ReachableNodes, Traits, VolumeCatalog, traits_of

NO_VOLUME = -1


class MatchingError(ValueError):
    """An error of kube-scheduler in the search for a claim's volume. The message is kube-scheduler's."""


def refuse_attributes_class(claim: PersistentVolumeClaim) -> None:
    """Raise MatchingError for a claim that names a VolumeAttributesClass."""
    if claim.spec.volume_attributes_class_name:
        words = "unsupported volumeAttributesClassName is set on claim"
        gate = "when the feature-gate VolumeAttributesClass is disabled"
        raise MatchingError(f"{words} {claim.namespace}/{claim.name} {gate}")


def requested(claim: PersistentVolumeClaim) -> Quantity:
    """Return the storage that a claim requests; 0 if it is unset."""
    resources = claim.spec.resources
    amount = (resources.requests or {}).get("storage") if resources is not None else None
    return ZERO if amount is None else parse_quantity(amount)


def by_size(claims: Iterable[PersistentVolumeClaim]) -> list[PersistentVolumeClaim]:
    """Return claims sorted by requested storage, smallest first."""
    return sorted(claims, key=cmp_to_key(_compare))


def _compare(one: PersistentVolumeClaim, other: PersistentVolumeClaim) -> int:
    return requested(one).compare(requested(other))


def is_promised(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Return whether the volume names the claim (``IsVolumeBoundToClaim``)."""
    reference = volume.spec.claim_ref
    if reference is None or (reference.namespace or "", reference.name or "") != (claim.namespace, claim.name):
        return False
    return not reference.uid or reference.uid == claim_uid(claim)


class Candidates:
    """The volumes that a claim could bind on some node.

    Args:
        attributes_classes: whether the VolumeAttributesClass of claim and volume must be equal (since 1.31).

    Attributes:
        volumes: volumes that name the claim, then other volumes by size.

    Raises:
        MatchingError: if kube-scheduler fails on the claim.
    """

    def __init__(self, claim: PersistentVolumeClaim, catalog: VolumeCatalog, *, attributes_classes: bool) -> None:
        self.claim = claim
        self.catalog = catalog
        selector = selector_of(claim)
        suits = VolumeMatcher(claim, attributes_classes)
        least = requested(claim)
        promised = [
            stock
            for stock in catalog.promised(claim)
            if stock.size.compare(least) >= 0 and suits.kind(stock.traits) and is_promised(stock.volume, claim)
        ]
        free = [
            stock
            for stock in catalog.free(storage_class_of(claim), least)
            if suits.kind(stock.traits)
            and suits.access(stock.traits)
            and (selector is None or selector.matches(stock.volume.labels))
        ]
        self.promised = len(promised)
        self.volumes = [*promised, *free]
        self.place_of = {stock.volume.name: place for place, stock in enumerate(self.volumes)}

    def choose(self, rows: Rows, taken: Sequence[Choice] = ()) -> Choice:
        """Choose the volume for each node. ``taken``: choices of the pod's earlier claims for the same rows."""
        choice = Choice(self, rows, np.full(length(rows), NO_VOLUME, dtype=np.int64))
        undecided = np.ones(length(rows), dtype=np.bool_)
        left = len(undecided)
        for place, stock in enumerate(self.volumes):
            if not left:
                break
            if place < self.promised:
                left -= choice.take_promised(place, undecided, taken)
            elif stock.reachable is not None and not taken:
                left -= choice.take_at(stock.reachable, place, undecided)
            else:
                left -= choice.take(place, undecided, taken)
        return choice


class Choice(msgspec.Struct, frozen=True):
    """The volume chosen for a claim on each node.

    The ``take`` methods clear the decided nodes in ``undecided``, bool[rows], and return their number.

    Attributes:
        places: index of each node's volume in ``Candidates.volumes``, NO_VOLUME without one, int64[rows].
    """

    candidates: Candidates
    rows: Rows
    places: Ints

    def has(self, volume: PersistentVolume) -> Bools | None:
        """Return whether this volume was chosen on each node, bool[rows]; ``None`` if it is not a candidate."""
        place = self.candidates.place_of.get(volume.name)
        return None if place is None else self.places == place

    def take_at(self, reachable: ReachableNodes, place: int, undecided: Bools) -> int:
        """Assign a volume to the undecided nodes that reach it."""
        there = reachable.rows()
        if isinstance(self.rows, slice):
            takers = [row for row in there if undecided[row]]
        else:
            takers = [i for i, row in enumerate(self.rows.tolist()) if row in there and undecided[i]]
        for i in takers:
            self.places[i] = place
            undecided[i] = False
        return len(takers)

    def take(self, place: int, undecided: Bools, taken: Sequence[Choice]) -> int:
        """Assign a volume to the undecided nodes that reach it, unless another claim of the pod took it there."""
        volume = self.candidates.volumes[place].volume
        takers = undecided & self.candidates.catalog.reached(volume, self.rows) & ~_taken(volume, taken, undecided)
        self.places[takers] = place
        undecided[takers] = False
        return int(np.count_nonzero(takers))

    def take_promised(self, place: int, undecided: Bools, taken: Sequence[Choice]) -> int:
        """Choose a volume that names the claim on undecided nodes that reach it, and no volume on the others.

        Skip nodes on which an earlier claim of the pod took the volume.
        """
        volume = self.candidates.volumes[place].volume
        decided = undecided & ~_taken(volume, taken, undecided)
        self.places[decided & self.candidates.catalog.reached(volume, self.rows)] = place
        undecided[decided] = False
        return int(np.count_nonzero(decided))


def _taken(volume: PersistentVolume, taken: Sequence[Choice], like: Bools) -> Bools:
    result = np.zeros_like(like)
    for other in taken:
        where = other.has(volume)
        if where is not None:
            result |= where
    return result


class VolumeMatcher:
    """Checks a volume's traits (mode, attributes class, access modes) for a claim.

    Args:
        attributes_classes: whether the VolumeAttributesClass must be equal.
    """

    def __init__(self, claim: PersistentVolumeClaim, attributes_classes: bool) -> None:
        self._mode = claim.spec.volume_mode or "Filesystem"
        self._class = (claim.spec.volume_attributes_class_name or "") if attributes_classes else None
        self._access = frozenset(claim.spec.access_modes or ())

    def volume(self, volume: PersistentVolume) -> bool:
        """Check all traits of a volume."""
        traits = traits_of(volume)
        return self.kind(traits) and self.access(traits)

    def kind(self, traits: Traits) -> bool:
        """Check mode and attributes class. A volume that names the claim must meet these, too."""
        return traits.volume_mode == self._mode and self._class in (None, traits.attributes_class)

    def access(self, traits: Traits) -> bool:
        """Check the access modes. A volume that names the claim need not meet these."""
        return self._access <= traits.access_modes


def selector_of(claim: PersistentVolumeClaim) -> Selector | None:
    """Return the claim's selector for labels of volumes.

    Raises:
        MatchingError: if the selector is invalid.
    """
    if claim.spec.selector is None:
        return None
    try:
        return Selector.from_label_selector(claim.spec.selector)
    except InvalidSelectorError as error:
        words = f"error creating internal label selector for claim: {claim.namespace}/{claim.name}: {error}"
        raise MatchingError(words) from error
