"""Rendered texts → the files they were made of: Helm's ``# Source:`` comments, kustomize's origin annotations.

Where it cannot be told which line of which file a field was made of, the file alone is named, and for kustomize the
kustomization that was built.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from topospread.errors import InputError, Place

from .files import Source, read_text, shown_path
from .positions import locate
from .text import Text, line_of
from .yaml import read_documents

_SOURCE: Final = re.compile(rb"(?m)^---\n# Source: (.+)\n")
_IDENTIFYING: Final = ("name", "topologyKey", "key")
"""Fields by which an item of a list is told from others."""

Path = Sequence[str | int]


class ChartOrigins:
    """Of what ``helm template`` prints: the templates.

    Args:
        chart: path of the chart, as it was given.
        data: what was printed.
    """

    def __init__(self, chart: str, data: bytes) -> None:
        self._chart = chart
        self._text = Text(chart, data)
        self._files = _Files()

    @cached_property
    def _sources(self) -> list[tuple[int, str]]:
        """Line → path of the template in the chart, for what stands below it."""
        found = []
        for match in _SOURCE.finditer(self._text.data):
            line = self._text.data.count(b"\n", 0, match.start()) + 1
            found.append((line, match[1].decode("utf-8", "replace").partition("/")[2]))
        return found

    def place(self, document: int, path: Path, rendered: Place) -> Place:
        """The template, with the line where one of its lines, and no other, reads as what was rendered."""
        line = rendered.line or 0
        names = [name for at, name in self._sources if at <= line]
        if not names or not names[-1]:
            return replace(rendered, source=shown_path(self._chart), document=None, line=None, column=None)
        file = os.path.join(self._chart, *names[-1].split("/"))
        told = self._files.only_line(file, line_of(self._text, line - 1))
        column = rendered.column if told is not None else None
        return replace(rendered, source=shown_path(file), document=None, line=told, column=column)


class KustomizationOrigins:
    """Of what ``kustomize build`` prints: the resources.

    Args:
        given: path of the kustomization, as it was given.
        file: the kustomization's file.
        folder: where the paths of the origins begin.
        data: what was printed.
        origins: of each document, the YAML that stands in its annotation; empty for none.
    """

    def __init__(self, given: str, file: str, folder: str, data: bytes, origins: Sequence[bytes]) -> None:
        self._given = given
        self._file = file
        self._folder = folder
        self._text = Text(file, data)
        self._origins = origins
        self._files = _Files()

    @cached_property
    def _rendered(self) -> list[Any]:
        return _values(self._text)

    def place(self, document: int, path: Path, rendered: Place) -> Place:
        """The resource's field, where it stands there as it was rendered; else the kustomization."""
        told = replace(rendered, source=self._named(self._file), document=None, line=None, column=None)
        origin = self._origin(document)
        if "repo" in origin:
            return told
        made_by = origin.get("configuredIn")
        if isinstance(made_by, str):
            return replace(told, source=self._named(os.path.join(self._folder, made_by)))
        file = origin.get("path")
        if not isinstance(file, str):
            return told
        return self._in_resource(os.path.normpath(os.path.join(self._folder, file)), document, path, told) or told

    def _named(self, path: str) -> str:
        return named_from_here(os.path.realpath(path), self._given)

    def _origin(self, document: int) -> Mapping[str, Any]:
        """What the annotation of a document says."""
        if document > len(self._origins):
            return {}
        found = _values(Text(self._file, self._origins[document - 1]))
        return found[0] if found and isinstance(found[0], dict) else {}

    def _in_resource(self, file: str, document: int, path: Path, told: Place) -> Place | None:
        """The field in its resource; None when what was rendered does not stand there."""
        value = self._rendered[document - 1] if document <= len(self._rendered) else None
        found = self._files.document_of(file, value) if isinstance(value, dict) else None
        if found is None:
            return None
        number, source = found
        steps = _agreeing(value, source, path)
        text = self._files.text(file)
        position = locate(text.data, number, steps) if steps is not None and text is not None else None
        if position is None:
            return None
        shown = self._named(file)
        return replace(told, source=shown, document=number, line=position.line, column=position.column)


class _Files:
    """The files that rendered texts were made of, each read once."""

    def __init__(self) -> None:
        self._texts: dict[str, Text | None] = {}
        self._documents: dict[str, list[Any]] = {}

    def text(self, path: str) -> Text | None:
        """A file's text; None when it cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = read_text(Source(path, None))
            except InputError:
                self._texts[path] = None
        return self._texts[path]

    def only_line(self, path: str, line: str) -> int | None:
        """The number of the one line of a file that reads so; None when there is none, or several."""
        text = self.text(path)
        wanted = line.rstrip().encode()
        if text is None or not wanted.strip(b" -"):
            return None
        found = [at for at, each in enumerate(text.data.split(b"\n"), 1) if each.rstrip() == wanted]
        return found[0] if len(found) == 1 else None

    def document_of(self, path: str, rendered: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        """The document of a file that an object was made of, and its number from 1; None when it cannot be told."""
        if path not in self._documents:
            text = self.text(path)
            self._documents[path] = _values(text) if text is not None else []
        alike = [
            (number, each)
            for number, each in enumerate(self._documents[path], 1)
            if isinstance(each, dict) and each.get("kind") == rendered.get("kind")
        ]
        # Prefixes, suffixes and hashes are put around a name: the longest that is in the new one is meant.
        name = _name(rendered)
        named = sorted((each for each in alike if _name(each[1]) in name), key=lambda each: -len(_name(each[1])))
        if len(named) > 1 and len(_name(named[0][1])) == len(_name(named[1][1])):
            return None
        return named[0] if named else None


def _values(text: Text) -> list[Any]:
    """The documents of a text as plain data, as many as can be read."""
    found: list[Any] = []
    with contextlib.suppress(InputError):  # Whoever reads the text itself says so.
        found += [document.value for document in read_documents(text)]
    return found


def _name(value: Mapping[str, Any]) -> str:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _agreeing(rendered: Any, source: Any, path: Path) -> tuple[str | int, ...] | None:
    """The way to a field that is the same in a rendered object and its source; None when it was changed in between.

    A field that is not there is looked for where it would stand.
    """
    steps: list[str | int] = []
    for step in path:
        here, there = _child(rendered, step), _child(source, step)
        if here is None and there is None:
            break
        if here is None or there is None or not _same(here, there, is_item=isinstance(step, int)):
            return None
        steps.append(step)
        rendered, source = here, there
    return tuple(steps)


def _child(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step, value.get(str(step)))
    if isinstance(value, list) and isinstance(step, int):
        return value[step] if step < len(value) else None
    return None


def _same(one: Any, other: Any, *, is_item: bool) -> bool:
    """Whether two values are one: scalars that are equal, items that go by the same name, other mappings and lists."""
    if isinstance(one, dict) and isinstance(other, dict):
        return not is_item or all(one.get(name) == other.get(name) for name in _IDENTIFYING)
    if isinstance(one, list) and isinstance(other, list):
        return True
    return bool(one == other)


def named_from_here(path: str, given: str) -> str:
    """A real path as a person would write it who wrote another one: relative when that was relative."""
    if os.path.isabs(given):
        return shown_path(path)
    return shown_path(os.path.relpath(path, os.path.realpath(os.curdir)))
