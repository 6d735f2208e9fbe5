"""Recognise templates and patches for Helm or Kustomize by the other files in their folder.

Templates and patches are incomplete objects, so linting them would report fields that are filled in later. A resource
that a kustomization changes is not the object that the API server receives.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final, Literal

from topospread.sources.kustomizations import file_in, is_kustomization, kustomization_value, path_of
from topospread.sources.rendering import is_chart
from topospread.sources.roots import lies_in, repository_of

Unfinished = Literal["template", "patch", "base"]
"""Kinds of unfinished files: chart template, kustomize patch, or a resource that a kustomization changes."""

_TEMPLATES: Final = "templates"
_LEVELS: Final = 4
"""Number of parent folders that are searched for a kustomization that names a file."""

_CHANGES_NOTHING: Final = frozenset(
    {
        "apiVersion",
        "kind",
        "metadata",
        "resources",
        "bases",
        "namespace",
        "configMapGenerator",
        "secretGenerator",
        "generatorOptions",
        "images",
        "replicas",
    }
)
"""Fields of a kustomization that do not complete its resources."""


class FolderContext:
    """Facts about files' folders. Each folder is read once.

    Args:
        paths: the linted paths. For a file in a linted folder, charts and kustomizations outside the linted folders are
            ignored.
    """

    def __init__(self, paths: Sequence[str] = ()) -> None:
        self._linted = {os.path.abspath(each) for each in paths}
        self._named: dict[str, dict[str, Unfinished]] = {}
        self._charts: dict[str, bool] = {}

    def of(self, path: str) -> Unfinished | None:
        """Return the kind of an unfinished file; None for a manifest."""
        whole = os.path.abspath(path)
        folder = os.path.dirname(whole)
        parts = folder.split(os.sep)
        named = whole in self._linted
        for at, part in enumerate(parts):
            chart = os.sep.join(parts[:at])
            if part == _TEMPLATES and (named or self._is_linted(chart)) and self._is_chart(chart):
                return "template"
        repository = repository_of(folder) if named else None
        for _ in range(_LEVELS):
            is_near = named and (repository is None or lies_in(folder, repository))
            if not (is_near or self._is_linted(folder)):
                return None
            found = self._kustomized(folder).get(whole)
            if found is not None:
                return found
            folder = os.path.dirname(folder)
        return None

    def _is_linted(self, folder: str) -> bool:
        parts = folder.split(os.sep)
        return any((os.sep.join(parts[:end]) or os.sep) in self._linted for end in range(1, len(parts) + 1))

    def _is_chart(self, folder: str) -> bool:
        if folder not in self._charts:
            self._charts[folder] = is_chart(folder)
        return self._charts[folder]

    def _kustomized(self, folder: str) -> dict[str, Unfinished]:
        """Return the files that a folder's kustomization names, with their kinds."""
        if folder not in self._named:
            path = file_in(folder)
            self._named[folder] = _named_in(path) if path else {}
        return self._named[folder]


def _named_in(path: str) -> dict[str, Unfinished]:
    value = kustomization_value(path)
    if not is_kustomization(value):
        return {}
    folder = os.path.dirname(path)
    changes = any(value[name] for name in value if name not in _CHANGES_NOTHING)
    bases = _strings(value.get("resources")) + _strings(value.get("bases")) if changes else []
    patches = _strings(value.get("patchesStrategicMerge"))
    for listed in ("patches", "patchesJson6902"):
        patches += [each["path"] for each in _mappings(value.get(listed)) if isinstance(each.get("path"), str)]
    named: dict[str, Unfinished] = {path_of(folder, each): "base" for each in bases}
    return named | {path_of(folder, each): "patch" for each in patches if "\n" not in each}


def _strings(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
