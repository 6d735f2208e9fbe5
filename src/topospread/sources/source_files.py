"""The files that rendered texts were made of, each read once, and the objects in them; makes nothing of them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from topospread.errors import InputError

from .files import Source, read_text
from .roots import is_within
from .text import Text
from .yaml import read_documents


class SourceFiles:
    """The files that rendered texts were made of, each read once.

    Args:
        root: real path of the folder that files must lie in: a rendered text may name any path.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._texts: dict[str, Text | None] = {}
        self._documents: dict[str, list[Any]] = {}

    def text(self, path: str) -> Text | None:
        """Return a file's text; None if it cannot be read, or lies outside the root."""
        if path not in self._texts:
            try:
                self._texts[path] = read_text(Source(path, None)) if is_within(path, self._root) else None
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

    def documents(self, path: str) -> list[Any]:
        """A file's documents as plain data, as many as can be read."""
        if path not in self._documents:
            text = self.text(path)
            self._documents[path] = values_of(text) if text is not None else []
        return self._documents[path]

    def document_of(self, path: str, rendered: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        """The document of a file that an object was made of, and its number from 1; None when it cannot be told."""
        alike = [
            (number, each)
            for number, each in enumerate(self.documents(path), 1)
            if isinstance(each, dict) and each.get("kind") == rendered.get("kind")
        ]
        # Prefixes, suffixes and hashes are put around a name: the longest that is in the new one is meant.
        name = name_of(rendered)
        named = sorted((each for each in alike if name_of(each[1]) in name), key=lambda each: -len(name_of(each[1])))
        if len(named) > 1 and len(name_of(named[0][1])) == len(name_of(named[1][1])):
            return None
        return named[0] if named else None


def values_of(text: Text) -> list[Any]:
    """The documents of a text as plain data, as many as can be read."""
    found: list[Any] = []
    with contextlib.suppress(InputError):  # Whoever reads the text itself says so.
        found += [document.value for document in read_documents(text)]
    return found


def name_of(value: Mapping[str, Any]) -> str:
    """``metadata.name``, "" for none."""
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def child_of(value: Any, step: str | int) -> Any:
    """Return the value at a step of a path; None if there is none."""
    if isinstance(value, dict):
        return value.get(step, value.get(str(step)))
    if isinstance(value, list) and isinstance(step, int):
        return value[step] if step < len(value) else None
    return None
