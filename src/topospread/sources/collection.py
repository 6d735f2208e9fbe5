"""Collect the objects of all paths. Objects in later paths replace objects with the same name."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, KeysView
from typing import Any

from topospread.api.inventory import ABSENT, Inventory, ObjectKey
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.taints import with_taint_of_cordon
from topospread.api.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet
from topospread.errors import DuplicateError, Place
from topospread.text import listed

from .declared_promises import DeclarationPlaces
from .objects import ReadObject, named

_NAMES_SHOWN = 5
_GIVES = " gives"
_SCALED = (Deployment, ReplicaSet, StatefulSet, ReplicationController)


class Places(dict[ObjectKey, Place]):
    """Object key → place. Objects of a list share one place in memory; a lookup adds the object's name."""

    def __getitem__(self, key: ObjectKey) -> Place:
        return named(super().__getitem__(key), *key)

    def get(self, key: ObjectKey, default: Any = None) -> Any:
        """Return the place of an object."""
        place = super().get(key)
        return default if place is None else named(place, *key)

    def copy(self) -> Places:
        """Return a copy."""
        return Places(self)


class _Origins:
    """The origins of one path's objects, in order. Objects of a list share an entry and differ in their position."""

    def __init__(self) -> None:
        self._positions = array("i")
        self._firsts: list[ReadObject] = []
        self._starts: list[int] = []

    def add(self, read: ReadObject) -> None:
        """Add the next object."""
        if not self._firsts or read.rough is not self._firsts[-1].rough:
            self._firsts.append(read)
            self._starts.append(len(self._positions))
        self._positions.append(-1 if read.position is None else read.position)

    def of(self, number: int, item: KubeObject) -> ReadObject:
        """Return `item` with the origin of the object with index `number`, from 0."""
        position = self._positions[number]
        first = self._firsts[bisect_right(self._starts, number) - 1]
        return first._replace(item=item, position=None if position < 0 else position)


class Collection:
    """Objects by kind, namespace and name, in the order of their first occurrence."""

    def __init__(self) -> None:
        self.objects: dict[ObjectKey, KubeObject] = {}
        self._places = Places()
        self._promising: dict[ObjectKey, ReadObject] = {}
        self._replaced: dict[tuple[str, str], list[str]] = {}
        self._unnamed = 0

    def add_path(self, found: Iterable[ReadObject]) -> KeysView[ObjectKey]:
        """Add the objects of one path, and return their keys. Raise DuplicateError if one occurs twice."""
        is_first, origins = not self.objects, _Origins()
        own: dict[ObjectKey, KubeObject] = self.objects if is_first else {}
        for each in found:
            metadata = each.item.metadata
            if metadata.name:
                key = place_key = (each.kind, metadata.namespace or "", metadata.name)
                if key in own:
                    raise _twice(origins.of(list(own).index(key), own[key]), each)
            else:
                self._unnamed += 1
                place_key = (each.kind, metadata.namespace or "", metadata.generate_name or "")
                key = (*place_key[:2], f"{metadata.generate_name}{self._unnamed}*")
            if not is_first and key in self.objects:
                self._replace(key, each)
            own[key] = self.objects[key] = each.item
            self._places[place_key] = each.rough
            origins.add(each)
            annotations = metadata.annotations
            if annotations is not None and annotations.declares:
                self._promising[key] = each
            elif self._promising:
                self._promising.pop(key, None)
        return own.keys()

    def _replace(self, key: ObjectKey, later: ReadObject) -> None:
        where = (str(_where(self._places[key])), str(_where(later.rough)))
        self._replaced.setdefault(where, []).append(later.place.object)
        inherit(self.objects[key], later.item)

    def notes(self) -> list[str]:
        """Return notes about replaced objects."""
        return [
            f"{listed(names, _NAMES_SHOWN)} of {later} replace{'s' * (len(names) == 1)} what {earlier}{_GIVES}"
            for (earlier, later), names in self._replaced.items()
        ]

    def fill(self, inventory: Inventory) -> None:
        """Add all objects to an inventory, with their places. The key of an unnamed object has its generateName."""
        lists = {kind: getattr(inventory, how.attribute) for kind, how in KINDS.items()}
        for key, item in self.objects.items():
            lists[key[0]].append(item)
        declarations = DeclarationPlaces()
        for key in filter(self._promising.__contains__, self.objects):
            declared = declarations.of(self._promising[key])
            if declared is not None:
                inventory.declared[key] = declared
        inventory.places = self._places


def is_of_replacement(note: str) -> bool:
    """Return whether a note of an inventory is about replaced objects."""
    return note.endswith(_GIVES)


def applied(earlier: Inventory, later: Inventory) -> Inventory:
    """Return `earlier` with the objects of `later` applied like by ``kubectl apply`` (`inherit`)."""
    collection = Collection()
    for inventory in (earlier, later):
        collection.add_path(
            ReadObject(kind, item, inventory.places.get(_key(kind, item)) or Place(object=f"{kind} {item.name}"))
            for kind, how in KINDS.items()
            for item in getattr(inventory, how.attribute)
        )
    made = Inventory(warnings=list(later.warnings), notes=list(later.notes), skipped=earlier.skipped)
    made.unmodelled = earlier.unmodelled | later.unmodelled
    collection.fill(made)
    made.declared = earlier.declared | later.declared
    there = {kind for kind, how in KINDS.items() if getattr(made, how.attribute)}
    made.unread = {kind: why for kind, why in earlier.unread.items() if why != ABSENT or kind not in there}
    return made


def _key(kind: str, item: KubeObject) -> ObjectKey:
    return kind, item.namespace, item.name or item.metadata.generate_name or ""


def inherit(earlier: KubeObject, later: KubeObject) -> None:
    """Copy the fields that ``kubectl apply`` keeps: identity, status, the spec of a bound pod, and scaled replicas.

    ``kubectl apply`` changes only the manifest's fields. The cluster sets the uid, creation time, status, and replicas
    that the manifest leaves to an autoscaler. A cordoned node gets the taint that a controller adds. The API server
    denies changes of a bound pod's scheduling fields, so a bound pod keeps its spec.
    """
    old, new = earlier.metadata, later.metadata
    stored = new.is_stored
    new.creation_timestamp = new.creation_timestamp or old.creation_timestamp
    if not new.uid:
        new.uid = old.uid
        new.resource_version = new.resource_version or old.resource_version
    keeps_status = old.uid and not stored and not _is_empty(getattr(earlier, "status", None))
    if hasattr(later, "status") and hasattr(earlier, "status") and (keeps_status or _is_empty(later.status)):
        later.status = earlier.status
    if isinstance(later, Node) and not stored:
        later.spec = with_taint_of_cordon(later).spec
    if isinstance(earlier, Pod) and isinstance(later, Pod):
        if earlier.spec.node_name and old.uid and not stored:
            later.spec = earlier.spec
        later.spec.node_name = later.spec.node_name or earlier.spec.node_name
    if old.uid and isinstance(earlier, _SCALED) and isinstance(later, _SCALED) and later.spec.replicas is None:
        later.spec.replicas = earlier.spec.replicas


def _is_empty(status: object) -> bool:
    """Return whether a status is empty; generated manifests have ``status: {}``."""
    return status is None or status == type(status)()


def _twice(first: ReadObject, second: ReadObject) -> DuplicateError:
    where = _where(first.exact_place())
    built = [each.location.text for each in (first, second) if each.location is not None and each.location.text.origins]
    if len(built) == 2 and built[0] is not built[1]:
        words = f"{built[0].name} and {built[1].name} in one path both make this object: name one of them"
        return DuplicateError(words, second.exact_place())
    return DuplicateError(f"this object is given twice in one path, first at {where}; remove one", second.exact_place())


def _where(place: Place) -> Place:
    return Place(place.source, place.document, line=place.line, column=place.column)
