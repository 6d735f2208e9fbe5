"""Find unsafe charts: with schemas that refer to other files or servers, forged ``# Source:`` comments, or templates
whose result differs at installation.

If a values.schema.json refers to other files or servers, topospread renders the chart without validating its values.
Source: helm.sh/helm/v4/pkg/chart/common/util/jsonschema.go.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import posixpath
import re
from collections.abc import Iterator
from typing import IO, Any, Final

import yaml

from .roots import is_of_git, is_within, real_path, real_path_in
from .yaml import MAX_VALUES

PACKED: Final = ".tgz"
"""File name ending of a packed chart."""
NO_VALIDATION: Final = "--skip-schema-validation"
"""Helm option that disables schema validation."""

_SCHEMA: Final = "values.schema.json"
_MAX_UNPACKED: Final = 64 << 20
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_BASES: Final = frozenset({"$id", "id"})
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FORGED: Final = re.compile(rb"\n---\n# Source: |\.tgz")
_DEFINITIONS: Final = re.compile(r"(?s)[^/]+/(charts/[^/]+/)*crds/.+\.(?i:yaml|yml|json)")
_STRING: Final = rb'"(?:\\.|[^"\\\n])*+"?|`[^`]*+`?|\'(?:\\.|[^\'\\\n])*+\'?'
_ACTION: Final = re.compile(rb"(?s)\{\{(?:[^\"`'/}]++|/\*.*?(?:\*/|\Z)|/|" + _STRING + rb"|\}(?!\}))*+")
"""An action of a template. Matching takes time in proportion to the text, because no part is matched twice."""
_STRINGS: Final = re.compile(b"(?s)" + _STRING)
_ESCAPE: Final = re.compile(rb"\\(?:x|u00|U000000)([0-7][0-9a-fA-F])|\\([01][0-7][0-7])")
"""A character of ASCII as an escape in a string of Go or YAML, which ``tpl`` may evaluate."""
_FOLDED: Final = re.compile(rb"\\\r?\n")
_TEMPLATES: Final = re.compile(r"(?:^|/)templates/")
_COMMENT: Final = re.compile(rb"\{\{-?\s*/\*")
_UNSTABLE: Final = re.compile(
    rb"(?<![\w.$])(?:lookup|now|date|dateInZone|date_in_zone|htmlDate|htmlDateInZone|ago|durationRound|rand[A-Z]\w*|uuidv4|shuffle"
    rb"|gen[A-Z]\w*|bcrypt|htpasswd|encryptAES)(?!\w)|(?<!\w)Is(?:Upgrade|Install)(?!\w)|(?:Release)?\.Revision(?!\w)"
    rb"|\.Release(?![\w.])"
)
"""Functions and fields whose values differ between ``helm template`` and an installation, or from call to call.

They include ``.Release`` as a whole."""
_KNOWN_DRAFT: Final = re.compile(r"https?://json-schema\.org/[A-Za-z0-9./-]*#?")


def has_outside_references(chart: str) -> bool:
    """Return whether a schema of a chart or its subcharts refers to another document.

    Also return True if a schema cannot be read, and for every packed chart, because Helm may find a schema in an
    archive that this function does not find.
    """
    try:
        return any(map(_refers_out, _schemas(chart, Room())))
    except (OSError, ValueError, RecursionError):
        return True


class Room:
    """The number of bytes and of YAML events that may still be read from a chart."""

    left = _MAX_UNPACKED
    values = MAX_VALUES

    def take_value(self) -> None:
        """Count an event. Raise ValueError if there were more than the limit."""
        self.values -= 1
        if self.values < 0:
            raise ValueError("the chart is too large")

    def read(self, file: IO[bytes] | gzip.GzipFile) -> bytes:
        """Return the content of a file. Raise ValueError if more than the limit was read."""
        data = file.read(self.left + 1)
        self.left -= len(data)
        if self.left < 0:
            raise ValueError("the chart is too large")
        return data


def _schemas(chart: str, room: Room) -> Iterator[bytes]:
    for path in _files(chart):
        if path.endswith(PACKED) or path == chart:
            raise ValueError("the chart or a subchart is packed")
        if os.path.basename(path) == _SCHEMA:
            if not os.path.isfile(path):
                raise ValueError("a schema is not a regular file")
            with open(path, "rb") as file:
                yield room.read(file)


def _files(chart: str) -> Iterator[str]:
    """Yield a packed chart's own path, or the files in a chart's folder. A link out of the chart raises ValueError."""
    if os.path.isfile(chart):
        yield chart
    root = real_path(chart)
    visited: set[str | None] = {root}
    for folder, below, names in os.walk(chart, followlinks=True):
        inside = {real_path_in(os.path.join(folder, name), root): name for name in below}
        if None in inside:
            raise ValueError("a link leaves the chart")
        # Many links may lead to one folder, which is listed once.
        below[:] = [name for real, name in inside.items() if real not in visited]
        visited |= inside.keys()
        yield from (os.path.join(folder, name) for name in names)


def may_forge_sources(chart: str) -> bool:
    """Return whether a packed chart or subchart may have a file name that forges Helm's ``# Source:`` comments.

    Helm writes ``---`` and ``# Source: NAME`` above each template. A line break in the name would start a forged line.
    Readers of archives differ in the names they find, so the whole archive is searched for the comment's text.
    """
    room = Room()
    try:
        packed = (path for path in _files(chart) if path.endswith(PACKED) or path == chart)
        return any(_FORGED.search(_unpacked(path, room)) for path in packed)
    except (OSError, EOFError, ValueError):
        return True


def unstable_in(chart: str, root: str) -> list[str]:
    """Return the places of a chart whose result may differ at installation, such as ``templates/web.yaml:3 (lookup)``.

    All files of the chart are searched, because templates may evaluate their texts. Packed charts have no lines.

    Args:
        chart: a folder, a packed chart, or a file with values.
        root: real path of the folder that links must not leave. Links out of it are not followed.
    """
    room, found = Room(), list[str]()
    try:
        for path in sorted(_files(chart)):
            name = os.path.relpath(path, chart) if path != chart else os.path.basename(chart)
            is_outside = os.path.islink(path) and not is_within(path, root)
            if is_outside or is_of_git(name) or not os.path.isfile(path):
                continue
            if name.endswith(PACKED):
                data = _unpacked(path, room)
            else:
                with open(path, "rb") as file:
                    data = room.read(file)
            is_packed = name.endswith(PACKED)
            known = list(_unstable(data))
            uses = [f"{name} ({word})" if is_packed else f"{name}:{line} ({word})" for line, word in known]
            is_yaml = name.lower().endswith((".yaml", ".yml")) and not _TEMPLATES.search(name)
            if is_yaml or (path == chart and not is_packed):
                words = {word for _, word in known}
                uses += [f"{name}:{line} ({word})" for line, word in _in_texts(data, room) if word not in words]
            found += dict.fromkeys(uses)
    except (OSError, EOFError, ValueError):
        found.append("a file that cannot be searched")
    return found


def _unstable(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the line and the word of each use of an unstable value in a template."""
    data = _ESCAPE.sub(_character, data)
    if not _UNSTABLE.search(data):
        return
    line, counted = 1, 0
    for action in _ACTION.finditer(data):
        if _COMMENT.match(action[0]):
            continue
        for use in _UNSTABLE.finditer(_STRINGS.sub(_without_words, action[0])):
            at = action.start() + use.start()
            line, counted = line + data.count(b"\n", counted, at), at
            yield line, use[0].decode()


def _character(escape: re.Match[bytes]) -> bytes:
    """Return the character of an escape; a space for a line break, so that lines can be counted."""
    value = int(escape[1], 16) if escape[1] else int(escape[2], 8)
    return bytes([value]) if value >= ord(" ") else b" "


def _in_texts(data: bytes, room: Room) -> Iterator[tuple[int, str]]:
    """Yield each use of an unstable value in a scalar of a YAML file: the scalar's line and the word.

    Yield line 1 and "invalid YAML" if the file cannot be parsed.

    A template may evaluate each text alone. So a comment that begins in one text hides no use in another, and a text
    may be folded inside a word.
    """
    if b"{{" not in _ESCAPE.sub(_character, data) and not _FOLDED.search(data):
        return
    try:
        for each in yaml.parse(data, Loader=yaml.CLoader):
            room.take_value()
            if isinstance(each, yaml.ScalarEvent) and "{{" in each.value:
                line = each.start_mark.line + 1 if each.start_mark else 1
                yield from ((line, word) for _, word in _unstable(each.value.encode("utf-8", "replace")))
    except yaml.YAMLError:
        yield 1, "invalid YAML"


def _without_words(string: re.Match[bytes]) -> bytes:
    """Blank a string literal of a template, unless it may name a field or be a template for ``tpl``."""
    return string[0] if b"{{" in string[0] or b"Is" in string[0] else b" " * len(string[0])


def definitions_in(path: str, room: Room) -> Iterator[tuple[str, bytes]]:
    """Yield the manifests in the folders ``crds`` of a packed chart: (name, content).

    Raises:
        OSError, EOFError, ValueError: if the archive cannot be read, is too large, or holds archives or links.
    """
    data = _unpacked(path, room)
    if b"crds" not in data and PACKED.encode() not in data:
        return
    import tarfile

    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                name = posixpath.normpath(member.name.replace("\\", "/"))
                if name.endswith(PACKED) or member.issparse() or not (member.isfile() or member.isdir()):
                    raise ValueError("the chart holds another archive, a link, or a sparse file")
                file = archive.extractfile(member) if _DEFINITIONS.fullmatch(name) else None
                if file is not None:
                    yield name, file.read()
    except tarfile.TarError as error:
        raise ValueError("not a tar archive") from error


def _unpacked(path: str, room: Room) -> bytes:
    with gzip.open(path) as unpacked:
        return room.read(unpacked)


def _refers_out(schema: bytes) -> bool:
    """Return whether a schema refers to another document: by a reference, a base URL or an unknown ``$schema``."""
    # If a field is repeated, check each value.
    fields: list[tuple[str, Any]] = []

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields.extend(pairs)
        return dict(pairs)

    root = json.loads(schema, object_pairs_hook=noted)
    own = root.get("$id") if isinstance(root, dict) else None
    for name, value in fields:
        if not isinstance(value, str):
            continue
        if name in _REFERENCES and not value.startswith("#"):
            return True
        if name == "$schema" and not _KNOWN_DRAFT.fullmatch(value):
            return True
        if name in _BASES and value != own and _SCHEME.match(value):
            return True
    return False
