"""Paths → what is read of them: files, and folders that are charts or kustomizations; renders nothing itself.

A folder with a Chart.yaml is a chart, with all that is in it. A folder with a kustomization is built; what lies in it
and below it belongs to it, but for charts and other kustomizations. Of kustomizations in one tree those that another
refers to are part of that one. The folder that is named is built whoever refers to it, and what refers to it is not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import msgspec

from topospread.errors import InputError, Place, UsageError

from .chart_schemas import PACKED, has_outside_references
from .files import SkippedLinks, Source, entries, find_sources, listed_paths, nothing_to_read, unreadable
from .kustomizations import Kustomization, kustomization_in
from .rendering import CHART, NO_CHART_OPTIONS, ChartUnit, KustomizationUnit, Rendering, chart_field, chart_options
from .roots import check_inside_repository, root_of
from .text import shown_path


class PathContents(msgspec.Struct, frozen=True):
    """The files that a path stands for.

    Attributes:
        sources: what is read, in order.
        notes: what a person should know of what is not, and of what is rendered.
        warnings: links that are not read.
    """

    sources: Sequence[Source]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()

    @property
    def has_chart(self) -> bool:
        """True if one of the sources is a chart."""
        return any(isinstance(each.unit, ChartUnit) for each in self.sources)


def look_into(path: str, rendering: Rendering, *, to_apply: bool = False, allow_empty: bool = False) -> PathContents:
    """Return the files that a path given by the user stands for.

    Args:
        path: a file or a folder.
        rendering: how charts and kustomizations are rendered.
        to_apply: a folder with a kustomization is that kustomization and nothing beside it, as ``kubectl apply -k``
            takes it; otherwise charts and kustomizations below that it does not refer to are found too.
        allow_empty: accept a folder that holds no file to read.

    Raises:
        InputError: if the path does not exist, cannot be read, or is an empty folder that is not accepted.
    """
    skipped = SkippedLinks()
    is_packed = path.endswith(PACKED) and os.path.isfile(path)
    if rendering.raw or not (is_packed or os.path.isdir(path)):
        found = find_sources(path, skipped, allow_empty=allow_empty)
        return PathContents(found, warnings=skipped.warnings())
    check_inside_repository(path)
    if is_packed:
        packed = [Source(path, 0, ChartUnit(path, root_of(path), rendering))]
        return PathContents(packed, _notes_on_schemas(packed))
    try:
        tree = _Tree(path, rendering, alone=to_apply)
    except OSError as error:
        raise unreadable(error, path) from error
    contents = tree.found()
    if not contents.sources and not allow_empty:
        raise nothing_to_read(path, tree.skipped)
    return contents


def wholes_of(paths: Sequence[str], rendering: Rendering) -> list[str]:
    """For files that charts and kustomizations below the working directory are made of, these in their place.

    Args:
        paths: files, as a commit names them; folders and what is part of nothing stay as they are.
        rendering: how they are rendered.

    Raises:
        InputError: the working directory may not be read.
    """
    try:
        tree = _Tree(os.curdir, rendering, is_named=False)
    except OSError as error:
        raise unreadable(error, os.curdir) from error
    units = [(os.path.relpath(each.path), tree.made_of(each)) for each in tree.kept() if each.unit is not None]
    wholes: dict[str, None] = {}
    for path in paths:
        real = os.path.realpath(path)
        found = [name for name, parts in units if any(each.has(real) for each in parts)] if os.path.isfile(path) else []
        wholes |= dict.fromkeys(found or [path])
    return list(wholes)


def has_chart(paths: Sequence[str], rendering: Rendering) -> bool:
    """Return whether one of the paths is a chart, or holds one."""
    return any(look_into(path, rendering, to_apply=True, allow_empty=True).has_chart for path in paths)


def for_chart(paths: Sequence[str], rendering: Rendering) -> Rendering:
    """Return the rendering; if no path is a chart, return it without the options for charts."""
    if not chart_options(rendering) or has_chart(paths, rendering):
        return rendering
    return replace(rendering, **NO_CHART_OPTIONS)


def check_charts(rendering: Rendering, is_chart_there: Callable[[], bool]) -> None:
    """Refuse options that say how charts are rendered if there is no chart.

    Args:
        rendering: the options.
        is_chart_there: finds out whether one of the paths is a chart; it is called only if such options are given.

    Raises:
        UsageError: if no path is a chart.
    """
    given = chart_options(rendering)
    if given and not is_chart_there():
        raise UsageError(f"--{given[0].replace('_', '-')}: none of the paths is a chart")


def check_programs(sources: Sequence[Source]) -> None:
    """Refuse before anything is read what cannot be rendered.

    Raises:
        InputError: a program is missing; says what to install.
    """
    for source in sources:
        if source.unit is not None:
            source.unit.check()


@dataclass(frozen=True, slots=True)
class _Part:
    """The source of something rendered: everything in a folder, or these files.

    Attributes:
        folder: real path of a chart; "" for none.
        files: real paths.
    """

    folder: str = ""
    files: frozenset[str] = frozenset()

    def has(self, real: str) -> bool:
        """Return whether a file is part of it, by its real path."""
        return real in self.files or (bool(self.folder) and real.startswith(self.folder + os.sep))


class _Folder(msgspec.Struct):
    """A folder that is to be looked into, and the nearest kustomization above it or in it."""

    path: str
    within: Kustomization | None


@dataclass
class _Tree:
    """Everything below a folder, in the order of the names.

    Attributes:
        root: the folder at which it begins.
        is_named: whether somebody has asked for just this folder.
        alone: whether a kustomization in the root is all that is meant.
        sources: what may be read.
        built: real path of a folder → its kustomization.
        unbuilt: files below kustomizations, which nobody may refer to.
        libraries: charts that only other charts use.
        skipped: links to files that are not read.
        limit: real path of the folder that reading must not leave (`roots`).
    """

    root: str
    rendering: Rendering
    is_named: bool = True
    alone: bool = False
    sources: list[Source] = field(default_factory=list)
    built: dict[str, Kustomization] = field(default_factory=dict)
    unbuilt: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    skipped: SkippedLinks = field(default_factory=SkippedLinks)
    limit: str = field(init=False)

    def __post_init__(self) -> None:
        self.limit = root_of(self.root)
        waiting: list[_Folder | str] = [_Folder(self.root, None)]
        while waiting:
            each = waiting.pop()
            if isinstance(each, str):
                self.sources.append(Source(each, os.stat(each).st_size))
            else:
                waiting += reversed(self._inside(each))

    def _inside(self, folder: _Folder) -> list[_Folder | str]:
        """Return the parts of a folder to look at; note what the folder itself is."""
        own = kustomization_in(folder.path)
        if own is not None:
            self.built[own.folder] = own
            self.sources.append(Source(folder.path, 0, KustomizationUnit(folder.path, self.limit, own, self.rendering)))
        elif os.path.isfile(os.path.join(folder.path, CHART)):
            path = folder.path
            if chart_field(path, "type") == "library":
                self.libraries.append(path)
            else:
                self.sources.append(Source(path, 0, ChartUnit(path, self.limit, self.rendering)))
            return []
        within = own or folder.within
        inside: list[_Folder | str] = []
        for entry in entries(folder.path, self.limit, self.skipped):
            if entry.is_folder:
                inside.append(_Folder(entry.path, within))
            elif within is None:
                inside.append(entry.path)
            elif os.path.realpath(entry.path) != within.file:
                self.unbuilt.append(entry.path)
        return inside

    @cached_property
    def named(self) -> Kustomization | None:
        """The kustomization of the folder that was named, which is built whoever refers to it."""
        return self.built.get(os.path.realpath(self.root)) if self.is_named else None

    @cached_property
    def above(self) -> frozenset[str]:
        """The folders of kustomizations that are built upon the one that was named, straight away or by others."""
        found: set[str] = set()
        reached = {self.named.folder} if self.named is not None else set()
        while reached:
            found |= reached
            reached = {each.folder for each in self.built.values() if each.folders & reached} - found
        return frozenset(found - ({self.named.folder} if self.named is not None else set()))

    @cached_property
    def parts(self) -> frozenset[str]:
        """The folders that a kustomization refers to."""
        return frozenset(
            folder for each in self.built.values() if each.folder not in self.above for folder in each.folders
        )

    def found(self) -> PathContents:
        """Return the files to read of the tree.

        Raises:
            InputError: the folder that was named is only a part of others.
        """
        if self.named is not None and self.named.component:
            words = "this is a Component of Kustomize, which is nothing alone: name the kustomization that has it"
            raise InputError(words, Place(shown_path(self.root)))
        kept = self.kept()
        return PathContents(kept, self._notes(kept), self.skipped.warnings())

    def kept(self) -> list[Source]:
        """The sources that are no part of others."""
        return [each for each in self.sources if not (self._is_part(each) or self._is_beside(each))]

    def _is_beside(self, source: Source) -> bool:
        """Return whether it has nothing to do with the kustomization that is meant and nothing else."""
        return self.alone and self.named is not None and _kustomization_of(source) is not self.named

    def _is_part(self, source: Source) -> bool:
        """Return whether it is a part of others, or made of what is read."""
        if isinstance(source.unit, ChartUnit):
            real = os.path.realpath(source.path)
            homes = [each.chart_home for each in self.built.values() if each.chart_home]
            return any(real.startswith(home + os.sep) for home in homes)
        own = _kustomization_of(source)
        if own is None or own is self.named:
            return False
        return own.component or own.folder in self.parts or own.folder in self.above

    def made_of(self, source: Source) -> list[_Part]:
        """Return the sources of a chart or kustomization, as far as they are in this tree."""
        own = _kustomization_of(source)
        if own is None:
            return [_Part(os.path.realpath(source.path))]
        reached, parts, waiting = {own.folder}, [], [own]
        while waiting:
            each = waiting.pop()
            parts.append(_Part(each.chart_home, each.files | {each.file}))
            new = {folder for folder in each.folders if folder in self.built} - reached
            reached |= new
            waiting += [self.built[folder] for folder in new]
        return parts

    def _notes(self, kept: Sequence[Source]) -> list[str]:
        named = {file for each in self.built.values() for file in (*each.files, each.file)}
        unread = [path for path in self.unbuilt if os.path.realpath(path) not in named]
        own = {source.name: found for source in self.sources if (found := _kustomization_of(source)) is not None}
        above = [name for name, each in own.items() if each.folder in self.above]
        alone = [name for name, each in own.items() if each.component and each.folder not in self.parts | self.above]
        beside = [each.name for each in self.sources if self._is_beside(each) and not self._is_part(each)]
        told = (
            ("built with kustomize", [each.name for each in kept if isinstance(each.unit, KustomizationUnit)]),
            ("rendered with `helm template`", [each.name for each in kept if isinstance(each.unit, ChartUnit)]),
            ("not read, no kustomization refers to it", unread),
            (f"not built, it is made of {shown_path(self.root)}; name it instead to have it", above),
            (f"left out, as {shown_path(self.root)} does not refer to it; name it to have it", beside),
            ("not built, it is a component that nothing here refers to", alone),
            ("not rendered, it is a library of other charts", self.libraries),
        )
        return [f"{listed_paths(names)}: {words}" for words, names in told if names] + _notes_on_schemas(kept)


def _kustomization_of(source: Source) -> Kustomization | None:
    return source.unit.kustomization if isinstance(source.unit, KustomizationUnit) else None


def _notes_on_schemas(sources: Sequence[Source]) -> list[str]:
    """Return a note about the charts whose values Helm does not validate."""
    charts = [each for each in sources if isinstance(each.unit, ChartUnit)]
    names = [each.name for each in charts if has_outside_references(each.path)]
    words = "values are not validated, values.schema.json refers to other files or servers"
    return [f"{listed_paths(names)}: {words}"] if names else []
