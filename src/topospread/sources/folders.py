"""Paths → what is read of them: files, and folders that are charts or kustomizations; renders nothing itself.

A folder with a Chart.yaml is a chart, with all that is in it. A folder with a kustomization is built; what lies in it
and below it belongs to it, but for charts and other kustomizations. Of kustomizations in one tree those that another
refers to are part of that one. The folder that is named is built whoever refers to it, and what refers to it is not.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from topospread.errors import InputError, Place

from .files import Source, entries, find_sources, nothing_to_read, shown_path, unreadable
from .kustomizations import Kustomization, kustomization_in
from .rendering import CHART, PACKED, ChartUnit, KustomizationUnit, Rendering, chart_field

_NAMES_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Found:
    """What a path stands for.

    Attributes:
        sources: what is read, in order.
        notes: what a person should know of what is not, and of what is rendered.
    """

    sources: Sequence[Source]
    notes: Sequence[str] = ()


def look_into(path: str, rendering: Rendering) -> Found:
    """What a path given by the user stands for.

    Raises:
        InputError: nothing is there, it may not be read, or a folder holds nothing to read.
    """
    if rendering.raw:
        return Found(find_sources(path))
    if path.endswith(PACKED) and os.path.isfile(path):
        return Found([Source(path, 0, ChartUnit(path, rendering))])
    if not os.path.isdir(path):
        return Found(find_sources(path))
    try:
        tree = _Tree(path, rendering)
    except OSError as error:
        raise unreadable(error, path) from error
    found = tree.found()
    if not found.sources:
        raise nothing_to_read(path)
    return found


def check_programs(sources: Sequence[Source]) -> None:
    """Refuse before anything is read what cannot be rendered.

    Raises:
        InputError: a program is missing; says what to install.
    """
    for source in sources:
        if source.unit is not None:
            source.unit.check()


@dataclass(slots=True)
class _Folder:
    """A folder that is to be looked into, and the nearest kustomization above it or in it."""

    path: str
    within: Kustomization | None


@dataclass(slots=True)
class _Tree:
    """Everything below a folder, in the order of the names.

    Attributes:
        root: the folder that was named.
        sources: what may be read.
        built: real path of a folder → its kustomization.
        unbuilt: files below kustomizations, which nobody may refer to.
        libraries: charts that only other charts use.
    """

    root: str
    rendering: Rendering
    sources: list[Source] = field(default_factory=list)
    built: dict[str, Kustomization] = field(default_factory=dict)
    unbuilt: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        waiting: list[_Folder | str] = [_Folder(self.root, None)]
        while waiting:
            each = waiting.pop()
            if isinstance(each, str):
                self.sources.append(Source(each, os.stat(each).st_size))
            else:
                waiting += reversed(self._inside(each))

    def _inside(self, folder: _Folder) -> list[_Folder | str]:
        """What is to be looked at of a folder; notes what it is itself."""
        own = kustomization_in(folder.path)
        if own is not None:
            self.built[own.folder] = own
            self.sources.append(Source(folder.path, 0, KustomizationUnit(folder.path, own)))
        elif os.path.isfile(os.path.join(folder.path, CHART)):
            self._note_chart(folder.path)
            return []
        within = own or folder.within
        inside: list[_Folder | str] = []
        for entry in entries(folder.path):
            if entry.is_folder:
                inside.append(_Folder(entry.path, within))
            elif within is None:
                inside.append(entry.path)
            elif os.path.realpath(entry.path) != within.file:
                self.unbuilt.append(entry.path)
        return inside

    def _note_chart(self, path: str) -> None:
        if chart_field(path, "type") == "library":
            self.libraries.append(path)
        else:
            self.sources.append(Source(path, 0, ChartUnit(path, self.rendering)))

    def found(self) -> Found:
        """What is read of the tree.

        Raises:
            InputError: the folder that was named is only a part of others.
        """
        named = self.built.get(os.path.realpath(self.root))
        if named is not None and named.component:
            words = "this is a Component of Kustomize, which is nothing alone: name the kustomization that has it"
            raise InputError(words, Place(shown_path(self.root)))
        above = self._referring_to(named)
        parts = {folder for each in self.built.values() if each.folder not in above for folder in each.folders}
        left: dict[str, list[str]] = {"above": [], "component": []}
        sources = []
        for source in self.sources:
            unit = source.unit
            if isinstance(unit, KustomizationUnit):
                own = unit.kustomization
                if own is not named and (own.folder in parts or own.folder in above or own.component):
                    if own.folder in above:
                        left["above"].append(source.name)
                    elif own.folder not in parts:
                        left["component"].append(source.name)
                    continue
            elif isinstance(unit, ChartUnit) and self._inflated(source.path):
                continue
            sources.append(source)
        return Found(sources, self._notes(sources, left))

    def _referring_to(self, named: Kustomization | None) -> set[str]:
        """The kustomizations below that are built upon the one that was named, straight away or by others."""
        found: set[str] = set()
        reached = {named.folder} if named is not None else set()
        while reached:
            found |= reached
            reached = {each.folder for each in self.built.values() if each.folders & reached} - found
        return found - ({named.folder} if named is not None else set())

    def _inflated(self, path: str) -> bool:
        """Whether a chart is rendered by a kustomization."""
        real = os.path.realpath(path)
        homes = [each.chart_home for each in self.built.values() if each.chart_home]
        return any(real.startswith(home + os.sep) for home in homes)

    def _notes(self, sources: Sequence[Source], left: dict[str, list[str]]) -> list[str]:
        named = {file for each in self.built.values() for file in each.files}
        kustomizations = {each.file for each in self.built.values()}
        unread = [path for path in self.unbuilt if os.path.realpath(path) not in named | kustomizations]
        told = (
            ("built with kustomize", [each.name for each in sources if isinstance(each.unit, KustomizationUnit)]),
            ("rendered with `helm template`", [each.name for each in sources if isinstance(each.unit, ChartUnit)]),
            ("not read, no kustomization refers to it", list(map(shown_path, unread))),
            (f"not built, it is made of {shown_path(self.root)}; name it instead to have it", left["above"]),
            ("not built, it is a component that nothing here refers to", left["component"]),
            ("not rendered, it is a library of other charts", list(map(shown_path, self.libraries))),
        )
        return [f"{_listed(names)}: {words}" for words, names in told if names]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
