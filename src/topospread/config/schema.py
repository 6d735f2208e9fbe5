"""Strict decoding of plain data against declared fields, as kube-scheduler decodes its configuration; no defaults here.

Source for the behaviour: apimachinery's strict JSON decoder. ``null`` is the same as leaving a field out; an item of a
list that is ``null`` is the empty item; numbers are not strings, nor strings numbers. The words are our own.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from topospread.config.durations import parse_duration
from topospread.errors import Place

Problems = list[tuple[str, str]]
"""(field path, what is wrong with it)."""


def summary(problems: Sequence[tuple[str, str]], place: Place) -> tuple[str, Place]:
    """One message for several problems, and the place of the first."""
    (first, what), *others = problems
    message = "; ".join([what, *(f"{path}: {more}" if path else more for path, more in others)])
    return message, place.at(first) if first else place


class Type(Protocol):
    """What a field may hold."""

    def decode(self, value: Any, path: str, problems: Problems) -> Any:
        """The value, cleaned of ``null``; anything wrong is added to ``problems``. ``value`` is not ``None``."""

    def empty(self) -> Any:
        """What ``null`` stands for where it cannot be left out, as an item of a list."""


def describe(value: Any) -> str:
    """What a value is, in JSON's words."""
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a boolean"),
        ((int, float), "a number"),
        (str, "a string"),
        (list, "a list"),
        (dict, "an object"),
    )
    return next((words for kind, words in kinds if isinstance(value, kind)), type(value).__name__)


class ScalarType(msgspec.Struct, frozen=True):
    """A string, a boolean or a number."""

    python: type
    words: str
    zero: Any

    def decode(self, value: Any, path: str, problems: Problems) -> Any:
        """See Type."""
        if isinstance(value, self.python) and (self.python is bool or not isinstance(value, bool)):
            return value
        problems.append((path, f"must be {self.words}, not {describe(value)}"))
        return self.zero

    def empty(self) -> Any:
        """See Type."""
        return self.zero


class Integer(msgspec.Struct, frozen=True):
    """A whole number of so many bits; ``1.0`` is none."""

    bits: int

    def decode(self, value: Any, path: str, problems: Problems) -> int:
        """See Type."""
        if isinstance(value, bool) or not isinstance(value, int):
            what = f"the fraction {value}" if isinstance(value, float) else describe(value)
            problems.append((path, f"must be a whole number, not {what}"))
            return 0
        if not -(2 ** (self.bits - 1)) <= value < 2 ** (self.bits - 1):
            problems.append((path, f"{value} does not fit into {self.bits} bits"))
            return 0
        return value

    def empty(self) -> int:
        """See Type."""
        return 0


class Float:
    """A number; whole ones stay whole."""

    def decode(self, value: Any, path: str, problems: Problems) -> float:
        """See Type."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            problems.append((path, f"must be a number, not {describe(value)}"))
            return 0
        return value

    def empty(self) -> float:
        """See Type."""
        return 0


class Duration:
    """A metav1.Duration: a string as Go writes it (``1m30s``), kept as it stands."""

    def decode(self, value: Any, path: str, problems: Problems) -> str:
        """See Type."""
        if not isinstance(value, str):
            problems.append((path, f'must be a duration as "15s" or "1m30s", not {describe(value)}'))
        elif parse_duration(value) is None:
            problems.append((path, f'"{value}" is not a duration; write it as "15s" or "1m30s"'))
        else:
            return value
        return "0s"

    def empty(self) -> str:
        """See Type."""
        return "0s"


class Base64:
    """Bytes in base64, kept as they stand."""

    def decode(self, value: Any, path: str, problems: Problems) -> str:
        """See Type."""
        if not isinstance(value, str):
            problems.append((path, f"must be bytes in base64, not {describe(value)}"))
            return ""
        try:
            base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
        except (binascii.Error, ValueError):
            problems.append((path, "is not base64"))
            return ""
        return value

    def empty(self) -> str:
        """See Type."""
        return ""


class Anything:
    """Not looked into: arguments of plugins that are not in-tree."""

    def decode(self, value: Any, path: str, problems: Problems) -> Any:
        """See Type."""
        return value

    def empty(self) -> Any:
        """See Type."""
        return None


class ListOf(msgspec.Struct, frozen=True):
    """A list of one type."""

    item: Type

    def decode(self, value: Any, path: str, problems: Problems) -> list[Any]:
        """See Type."""
        if not isinstance(value, list):
            problems.append((path, f"must be a list, not {describe(value)}"))
            return []
        return [
            self.item.empty() if entry is None else self.item.decode(entry, f"{path}[{index}]", problems)
            for index, entry in enumerate(value)
        ]

    def empty(self) -> list[Any]:
        """See Type."""
        return []


class MapOf(msgspec.Struct, frozen=True):
    """An object with free keys and values of one type."""

    value: Type

    def decode(self, value: Any, path: str, problems: Problems) -> dict[str, Any]:
        """See Type."""
        if not isinstance(value, dict):
            problems.append((path, f"must be an object, not {describe(value)}"))
            return {}
        return {
            str(key): self.value.empty() if entry is None else self.value.decode(entry, f"{path}.{key}", problems)
            for key, entry in value.items()
        }

    def empty(self) -> dict[str, Any]:
        """See Type."""
        return {}


class Object(msgspec.Struct, frozen=True):
    """An object with these fields and no others."""

    fields: Mapping[str, Type]

    def decode(self, value: Any, path: str, problems: Problems) -> dict[str, Any]:
        """See Type."""
        if not isinstance(value, dict):
            problems.append((path, f"must be an object, not {describe(value)}"))
            return {}
        decoded: dict[str, Any] = {}
        for key, entry in value.items():
            where = f"{path}.{key}" if path else str(key)
            known = self.fields.get(key)
            if known is None:
                problems.append((where, "unknown field"))
            elif entry is not None:
                decoded[key] = known.decode(entry, where, problems)
        return decoded

    def empty(self) -> dict[str, Any]:
        """See Type."""
        return {}


STRING = ScalarType(str, "a string", "")
BOOLEAN = ScalarType(bool, "true or false", False)
INT32 = Integer(32)
INT64 = Integer(64)
FLOAT = Float()
DURATION = Duration()
BASE64 = Base64()
ANYTHING = Anything()
