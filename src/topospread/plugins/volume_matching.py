"""Which volume that is there already a claim would be bound to, seen from each node; it binds nothing.

Source: k8s.io/component-helpers/storage/volume/pv_helpers.go (``FindMatchingVolume``): a volume that is promised to the
claim, else the smallest that fits and can be reached from the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key

import numpy as np

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.quantity import Quantity, parse_quantity
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim
from topospread.cluster.arrays import Bools, Ints, Rows

from .interface import length
from .pod_volumes import claim_class
from .volume_catalog import ZERO, VolumeCatalog

NO_VOLUME = -1


class MatchingError(ValueError):
    """A claim for which kube-scheduler cannot look for volumes, in its words."""


def requested(claim: PersistentVolumeClaim) -> Quantity:
    """The storage a claim asks for, 0 when it does not say."""
    resources = claim.spec.resources
    amount = (resources.requests or {}).get("storage") if resources is not None else None
    return ZERO if amount is None else parse_quantity(amount)


def by_size(claims: Iterable[PersistentVolumeClaim]) -> list[PersistentVolumeClaim]:
    """Claims, those that ask for less first."""
    return sorted(claims, key=cmp_to_key(_compare))


def _compare(one: PersistentVolumeClaim, other: PersistentVolumeClaim) -> int:
    return requested(one).compare(requested(other))


def is_promised(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume is meant for the claim (``IsVolumeBoundToClaim``)."""
    reference = volume.spec.claim_ref
    if reference is None or (reference.namespace or "", reference.name or "") != (claim.namespace, claim.name):
        return False
    return not reference.uid or reference.uid == (claim.metadata.uid or "")


class Candidates:
    """The volumes that a claim could be bound to from some node.

    Args:
        attributes_classes: claims and volumes have a VolumeAttributesClass, which has to agree (since 1.34).

    Attributes:
        volumes: those promised to the claim, then the others by size.

    Raises:
        MatchingError: kube-scheduler fails on the claim.
    """

    def __init__(self, claim: PersistentVolumeClaim, catalog: VolumeCatalog, *, attributes_classes: bool) -> None:
        self.claim = claim
        self.catalog = catalog
        selector = _selector(claim)
        wanted = (claim.spec.volume_attributes_class_name or "") if attributes_classes else None
        least = requested(claim)
        promised: list[PersistentVolume] = []
        free: list[PersistentVolume] = []
        for size, volume in catalog.of_class(claim_class(claim)):
            reference = volume.spec.claim_ref
            if (reference is not None and not is_promised(volume, claim)) or size.compare(least) < 0:
                continue
            if not _suits(volume, claim, wanted):
                continue
            if reference is not None:
                promised.append(volume)
            elif _is_free(volume, claim, selector):
                free.append(volume)
        self.promised = len(promised)
        self.volumes = [*promised, *free]
        self.place_of = {volume.name: place for place, volume in enumerate(self.volumes)}

    def choose(self, rows: Rows, taken: Sequence[Choice] = ()) -> Choice:
        """The volume for each node; ``taken``: what the pod's other claims have chosen on the same rows."""
        choice = Choice(self, rows, np.full(length(rows), NO_VOLUME, dtype=np.int64))
        undecided = np.ones(length(rows), dtype=np.bool_)
        for place in range(len(self.volumes)):
            if place < self.promised:
                choice.take_promised(place, undecided, taken)
            else:
                choice.take(place, undecided, taken)
            if not undecided.any():
                break
        return choice


@dataclass(frozen=True, slots=True)
class Choice:
    """The volumes chosen for a claim.

    Attributes:
        places: for each node the volume's place among the candidates, NO_VOLUME for none, int64[rows].
    """

    candidates: Candidates
    rows: Rows
    places: Ints

    def has(self, volume: PersistentVolume) -> Bools | None:
        """Where a volume is the one chosen, bool[rows]; ``None`` for nowhere."""
        place = self.candidates.place_of.get(volume.name)
        return None if place is None else self.places == place

    def take(self, place: int, undecided: Bools, taken: Sequence[Choice]) -> None:
        """Let the nodes that have no volume yet take this one."""
        catalog, volume = self.candidates.catalog, self.candidates.volumes[place]
        few = catalog.few_rows(volume) if isinstance(self.rows, slice) else None
        if few is not None and not taken:
            for row in few:
                if undecided[row]:
                    self.places[row] = place
                    undecided[row] = False
            return
        takers = undecided & catalog.reached(volume, self.rows) & ~_taken(volume, taken, undecided)
        self.places[takers] = place
        undecided[takers] = False

    def take_promised(self, place: int, undecided: Bools, taken: Sequence[Choice]) -> None:
        """A volume that is promised to the claim is taken, or none is."""
        volume = self.candidates.volumes[place]
        decided = undecided & ~_taken(volume, taken, undecided)
        self.places[decided & self.candidates.catalog.reached(volume, self.rows)] = place
        undecided[decided] = False


def _taken(volume: PersistentVolume, taken: Sequence[Choice], like: Bools) -> Bools:
    result = np.zeros_like(like)
    for other in taken:
        where = other.has(volume)
        if where is not None:
            result |= where
    return result


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim, attributes_class: str | None) -> bool:
    """What is asked even of a volume that is promised to the claim."""
    if (volume.spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem"):
        return False
    if attributes_class is not None and (volume.spec.volume_attributes_class_name or "") != attributes_class:
        return False
    return volume.metadata.deletion_timestamp is None


def _is_free(volume: PersistentVolume, claim: PersistentVolumeClaim, selector: Selector | None) -> bool:
    """What is asked of a volume that is promised to nobody."""
    if volume.status is None or volume.status.phase != "Available":
        return False
    if selector is not None and not selector.matches(volume.labels):
        return False
    return set(claim.spec.access_modes or ()) <= set(volume.spec.access_modes or ())


def _selector(claim: PersistentVolumeClaim) -> Selector | None:
    if claim.spec.selector is None:
        return None
    try:
        return Selector.from_label_selector(claim.spec.selector)
    except InvalidSelectorError as error:
        words = f"error creating internal label selector for claim: {claim.namespace}/{claim.name}: {error}"
        raise MatchingError(words) from error
