"""Checks what kustomize would read for a kustomization: only the root's files, and the network only on request.

kustomize keeps files inside the folder of their kustomization, but takes bases from any folder of the machine.
Source: sigs.k8s.io/kustomize/api/internal/loader/fileloader.go.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import yaml

from topospread.errors import InputError, Place

from .files import Source, read_text
from .kustomizations import FOLDER_FIELDS, KUSTOMIZATIONS, path_of
from .roots import is_of_git, is_within
from .text import Text, shown_path
from .yaml import read_documents

_URL: Final = re.compile(r"(?i)(?:^|=)https?://")
_PLAIN_DATA: Final = frozenset(
    {"literals", "annotations", "commonannotations", "labels", "commonlabels", "metadata", "valuesinline"}
    | {"repo", "chartrepourl", "sourcevalue"}
)
"""Fields, in lower case, whose texts kustomize does not read as paths. Helm reads `repo` (`helm_gate`)."""
_NAMES: Final = frozenset({"name", "chartname"})
"""Fields of charts. kustomize writes the values of a chart to a temporary folder, into a file of the chart's name."""
_FILES: Final = frozenset({"path", "targetfilepath", "valuesfile"})
"""Fields of configurations for which kustomize takes a number or true as the name of a file."""
_PLUGINS: Final = frozenset({"generators", "transformers", "validators", "configurations"})
_events: Final = partial(yaml.parse, Loader=yaml.CLoader)
NEEDS_NETWORK: Final = "kustomize would fetch this from the network; add --render-network to allow it"


def check_reach(folder: str, root: str, *, network: bool) -> None:
    """Refuse a kustomization that reads outside its root, or the network unless that is allowed.

    Args:
        folder: the folder of the kustomization.
        root: real path of the folder that the kustomization and its bases lie in (`roots`).
        network: whether kustomize may fetch bases and files.

    Raises:
        InputError: if it does, or a kustomization cannot be read; its place is the kustomization's file.
    """
    visited: set[str] = set()
    waiting = [folder]
    while waiting:
        each = os.path.realpath(waiting.pop())
        if each not in visited:
            visited.add(each)
            waiting += _ReachCheck(each, root, network).checked()


class _ReachCheck:
    """Checks the references of one kustomization."""

    def __init__(self, folder: str, root: str, network: bool) -> None:
        self._folder = folder
        self._root = root
        self._network = network
        self._place = Place(shown_path(folder))

    def checked(self) -> Iterator[str]:
        """Yield the folders of the kustomizations that this one refers to, after its own check."""
        for name in KUSTOMIZATIONS:
            path = os.path.join(self._folder, name)
            if os.path.lexists(path):
                self._place = Place(shown_path(os.path.relpath(path)))
                self._check_inside(path, name)
                for document in read_documents(read_text(Source(path, None))):
                    yield from self._check_fields(document.value)

    def _check_fields(self, value: Any) -> Iterator[str]:
        if not isinstance(value, dict):
            return
        self._check_texts(value)
        # Go matches the names of JSON fields without regard to case.
        fields = [(key.casefold(), listed) for key, listed in value.items() if isinstance(listed, list)]
        for field, listed in fields:
            for each in listed:
                if isinstance(each, str) and field in FOLDER_FIELDS | _PLUGINS:
                    yield from self._check_reference(field, each)

    def _check_reference(self, field: str, given: str) -> Iterator[str]:
        """Check a file, a folder or a text of its own that a field lists; yield the folder."""
        if field in _PLUGINS:
            # kustomize reads any text as a configuration first, also if a file has this name.
            self._check_documents(given.encode())
        path = path_of(self._folder, given)
        if not os.path.lexists(path):
            if not self._network and not (field in _PLUGINS and "\n" in given):
                raise InputError(f"{shown_path(given)} does not exist here. {NEEDS_NETWORK}", self._place)
            return
        self._check_inside(path, given)
        if os.path.isdir(path):
            if field in _PLUGINS and not self._network:
                words = f"{shown_path(given)} is a folder of {field}, and kustomize may put URLs together in it."
                raise InputError(f"{words} List its files, or add --render-network", self._place)
            yield path
        elif field in _PLUGINS:
            self._check_documents(read_text(Source(path, None)).data)

    def _check_documents(self, data: bytes) -> None:
        """Check the configurations of generators and transformers.

        kustomize reads them with go-yaml v3, where a key wins over a merged one wherever it stands.
        """
        for document in read_documents(Text(self._place.source, data)):
            self._check_texts(document.value)
        for each in _events(data):
            if isinstance(each, yaml.ScalarEvent):
                # Of words such as yes, which are true elsewhere, go-yaml v3 makes texts.
                self._check_name(each.value)
                if each.value == "<<" and not self._network:
                    raise InputError("a configuration of kustomize merges keys with <<; write them out", self._place)

    def _check_texts(self, value: Any) -> None:
        """Refuse URLs, files in ``.git`` and charts elsewhere, at any depth: kustomize takes a URL for any file."""
        if isinstance(value, dict):
            for key, each in value.items():
                if key.casefold() in _NAMES and isinstance(each, str) and ".." in each.split("/"):
                    raise InputError(f"{shown_path(each)}: no chart has .. in its name", self._place)
                if key.casefold() in _FILES and isinstance(each, int | float):
                    raise InputError(f"{shown_path(key)}: a file's name has to be in quotes", self._place)
                if key.casefold() not in _PLAIN_DATA:
                    self._check_texts(each)
        elif isinstance(value, list):
            for each in value:
                self._check_texts(each)
        elif isinstance(value, str):
            if not self._network and _URL.search(value.partition("\n")[0]):
                raise InputError(f"{shown_path(value)}: {NEEDS_NETWORK}", self._place)
            self._check_name(value)

    def _check_name(self, text: str) -> None:
        """Refuse a text that names a file in ``.git``."""
        for each in {text, text.rpartition("=")[2]}:
            path = path_of(self._folder, each)
            if os.path.lexists(path) and is_of_git(os.path.realpath(path).removeprefix(self._root)):
                raise InputError(f"{shown_path(each)}: git keeps this, and kustomize may not read it", self._place)

    def _check_inside(self, path: str, given: str) -> None:
        if not is_within(path, self._root):
            words = f"{shown_path(given)} leaves {shown_path(self._root)}; name a folder that holds both"
            raise InputError(words, self._place)
