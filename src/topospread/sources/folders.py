"""Find the sources of paths: files, Helm charts and kustomizations.

A folder with a Chart.yaml is a chart with all its contents. A folder with a kustomization is built, and its files
belong to it, except charts and other kustomizations. A kustomization that a built one references is part of that one.
A named folder is always built, and kustomizations that refer to it are not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import msgspec

from topospread.errors import InputError, Place, UsageError

from .chart_schemas import PACKED, has_outside_references
from .files import (
    SkippedLinks,
    Source,
    entries,
    find_sources,
    in_time,
    is_hidden,
    listed_paths,
    nothing_to_read,
    read_text,
    unreadable,
)
from .json_text import is_named_json
from .kustomizations import KUSTOMIZATIONS, Kustomization, kustomization_in
from .rendering import (
    CHART,
    NO_CHART_OPTIONS,
    ChartUnit,
    KustomizationUnit,
    Rendering,
    SharedWork,
    chart_field,
    chart_options,
)
from .roots import check_inside_repository, root_of
from .text import shown_path
from .yaml import read_documents


class PathContents(msgspec.Struct, frozen=True):
    """The sources of a path.

    Attributes:
        sources: the sources to read, in order.
        notes: messages about skipped and rendered files.
        warnings: warnings about skipped links.
    """

    sources: Sequence[Source]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()

    @property
    def has_chart(self) -> bool:
        """True if one of the sources is a chart."""
        return any(isinstance(each.unit, ChartUnit) for each in self.sources)


def look_into(path: str, rendering: Rendering, *, to_apply: bool = False, allow_empty: bool = False) -> PathContents:
    """Return the sources of a path from the user.

    Args:
        path: a file or a folder.
        rendering: how charts and kustomizations are rendered.
        to_apply: build only the folder's kustomization, like ``kubectl apply -k``. Otherwise also find charts and
            kustomizations below it that it does not refer to.
        allow_empty: accept a folder without files to read.

    Raises:
        InputError: if the path does not exist, cannot be read, or is a folder without files and `allow_empty` is False.
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
    """Replace files that belong to a chart or kustomization below the working directory by that folder.

    Args:
        paths: changed files; folders and other files are returned unchanged.
        rendering: settings for rendering.

    Raises:
        InputError: if the working directory cannot be read.
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
    """Return whether a path is a chart, or contains one."""
    return any(look_into(path, rendering, to_apply=True, allow_empty=True).has_chart for path in paths)


def for_chart(paths: Sequence[str], rendering: Rendering) -> Rendering:
    """Return the rendering options, without options for charts if no path is a chart."""
    if not chart_options(rendering) or has_chart(paths, rendering):
        return rendering
    return replace(rendering, **NO_CHART_OPTIONS)


def check_charts(rendering: Rendering, is_chart_there: Callable[[], bool]) -> None:
    """Reject options for charts if there is no chart.

    Args:
        rendering: the options.
        is_chart_there: returns whether a path is a chart; called only if such options are given.

    Raises:
        UsageError: if no path is a chart.
    """
    given = chart_options(rendering)
    if given and not is_chart_there():
        raise UsageError(f"--{given[0].replace('_', '-')}: none of the paths is a chart")


def check_programs(sources: Sequence[Source]) -> None:
    """Check before reading that every source can be rendered.

    Raises:
        InputError: if a program is missing; the message names it. Also if the checks take too long.
    """
    for source in in_time(sources):
        if source.unit is not None:
            source.unit.check()


@dataclass(frozen=True, slots=True)
class _Part:
    """The input files of a rendered source: a whole folder, or single files.

    Attributes:
        folder: real path of a chart; "" for other sources.
        files: real paths.
    """

    folder: str = ""
    files: frozenset[str] = frozenset()

    def has(self, real: str) -> bool:
        """Return whether a file, given by its real path, is part of it."""
        return real in self.files or (bool(self.folder) and real.startswith(self.folder + os.sep))


class _Folder(msgspec.Struct):
    """A folder to search, with the nearest kustomization in it or above it."""

    path: str
    within: Kustomization | None


@dataclass
class _Tree:
    """The tree below a folder, sorted by name.

    Attributes:
        root: the top folder.
        is_named: whether the user named this folder.
        alone: whether only the root's kustomization is built.
        sources: possible sources.
        built: real path of a folder → its kustomization.
        unbuilt: files below kustomizations that may be unreferenced.
        libraries: charts that only other charts use.
        skipped: links to files that are not read.
        shared: work shared by the sources.
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
    shared: SharedWork = field(default_factory=SharedWork)
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
        """Return a folder's entries to search. Record its own chart or kustomization."""
        own = kustomization_in(folder.path)
        if own is not None:
            self.built[own.folder] = own
            unit = KustomizationUnit(folder.path, self.limit, own, self.rendering, self.shared)
            self.sources.append(Source(folder.path, 0, unit))
        elif os.path.isfile(os.path.join(folder.path, CHART)):
            path = folder.path
            if chart_field(path, "type") == "library":
                self.libraries.append(path)
            else:
                self.sources.append(Source(path, 0, ChartUnit(path, self.limit, self.rendering, self.shared)))
            return []
        within = own or folder.within
        inside: list[_Folder | str] = []
        for entry in entries(folder.path, self.limit, self.skipped):
            if entry.is_folder:
                inside.append(_Folder(entry.path, within))
            elif within is None:
                inside.append(entry.path)
            elif not is_hidden(entry.path) and os.path.realpath(entry.path) != within.file:
                self.unbuilt.append(entry.path)
        return inside

    @cached_property
    def named(self) -> Kustomization | None:
        """The kustomization of the named folder, which is always built."""
        return self.built.get(os.path.realpath(self.root)) if self.is_named else None

    @cached_property
    def above(self) -> frozenset[str]:
        """The folders of kustomizations that are based on the named one, directly or indirectly."""
        if self.named is None:
            return frozenset()
        based: dict[str, list[str]] = {}
        for each in self.built.values():
            for folder in each.folders:
                based.setdefault(folder, []).append(each.folder)
        found, waiting = {self.named.folder}, [self.named.folder]
        while waiting:
            new = [folder for folder in based.get(waiting.pop(), ()) if folder not in found]
            found.update(new)
            waiting += new
        return frozenset(found - {self.named.folder})

    @cached_property
    def part_of(self) -> dict[str, str]:
        """Folder of a kustomization or chart that is read → folder of the kustomization that it is part of.

        A kustomization is part of "", and built, if no other one that is built refers to it. In a circle the first one
        is built.
        """
        parts, wholes = dict[str, str](), dict[str, str]()
        for each in self.built.values():
            if each.component or each.folder in self.above or each.folder in parts:
                continue
            wholes[each.folder] = ""
            waiting = [each]
            while waiting:
                for folder in waiting.pop().folders - {each.folder}:
                    # The parts of a folder that was reached before are known.
                    if folder in self.built and folder not in parts and folder not in wholes:
                        waiting.append(self.built[folder])
                    wholes.pop(folder, None)
                    parts.setdefault(folder, each.folder)
        read = [self.built[folder] for folder in (*wholes, *parts) if folder in self.built]
        charts = {chart: parts.get(each.folder, each.folder) for each in read for chart in each.charts}
        return charts | parts | wholes

    def found(self) -> PathContents:
        """Return the sources to read in the tree.

        Raises:
            InputError: if the named folder is only a component of others.
        """
        if self.named is not None and self.named.component:
            words = "this is a Kustomize Component, which cannot be built alone: name a kustomization that includes it"
            raise InputError(words, Place(shown_path(self.root)))
        kept = self.kept()
        return PathContents(kept, self._notes(kept), self.skipped.warnings())

    def kept(self) -> list[Source]:
        """The sources that are not part of other sources."""
        return [each for each in self.sources if not (self._is_part(each) or self._is_beside(each))]

    def _is_beside(self, source: Source) -> bool:
        """Return whether the source is unrelated to the only kustomization to build."""
        return self.alone and self.named is not None and _kustomization_of(source) is not self.named

    def _is_part(self, source: Source) -> bool:
        """Return whether the source is part of another, or is based on a source that is read."""
        if isinstance(source.unit, ChartUnit):
            return os.path.realpath(source.path) in self.part_of
        own = _kustomization_of(source)
        return own is not None and own is not self.named and self.part_of.get(own.folder) != ""

    def made_of(self, source: Source) -> list[_Part]:
        """Return the input files of a chart or kustomization within this tree."""
        own = _kustomization_of(source)
        if own is None:
            return [_Part(os.path.realpath(source.path))]
        reached, parts, waiting = {own.folder}, [], [own]
        while waiting:
            each = waiting.pop()
            parts += [_Part(files=each.files | {each.file}), *map(_Part, each.charts)]
            new = {folder for folder in each.folders if folder in self.built} - reached
            reached |= new
            waiting += [self.built[folder] for folder in new]
        return parts

    def _notes(self, kept: Sequence[Source]) -> list[str]:
        named = {
            file
            for each in self.built.values()
            for file in (*each.files, each.file)
            if each.folder in self.part_of or file.startswith(each.folder + os.sep)
        }
        unread = [path for path in self.unbuilt if os.path.realpath(path) not in named]
        own = {source.name: found for source in self.sources if (found := _kustomization_of(source)) is not None}
        above = [name for name, each in own.items() if each.folder in self.above]
        alone = [
            name for name, each in own.items() if each.component and each.folder not in {*self.part_of, *self.above}
        ]
        beside = [each.name for each in self.sources if self._is_beside(each) and not self._is_part(each)]
        rendered = [each.path for each in kept if isinstance(each.unit, ChartUnit)]
        unrendered = [file for path in (*rendered, *self.libraries) for file in _not_rendered(path, self.limit)]
        shown = {name: each for name, each in own.items() if not (each.component or each is self.named)}
        folders = {each.folder: name for name, each in shown.items()}
        wholes = {folder: name for folder, name in folders.items() if not self.alone}
        folders |= {os.path.realpath(each.path): each.name for each in self.sources if isinstance(each.unit, ChartUnit)}
        within = [(each, of) for each, of in self.part_of.items() if each in folders and of in wholes]
        parts = sorted(f"{folders[each]} (part of {wholes[of]})" for each, of in within)
        told = (
            ("built with kustomize", [each.name for each in kept if isinstance(each.unit, KustomizationUnit)]),
            ("not read alone", parts),
            ("rendered with `helm template`", [shown_path(each) for each in rendered]),
            ("not read, no kustomization refers to it", unread),
            ("not read, it is no template of its chart", unrendered),
            (f"not built, it is made of {shown_path(self.root)}; name it instead to have it", above),
            (f"left out, as {shown_path(self.root)} does not refer to it; name it to have it", beside),
            ("not built, it is a component that nothing here refers to", alone),
            ("not rendered, it is a library of other charts", self.libraries),
        )
        return [f"{listed_paths(names)}: {words}" for words, names in told if names] + _notes_on_schemas(kept)


_MAY_BE_OBJECT: Final = re.compile(rb"apiVersion|[\\!]")
"""The key of an object, or a sign by which YAML may write it otherwise."""


def _not_rendered(chart: str, limit: str) -> Iterator[str]:
    """Yield the files of a chart's folder that hold manifests and that Helm does not render."""
    waiting = [(chart, "chart")]
    while waiting:
        folder, role = waiting.pop()
        for entry in entries(folder, limit, SkippedLinks()):
            name = os.path.basename(entry.path)
            if not entry.is_folder:
                if name in KUSTOMIZATIONS or _has_manifest(entry.path):
                    yield entry.path
            elif (role, name) != ("chart", "templates"):
                inside = "charts" if (role, name) == ("chart", "charts") else ""
                waiting.append((entry.path, "chart" if role == "charts" and not name.startswith("_") else inside))


def _has_manifest(path: str) -> bool:
    """Return whether a file holds an object other than a definition, or may hold one but is not valid YAML."""
    try:
        text = read_text(Source(path, None))
        if not _MAY_BE_OBJECT.search(text.data):
            return False
        values = (
            [msgspec.json.decode(text.data)] if is_named_json(text) else [each.value for each in read_documents(text)]
        )
    except (InputError, msgspec.DecodeError):
        return True
    objects = [each for each in values if isinstance(each, dict) and each.get("apiVersion") and each.get("kind")]
    return any(each["kind"] != "CustomResourceDefinition" for each in objects)


def _kustomization_of(source: Source) -> Kustomization | None:
    return source.unit.kustomization if isinstance(source.unit, KustomizationUnit) else None


def _notes_on_schemas(sources: Sequence[Source]) -> list[str]:
    """Return a note about the charts whose values Helm does not validate."""
    charts = [each for each in sources if isinstance(each.unit, ChartUnit)]
    names = [each.name for each in charts if has_outside_references(each.path)]
    words = "values are not validated: values.schema.json refers to other files or servers, or a chart is packed"
    return [f"{listed_paths(names)}: {words}"] if names else []
