"""Find the sources of paths: files, Helm charts and kustomizations.

A folder with a Chart.yaml is a chart with all its contents. A folder with a kustomization is built, and its files
belong to it, except charts and other kustomizations. A kustomization that a built one references is part of that one. A
kustomization in a folder that the user names is always built. Other kustomizations that refer to it are not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import cached_property, partial
from typing import Any, Final

import msgspec

from topospread.errors import InputError, Place, UsageError

from .chart_schemas import PACKED, Room, definitions_in, has_outside_references, unstable_in
from .files import (
    ENDINGS,
    KUBECTL_ENDINGS,
    PathEntry,
    SkippedFiles,
    Source,
    check_depth,
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
from .kustomizations import KUSTOMIZATIONS, Kustomization, file_in, kustomization_in
from .rendering import (
    CHART,
    NO_CHART_OPTIONS,
    ChartUnit,
    KustomizationUnit,
    Rendering,
    SharedWork,
    chart_field,
    chart_options,
    is_chart,
)
from .roots import check_inside_repository, is_of_git, is_within, links_below, real_path, root_of
from .text import Text, may_hold, shown_path
from .yaml import read_documents


class PathContents(msgspec.Struct, frozen=True):
    """The sources of a path.

    Attributes:
        notes: messages about skipped and rendered files.
        warnings: warnings about skipped links, and about charts that could read ``.git``.
        unread: files with manifests that no built kustomization reads and Helm does not render.
    """

    sources: Sequence[Source]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    unread: Sequence[str] = ()

    @property
    def has_chart(self) -> bool:
        """True if one of the sources is a chart."""
        return any(isinstance(each.unit, ChartUnit) for each in self.sources)


Ignored = Callable[[str, str], frozenset[str] | None]
"""Returns the rules that settings disable for a chart or kustomization, given its folder and its file; None if they
exclude the folder."""


def look_into(
    path: str,
    rendering: Rendering,
    *,
    to_apply: bool = False,
    allow_empty: bool = False,
    ignored: Ignored = lambda folder, file: frozenset(),
) -> PathContents:
    """Return the sources of a path from the user.

    Args:
        to_apply: build only the folder's kustomization, like ``kubectl apply -k``. Otherwise also find charts and
            kustomizations below it that it does not refer to.
        allow_empty: accept a folder without files to read.
        ignored: returns the disabled rules. A base is also built alone if each kustomization that refers to it is
            excluded, or disables a rule that the base does not disable.

    Raises:
        InputError: if the path does not exist, cannot be read, or is a folder without files and `allow_empty` is False.
    """
    skipped = SkippedFiles()
    is_packed = path.endswith(PACKED) and os.path.isfile(path)
    if rendering.raw or not (is_packed or os.path.isdir(path)):
        found = find_sources(path, skipped, allow_empty=allow_empty)
        return PathContents(found, warnings=skipped.warnings())
    check_inside_repository(path)
    if is_packed:
        packed = [Source(path, 0, ChartUnit(path, root_of(path), rendering))]
        unread = [path] if _packs_objects(path, Room()) else []
        notes = [f"{shown_path(each)}: {_NO_TEMPLATE}" for each in unread]
        return PathContents(packed, notes + _notes_on_charts(packed), unread=unread)
    try:
        tree = _Tree(path, rendering, alone=to_apply, ignored=ignored)
    except OSError as error:
        raise unreadable(error, path) from error
    contents = tree.found()
    if not contents.sources and not allow_empty:
        raise nothing_to_read(path, tree.skipped)
    return contents


def wholes_of(paths: Sequence[str], rendering: Rendering) -> tuple[list[str], list[str]]:
    """Replace files that belong to a chart or kustomization below the working directory by that folder.

    Args:
        paths: changed files. Folders, other manifests and packed charts are returned unchanged.

    Returns:
        The paths to read, and the files that are left out.

    Raises:
        InputError: if the working directory cannot be read, or a chart has a file whose name has a line break.
    """
    try:
        roots = [os.curdir, *_hidden_above(paths)]
        trees = [_Tree(each, rendering, is_named=False) for each in roots]
    except OSError as error:
        raise unreadable(error, os.curdir) from error
    kept = [(tree, each) for tree in trees for each in tree.kept() if each.unit is not None]
    units = [(os.path.relpath(each.path), tree.made_of(each)) for tree, each in kept]
    mentioned = {file for tree in trees for each in tree.built.values() for file in each.mentioned}
    wholes: dict[str, None] = {}
    left_out = []
    for path in paths:
        real = real_path(path)
        is_file = os.path.isfile(path)
        found = [name for name, parts in units if any(each.has(real) for each in parts)] if is_file else []
        # A manifest that a kustomization only mentions, such as for a ConfigMap, is not one of its objects.
        is_alone = not found or real in mentioned
        is_read = is_alone and (not is_file or path.lower().endswith((*ENDINGS, PACKED)))
        wholes |= dict.fromkeys([*found, path] if is_read else found)
        left_out += [] if is_read or found else [path]
    return list(wholes), left_out


def _hidden_above(paths: Sequence[str]) -> list[str]:
    """Return the folders that begin with a dot, in the working directory, above the paths."""
    steps = [os.path.relpath(path).split(os.sep) for path in paths if "\0" not in path]
    above = {os.path.join(*each[:end]) for each in steps if each[0] != os.pardir for end in range(1, len(each))}
    limit = root_of(os.curdir)
    hidden = [each for each in sorted(above) if is_hidden(each) and os.path.isdir(each)]
    return [each for each in hidden if is_within(each, limit)]


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
        is_chart_there: returns whether a path is a chart. It is called only if options for charts are given.

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
        alone: whether only the root's kustomization is built.
        ignored: returns the disabled rules (`look_into`).
        built: real path of a folder → its kustomization.
        unbuilt: files below kustomizations that may be unreferenced.
        libraries: charts that only other charts use.
        beside: charts in folders of kustomizations.
        longer: kustomizations with objects in documents that kustomize does not read.
        skipped: links to files that are not read.
        limit: real path of the folder that reading must not leave (`roots`).
    """

    root: str
    rendering: Rendering
    is_named: bool = True
    alone: bool = False
    ignored: Ignored = lambda folder, file: frozenset()
    sources: list[Source] = field(default_factory=list)
    built: dict[str, Kustomization] = field(default_factory=dict)
    unbuilt: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    longer: list[str] = field(default_factory=list)
    skipped: SkippedFiles = field(default_factory=SkippedFiles)
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
        own = kustomization_in(folder.path, self.limit)
        if own is not None:
            self.built[own.folder] = own
            unit = KustomizationUnit(folder.path, self.limit, own, self.rendering, self.shared)
            self.sources.append(Source(folder.path, 0, unit))
            if self.ignored(folder.path, folder.path) is not None:
                self.beside += [folder.path] if is_chart(folder.path) else []
                path = file_in(folder.path)
                self.longer += [path] if path is not None and _has_more_objects(path) else []
        elif is_chart(path := folder.path):
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
            elif real_path(entry.path) != within.file and (not is_hidden(entry.path) or _has_manifest(entry.path)):
                self.unbuilt.append(entry.path)
        return inside

    @cached_property
    def named(self) -> Kustomization | None:
        """The kustomization of the named folder, which is always built."""
        return self.built.get(real_path(self.root)) if self.is_named else None

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
        """Folder of a kustomization or chart → folder of the built kustomization that includes it.

        The value is "" for a kustomization that is built itself, because no built kustomization refers to it. If
        kustomizations refer to each other in a circle, the first one is built.
        """
        parts, wholes = dict[str, str](), dict[str, str]()
        for each in self.built.values():
            if each.component or each.folder in self.above or each.folder in parts or self._is_excluded(each):
                continue
            wholes[each.folder] = ""
            waiting = [each]
            while waiting:
                for folder in waiting.pop().folders - {each.folder}:
                    if folder in self.built and not self._may_include(each, folder, self.built[folder].file):
                        continue
                    # The parts of a folder that was reached before are known.
                    if folder in self.built and folder not in parts and folder not in wholes:
                        waiting.append(self.built[folder])
                    wholes.pop(folder, None)
                    parts.setdefault(folder, each.folder)
        read = [self.built[folder] for folder in (*wholes, *parts) if folder in self.built]
        charts = {
            chart: parts.get(each.folder, each.folder)
            for each in read
            for chart in each.charts
            if self._may_include(each, chart, os.path.join(chart, CHART))
        }
        return charts | parts | wholes

    @cached_property
    def read(self) -> list[Kustomization]:
        """The kustomizations that are built, alone or as parts of others."""
        return [each for each in self.built.values() if each.folder in self.part_of]

    @cached_property
    def inflated(self) -> set[str]:
        """The folders of the charts that the built kustomizations render."""
        return {chart for each in self.read for chart in each.charts}

    def _is_excluded(self, own: Kustomization) -> bool:
        return self.ignored(own.folder, own.file) is None

    def _may_include(self, own: Kustomization, folder: str, file: str) -> bool:
        """Return whether lint loses no finding in a base or chart if only this kustomization is built."""
        ignored, of_part = self.ignored(own.folder, own.file), self.ignored(folder, file)
        return ignored is not None and (of_part is None or ignored <= of_part)

    def found(self) -> PathContents:
        """Return the sources to read in the tree.

        Raises:
            InputError: if the named folder is a Kustomize Component, which cannot be built alone.
        """
        if self.named is not None and self.named.component:
            words = "this is a Kustomize Component, which cannot be built alone: name a kustomization that includes it"
            raise InputError(words, Place(shown_path(self.root)))
        kept = self.kept()
        charts = [each.path for each in kept if isinstance(each.unit, ChartUnit)]
        unrendered = [file for path in (*charts, *self.libraries) for file in _not_rendered(path, self.limit)]
        # `kubectl apply -R -f` reads hidden folders, too; `kubectl apply -k` reads only what the kustomization names.
        is_complete = self.alone and self.named is not None
        folders = () if is_complete else self.skipped.hidden
        hidden = [file for each in folders for file in _in_hidden(each, self.limit)]
        beside = [os.path.join(each, CHART) for each in self.beside if real_path(each) not in self.inflated]
        silent = [*beside, *self.longer, *unrendered, *self.skipped.otherwise, *hidden]
        unread = [] if self.alone else [*self._unread(), *silent]
        warnings = self.skipped.warnings()
        for each in kept:
            if isinstance(each.unit, ChartUnit) and self.rendering.is_old and each.unit.reads_git:
                warnings.append(f"{each.name}: {each.unit.reads_git}")
        notes = self._notes(kept, unrendered)
        if beside:
            notes.append(f"{listed_paths(beside)}: not rendered, its folder has a kustomization")
        if self.longer:
            notes.append(f"{listed_paths(self.longer)}: kustomize reads only the first document, not the objects below")
        if hidden:
            notes.append(f"{listed_paths(hidden)}: not read, in a folder that begins with a dot; name it to read it")
        return PathContents(kept, notes, warnings, unread)

    def kept(self) -> list[Source]:
        """The sources that are not part of other sources."""
        return [each for each in self.sources if not (self._is_part(each) or self._is_beside(each))]

    def _is_beside(self, source: Source) -> bool:
        """Return whether only the named kustomization is built and the source is another one."""
        return self.alone and self.named is not None and _kustomization_of(source) is not self.named

    def _is_part(self, source: Source) -> bool:
        """Return whether the source is part of another, or is based on a source that is read."""
        if isinstance(source.unit, ChartUnit):
            return real_path(source.path) in self.part_of
        own = _kustomization_of(source)
        return own is not None and own is not self.named and self.part_of.get(own.folder) != ""

    def made_of(self, source: Source) -> list[_Part]:
        """Return the input files of a chart or kustomization within this tree."""
        own = _kustomization_of(source)
        if own is None:
            return list(self._of_chart(source.path))
        reached, parts, waiting = {own.folder}, list[_Part](), [own]
        while waiting:
            each = waiting.pop()
            parts.append(_Part(files=each.files | each.mentioned | {each.file}))
            parts += [part for chart in each.charts for part in self._of_chart(chart)]
            new = {folder for folder in each.folders if is_within(folder, self.limit)} - reached
            reached |= new
            waiting += [
                base for folder in new if (base := self.built.get(folder) or kustomization_in(folder, self.limit))
            ]
        return parts

    def _of_chart(self, chart: str) -> Iterator[_Part]:
        """Yield a chart's folder, and the targets of its links, which Helm follows."""
        for path in links_below(chart, set()):
            if is_of_git(os.path.basename(path)):
                continue
            if not is_within(path, self.limit):
                return  # rendering the chart reports the error
            real = real_path(path)
            yield _Part(real, frozenset({real}))

    @cached_property
    def whole_patches(self) -> set[str]:
        """Files with a complete workload that the built kustomizations use only as patches."""
        objects = {file for each in self.read for file in each.files - each.patches}
        patches = {file for each in self.read for file in each.patches} - objects
        return set(filter(_has_workload, patches))

    @cached_property
    def local(self) -> set[str]:
        """The files of the built kustomizations that may mark objects as local, which kustomize leaves out."""
        files = {file for each in self.read for file in (each.file, *each.files, *each.mentioned)}
        return set(filter(_marks_local, files))

    def _unread(self) -> Iterator[str]:
        """Yield the files with manifests that no built kustomization reads."""
        read = {
            file
            for each in self.built.values()
            for file in (*each.files, each.file)
            if each.folder in self.part_of or (self._is_excluded(each) and file.startswith(each.folder + os.sep))
        } - (self.whole_patches | self.local)
        for path in self.unbuilt:
            if real_path(path) not in read and self.ignored(path, path) is not None and _has_manifest(path):
                yield path

    def _notes(self, kept: Sequence[Source], unrendered: Sequence[str]) -> list[str]:
        named = {
            file
            for each in self.built.values()
            for file in (*each.files, each.file)
            if each.folder in self.part_of or file.startswith(each.folder + os.sep)
        }
        mentioned = {file for each in self.read for file in each.mentioned}
        unread = [
            path
            for path in self.unbuilt
            if (real := real_path(path)) not in named and (real not in mentioned or _has_manifest(path))
        ]
        patches = [path for path in self.unbuilt if real_path(path) in self.whole_patches]
        shown = {real_path(path): path for path in self.unbuilt}
        local = sorted(shown.get(each) or os.path.relpath(each) for each in self.local)
        own = {source.name: found for source in self.sources if (found := _kustomization_of(source)) is not None}
        above = [name for name, each in own.items() if each.folder in self.above]
        alone = [
            name for name, each in own.items() if each.component and each.folder not in {*self.part_of, *self.above}
        ]
        beside = [each.name for each in self.sources if self._is_beside(each) and not self._is_part(each)]
        rendered = [each.path for each in kept if isinstance(each.unit, ChartUnit)]
        folders = {each.folder: name for name, each in own.items() if not each.component}
        wholes = {folder: name for folder, name in folders.items() if not self.alone}
        folders |= {real_path(each.path): each.name for each in self.sources if isinstance(each.unit, ChartUnit)}
        top = self.named.folder if self.named is not None else ""
        within = [(each, of) for each, of in self.part_of.items() if each in folders and each != top and of in wholes]
        parts = sorted(f"{folders[each]} (part of {wholes[of]})" for each, of in within)
        told = (
            ("built with kustomize", [each.name for each in kept if isinstance(each.unit, KustomizationUnit)]),
            ("not read alone", parts),
            ("rendered with `helm template`", [shown_path(each) for each in rendered]),
            ("not read, no kustomization refers to it", unread),
            ("read only as a patch, it is a whole workload", patches),
            (f"kustomize leaves out the objects that this marks as {_LOCAL}", local),
            (_NO_TEMPLATE, unrendered),
            (f"not built, it is made of {shown_path(self.root)}; name it instead to build it", above),
            (f"not built, because {shown_path(self.root)} does not refer to it; name it to read it", beside),
            ("not built, it is a component, and no kustomization here refers to it", alone),
            ("not rendered, it is a library of other charts", self.libraries),
        )
        inflated = self.inflated if self.rendering.helm_in_kustomizations else set()
        # Values of these charts are in kustomizations, and in files that they name.
        named_by = self.built.values() if inflated else ()
        of_values = {file for each in named_by for file in (each.file, *each.files, *each.mentioned)}
        inside = (each for each in sorted({*inflated, *of_values}) if is_within(each, self.limit))
        charts = [(f"./{os.path.relpath(each)}", each, self.limit) for each in inside]
        listed = [f"{listed_paths(names)}: {words}" for words, names in told if names]
        return [*listed, *_notes_on_charts(kept), *_notes_on_installation(charts)]


OTHER_AT_INSTALLATION: Final = "Helm may render other manifests at installation"
"""Begin of the note on a chart that reads random values, the time or the cluster."""
_NO_TEMPLATE: Final = "not read, it is not a template of its chart"
_LOCAL: Final = "local-config"
"""The annotation config.kubernetes.io/local-config, in a JSON Patch or a resource."""
_MAY_BE_OBJECT: Final = re.compile(rb"apiVersion|[\\!]")
"""The key apiVersion, or a character with which YAML can write the key in another form."""
_CLASS: Final = re.compile(r"[\[\\].*")
_MOST_GLOBS, _LONGEST_GLOB = 500, 1_000
"""Maximum lines of a ``.helmignore``, and characters of a line, that are matched. Beyond them, every template counts
as ignored."""
_FOLLOWED: Final = {"chart": ("charts", "crds", "templates"), "charts": None, "crds": None, "templates": None}
"""Role of a folder → names of the folders in it that Helm reads through links, too; None for all."""


def _not_rendered(chart: str, limit: str) -> Iterator[str]:
    """Yield the files of a chart's folder that have manifests although ``helm template`` does not render them.

    Among them are files in ``crds`` with objects other than CRDs: ``helm install`` creates these. Packed subcharts are
    searched for such files, too.
    """
    is_ignored, room = _helmignore(chart, limit), Room()
    waiting, visited = [(chart, "chart")], set[tuple[str, str]]()
    while waiting:
        folder, role = waiting.pop()
        if (place := (real_path(folder), role)) in visited:
            continue
        visited.add(place)
        skipped = SkippedFiles()
        found = [*entries(folder, limit, skipped), *_only_in_charts(folder, role, limit)]
        found += [PathEntry(each, True) for each in skipped.hidden]
        found += [PathEntry(each, False) for each in (*skipped.otherwise, *_without_ending(folder, limit))]
        for entry in found:
            name = os.path.basename(entry.path)
            if not entry.is_folder:
                is_template = role == "templates"
                is_silent = not is_template or name.startswith(("_", ".")) or is_ignored(entry.path)
                has_objects = (
                    partial(_packs_objects, room=room)
                    if name.endswith(PACKED)
                    else partial(_has_manifest, is_template=is_template)
                )
                is_rendered = name in KUSTOMIZATIONS or (name == CHART and role != "chart")
                if is_silent and (is_rendered or has_objects(entry.path)):
                    yield entry.path
            elif role in ("crds", "templates") or (role, name) in (("chart", "crds"), ("chart", "templates")):
                waiting.append((entry.path, role if role != "chart" else name))
            else:
                inside = "charts" if (role, name) == ("chart", "charts") else ""
                waiting.append(
                    (entry.path, "chart" if role == "charts" and not name.startswith(("_", ".")) else inside)
                )


def _only_in_charts(folder: str, role: str, limit: str) -> Iterator[PathEntry]:
    """Yield what Helm reads beyond `entries`: links to folders, hidden folders, and packed subcharts."""
    if role not in _FOLLOWED:
        return
    names = _FOLLOWED[role]
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if not is_within(path, limit):
            continue
        if role == "charts" and name.endswith(PACKED) and os.path.isfile(path):
            yield PathEntry(path, False)
        is_more = os.path.islink(path) or (is_hidden(path) and role in ("crds", "templates"))
        if is_more and (names is None or name in names) and os.path.isdir(path):
            yield PathEntry(path, True)


def _without_ending(folder: str, limit: str) -> Iterator[str]:
    """Yield the folder's kustomization whose name has no ending."""
    path = os.path.join(folder, KUSTOMIZATIONS[-1])
    if os.path.isfile(path) and is_within(path, limit):
        yield path


def _helmignore(chart: str, limit: str) -> Callable[[str], bool]:
    """Return a function that returns whether a chart's ``.helmignore`` may leave out a file.

    Source: Helm's pkg/ignore/rules.go. Here ``*`` matches slashes, too.
    """
    file = os.path.join(chart, ".helmignore")
    if not (os.path.isfile(file) and is_within(file, limit)):
        return lambda path: False
    try:
        text = read_text(Source(file, None)).data.decode()
    except InputError:
        return lambda path: True
    lines = [line for each in text.splitlines() if (line := each.strip()) and line[0] != "#"]
    # Go reads classes and escapes differently from Python: such a glob ignores more here.
    globs = [_CLASS.sub("*", each) if each[0] != "!" or not _CLASS.search(each) else "!" for each in lines]
    globs = [each.removesuffix("/") for each in globs]
    if len(globs) > _MOST_GLOBS or max(map(len, globs), default=0) > _LONGEST_GLOB:
        return lambda path: True
    rules = [(re.compile(translate(each.removeprefix("!"))).match, "/" in each, each.startswith("!")) for each in globs]

    ignored: dict[str, bool] = {}

    def is_ignored(path: str) -> bool:
        whole = ""
        for step in os.path.relpath(path, chart).split(os.sep):
            whole = f"{whole}/{step}" if whole else step
            if whole not in ignored:  # many files are below one folder
                # Helm reads a ! as "all but".
                ignored[whole] = any(
                    bool(match(whole if by_path else step) or (by_path and match(f"/{whole}"))) is not is_negated
                    for match, by_path, is_negated in rules
                )
            if ignored[whole]:
                return True
        return False

    return is_ignored


def _in_hidden(folder: str, limit: str) -> Iterator[str]:
    """Yield the files with manifests, charts and kustomizations in a folder that is not read.

    ``kubectl apply -R`` reads the manifests.
    """
    for path, below, names in os.walk(folder):
        check_depth(path)
        below[:] = sorted(each for each in below if not is_of_git(each))
        for name in sorted(names):
            file, is_rendered = os.path.join(path, name), name in (CHART, *KUSTOMIZATIONS)
            if not (is_rendered or name.endswith(KUBECTL_ENDINGS)) or not is_within(file, limit):
                continue
            if os.path.isfile(file) and (is_rendered or _has_manifest(file)):
                yield file


def _has_manifest(path: str, *, is_template: bool = False) -> bool:
    """Return whether a file has an object other than a CRD; for invalid YAML, whether it is no template."""
    try:
        objects = list(_objects_in(path))
    except (InputError, msgspec.DecodeError):
        return not is_template
    return any(map(_is_object, objects))


def _is_object(value: dict[str, Any]) -> bool:
    """Return whether an object is not a CRD, or has ``items``, which kubectl applies instead of any object."""
    return value["kind"] != "CustomResourceDefinition" or "items" in value


def _packs_objects(path: str, room: Room) -> bool:
    """Return whether the folders ``crds`` of a packed chart may have objects other than CRDs."""
    try:
        texts = [Text(name, data) for name, data in definitions_in(path, room)]
        return any(_is_object(each) for text in texts for each in _objects_of(text))
    except (InputError, msgspec.DecodeError, OSError, EOFError, ValueError):
        return True


def _objects_in(path: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file."""
    yield from _objects_of(read_text(Source(path, None)))


def _objects_of(text: Text) -> Iterator[dict[str, Any]]:
    if not _MAY_BE_OBJECT.search(text.data):
        return
    values = [msgspec.json.decode(text.data)] if is_named_json(text) else [each.value for each in read_documents(text)]
    yield from filter(_has_type, values)


def _has_type(value: object) -> bool:
    return isinstance(value, dict) and bool(value.get("apiVersion") and value.get("kind"))


def _has_more_objects(kustomization: str) -> bool:
    """Return whether a kustomization's file has objects after its first document, which only kubectl reads."""
    try:
        text = read_text(Source(kustomization, None))
        more = [each.value for each in read_documents(text)][1:] if b"---" in text.data else []
    except InputError:
        return False  # building the kustomization reports the error
    return any(map(_has_type, more))


def _marks_local(path: str) -> bool:
    try:
        text = read_text(Source(path, None))
        return may_hold(text, _LOCAL.encode()) and any(_LOCAL in str(each.value) for each in read_documents(text))
    except InputError:
        return False  # building the kustomization reports the error


def _has_workload(path: str) -> bool:
    try:
        return any(map(_is_workload, _objects_in(path)))
    except (InputError, msgspec.DecodeError):
        return False  # building the kustomization reports the error


def _is_workload(value: dict[str, Any]) -> bool:
    """Return whether an object has the required fields of a pod or workload. A patch does not have all of them."""
    kind, spec = value.get("kind"), value.get("spec")
    items = value.get("items")
    if isinstance(items, list) and any(isinstance(each, dict) and _is_workload(each) for each in items):
        return True
    missing = {"CronJob": "schedule", "Job": "template", "Pod": "containers"}.get(str(kind), "selector")
    if not isinstance(spec, dict) or missing not in spec:
        return False
    for name in ("jobTemplate", "spec", "template", "spec"):
        inner = spec.get(name)
        spec = inner if isinstance(inner, dict) else spec
    containers = spec.get("containers")
    return isinstance(containers, list) and any(isinstance(each, dict) and each.get("image") for each in containers)


def _kustomization_of(source: Source) -> Kustomization | None:
    return source.unit.kustomization if isinstance(source.unit, KustomizationUnit) else None


def _notes_on_charts(sources: Sequence[Source]) -> list[str]:
    """Return notes on charts whose values Helm does not validate, or whose manifests differ at installation."""
    charts = [(each.name, each.unit) for each in sources if isinstance(each.unit, ChartUnit)]
    names = [name for name, unit in charts if has_outside_references(unit.path)]
    words = "values are not validated: values.schema.json refers to other files or servers, or a chart is packed"
    notes = [f"{listed_paths(names)}: {words}"] if names else []
    values = dict.fromkeys((each, unit.root) for _, unit in charts for each in unit.rendering.helm_values)
    searched = [(name, unit.path, unit.root) for name, unit in charts]
    return notes + _notes_on_installation([*searched, *((shown_path(each), each, root) for each, root in values)])


def _notes_on_installation(charts: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return notes on charts and values files, given as (shown name, path, root), that use unstable values."""
    return [
        f"{name}: {OTHER_AT_INSTALLATION}, because of {listed_paths(found)}"
        for name, path, root in charts
        if (found := unstable_in(path, root))
    ]
