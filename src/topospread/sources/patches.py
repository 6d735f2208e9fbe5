"""Patches of kustomizations → the place in them where a field of a rendered object was written; applies none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from .kustomizations import path_of
from .positions import Position, locate
from .source_files import SourceFiles, child_of, name_of, values_of
from .text import Text

Path = Sequence[str | int]
_AT_THE_END: Final = "-"
"""How a JSON patch names the item behind a list's last."""


class Patch(msgspec.Struct, frozen=True):
    """One entry of a kustomization.

    Attributes:
        file: where the patch stands.
        at: way to it in that file's first document, where it is written into the kustomization; None in a file of its
            own.
        documents: what it says.
        targeted: whether the kustomization says what it is for, which the patch itself need not name then.
    """

    file: str
    at: tuple[str | int, ...] | None
    documents: Sequence[Any]
    targeted: bool


def written_in(
    files: SourceFiles, kustomizations: Sequence[str], rendered: Mapping[str, Any], path: Path
) -> tuple[str, Position] | None:
    """The file of the patch that wrote a field, and the place in it; None where no patch says what was rendered.

    Args:
        files: reads them.
        kustomizations: files of the kustomizations whose patches changed the object, the last that did so first.
        rendered: the object.
        path: way to the field.
    """
    # The part of the path that exists.
    value = rendered
    steps: list[str | int] = []
    for step in path:
        value = child_of(value, step)
        if value is None:
            break
        steps.append(step)
    there = tuple(steps)
    if not there:
        return None
    for kustomization in kustomizations:
        for patch in reversed(list(_patches(files, kustomization))):
            for number, document in enumerate(patch.documents, 1):
                way = _way(document, rendered, there, targeted=patch.targeted)
                text = files.text(patch.file) if way is not None else None
                if way is None or text is None:
                    continue
                found = locate(text.data, number, way) if patch.at is None else locate(text.data, 1, patch.at)
                if found is not None:
                    return patch.file, found
    return None


def _patches(files: SourceFiles, kustomization: str) -> Iterator[Patch]:
    """The patches of a kustomization, in the order in which kustomize applies them."""
    value = next(iter(files.documents(kustomization)), None)
    value = value if isinstance(value, dict) else {}
    folder = os.path.dirname(kustomization)
    for field in ("patchesStrategicMerge", "patches", "patchesJson6902"):
        listed = value.get(field)
        for index, each in enumerate(listed if isinstance(listed, list) else ()):
            entry = {("patch" if "\n" in each else "path"): each} if isinstance(each, str) else each
            if not isinstance(entry, dict):
                continue
            path, inline = entry.get("path"), entry.get("patch")
            if isinstance(path, str):
                file = path_of(folder, path)
                yield Patch(file, None, files.documents(file), "target" in entry)
            elif isinstance(inline, str):
                at = (field, index) if isinstance(each, str) else (field, index, "patch")
                yield Patch(kustomization, at, values_of(Text(kustomization, inline.encode())), "target" in entry)


def _way(patch: Any, rendered: Mapping[str, Any], path: Path, *, targeted: bool) -> tuple[str | int, ...] | None:
    """The way in a patch to the field that stands at another way in what was rendered; None where it is not there."""
    if isinstance(patch, list):
        return _in_operations(patch, rendered, path)
    if not isinstance(patch, dict):
        return None
    meant = targeted or (patch.get("kind") == rendered.get("kind") and name_of(patch) in name_of(rendered))
    return _in_merge(patch, rendered, path) if meant else None


def _in_merge(patch: Any, rendered: Any, path: Path) -> tuple[str | int, ...] | None:
    """The way in a strategic merge patch, whose lists hold some of the items that were rendered."""
    steps: list[str | int] = []
    for step in path:
        rendered = child_of(rendered, step)
        own = step
        if isinstance(step, int) and isinstance(patch, list):
            own = next((index for index, item in enumerate(patch) if _is_part(item, rendered)), len(patch))
        patch = child_of(patch, own)
        if patch is None:
            return None
        steps.append(own)
    return tuple(steps) if _is_part(patch, rendered) else None


def _in_operations(operations: list[Any], rendered: Any, path: Path) -> tuple[str | int, ...] | None:
    """The way in a JSON patch: the last operation that wrote the field, or something around it."""
    for index in reversed(range(len(operations))):
        operation = operations[index]
        pointer = operation.get("path") if isinstance(operation, dict) else None
        if not isinstance(pointer, str) or operation.get("op") not in ("add", "replace"):
            continue
        steps = [each.replace("~1", "/").replace("~0", "~") for each in pointer.split("/")[1:]]
        below = path[len(steps) :]
        if len(steps) > len(path) or any(map(_differ, steps, path)):
            continue
        written = _in_merge(operation.get("value"), _at(rendered, path[: len(steps)]), below)
        if written is not None:
            return (index, "value", *written)
    return None


def _differ(written: str, step: str | int) -> bool:
    return written not in (str(step), _AT_THE_END) if isinstance(step, int) else written != step


def _is_part(patch: Any, rendered: Any) -> bool:
    """Return whether what a patch says stands in what was rendered."""
    if isinstance(patch, dict):
        return isinstance(rendered, dict) and all(_is_part(patch[key], rendered.get(key)) for key in patch)
    if isinstance(patch, list):
        return isinstance(rendered, list) and all(any(_is_part(each, item) for item in rendered) for each in patch)
    return bool(patch == rendered)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = child_of(value, step)
    return value
