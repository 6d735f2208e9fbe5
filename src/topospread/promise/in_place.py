"""Edit manifests in place to apply designs. Comments and layout stay, and each new text is parsed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from topospread.api.inventory import ObjectKey
from topospread.lint.fixing import FixedText, TextEditor
from topospread.lint.lint_input import LintSubject, Manifest
from topospread.lint.problem import FieldEdit
from topospread.lint.reading import Read
from topospread.sources.positions import Path, format_path, parse_path
from topospread.sources.text import Text

_ATOMIC = ("labelSelector",)
"""Mappings that server-side apply replaces as a whole, without merging their fields."""


@dataclass
class _Changes:
    """The changes of one design in one text."""

    edits: list[tuple[LintSubject, Sequence[FieldEdit]]] = field(default_factory=list)
    added: list[Mapping[str, Any]] = field(default_factory=list)


_Unit = dict[str, _Changes]
"""Name of a text → its changes for one design."""


def edited(read: Read, designs: Mapping[ObjectKey, Sequence[Mapping[str, Any]]]) -> tuple[list[FixedText], list[str]]:
    """Return the texts with the designs applied, and a reason for each design that cannot be applied.

    Args:
        read: the manifests.
        designs: workload → the objects of its design, as for server-side apply.
    """
    manifests: dict[ObjectKey, Manifest] = {
        (each.kind, each.item.namespace, each.item.name): each for each in read.manifests
    }
    units: dict[ObjectKey, _Unit] = {}
    left: list[str] = []
    for key, objects in designs.items():
        name = f"{key[1]}/{key[2]}"
        manifest = manifests.get(key)
        if manifest is None:
            left.append(f"{name}: no manifest of -f holds the {key[0]}")
        elif manifest.location.text.origins is not None:
            left.append(f"{name}: {manifest.location.text.name} is rendered; use --out")
        else:
            units[key] = _unit(manifest, manifests, objects)
    texts = _made(read, list(units.values()))
    if texts is None:
        good = {key: unit for key, unit in units.items() if _made(read, [unit]) is not None}
        texts = _made(read, list(good.values())) or {}
        left += [
            f"{key[1]}/{key[2]}: its text cannot be edited without a change elsewhere; use --out"
            for key in units
            if key not in good or not texts
        ]
    return [
        FixedText(source, text.data.decode(), texts[text.name].data.decode())
        for source, text in read.texts
        if text.name in texts
    ], left


def _unit(manifest: Manifest, manifests: Mapping[ObjectKey, Manifest], objects: Sequence[Mapping[str, Any]]) -> _Unit:
    unit: _Unit = {}
    for each in objects:
        metadata = dict(each["metadata"])
        there = manifests.get((each["kind"], metadata["namespace"], metadata["name"]))
        if there is not None and there.location.text.origins is None:
            changes = unit.setdefault(there.location.text.name, _Changes())
            wanted = {"metadata": {name: value for name, value in metadata.items() if name == "annotations"}}
            wanted |= {"spec": each["spec"]} if "spec" in each else {}
            changes.edits.append((there, list(_edits(there.value, wanted, ()))))
            continue
        if not (manifest.value.get("metadata") or {}).get("namespace"):
            del metadata["namespace"]
        unit.setdefault(manifest.location.text.name, _Changes()).added.append({**each, "metadata": metadata})
    return unit


def _made(read: Read, units: Sequence[_Unit]) -> dict[str, Text] | None:
    """Return the texts with all changes applied; None if one cannot be applied."""
    found: dict[str, Text] = {}
    for _, text in read.texts:
        own = [unit[text.name] for unit in units if text.name in unit]
        edits = [edit for each in own for edit in each.edits if edit[1]]
        added = [item for each in own for item in each.added]
        if not edits and not added:
            continue
        editor = TextEditor(text, read)
        after = editor.made(edits, added)
        if after is None or editor.left:
            return None
        found[text.name] = after
    return found


def _edits(value: Mapping[str, Any], wanted: Mapping[str, Any], path: Path) -> Iterator[FieldEdit]:
    """Yield the edits that give plain data the wanted fields, like an apply."""
    for name, new in wanted.items():
        way, old = (*path, name), value.get(name)
        if name not in value:
            yield FieldEdit("add", format_path(way), new)
        elif isinstance(old, Mapping) and isinstance(new, Mapping) and name not in _ATOMIC:
            yield from _edits(old, new, way)
        elif name == "topologySpreadConstraints" and isinstance(old, list):
            yield from _edits_of_constraints(old, new, way)
        elif isinstance(old, list) and isinstance(new, list) and new[: len(old)] == old:
            yield from (FieldEdit("add", f"{format_path(way)}[-]", each) for each in new[len(old) :])
        elif old != new:
            yield FieldEdit("replace", format_path(way), new)


def replacements(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path, the old and the new value of each field of plain data that an apply replaces."""
    for each in _edits(value, wanted, ()):
        old: Any = value
        if each.op == "replace":
            for step in parse_path(each.path):
                old = old[step]
            yield each.path, old, each.value


def _edits_of_constraints(old: Sequence[Any], new: Sequence[Mapping[str, Any]], path: Path) -> Iterator[FieldEdit]:
    def identity(constraint: Mapping[str, Any]) -> tuple[Any, Any]:
        return constraint.get("topologyKey"), constraint.get("whenUnsatisfiable")

    there = {identity(each): at for at, each in enumerate(old)}
    # Fields of the last item come before a new item in the text.
    for each in sorted(new, key=lambda each: identity(each) not in there):
        at = there.get(identity(each))
        if at is None:
            yield FieldEdit("add", f"{format_path(path)}[-]", each)
        else:
            yield from _edits(old[at], each, (*path, at))
