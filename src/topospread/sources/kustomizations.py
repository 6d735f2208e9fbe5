"""Read a folder's kustomization: the folders and files it refers to, and whether kustomize may read them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from topospread.errors import InputError, Place

from .files import Source, read_text
from .roots import GIT, is_of_git, is_within
from .text import BREAKS, Text, shown_path
from .yaml import read_documents

KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""File names of kustomizations (``RecognizedKustomizationFileNames`` in kustomize's api/konfig)."""

_GROUP: Final = "kustomize.config.k8s.io/"
_TYPE: Final = ("apiversion", "kind")
FOLDER_FIELDS: Final = frozenset({"resources", "bases", "components", "generators", "transformers", "validators"})
"""Fields that refer to folders of other kustomizations."""
_CHARTS: Final = (("helmCharts", "name", "version"), ("helmChartInflationGenerator", "chartName", "chartVersion"))
"""Fields of charts, with their fields of the name and the version."""
_CHART_HOME: Final = "charts"


@dataclass(frozen=True, slots=True)
class Kustomization:
    """The files that a kustomization names. Folders and files are real paths.

    Attributes:
        folder: its folder.
        file: the file itself.
        component: whether it is only usable in others (``kind: Component``).
        folders: the folders it refers to: bases, components and the like.
        files: all files in or below its folder that it names.
        charts: the folders of the charts that Helm renders for it.
    """

    folder: str
    file: str
    component: bool = False
    folders: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    charts: frozenset[str] = frozenset()


def kustomization_in(folder: str) -> Kustomization | None:
    """Return a folder's kustomization; None without one, or if the file has another kind.

    An unreadable file counts as a kustomization; building it reports the error.
    """
    real = os.path.realpath(folder)
    for name in KUSTOMIZATIONS:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            value = kustomization_value(path)
            # Go ignores case in field names. `check_reach` refuses fields that are given twice.
            versions, kinds = ([each for key, each in value.items() if key.casefold() == name] for name in _TYPE)
            version = versions[0] if len(versions) == 1 else None
            # Flux's Kustomization often has the same file name.
            if isinstance(version, str) and version and not version.startswith(_GROUP):
                return None
            return Kustomization(
                real,
                os.path.realpath(path),
                kinds == ["Component"],
                frozenset(_folders(value, real)),
                frozenset(_files(value, real)),
                frozenset(_charts(value, real)),
            )
    return None


def kustomization_value(path: str) -> dict[str, Any]:
    """Return a kustomization's file as plain data; empty if it cannot be read."""
    try:
        documents = list(read_documents(read_text(Source(path, None))))
    except InputError:
        return {}
    value = documents[0].value if documents else None
    return value if isinstance(value, dict) else {}


def path_of(folder: str, given: str) -> str:
    """Return a path like kustomize resolves it: ``..`` is removed before links are followed.

    So ``missing/../file`` is a file in the kustomization's folder, and ``link/..`` is that folder.
    """
    return os.path.normpath(os.path.join(folder, given))


def _folders(value: dict[str, Any], folder: str) -> Iterator[str]:
    for name in sorted(FOLDER_FIELDS):
        listed = value.get(name)
        for each in listed if isinstance(listed, list) else ():
            # Other values are files, remote repositories or inline documents.
            if isinstance(each, str) and "\n" not in each and os.path.isdir(path := path_of(folder, each)):
                yield os.path.realpath(path)


def _files(value: Any, folder: str) -> Iterator[str]:
    """Yield the files that any text in the kustomization names, also as ``key=file``."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _files(each, folder)
    elif isinstance(value, str) and value and "\n" not in value and "\0" not in value:
        for name in {value, value.rpartition("=")[2]}:
            if name and os.path.isfile(path := path_of(folder, name)):
                yield os.path.realpath(path)


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
                    yield os.path.realpath(whole)


# Check the files that kustomize would read: only files in the root, and the network only if allowed.

_URL: Final = re.compile(r"(?i)(?:^|=)https?://")
_PLAIN_DATA: Final = frozenset(
    {"literals", "annotations", "commonannotations", "labels", "commonlabels", "metadata", "valuesinline"}
    | {"repo", "chartrepourl", "sourcevalue"}
)
"""Fields, in lower case, whose texts kustomize does not read as paths. `helm_gate` checks `repo`."""
_NAMES: Final = frozenset({"name", "chartname"})
"""Fields with chart names. kustomize writes chart values to a temporary file with this name."""
_PLUGINS: Final = frozenset({"generators", "transformers", "validators", "configurations"})
_ODD_TEXT: Final = re.compile(rb"(?m)\r(?!\n)|" + BREAKS + rb"|^---(?![ \t]*\r?$)")
_LINE_BREAKS: Final = re.compile("[\r\n\x85\u2028\u2029]")
_REMOTE: Final = re.compile(r"(?i)://|@|\?|_git/|^git::|^gh:|^github\.com")
"""Beginnings and parts of what kustomize may take for a repository, even if a folder or file has this name."""
_REPLACED: Final = "before version 5, kustomize replaces"
NEEDS_NETWORK: Final = "kustomize would fetch this from the network; add --render-network to allow it"


Reached = dict[str, tuple[list[str], bool]]
"""Real path of each checked folder → the folders it refers to, and whether all it refers to was checked."""


def check_reach(folder: str, root: str, *, network: bool, checked: Reached | None = None) -> bool:
    """Reject a kustomization that reads outside its root, or from the network if that is not allowed.

    Return whether all kustomizations and configurations that kustomize will read were checked. Otherwise some come from
    the network, or kustomize puts them together.

    Args:
        folder: the folder of the kustomization.
        root: real path of the folder for the kustomization and its bases (`roots`).
        network: whether kustomize may fetch bases and files.
        checked: results for the same root, which are not computed again; receives new ones.

    Raises:
        InputError: if it does, or a kustomization cannot be read. The place is the kustomization's file.
    """
    checked = {} if checked is None else checked
    visited: set[str] = set()
    waiting, is_whole = [os.path.realpath(folder)], True
    while waiting:
        each = waiting.pop()
        if each not in visited:
            visited.add(each)
            if each not in checked:
                check = _ReachCheck(each, root, network)
                folders = [os.path.realpath(found) for found in check.checked()]
                checked[each] = folders, check.is_whole
            folders, is_known = checked[each]
            waiting += folders
            is_whole &= is_known
    return is_whole


def _check_syntax(data: bytes, place: Place, *, merges: bool) -> None:
    """Reject what parsers of YAML read differently.

    Args:
        data: a text that libyaml can parse.
        place: place for errors.
        merges: whether keys may be merged with ``<<``.

    Raises:
        InputError: if the text has a tag, a line break or a separator that only some parsers know, or a merge that is
            not allowed.
    """
    if _ODD_TEXT.search(data):
        raise InputError("a text of kustomize has an odd line break, or a separator that is not --- alone", place)
    for each in yaml.parse(data, Loader=yaml.CLoader):
        if getattr(each, "tag", None) is not None or getattr(each, "implicit", None) == (False, False):
            raise InputError("a text of kustomize has a tag, such as !!str; remove it", place)
        if not merges and isinstance(each, yaml.ScalarEvent) and each.value == "<<":
            raise InputError("a configuration of kustomize merges keys with <<; write them out", place)


class _ReachCheck:
    """Checks the references of one kustomization.

    Attributes:
        is_whole: whether it refers only to files, and to folders of resources, that are here.
    """

    def __init__(self, folder: str, root: str, network: bool) -> None:
        self._folder = folder
        self._root = root
        self._network = network
        self._place = Place(shown_path(folder))
        self.is_whole = True

    def checked(self) -> Iterator[str]:
        """Check this kustomization, then yield the folders of kustomizations that it refers to."""
        self._check_links()
        there = [name for name in KUSTOMIZATIONS if os.path.lexists(os.path.join(self._folder, name))]
        if len(there) > 1:
            raise InputError(f"there are {' and '.join(there)} in one folder; keep one", self._place)
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
        self._check_texts(value)
        if len({key.casefold() for key in value}) < len(value):
            raise InputError("a field is given twice: kustomize ignores upper and lower case; keep one", self._place)
        # Go ignores case in JSON field names.
        fields = [(key.casefold(), listed) for key, listed in value.items() if isinstance(listed, list)]
        for field, listed in fields:
            for each in listed:
                if isinstance(each, str) and field == "patches":
                    raise InputError(f"{_REPLACED} patches: anywhere if a patch is a text; write path:", self._place)
                if isinstance(each, str) and field in FOLDER_FIELDS | _PLUGINS:
                    yield from self._check_reference(field, each)

    def _check_reference(self, field: str, given: str) -> Iterator[str]:
        """Check a file, folder or inline document in a field; yield a folder."""
        if field in _PLUGINS:
            # kustomize first parses any text as a configuration, even if a file has this name.
            self._check_documents(given.encode(), is_inline="\n" in given)
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
            self._check_documents(read_text(Source(path, None)).data)

    def _check_documents(self, data: bytes, *, is_inline: bool = False) -> None:
        """Check the configurations of generators and transformers.

        kustomize reads them with go-yaml v3, in which a mapping's own key overrides a merged key. If it cannot parse an
        inline text, it takes it for a URL.
        """
        for document in read_documents(Text(self._place.source, data)):
            self._check_texts(document.value)
            if is_inline and not (isinstance(document.value, dict) and isinstance(document.value.get("kind"), str)):
                raise InputError("a configuration of kustomize has no kind", self._place)
        _check_syntax(data, self._place, merges=False)

    def _check_texts(self, value: Any) -> None:
        """Reject URLs, files in ``.git`` and charts elsewhere, at any depth: kustomize accepts a URL for any file."""
        if isinstance(value, dict):
            for key, each in value.items():
                is_name = key.casefold() in _NAMES and isinstance(each, str)
                if is_name and (_LINE_BREAKS.search(each) or ".." in each.split("/")):
                    raise InputError(f"{shown_path(each)}: no chart has .. in its name", self._place)
                if key.casefold() not in _PLAIN_DATA:
                    self._check_texts(each)
        elif isinstance(value, list):
            for each in value:
                self._check_texts(each)
        elif isinstance(value, str):
            if not self._network and _URL.search(value.partition("\n")[0]):
                raise InputError(f"{shown_path(value)}: {NEEDS_NETWORK}", self._place)
            for each in {value, value.rpartition("=")[2]}:
                path = path_of(self._folder, each)
                if os.path.lexists(path) and self._is_of_git(path):
                    raise InputError(f"{shown_path(each)}: git keeps this, and kustomize may not read it", self._place)

    def _check_links(self) -> None:
        """Reject links into the folder's ``.git``, whatever their names.

        kustomize may read unquoted ``yes``, numbers and dates as file names, depending on its version, so the texts
        alone are not enough.
        """
        if not os.path.lexists(os.path.join(self._folder, GIT)):
            return
        for folder, below, files in os.walk(self._folder):
            for path in (os.path.join(folder, name) for name in (*below, *files)):
                if os.path.islink(path) and self._is_of_git(path):
                    words = "this symbolic link leads to what git keeps, and kustomize may not read that; remove it"
                    raise InputError(words, Place(shown_path(os.path.relpath(path))))
            below[:] = [name for name in below if not is_of_git(name)]

    def _is_of_git(self, path: str) -> bool:
        return is_of_git(os.path.realpath(path).removeprefix(self._root))

    def _check_inside(self, path: str, given: str) -> None:
        if not is_within(path, self._root):
            words = f"{shown_path(given)} leaves {shown_path(self._root)}; name a folder that holds both"
            raise InputError(words, self._place)
