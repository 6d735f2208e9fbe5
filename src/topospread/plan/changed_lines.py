"""Changed lines of manifests: the field, its old and new values, and its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from topospread.api.inventory import ObjectKey
from topospread.errors import Place
from topospread.lint.lint_input import Manifest
from topospread.lint.reading import Read
from topospread.lint.run import source_place
from topospread.sources.positions import Path, format_path, parse_path
from topospread.sources.revisions import State

from .immutable_fields import changed_immutable_fields

ADMISSION_POLICIES = (
    *("MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"),
    *("MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding"),
)
_ABSENT: Any = object()
_IN_POD = frozenset({"topologySpreadConstraints", "affinity"})
"""Fields of a pod spec that are compared part by part."""
_LIST_KEYS = ("topologyKey", "name", "key")
"""Fields that identify an item of a list."""


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A field that differs.

    Attributes:
        place: file and line in the new state, or in the old one if the field was removed.
        says: the change in a few words.
    """

    place: Place
    says: str

    def __str__(self) -> str:
        where = ":".join(map(str, filter(None, (self.place.source, self.place.line))))
        return f"{where}  {self.says}" if where else self.says


class ChangedLines:
    """Compares the manifests of two states.

    Args:
        states: the old and the new state.
        read: their manifests.
    """

    def __init__(self, states: Sequence[State], read: Sequence[Read]) -> None:
        self._states, self._read = states, read
        self._manifests: list[dict[ObjectKey, Manifest]] = [
            {
                (each.kind, each.item.metadata.namespace or "", each.item.metadata.name or ""): each
                for each in one.manifests
            }
            for one in read
        ]

    @property
    def removed(self) -> frozenset[ObjectKey]:
        """The objects that only the old state's manifests have."""
        return frozenset(self._manifests[0]) - frozenset(self._manifests[1])

    def refused(self) -> Iterator[tuple[ObjectKey, str, ChangedLine]]:
        """Yield the objects whose update the API server refuses, with the immutable field and its line."""
        for key, new in self._manifests[1].items():
            old = self._manifests[0].get(key)
            for path in changed_immutable_fields(old, new) if old is not None else ():
                yield key, path, ChangedLine(self._place(1, new, parse_path(path)), f"{path} is immutable")

    def of(self, key: ObjectKey, parts: Sequence[str]) -> list[ChangedLine]:
        """Return the changed lines in these parts of a workload, or in its budgets."""
        found: list[ChangedLine] = []
        for part in parts:
            kind, slash, name = part.partition("/")
            own = (kind, key[1], name) if slash else key
            found += self._lines(own, () if slash else parse_path(part))
        return list(dict.fromkeys(found))

    def of_policies(self, message: str | None = None) -> list[ChangedLine]:
        """Return the changed lines of admission policies and their bindings; only of those that a message names."""
        keys = dict.fromkeys(key for side in self._manifests[::-1] for key in side if key[0] in ADMISSION_POLICIES)
        return [each for key in keys if message is None or f"'{key[2]}'" in message for each in self._lines(key, ())]

    def _lines(self, key: ObjectKey, part: Path) -> Iterator[ChangedLine]:
        old, new = (each.get(key) for each in self._manifests)
        if old is None or new is None:
            for side, manifest, word in ((0, old, "removed"), (1, new, "added")):
                if manifest is not None:
                    yield ChangedLine(self._place(side, manifest, ()), f"{key[0]} {key[2]} {word}")
            return
        for was_at, now_at, was, now in _differences(old.value, new.value):
            if _is_in(now_at, part):
                side, manifest, path = (0, old, was_at) if now is _ABSENT else (1, new, now_at)
                yield ChangedLine(self._place(side, manifest, path), _says(manifest.value, path, was, now))

    def _place(self, side: int, manifest: Manifest, path: Path) -> Place:
        state, field = self._states[side], format_path(path)
        place = self._read[side].layouts.place(manifest.location, manifest.label, field)
        place = source_place(manifest, field, place) or place
        shown = state.shown(place.source)
        return replace(place, source=f"{state.name}:{shown}" if state.root and not side else shown)


def _is_in(path: Path, part: Path) -> bool:
    if part[-1:] == ("labels",) and path[:2] == ("spec", "selector"):
        return True
    apart = _IN_POD if part == ("spec", "template", "spec") else frozenset[str]()
    return path[: len(part)] == part and apart.isdisjoint(path[len(part) :][:1])


def _differences(old: Any, new: Any, was: Path = (), now: Path = ()) -> Iterator[tuple[Path, Path, Any, Any]]:
    """Yield (old path, new path, old value, new value) of each difference."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _differences(old.get(key, _ABSENT), new.get(key, _ABSENT), (*was, key), (*now, key))
    elif isinstance(old, list) and isinstance(new, list):
        for at, to in _pairs(old, new):
            sides = (_ABSENT if at is None else old[at], _ABSENT if to is None else new[to])
            yield from _differences(*sides, (*was, at or 0), (*now, to or 0))
    elif old != new:
        yield was, now, old, new


def _pairs(old: list[Any], new: list[Any]) -> list[tuple[int | None, int | None]]:
    """Return (old index, new index) of each item, matched by its key or else its position; None if missing."""
    for key in _LIST_KEYS:
        names = [[each.get(key) if isinstance(each, dict) else None for each in side] for side in (old, new)]
        if all(None not in side and len(set(map(str, side))) == len(side) for side in names):
            at, to = ({str(name): index for index, name in enumerate(side)} for side in names)
            if set(at) & set(to):
                return [(at.get(name), to.get(name)) for name in dict.fromkeys((*at, *to))]
    longest = max(len(old), len(new))
    return [(each if each < len(old) else None, each if each < len(new) else None) for each in range(longest)]


def _says(value: Any, path: Path, was: Any, now: Any) -> str:
    constraint, name = None, ""
    for step in path:
        if isinstance(value, dict) and "topologyKey" in value:
            constraint = value["topologyKey"]
        in_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        value = value.get(step) if isinstance(value, dict) else value[step] if in_list else None
        name = str(step) if isinstance(step, str) else name
    on = f" on {constraint}" if constraint and name != "topologyKey" else ""
    gone = was if now is _ABSENT else now
    if isinstance(gone, dict) and "topologyKey" in gone and isinstance(path[-1], int):
        name, on = "constraint", f" on {gone['topologyKey']}"
    if now is _ABSENT:
        return f"{name}{on} removed"
    if was is _ABSENT:
        return f"{name}{'' if isinstance(now, dict | list) else f' {now}'}{on} added"
    return f"{name} {_short(was)} → {_short(now)}{on}"


def _short(value: Any) -> str:
    return "…" if isinstance(value, dict | list) else "nothing" if value is None else str(value)
