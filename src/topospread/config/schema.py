"""Strict decoding of plain data against declared fields, as kube-scheduler decodes its configuration.

It behaves like apimachinery's strict JSON decoder: ``null`` equals an omitted field, ``null`` in a list is an empty
item, and numbers and strings are not converted. The messages differ.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from topospread.config.durations import parse_duration

Problems = list[tuple[str, str]]
"""(field path, error message)."""


def describe(value: Any) -> str:
    """Return the JSON type of a value, for messages."""
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a boolean"),
        ((int, float), "a number"),
        (str, "a string"),
        (list, "a list"),
        (dict, "an object"),
    )
    return next((words for kind, words in kinds if isinstance(value, kind)), type(value).__name__)


class Type(msgspec.Struct, frozen=True):
    """The type of a field: the Python types that its JSON values may have. `taken` checks and converts a value."""

    python: ClassVar[Any] = object
    words: ClassVar[str] = ""

    def decode(self, value: Any, path: str, problems: Problems) -> Any:
        """Return the value without nulls, and add errors to ``problems``. ``value`` is not ``None``."""
        if isinstance(value, self.python) and (self.python in (bool, object) or not isinstance(value, bool)):
            return self.taken(value, path, problems)
        problems.append((path, f"must be {self.words}, not {describe(value)}"))
        return self.empty()

    def taken(self, value: Any, path: str, problems: Problems) -> Any:
        """Decode a value of the type."""
        return value

    def empty(self) -> Any:
        """Return the value for ``null`` as a list item."""
        return self.python()


class Anything(Type, frozen=True):
    """Any value, without checks: arguments of plugins that are not in-tree."""

    def empty(self) -> None:
        """See Type."""


class String(Type, frozen=True):
    """A string."""

    python = str
    words = "a string"


class Boolean(Type, frozen=True):
    """True or false."""

    python = bool
    words = "true or false"


class Integer(Type, frozen=True):
    """A signed whole number that fits into ``bits`` bits. A float is rejected, even ``1.0``."""

    bits: int
    python = int
    words = "a whole number"

    def decode(self, value: Any, path: str, problems: Problems) -> Any:
        """See Type."""
        if isinstance(value, float):
            problems.append((path, f"must be a whole number, not the fraction {value}"))
            return 0
        return Type.decode(self, value, path, problems)

    def taken(self, value: int, path: str, problems: Problems) -> int:
        """See Type."""
        if not -(2 ** (self.bits - 1)) <= value < 2 ** (self.bits - 1):
            problems.append((path, f"{value} does not fit into {self.bits} bits"))
            return 0
        return value


class Float(Type, frozen=True):
    """A number; integers stay integers."""

    python = (int, float)
    words = "a number"

    def empty(self) -> float:
        """See Type."""
        return 0


class Duration(Type, frozen=True):
    """A metav1.Duration: a string in Go's form (``1m30s``), kept unparsed."""

    python = str
    words = 'a duration as "15s" or "1m30s"'

    def taken(self, value: str, path: str, problems: Problems) -> str:
        """See Type."""
        if parse_duration(value) is not None:
            return value
        problems.append((path, f'"{value}" is not a duration; write it as "15s" or "1m30s"'))
        return self.empty()

    def empty(self) -> str:
        """See Type."""
        return "0s"


class Base64(Type, frozen=True):
    """Bytes in base64, kept encoded."""

    python = str
    words = "bytes in base64"

    def taken(self, value: str, path: str, problems: Problems) -> str:
        """See Type."""
        try:
            base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
        except (binascii.Error, ValueError):
            problems.append((path, "is not base64"))
            return ""
        return value


class ListOf(Type, frozen=True):
    """A list of one type."""

    item: Type
    python = list
    words = "a list"

    def taken(self, value: list[Any], path: str, problems: Problems) -> list[Any]:
        """See Type."""
        return [
            self.item.empty() if entry is None else self.item.decode(entry, f"{path}[{index}]", problems)
            for index, entry in enumerate(value)
        ]


class MapOf(Type, frozen=True):
    """An object with free keys and values of one type."""

    value: Type
    python = dict
    words = "an object"

    def taken(self, value: dict[Any, Any], path: str, problems: Problems) -> dict[str, Any]:
        """See Type."""
        return {
            str(key): self.value.empty() if entry is None else self.value.decode(entry, f"{path}.{key}", problems)
            for key, entry in value.items()
        }


class Object(Type, frozen=True):
    """An object with exactly these fields."""

    fields: Mapping[str, Type]
    python = dict
    words = "an object"

    def taken(self, value: dict[Any, Any], path: str, problems: Problems) -> dict[str, Any]:
        """See Type."""
        decoded: dict[str, Any] = {}
        for key, entry in value.items():
            where = f"{path}.{key}" if path else str(key)
            known = self.fields.get(key)
            if known is None:
                problems.append((where, "unknown field"))
            elif entry is not None:
                decoded[key] = known.decode(entry, where, problems)
        return decoded


STRING = String()
BOOLEAN = Boolean()
INT32 = Integer(32)
INT64 = Integer(64)
FLOAT = Float()
DURATION = Duration()
BASE64 = Base64()
ANYTHING = Anything()
