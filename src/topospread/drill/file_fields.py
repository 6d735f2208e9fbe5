"""Check the types of fields in a Drill file. Errors name the place of the field."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from topospread.errors import ConfigError, InputError, Place
from topospread.sources.positions import locate, parse_path
from topospread.sources.roots import is_within
from topospread.sources.text import Text, shown_path


def place_in(text: Text, document: int, path: str, name: str = "") -> Place:
    """Return the place of a field; of its nearest parent if it is missing."""
    found = locate(text.data, document, parse_path(path))
    return Place(
        text.name,
        object=f"Drill {name}" if name else "",
        field=path,
        line=found.line if found else None,
        column=found.column if found else None,
    )


class FileFields:
    """Reads the fields of one YAML document.

    Attributes:
        name: name of the drill, for errors.
        root: real path of the folder that the paths in the document must not leave.
    """

    def __init__(self, text: Text, document: int, root: str) -> None:
        self.text = text
        self.document = document
        self.root = root
        self.name = ""

    def path(self, path: str, where: str) -> str:
        """Return a path relative to the working directory.

        Raises:
            InputError: if it leaves the root.
        """
        joined = os.path.normpath(os.path.join(os.path.dirname(self.text.name), path))
        if not is_within(joined, self.root):
            words = f"this path leaves {shown_path(self.root)}; name a folder that holds both to drill --check"
            raise self.error(words, where)
        return joined

    def paths(self, value: Any, where: str) -> tuple[str, ...]:
        """Return the paths in a list, relative to the working directory."""
        return tuple(self.path(each, f"{where}[{i}]") for i, each in enumerate(self.strings(value, where)))

    def known(self, value: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        """Reject unknown fields.

        Raises:
            InputError: if a field is unknown; suggests a similar one.
        """
        for name in value:
            if name not in known:
                close = get_close_matches(str(name), known, 1)
                hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(known)}"
                raise self.error(f"there is no field '{name}'; {hint}", f"{where}.{name}" if where else str(name))

    def mapping(self, value: Any, where: str) -> dict[str, Any]:
        """Return the value as a mapping, or raise InputError."""
        if not isinstance(value, dict):
            raise self.error("expected a mapping" if value is not None else "it is missing", where)
        return value

    def items(self, value: Any, where: str) -> list[Any]:
        """Return the value as a list, or raise InputError."""
        if not isinstance(value, list):
            raise self.error("expected a list" if value is not None else "it is missing", where)
        return value

    def string(self, value: Any, where: str) -> str:
        """Return the value as a string, or raise InputError."""
        if not isinstance(value, str):
            raise self.error(f"expected a string, got {value!r}; put it in quotes", where)
        return value

    def number(self, value: Any, where: str) -> int:
        """Return the value as a whole number of at least 0, or raise InputError."""
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.error(f"expected a number, from 0, got {value!r}", where)
        return value

    def error(self, words: str, where: str) -> InputError:
        """Return an error at a field, or at its nearest existing parent."""
        return ConfigError(words, self.place(where))

    def flag(self, value: Any, where: str) -> bool:
        """Return the value as a boolean, or raise InputError."""
        if not isinstance(value, bool):
            raise self.error(f"expected true or false, got {value!r}", where)
        return value

    def strings(self, value: Any, where: str) -> list[str]:
        """Return the value as a list of strings, or raise InputError."""
        return [self.string(each, f"{where}[{i}]") for i, each in enumerate(self.items(value, where))]

    def place(self, where: str) -> Place:
        """Return the place of a field."""
        return place_in(self.text, self.document, where, self.name)
