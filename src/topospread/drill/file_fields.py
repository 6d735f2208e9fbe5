"""Fields of a Drill file, with the line and column of each."""

from __future__ import annotations

import os
from typing import Any

from topospread.errors import Place
from topospread.sources.positions import locate, parse_path
from topospread.sources.text import Text
from topospread.sources.typed_fields import TypedFields


def place_in(text: Text, document: int, path: str, name: str = "") -> Place:
    """Return the line and column of a field; of its nearest existing parent if it is missing."""
    found = locate(text.data, document, parse_path(path))
    return Place(
        text.name,
        object=f"Drill {name}" if name else "",
        field=path,
        line=found.line if found else None,
        column=found.column if found else None,
    )


class FileFields(TypedFields):
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

    def place(self, where: str) -> Place:
        """Return the place of a field, or of its nearest existing parent."""
        return place_in(self.text, self.document, where, self.name)

    def path(self, path: str, where: str) -> str:
        """Return a path relative to the working directory.

        Raises:
            InputError: if it leaves the root.
        """
        joined = os.path.normpath(os.path.join(os.path.dirname(self.text.name), path))
        return self.within(joined, self.root, where, "name a folder that holds both to drill --check")

    def paths(self, value: Any, where: str) -> tuple[str, ...]:
        """Return the paths in a list, relative to the working directory."""
        return tuple(self.path(each, f"{where}[{i}]") for i, each in enumerate(self.strings(value, where)))
