"""A value in a YAML or JSON text: which characters it takes, its line and column; who reads the text makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

Form = Literal["scalar", "mapping", "list", "alias"]


class TextValue(msgspec.Struct):
    """A value in a text. Offsets count characters from the beginning of the text, from 0.

    Attributes:
        form: what it is; an alias is not followed.
        line: where it is said to stand, its key if it has one: the line, from 1.
        column: the column, from 1.
        start: offset of its first character; in front of an anchor or a tag.
        end: offset behind its last character, comments and empty lines behind it left out.
        key: offset of its key, None for the items of a list and the document itself.
        flow: whether it is written with brackets or, a scalar, on one line.
        style: quotes or the sign of a block scalar, "" for a plain one.
        last_line: the line its last character stands in, from 1.
        unread: finds what stands in it, until somebody asks.
    """

    form: Form
    line: int
    column: int
    start: int
    end: int
    key: int | None
    flow: bool
    style: str
    last_line: int
    unread: Callable[[TextValue], dict[str | int, TextValue]] | None = None
    _children: dict[str | int, TextValue] = {}

    @property
    def children(self) -> dict[str | int, TextValue]:
        """The values in it, by key or index."""
        if self.unread is not None:
            self._children = self.unread(self)
            self.unread = None
        return self._children

    def child(self, step: str | int) -> TextValue | None:
        """Return the value at a step of a path; a number may be meant as a key."""
        found = self.children.get(step)
        return self.children.get(str(step)) if found is None and self.form == "mapping" else found

    def walk(self) -> Iterator[TextValue]:
        """The node and everything in it, outer ones first."""
        yield self
        for child in self.children.values():
            yield from child.walk()
