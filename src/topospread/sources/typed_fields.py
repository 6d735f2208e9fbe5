"""Typed fields of a YAML or TOML document of our own: Drill files, lint settings, admission policies.

A stranger may have written the document, so errors give types and lengths, never contents.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from topospread.api.label_syntax import label_key_problems
from topospread.errors import ConfigError, InputError, Place
from topospread.text import did_you_mean

from .roots import is_within
from .text import described, shown_path


class TypedFields:
    """Checks the types of a document's fields. Each method raises InputError with the field's place."""

    def place(self, where: str) -> Place:
        """Return the place of a field, by its path such as ``spec.steps[0]``."""
        raise NotImplementedError

    def error(self, words: str, where: str) -> InputError:
        """Return an error at a field."""
        return ConfigError(words, self.place(where))

    def known(self, value: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        """Reject unknown keys of a mapping, and suggest a similar one."""
        for name in value:
            if name not in known:
                hint = did_you_mean(str(name), known, f"fields: {', '.join(known)}")
                raise self.error(f"unknown field '{name}'{hint}", f"{where}.{name}" if where else str(name))

    def mapping(self, value: Any, where: str) -> dict[str, Any]:
        """Return the value as a mapping."""
        if not isinstance(value, dict):
            raise self.error("expected a mapping" if value is not None else "it is missing", where)
        return value

    def items(self, value: Any, where: str) -> list[Any]:
        """Return the value as a list."""
        if not isinstance(value, list):
            raise self.error("expected a list" if value is not None else "it is missing", where)
        return value

    def string(self, value: Any, where: str) -> str:
        """Return the value as a string."""
        if not isinstance(value, str):
            raise self.error(f"expected a string, got {described(value)}; put it in quotes", where)
        return value

    def label_key(self, value: Any, where: str) -> str:
        """Return the value as the key of a label."""
        key = self.string(value, where)
        for problem in label_key_problems(key):
            raise self.error(problem, where)
        return key

    def strings(self, value: Any, where: str) -> list[str]:
        """Return the value as a list of strings."""
        return [self.string(each, f"{where}[{i}]") for i, each in enumerate(self.items(value, where))]

    def number(self, value: Any, where: str, least: int = 0) -> int:
        """Return the value as a whole number of at least ``least``."""
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            shown = value if isinstance(value, int) and not isinstance(value, bool) else described(value)
            raise self.error(f"expected a number of at least {least}, got {shown}", where)
        return value

    def flag(self, value: Any, where: str) -> bool:
        """Return the value as a boolean."""
        if not isinstance(value, bool):
            raise self.error(f"expected true or false, got {described(value)}", where)
        return value

    def choice(self, value: Any, choices: Sequence[str], where: str) -> Any:
        """Return the value, one of a few words."""
        if value not in choices:
            raise self.error(f"expected one of {', '.join(choices)}", where)
        return value

    def within(self, path: str, root: str, where: str, instead: str) -> str:
        """Return a path that stays in a folder.

        Args:
            path: the path, relative to the working directory.
            instead: how the reader can name the path anyway, for the error.
        """
        if os.pardir in path.split(os.sep):  # a folder that ``..`` leaves again would show whether it exists
            path = os.path.join(os.curdir, os.path.normpath(path))
        if not is_within(path, root):
            raise self.error(f"this path leaves {shown_path(root)}; {instead}", where)
        return path
