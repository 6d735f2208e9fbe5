"""Rendered texts → the files they were made of: Helm's ``# Source:`` comments, kustomize's origin annotations.

Where it cannot be told which line of which file a field was made of, the file alone is named, and for kustomize the
kustomization that was built.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import msgspec

from topospread.errors import Place

from .kustomizations import path_of
from .patches import written_in
from .positions import locate
from .source_files import SourceFiles, child_of, values_of
from .text import Text, line_of, shown_path

_SOURCE: Final = re.compile(rb"(?m)^---\n# Source: (.+)\n")
_IDENTIFYING: Final = ("name", "topologyKey", "key")
"""Fields by which an item of a list is told from others."""

Path = Sequence[str | int]


class ChartOrigins:
    """Origins in the output of ``helm template``: the templates.

    Args:
        chart: path of the chart, as it was given.
        data: what was printed.
        root: real path of the folder that its files must lie in.
    """

    def __init__(self, chart: str, data: bytes, root: str) -> None:
        self._chart = chart
        self._text = Text(chart, data)
        self._files = SourceFiles(root)

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


class Annotated(msgspec.Struct, frozen=True):
    """The annotations of kustomize on a document, as YAML; empty if there are none.

    Attributes:
        origin: the resource that the object came from.
        transformations: what changed it, in the order in which that happened.
    """

    origin: bytes = b""
    transformations: bytes = b""


class KustomizationOrigins:
    """Origins in the output of ``kustomize build``: the resources, and the patches.

    Args:
        given: path of the kustomization, as it was given.
        file: the kustomization's file.
        folder: where the paths of the origins begin.
        data: what was printed.
        annotated: what was said of each document.
        root: real path of the folder that its files must lie in.
    """

    def __init__(  # noqa: PLR0913 - keyword arguments
        self, given: str, *, file: str, folder: str, data: bytes, annotated: Sequence[Annotated], root: str
    ) -> None:
        self._given = given
        self._file = file
        self._folder = folder
        self._text = Text(file, data)
        self._annotated = annotated
        self._files = SourceFiles(root)

    @cached_property
    def _rendered(self) -> list[Any]:
        return values_of(self._text)

    def place(self, document: int, path: Path, rendered: Place) -> Place:
        """The resource's field, where it stands there as it was rendered; else the patch's; else the kustomization."""
        told = replace(rendered, source=self._named(self._file), document=None, line=None, column=None)
        origin = self._said(document, lambda each: each.origin)
        origin = origin if isinstance(origin, dict) else {}
        made_by, file = origin.get("configuredIn"), origin.get("path")
        if isinstance(made_by, str) and "repo" not in origin:
            return replace(told, source=self._named(os.path.join(self._folder, made_by)))
        found = None
        if isinstance(file, str) and "repo" not in origin:
            found = self._in_resource(path_of(self._folder, file), document, path, told)
        return found or self._in_patch(document, path, told) or told

    def _named(self, path: str) -> str:
        return named_from_here(os.path.realpath(path), self._given)

    def _said(self, document: int, of: Callable[[Annotated], bytes]) -> Any:
        """Return an annotation of a document; None if it has none."""
        if document > len(self._annotated):
            return None
        found = values_of(Text(self._file, of(self._annotated[document - 1])))
        return found[0] if found else None

    def _in_patch(self, document: int, path: Path, told: Place) -> Place | None:
        """The field in the patch that wrote it, as far as that can be told."""
        value = self._rendered[document - 1] if document <= len(self._rendered) else None
        said = self._said(document, lambda each: each.transformations)
        by = [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []
        # Which transformer: PatchTransformer, PatchStrategicMergeTransformer, PatchJson6902Transformer.
        patched = [each.get("configuredIn") for each in by if "Patch" in str(each.get("configuredBy"))]
        last_first = dict.fromkeys(each for each in reversed(patched) if isinstance(each, str))
        files = [path_of(self._folder, each) for each in last_first]
        found = written_in(self._files, files, value, path) if isinstance(value, dict) else None
        if found is None:
            return None
        file, position = found
        return replace(told, source=self._named(file), line=position.line, column=position.column)

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


def _agreeing(rendered: Any, source: Any, path: Path) -> tuple[str | int, ...] | None:
    """The way to a field that is the same in a rendered object and its source; None when it was changed in between.

    A field that is not there is looked for where it would stand.
    """
    steps: list[str | int] = []
    for step in path:
        here, there = child_of(rendered, step), child_of(source, step)
        if here is None and there is None:
            break
        if here is None or there is None or not _same(here, there, is_item=isinstance(step, int)):
            return None
        steps.append(step)
        rendered, source = here, there
    return tuple(steps)


def _same(one: Any, other: Any, *, is_item: bool) -> bool:
    """Return whether two values are one: scalars that are equal, items that go by the same name, other mappings and
    lists.
    """
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
