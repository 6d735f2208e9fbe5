"""Read a folder's kustomization: the folders and files it refers to, and whether kustomize may read them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from topospread.errors import InputError, Place

from .files import Source, check_depth, read_text
from .helm_gate import NO_TEMPLATE
from .roots import GIT, is_of_git, is_within, lies_in, real_path, real_path_in
from .text import BREAKS, Text, shown_path
from .yaml import read_documents

KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""File names of kustomizations (``RecognizedKustomizationFileNames`` in kustomize's api/konfig)."""

FOLDER_FIELDS: Final = frozenset({"resources", "bases", "components", "generators", "transformers", "validators"})
"""Fields that refer to folders of other kustomizations."""
_OBJECT_FIELDS: Final = sorted(FOLDER_FIELDS)
"""Fields that refer to files with objects, or configurations of generators and transformers."""
_CHARTS: Final = (("helmCharts", "name", "version"), ("helmChartInflationGenerator", "chartName", "chartVersion"))
"""Fields of charts, with their fields of the name and the version."""
_CHART_HOME: Final = "charts"
_MOST_CHARTS: Final = 5_000
"""Maximum number of paths that the charts of a kustomization, or of a configuration of its plugins, may have."""
_MOST_SLASHES: Final = 50_000
"""Maximum number of slashes in the texts of a kustomization, or of a configuration of its plugins.

A text with a slash may be a path. Those of its folder count, too, because looking it up takes as long.
"""


@dataclass(frozen=True, slots=True)
class Kustomization:
    """The files that a kustomization names. Folders and files are real paths within its root (`roots`).

    Attributes:
        component: whether it can only be built as a part of another one (``kind: Component``).
        folders: the folders it refers to: bases, components and the like.
        files: the files that it has as resources, patches, generators and the like.
        patches: the `files` that it uses only as patches.
        mentioned: further files that its texts name, such as contents of a ConfigMap.
        charts: the folders of the charts that Helm renders for it.
    """

    folder: str
    root: str
    file: str
    component: bool = False
    folders: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    patches: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    charts: frozenset[str] = frozenset()

    @property
    def reached(self) -> frozenset[str]:
        """Its own file and its `files`, and those of all kustomizations that it refers to, directly or indirectly."""
        found, folders, waiting = set[str](), {self.folder}, [self]
        while waiting:
            each = waiting.pop()
            found |= {each.file, *each.files}
            new, folders = each.folders - folders, folders | each.folders
            waiting += [own for folder in new if (own := kustomization_in(folder, self.root)) is not None]
        return frozenset(found)


def kustomization_in(folder: str, root: str) -> Kustomization | None:
    """Return a folder's kustomization; None without one, or if the file has another kind.

    An unreadable file counts as a kustomization, and paths outside the root are left out: building it reports the
    error.
    """
    path, real = file_in(folder), real_path(folder)
    if path is None or not is_kustomization(value := kustomization_value(path)):
        return None
    named = _NamedPaths(real, root)
    objects = frozenset(named.files(_entries(value, _OBJECT_FIELDS)))
    patches = frozenset(named.files(_entries(value, ("patches", "patchesStrategicMerge", "patchesJson6902")))) - objects
    files = objects | patches
    return Kustomization(
        real,
        root,
        real_path(path),
        _given(value, "kind") == ["Component"],
        frozenset(named.folders(_entries(value, sorted(FOLDER_FIELDS)))),
        files,
        patches,
        frozenset(named.files(_texts(value))) - files,
        frozenset(each for each in _charts(value, real) if is_within(each, root)),
    )


def file_in(folder: str) -> str | None:
    """Return the first file of a folder with a kustomization's name; None without one.

    A link counts, too, if its target is missing or outside the root: building it reports the error.
    """
    paths = (os.path.join(folder, name) for name in KUSTOMIZATIONS)
    return next((path for path in paths if os.path.isfile(path) or os.path.islink(path)), None)


def is_kustomization(value: dict[str, Any]) -> bool:
    """Return whether a kustomization.yaml is for kustomize. Flux's Kustomization often has this file name, too."""
    versions = _given(value, "apiversion")
    version = versions[0] if len(versions) == 1 else None
    return not isinstance(version, str) or not version or version.startswith("kustomize.config.k8s.io/")


def _given(value: dict[str, Any], field: str) -> list[Any]:
    """Return a field's values: Go ignores case in field names. `check_reach` refuses fields that are given twice."""
    return [each for key, each in value.items() if key.casefold() == field]


def kustomization_value(path: str) -> dict[str, Any]:
    """Return a kustomization's file as plain data; empty if it cannot be read or has more than `_MOST_SLASHES`."""
    try:
        documents = list(read_documents(read_text(Source(path, None))))
    except InputError:
        return {}
    value = documents[0].value if documents else None
    return value if isinstance(value, dict) and _slashes(value, path) <= _MOST_SLASHES else {}


def _slashes(value: Any, path: str) -> int:
    """Return the number of slashes in all paths that the texts of a file at a path may be."""
    if isinstance(value, str):
        return value.count(os.sep) + os.path.abspath(path).count(os.sep) if os.sep in value else 0
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(_slashes(each, path) for each in inside)


def path_of(folder: str, given: str) -> str:
    """Return a path like kustomize resolves it: ``..`` is removed before links are followed.

    So ``missing/../file`` is a file in the kustomization's folder, and ``link/..`` is that folder.
    """
    return os.path.normpath(os.path.join(folder, given))


class _NamedPaths:
    """Resolves the texts of a kustomization that may be paths. Each path is looked up once."""

    def __init__(self, folder: str, root: str) -> None:
        self._folder = folder
        self._root = root
        self._names = {each.casefold() for each in os.listdir(folder)}

    def may_exist(self, text: str) -> bool:
        """Return False for a plain name that is no entry of the folder, ignoring case because some file systems do."""
        return os.sep in text or text in (os.curdir, os.pardir) or text.casefold() in self._names

    def files(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the real paths of the files within the root."""
        return (path for path in self._within(texts) if os.path.isfile(path))

    def folders(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the real paths of the folders within the root."""
        return (path for path in self._within(texts) if os.path.isdir(path))

    def _within(self, texts: Iterable[str]) -> Iterator[str]:
        given = {each for each in texts if each and not _NO_PATH.search(each) and self.may_exist(each)}
        for path in {path_of(self._folder, each) for each in given}:
            if is_within(path, self._root):
                yield real_path(path)


def _entries(value: dict[str, Any], fields: Iterable[str]) -> Iterator[str]:
    """Yield the texts in the lists of some fields; of an object its ``path``."""
    for name in fields:
        listed = value.get(name)
        for each in listed if isinstance(listed, list) else ():
            given = each.get("path") if isinstance(each, dict) else each
            if isinstance(given, str):
                yield given


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(each)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts of a kustomization, and also FILE of a text ``KEY=FILE``."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield from (value, value.rpartition("=")[2])


def _charts(value: dict[str, Any], folder: str) -> Iterator[str]:
    settings = value.get("helmGlobals")
    for field, name, version in _CHARTS:
        listed = value.get(field)
        for each in listed if isinstance(listed, list) else ():
            if not isinstance(each, dict):
                continue
            given = each.get("chartHome") or (settings.get("chartHome") if isinstance(settings, dict) else None)
            home = given if isinstance(given, str) and given else _CHART_HOME
            chart = str(each.get(name))
            # kustomize fetches a chart with a version into a folder of its own.
            for path in (chart, os.path.join(f"{chart}-{each.get(version)}", chart)):
                if "\0" not in (whole := path_of(folder, os.path.join(home, path))):
                    yield real_path(whole)


# Check the files that kustomize would read: only files in the root, and the network only if allowed.

_URL: Final = re.compile(r"(?i)(?:^|=)https?://")
_PLAIN_DATA: Final = frozenset(
    {"literals", "annotations", "commonannotations", "labels", "commonlabels", "metadata", "valuesinline"}
    | {"repo", "chartrepourl", "sourcevalue"}
)
"""Fields, in lower case, whose texts kustomize does not read as paths. `helm_gate` checks `repo`."""
_NO_PATHS: Final = frozenset({"patch", "jsonop", "delimiter", "fieldpath", "fieldpaths", "fieldspecs", "confighome"})
"""Fields, in lower case, whose texts are no paths but may contain slashes. `helm_gate` replaces `configHome`."""
_NAMES: Final = frozenset({"name", "chartname"})
"""Fields with chart names. kustomize writes chart values to a temporary file with this name."""
_PLUGINS: Final = frozenset({"generators", "transformers", "validators", "configurations"})
_ODD_TEXT: Final = re.compile(rb"(?m)\r(?!\n)|" + BREAKS + rb"|^---(?![ \t]*\r?$)")
_MAY_BE_NO_TEXT: Final = re.compile(r"(?i)[-+.\d].*|~|y|n|yes|no|on|off|true|false|null|inf|nan")
"""File names that YAML reads as a number, date, truth value or null."""
_LINE_BREAKS: Final = re.compile("[\r\n\x85\u2028\u2029]")
_NO_PATH: Final = re.compile("[\n\0]")
_REMOTE: Final = re.compile(r"(?i)://|@|\?|_git/|^git::|^gh:|^github\.com")
"""Parts of a text that kustomize may take for the URL of a repository, even if it is a file's name."""
_REPLACED: Final = "before version 5, kustomize replaces"
NEEDS_NETWORK: Final = "kustomize would fetch this from the network; add --render-network to allow it"


Reached = dict[str, tuple[list[str], bool]]
"""Real path of a checked folder → (folders that it refers to, whether all its references were checked)."""


def check_reach(folder: str, root: str, *, network: bool, checked: Reached | None = None) -> bool:
    """Reject a kustomization that reads outside its root, or from the network if that is not allowed.

    Return True if all kustomizations and configurations that kustomize will read were checked. Return False if
    kustomize fetches or generates some of them.

    Args:
        root: real path of the folder for the kustomization and its bases (`roots`).
        network: whether kustomize may fetch bases and files.
        checked: results for the same root, which are used again. New results are added.

    Raises:
        InputError: if the kustomization is rejected or a kustomization cannot be read. The place is its file.
    """
    checked = {} if checked is None else checked
    visited: set[str] = set()
    waiting, is_whole = [real_path(folder)], True
    while waiting:
        each = waiting.pop()
        if each not in visited:
            visited.add(each)
            if each not in checked:
                check = _ReachCheck(each, root, network)
                folders = [real_path(found) for found in check.checked()]
                checked[each] = folders, check.is_whole
            folders, is_known = checked[each]
            waiting += folders
            is_whole &= is_known
    return is_whole


def _check_syntax(data: bytes, place: Place, *, merges: bool) -> None:
    """Reject YAML that parsers read differently.

    Args:
        data: a text that libyaml can parse.
        merges: whether keys may be merged with ``<<``.

    Raises:
        InputError: if the text has a tag, a line break or a separator that only some parsers know, or a merge that is
            not allowed.
    """
    if _ODD_TEXT.search(data):
        raise InputError("a file of kustomize has an unusual line break, or text after ---; remove it", place)
    for each in yaml.parse(data, Loader=yaml.CLoader):
        if getattr(each, "tag", None) is not None or getattr(each, "implicit", None) == (False, False):
            raise InputError("a text of kustomize has a tag, such as !!str; remove it", place)
        if not merges and isinstance(each, yaml.ScalarEvent) and each.value == "<<":
            raise InputError("a configuration of kustomize merges keys with <<; write them out", place)


class _ReachCheck:
    """Checks the references of one kustomization.

    Attributes:
        is_whole: whether all its references are local, and none is a folder of plugin configurations.
    """

    def __init__(self, folder: str, root: str, network: bool) -> None:
        self._folder = folder
        self._root = root
        self._network = network
        self._place = Place(shown_path(folder))
        self._named = _NamedPaths(folder, root)
        self._checked: set[tuple[str, bool]] = set()
        self.is_whole = True

    def checked(self) -> Iterator[str]:
        """Check this kustomization, then yield the folders of kustomizations that it refers to."""
        self._check_links()
        if os.path.islink(home := os.path.join(self._folder, _CHART_HOME)):
            self._check_inside(home, _CHART_HOME)
        there = [name for name in KUSTOMIZATIONS if os.path.lexists(os.path.join(self._folder, name))]
        if len(there) > 1:
            raise InputError(f"this folder has {' and '.join(there)}; keep one", self._place)
        for name in there:
            path = os.path.join(self._folder, name)
            self._place = Place(shown_path(os.path.relpath(path)))
            self._check_inside(path, name)
            text = read_text(Source(path, None))
            if b"imageTags:" in text.data:
                raise InputError(f"{_REPLACED} imageTags: anywhere; write images", self._place)
            documents = list(read_documents(text))
            _check_syntax(text.data, self._place, merges=True)
            for document in documents:
                yield from self._check_fields(document.value)

    def _check_fields(self, value: Any) -> Iterator[str]:
        if not isinstance(value, dict):
            return
        self._check_slashes(value)
        self._check_texts(value)
        self._check_charts(value)
        if len({key.casefold() for key in value}) < len(value):
            raise InputError("a field is given twice: kustomize ignores upper and lower case; keep one", self._place)
        # Go ignores case in JSON field names.
        fields = [(key.casefold(), listed) for key, listed in value.items() if isinstance(listed, list)]
        for field, listed in fields:
            for each in dict.fromkeys(each for each in listed if isinstance(each, str)):
                if field == "patches":
                    raise InputError(f"{_REPLACED} patches: anywhere if a patch is a text; write path:", self._place)
                if field in FOLDER_FIELDS | _PLUGINS:
                    yield from self._check_reference(field, each)

    def _check_reference(self, field: str, given: str) -> Iterator[str]:
        """Check a file, folder or inline document in a field; yield a folder."""
        if field in _PLUGINS:
            # kustomize first parses any text as a configuration, even if a file has this name.
            self._check_documents(field, given.encode(), is_inline="\n" in given)
        path = path_of(self._folder, given)
        # kustomize clones a repository if a file of this name is no manifest.
        is_local = os.path.isfile(path) and not self._network
        if not os.path.lexists(path) or (_REMOTE.search(given) and not is_local):
            if not self._network and not (field in _PLUGINS and "\n" in given):
                raise InputError(f"{shown_path(given)} does not exist here. {NEEDS_NETWORK}", self._place)
            self.is_whole &= field in _PLUGINS and "\n" in given
            return
        self._check_inside(path, given)
        if os.path.isdir(path):
            if field in _PLUGINS and not self._network:
                words = f"{shown_path(given)} is a folder of {field}, and kustomize may put URLs together in it."
                raise InputError(f"{words} List its files, or add --render-network", self._place)
            self.is_whole &= field not in _PLUGINS
            yield path
        elif field in _PLUGINS:
            self._check_documents(field, read_text(Source(path, None)).data)

    def _check_documents(self, field: str, data: bytes, *, is_inline: bool = False) -> None:
        """Check the configurations of generators and transformers.

        kustomize reads them with go-yaml v3, in which a mapping's own key overrides a merged key. kustomize takes an
        inline text that it cannot parse for a URL.
        """
        for document in read_documents(Text(self._place.source, data)):
            self._check_slashes(document.value)
            self._check_texts(document.value, may_be_path=field != "configurations")
            self._check_charts(document.value)
            if is_inline and not (isinstance(document.value, dict) and isinstance(document.value.get("kind"), str)):
                raise InputError("a configuration of kustomize has no kind; add it", self._place)
        _check_syntax(data, self._place, merges=False)

    def _check_slashes(self, value: Any) -> None:
        if _slashes(value, self._folder) > _MOST_SLASHES:
            words = f"its paths have more than {_MOST_SLASHES:,} slashes, with those of its folder; split it"
            raise InputError(words, self._place)

    def _check_texts(self, value: Any, *, may_be_path: bool = True) -> None:
        """Reject URLs, files in ``.git`` or outside the root, and charts elsewhere, at any depth.

        kustomize accepts a URL for any file. Its own errors would tell whether a file outside exists.
        """
        if isinstance(value, dict):
            for key, each in value.items():
                is_name = key.casefold() in _NAMES and isinstance(each, str)
                if is_name and (_LINE_BREAKS.search(each) or ".." in each.split("/")):
                    raise InputError(f"{shown_path(each)}: the name of a chart cannot contain ..", self._place)
                if key.casefold() == "nametemplate" and "{{" in str(each):
                    raise InputError(f"{key}: {NO_TEMPLATE}", self._place)
                if key.casefold() not in _PLAIN_DATA:
                    self._check_texts(each, may_be_path=may_be_path and key.casefold() not in _NO_PATHS)
        elif isinstance(value, list):
            for each in value:
                self._check_texts(each, may_be_path=may_be_path)
        elif isinstance(value, str):
            if not self._network and _URL.search(value.partition("\n")[0]):
                raise InputError(f"{shown_path(value)}: {NEEDS_NETWORK}", self._place)
            for each in {value, value.rpartition("=")[2]}:
                if (each, may_be_path) not in self._checked and self._named.may_exist(each):
                    self._checked.add((each, may_be_path))
                    self._check_path(each, may_be_path=may_be_path)

    def _check_path(self, given: str, *, may_be_path: bool) -> None:
        path = path_of(self._folder, given)
        is_inside = path == self._root or path.startswith(os.path.join(self._root, ""))
        is_odd = os.sep in given or os.path.islink(path)
        if may_be_path and not (is_inside and (not is_odd or lies_in(path, self._root))):
            raise self._leaves(path, given)
        if os.path.lexists(path) and self._is_of_git(path):
            raise InputError(f"{shown_path(given)}: kustomize may not read git's files", self._place)

    def _check_links(self) -> None:
        """Reject links into the folder's ``.git``, and links out of the root whose names may be numbers or the like.

        kustomize may read unquoted ``yes``, numbers and dates as file names, depending on its version, so the texts
        alone are not enough.
        """
        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            if _MAY_BE_NO_TEXT.fullmatch(name) and os.path.islink(path) and not lies_in(path, self._root):
                raise InputError(f"the symbolic link {shown_path(name)} leaves the root; remove it", self._place)
        if not os.path.lexists(os.path.join(self._folder, GIT)):
            return
        for folder, below, files in os.walk(self._folder):
            check_depth(folder)
            for path in (os.path.join(folder, name) for name in (*below, *files)):
                if os.path.islink(path) and self._is_of_git(path):
                    words = "this symbolic link leads to git's files, which kustomize may not read; remove it"
                    raise InputError(words, Place(shown_path(os.path.relpath(path))))
            below[:] = [name for name in below if not is_of_git(name)]

    def _is_of_git(self, path: str) -> bool:
        real = real_path_in(path, os.sep)
        # The system can follow a link to a path that is too long to be resolved.
        return os.path.exists(path) if real is None else is_of_git(real.removeprefix(self._root))

    def _check_charts(self, value: Any) -> None:
        """Reject charts and their values files outside the root.

        kustomize looks for them before it runs Helm, and its errors would tell whether a link's target exists.
        """
        objects = [*_objects(value)]
        homes = {_CHART_HOME, *(each for found in objects for each in _given(found, "charthome") if each)}
        names = {
            os.path.join(f"{name}-{version}", str(name)) if version else str(name)
            for found in objects
            for name in (*_given(found, "name"), *_given(found, "chartname"))
            for version in ("", *_given(found, "version"))
        }
        if len(homes) * len(names) > _MOST_CHARTS:
            raise InputError(f"it has more than {_MOST_CHARTS:,} names of charts; split it", self._place)
        for chart in (f"{home}/{name}" for home in homes for name in names):
            for path in (chart, f"{chart}/values.yaml"):
                self._check_inside(path_of(self._folder, path), path)

    def _check_inside(self, path: str, given: str) -> None:
        if not is_within(path, self._root):
            raise self._leaves(path, given)

    def _leaves(self, path: str, given: str) -> InputError:
        both = os.path.commonpath([path, self._root])
        name = f"{shown_path(both)}, which" if both != os.sep else "a folder that"
        words = f"{shown_path(given)} leaves {shown_path(self._root)}; name {name} holds both"
        return InputError(words, self._place)
