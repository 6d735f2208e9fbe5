"""Find the source files of rendered texts, from Helm's ``# Source:`` comments and kustomize's origin annotations.

If the line is unknown, only the file is named; for kustomize, the kustomization.
"""

from __future__ import annotations

import contextlib
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, Final

import msgspec

from topospread.errors import InputError, Place

from .chart_schemas import PACKED
from .files import Source, read_text
from .kustomizations import Kustomization, path_of
from .positions import Position, positions
from .roots import is_within, real_path
from .text import Text, line_of, shown_path
from .yaml import YamlDocument, read_documents

# Source files of rendered texts and their objects. Each file is read once.


class SourceFiles:
    """The source files of rendered texts, each read once.

    Args:
        root: real path of the folder for files, because a rendered text may name any path.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._texts: dict[str, Text | None] = {}
        self._documents: dict[str, list[YamlDocument]] = {}
        self._lines: dict[str, dict[bytes, int]] = {}
        self._named: dict[str, dict[str, dict[str, list[YamlDocument]]]] = {}
        self._positions: dict[tuple[str, int], dict[tuple[str, ...], Position]] = {}
        self.patches: dict[str, list[Patch]] = {}

    def text(self, path: str) -> Text | None:
        """Return a file's text; None if it cannot be read or is outside the root."""
        if path not in self._texts:
            try:
                self._texts[path] = read_text(Source(path, None)) if is_within(path, self._root) else None
            except InputError:
                self._texts[path] = None
        return self._texts[path]

    def only_line(self, path: str, line: str) -> int | None:
        """Return the number of the only line with this text; None without one, or with several."""
        wanted = line.rstrip().encode()
        if path not in self._lines:
            text, lines = self.text(path), self._lines.setdefault(path, {})
            for at, each in enumerate(map(bytes.rstrip, text.data.split(b"\n") if text is not None else ()), 1):
                lines[each] = 0 if each in lines else at
        return (self._lines[path].get(wanted) or None) if wanted.strip(b" -") else None

    def documents(self, path: str) -> list[YamlDocument]:
        """Return a file's documents, up to the first error."""
        if path not in self._documents:
            text = self.text(path)
            self._documents[path] = _documents_of(text) if text is not None else []
        return self._documents[path]

    def locate(self, path: str, number: int, way: Path) -> Position | None:
        """Return the position of a field or its nearest parent; None if the document cannot be read.

        All positions of a document are computed at once, because many findings need them.
        """
        text, documents = self.text(path), self.documents(path)
        if text is None or number > len(documents):
            return None
        if (path, number) not in self._positions:
            line = documents[number - 1].line
            behind = text.bounds(documents[number].line)[0] if number < len(documents) else len(text.data)
            found = positions(text.data[text.bounds(line)[0] : behind], 1)
            self._positions[path, number] = {
                tuple(map(str, steps)): Position(each.line + line - 1, each.column) for steps, each in found.items()
            }
        steps, known = tuple(map(str, way)), self._positions[path, number]
        return next((known[steps[:length]] for length in range(len(steps), -1, -1) if steps[:length] in known), None)

    def document_of(self, path: str, rendered: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        """Return the number, from 1, and content of the document from which an object was rendered; None if unknown."""
        if path not in self._named:
            kinds = self._named[path] = {}
            objects = [each for each in self.documents(path) if isinstance(each.value, dict)]
            for each in sorted(objects, key=lambda each: -len(name_of(each.value))):
                kinds.setdefault(str(each.value.get("kind")), {}).setdefault(name_of(each.value), []).append(each)
        # kustomize adds prefixes, suffixes and hashes to names: take the longest name that the new one contains.
        name, named = name_of(rendered), self._named[path].get(str(rendered.get("kind")), {})
        inside = [name] if name in named else list(islice((each for each in named if each in name), 2))
        is_clear = len({len(each) for each in inside}) == len(inside) > 0
        if not is_clear or len(named[inside[0]]) > 1:
            return None
        (found,) = named[inside[0]]
        return found.number, found.value


def _documents_of(text: Text) -> list[YamlDocument]:
    found: list[YamlDocument] = []
    with contextlib.suppress(InputError):  # reading the text reports the error
        found += read_documents(text)
    return found


def values_of(text: Text) -> list[Any]:
    """Return the documents of a text as plain data, up to the first error."""
    return [each.value for each in _documents_of(text)]


def name_of(value: Mapping[str, Any]) -> str:
    """Return ``metadata.name``; "" without one."""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def child_of(value: Any, step: str | int) -> Any:
    """Return the value at a path step; None if it is missing."""
    if isinstance(value, dict):
        return value.get(step, value.get(str(step)))
    if isinstance(value, list) and isinstance(step, int):
        return value[step] if step < len(value) else None
    return None


# Find the patch in a kustomization that wrote a field of a rendered object.

_AT_THE_END: Final = "-"
"""JSON patch token for the position after a list's last item."""


class Patch(msgspec.Struct, frozen=True):
    """A patch of a kustomization.

    Attributes:
        at: its path in the file's first document if it is inline in the kustomization; None in its own file.
        targeted: whether the kustomization names its target, so that the patch need not.
    """

    file: str
    at: tuple[str | int, ...] | None
    documents: Sequence[Any]
    targeted: bool


def written_in(
    files: SourceFiles, kustomizations: Sequence[str], rendered: Mapping[str, Any], path: Path
) -> tuple[str, Position] | None:
    """Return the file and position of the patch that wrote a field; None if no patch did.

    Args:
        kustomizations: files of the kustomizations whose patches changed the object, last one first.
    """
    # the existing part of the path
    value = rendered
    steps: list[str | int] = []
    for step in path:
        value = child_of(value, step)
        if value is None:
            break
        steps.append(step)
    there = tuple(steps)
    if not there:
        return None
    for kustomization in kustomizations:
        if kustomization not in files.patches:
            files.patches[kustomization] = list(_patches(files, kustomization))
        for patch in reversed(files.patches[kustomization]):
            for number, document in enumerate(patch.documents, 1):
                way = _way(document, rendered, there, targeted=patch.targeted)
                if way is None:
                    continue
                at = (number, way) if patch.at is None else (1, patch.at)
                found = files.locate(patch.file, *at)
                if found is not None:
                    return patch.file, found
    return None


def _patches(files: SourceFiles, kustomization: str) -> Iterator[Patch]:
    """Yield the patches of a kustomization in the order in which kustomize applies them."""
    document = next(iter(files.documents(kustomization)), None)
    value = document.value if document is not None and isinstance(document.value, dict) else {}
    folder = os.path.dirname(kustomization)
    for field in ("patchesStrategicMerge", "patches", "patchesJson6902"):
        listed = value.get(field)
        for index, each in enumerate(listed if isinstance(listed, list) else ()):
            entry = {("patch" if "\n" in each else "path"): each} if isinstance(each, str) else each
            if not isinstance(entry, dict):
                continue
            path, inline = entry.get("path"), entry.get("patch")
            if isinstance(path, str):
                file = path_of(folder, path)
                yield Patch(file, None, [each.value for each in files.documents(file)], "target" in entry)
            elif isinstance(inline, str):
                at = (field, index) if isinstance(each, str) else (field, index, "patch")
                yield Patch(kustomization, at, values_of(Text(kustomization, inline.encode())), "target" in entry)


def _way(patch: Any, rendered: Mapping[str, Any], path: Path, *, targeted: bool) -> tuple[str | int, ...] | None:
    """Return where a patch writes the rendered field at `path`, as a path in the patch; None if it does not."""
    if isinstance(patch, list):
        return _in_operations(patch, rendered, path)
    if not isinstance(patch, dict):
        return None
    meant = targeted or (patch.get("kind") == rendered.get("kind") and name_of(patch) in name_of(rendered))
    return _in_merge(patch, rendered, path) if meant else None


def _in_merge(patch: Any, rendered: Any, path: Path) -> tuple[str | int, ...] | None:
    """Return the path in a strategic merge patch. Its lists contain some of the rendered items."""
    steps: list[str | int] = []
    for step in path:
        rendered = child_of(rendered, step)
        own = step
        if isinstance(step, int) and isinstance(patch, list):
            own = next((index for index, item in enumerate(patch) if _is_part(item, rendered)), len(patch))
        patch = child_of(patch, own)
        if patch is None:
            return None
        steps.append(own)
    return tuple(steps) if _is_part(patch, rendered) else None


def _in_operations(operations: list[Any], rendered: Any, path: Path) -> tuple[str | int, ...] | None:
    """Return the path in a JSON patch: the last operation that wrote the field or a parent."""
    for index in reversed(range(len(operations))):
        operation = operations[index]
        pointer = operation.get("path") if isinstance(operation, dict) else None
        if not isinstance(pointer, str) or operation.get("op") not in ("add", "replace"):
            continue
        steps = [each.replace("~1", "/").replace("~0", "~") for each in pointer.split("/")[1:]]
        below = path[len(steps) :]
        if len(steps) > len(path) or any(map(_differ, steps, path)):
            continue
        written = _in_merge(operation.get("value"), _at(rendered, path[: len(steps)]), below)
        if written is not None:
            return (index, "value", *written)
    return None


def _differ(written: str, step: str | int) -> bool:
    return written not in (str(step), _AT_THE_END) if isinstance(step, int) else written != step


def _is_part(patch: Any, rendered: Any) -> bool:
    if isinstance(patch, dict):
        return isinstance(rendered, dict) and all(_is_part(patch[key], rendered.get(key)) for key in patch)
    if isinstance(patch, list):
        return isinstance(rendered, list) and all(any(_is_part(each, item) for item in rendered) for each in patch)
    return bool(patch == rendered)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = child_of(value, step)
    return value


_SOURCE: Final = re.compile(rb"(?m)^---\n# Source: (.+)\n")
_IDENTIFYING: Final = ("name", "topologyKey", "key")
"""Fields that identify an item of a list."""

_SUBCHARTS: Final = "charts"
_DESCRIBE: Final = ("Chart.yaml", "requirements.yaml")
"""Files that describe a chart and its dependencies."""

Path = Sequence[str | int]


class ChartOrigins:
    """Origins in the output of ``helm template``: the templates.

    Args:
        root: real path of the folder for its files.
    """

    def __init__(self, chart: str, data: bytes, root: str) -> None:
        self._chart = chart
        self._text = Text(chart, data)
        self._files = SourceFiles(root)
        self._templates: dict[str, str] = {}
        self._subcharts: dict[str, dict[str, list[str]] | None] = {}

    @cached_property
    def _sources(self) -> list[tuple[int, str]]:
        """Return (first line, template path) of each part of the output; an empty path if it leaves the chart.

        A template may begin with such a comment, too: only the first of several in a row is Helm's.
        """
        found, end = [], -1
        for match in _SOURCE.finditer(self._text.data):
            is_helms, end = match.start() != end, match.end()
            if is_helms:
                name = match[1].decode("utf-8", "replace").partition("/")[2]
                line = bisect_right(self._text.line_starts, match.start())
                found.append((line, "" if os.pardir in name.split("/") else name))
        return found

    def place(self, document: int, path: Path, rendered: Place) -> Place:
        """Return the template, with a line if exactly one of its lines equals the rendered line."""
        line = rendered.line or 0
        above = bisect_right(self._sources, line, key=lambda each: each[0])
        name = self._sources[above - 1][1] if above else ""
        if name not in self._templates:
            self._templates[name] = self._template(name)
        file = self._templates[name]
        if not file:
            return replace(rendered, source=shown_path(self._chart), document=None, line=None, column=None)
        told = self._files.only_line(file, line_of(self._text, line - 1))
        column = rendered.column if told is not None else None
        return replace(rendered, source=shown_path(file), document=None, line=told, column=column)

    def _template(self, name: str) -> str:
        """Return a template's path; "" if unknown. A subchart's folder may have another name than the chart."""
        folder, steps = self._chart, name.split("/")
        while len(steps) > 2 and steps[0] == _SUBCHARTS and os.path.isdir(folder):
            found = self._subchart(folder, steps[1])
            if found is None:
                return ""
            folder, steps = found, steps[2:]
        return os.path.join(folder, *steps) if name else ""

    def _subchart(self, chart: str, name: str) -> str | None:
        """Return the only folder whose chart may have this name; the name's missing path if none may; else None."""
        if chart not in self._subcharts:
            self._subcharts[chart] = self._folders(chart)
        folders = self._subcharts[chart]
        if folders is None:
            return None
        found = [*dict.fromkeys([*folders.get(name, ()), *folders.get("", ())])]
        if not found and not os.path.lexists(missing := os.path.join(chart, _SUBCHARTS, name)):
            return missing
        is_clear = len(found) == 1 and PACKED not in folders
        return found[0] if is_clear and len(self._described(found[0], "name")) == 1 else None

    def _folders(self, chart: str) -> dict[str, list[str]] | None:
        """Return name or alias → the first two folders of its subchart; "" → folders with any name; None if unknown.

        A key `PACKED` means that a packed subchart may have any name.
        """
        described = [os.path.join(chart, each) for each in _DESCRIBE]
        if any(os.path.lexists(each) and not self._files.documents(each) for each in described):
            return None
        home = os.path.join(chart, _SUBCHARTS)
        named: dict[str, list[str]] = {}
        for each in os.listdir(home) if os.path.isdir(home) else ():
            path = os.path.join(home, each)
            if each[0] not in "._" and os.path.isdir(path):
                own = self._described(path, "name")
                key = own[0] if len(own) == 1 and isinstance(own[0], str) else ""
                named[key] = [*named.get(key, ()), path][:2]
            if each[0] not in "._" and each.endswith(PACKED):
                named[PACKED] = []
        found = dict(named)
        for listed in self._described(chart, "dependencies"):
            for each in listed if isinstance(listed, list) else ():
                fields = {str(key).casefold(): value for key, value in each.items()} if isinstance(each, dict) else {}
                if not isinstance(each, dict) or len(fields) < len(each):
                    return None
                if isinstance(alias := fields.get("alias"), str):
                    of_name = named.get(str(fields.get("name")), ())
                    found[alias] = [*dict.fromkeys([*found.get(alias, ()), *of_name])][:2]
        return found

    def _described(self, chart: str, field: str) -> list[Any]:
        """Return the values of a field in the files that describe a chart. Helm ignores case in its name."""
        documents = [own for each in _DESCRIBE for own in self._files.documents(os.path.join(chart, each))[:1]]
        values = [each.value for each in documents if isinstance(each.value, dict)]
        return [value for each in values for key, value in each.items() if str(key).casefold() == field]

    def holders(self, place: Place) -> tuple[str, ...]:
        """Return the template; see `Origins`."""
        return (place.source,)


class Annotated(msgspec.Struct, frozen=True):
    """The annotations of kustomize on a document, as YAML; empty if missing.

    Attributes:
        origin: the resource that the object came from.
        transformations: transformations of the object, in order.
    """

    origin: bytes = b""
    transformations: bytes = b""


class KustomizationOrigins:
    """Origins in the output of ``kustomize build``: the resources, and the patches.

    Patches and transformers can write these annotations, too, so a path counts only if it is a file of the
    kustomization.

    Args:
        annotate: returns the annotations of each document, and the folder to which paths of origins are relative.
            It is called when the first place is asked for.
        root: real path of the folder for its files.
    """

    def __init__(
        self,
        given: str,
        *,
        kustomization: Kustomization,
        data: bytes,
        annotate: Callable[[], tuple[Sequence[Annotated], str]],
        root: str,
    ) -> None:
        self._given = given
        self._kustomization = kustomization
        self._text = Text(kustomization.file, data)
        self._annotate = annotate
        self._files = SourceFiles(root)

    @cached_property
    def _annotations(self) -> tuple[Sequence[Annotated], str]:
        return self._annotate()

    @cached_property
    def _rendered(self) -> list[Any]:
        return values_of(self._text)

    @cached_property
    def _reached(self) -> frozenset[str]:
        return self._kustomization.reached

    @cached_property
    def _claims(self) -> Counter[tuple[str, int]]:
        """File, as shown, and number of a document → the number of objects that seem to be made from it."""
        made = [self._resource(number) for number in range(1, len(self._rendered) + 1)]
        return Counter((self._named(each[0]), each[1]) for each in made if each is not None)

    def place(self, document: int, path: Path, rendered: Place) -> Place:
        """Return the place of the field in its resource if unchanged, else in its patch, else the kustomization."""
        told = replace(rendered, source=self._named(self._text.name), document=None, line=None, column=None)
        made_by = self._file(self._origin(document).get("configuredIn"))
        if made_by is not None:
            return replace(told, source=self._named(made_by))
        return self._in_resource(document, path, told) or self._in_patch(document, path, told) or told

    def holders(self, place: Place) -> tuple[str, ...]:
        """Return the kustomization, and the resource if no other object claims its document; see `Origins`."""
        own = self._named(self._text.name)
        is_alone = place.document is not None and self._claims[place.source, place.document] == 1
        return (own, place.source) if is_alone else (own,)

    def _named(self, path: str) -> str:
        return named_from_here(real_path(path), self._given)

    def _file(self, said: Any) -> str | None:
        """Return the path in an annotation; None if it is no file of the kustomization."""
        path = path_of(self._annotations[1], said) if isinstance(said, str) and "\0" not in said else ""
        return path if path and real_path(path) in self._reached else None

    def _said(self, document: int, of: Callable[[Annotated], bytes]) -> Any:
        annotated, _ = self._annotations
        if document > len(annotated):
            return None
        found = values_of(Text(self._text.name, of(annotated[document - 1])))
        return found[0] if found else None

    def _origin(self, document: int) -> dict[str, Any]:
        said = self._said(document, lambda each: each.origin)
        return said if isinstance(said, dict) and "repo" not in said else {}

    def _resource(self, document: int) -> tuple[str, int, dict[str, Any]] | None:
        """Return the file, number and content of the document from which an object was made; None if unknown."""
        value = self._rendered[document - 1] if document <= len(self._rendered) else None
        file = self._file(self._origin(document).get("path"))
        found = self._files.document_of(file, value) if file is not None and isinstance(value, dict) else None
        return (file, *found) if file is not None and found is not None else None

    def _in_patch(self, document: int, path: Path, told: Place) -> Place | None:
        """Return the field's place in the patch that wrote it, if known."""
        value = self._rendered[document - 1] if document <= len(self._rendered) else None
        said = self._said(document, lambda each: each.transformations)
        by = [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []
        # one of PatchTransformer, PatchStrategicMergeTransformer, PatchJson6902Transformer
        patched = [self._file(each.get("configuredIn")) for each in by if "Patch" in str(each.get("configuredBy"))]
        last_first = dict.fromkeys(each for each in reversed(patched) if each is not None)
        found = written_in(self._files, list(last_first), value, path) if isinstance(value, dict) else None
        if found is None:
            return None
        file, position = found
        return replace(told, source=self._named(file), line=position.line, column=position.column)

    def _in_resource(self, document: int, path: Path, told: Place) -> Place | None:
        """Return the field's place in its resource; None if the rendered value differs."""
        found = self._resource(document)
        if found is None:
            return None
        file, number, source = found
        steps = _agreeing(self._rendered[document - 1], source, path)
        position = self._files.locate(file, number, steps) if steps is not None else None
        if position is None:
            return None
        return replace(told, source=self._named(file), document=number, line=position.line, column=position.column)


def _agreeing(rendered: Any, source: Any, path: Path) -> tuple[str | int, ...] | None:
    """Return the path in the source of an unchanged field; None if it was changed.

    For a missing field, the path of its nearest existing parent is compared.
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
    """Return whether a rendered value and a source value are the same field's.

    Scalars must be equal. List items that are mappings must have equal identifying fields. Other mappings and lists
    always match, because their parts are compared later.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return not is_item or all(one.get(name) == other.get(name) for name in _IDENTIFYING)
    if isinstance(one, list) and isinstance(other, list):
        return True
    return bool(one == other)


def named_from_here(path: str, given: str) -> str:
    """Return a real path relative to the working directory if the given path was relative."""
    if os.path.isabs(given):
        return shown_path(path)
    return shown_path(os.path.relpath(path, real_path(os.curdir)))
