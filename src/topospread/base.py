"""The base class of all structs in answers, the words of verdicts, and bounds on counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import Meta

API_VERSION = "topospread.dev/v1"
_INDENTED = 1_000_000
"""Maximum bytes of a JSON text that is indented. Indentation about doubles the size."""
Word = Literal["yes", "no", "unknown"]
"""The verdict of a command. `unknown` means that it depends on a part of the input that topospread cannot judge."""


class Base(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of an answer. Field names are camelCase in JSON."""

    @classmethod
    def like(cls, source: object, **others: Any) -> Self:
        """Return a struct whose fields are `others`, and else the attributes of the same name of `source`."""
        names = (each for each in cls.__struct_fields__ if each not in others and hasattr(source, each))
        return cls(**{each: getattr(source, each) for each in names}, **others)

    def to_dict(self) -> dict[str, Any]:
        """Return the struct as plain data, as ``-o json`` writes it."""
        built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self, enc_hook=_plain))
        return built

    def to_json(self) -> str:
        """Return the JSON text that ``-o json`` writes: indented up to a megabyte, with a final newline."""
        return json_text(self)


class Bounds(Base, frozen=True, kw_only=True):
    """The least and the greatest possible value of a count. Both are equal if every part of the input was judged."""

    least: Annotated[int, Meta(description="The smallest possible count.")]
    most: Annotated[int, Meta(description="The largest possible count.")]

    @classmethod
    def exactly(cls, count: int) -> Self:
        """Return bounds of one known number."""
        return cls(least=count, most=count)

    @classmethod
    def of(cls, counts: Collection[int]) -> Self:
        """Return the minimum and maximum of `counts`, which must not be empty."""
        return cls(least=min(counts), most=max(counts))

    @property
    def known(self) -> bool:
        """True if only one number is possible."""
        return self.least == self.most

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(least=self.least + other.least, most=self.most + other.most)

    def at_least(self, number: int) -> Word:
        """Return the verdict on "the count is at least `number`"; unknown if the bounds allow both answers."""
        if self.least >= number:
            return "yes"
        return "no" if self.most < number else "unknown"

    def __str__(self) -> str:
        return str(self.least) if self.known else f"{self.least}–{self.most}"


def worst(words: Iterable[Word]) -> Word:
    """Return the conjunction of verdicts: no if any is no, else unknown if any is unknown, else yes."""
    found = set(words)
    if "no" in found:
        return "no"
    return "unknown" if "unknown" in found else "yes"


def best(words: Iterable[Word]) -> Word:
    """Return the disjunction of verdicts: yes if any is yes, else unknown if any is unknown, else no."""
    found = set(words)
    if "yes" in found:
        return "yes"
    return "unknown" if "unknown" in found else "no"


def _plain(value: object) -> dict[Any, Any]:
    """Return a mapping of another class as a dictionary.

    Raises:
        NotImplementedError: if the value is not a mapping.
    """
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(f"{type(value).__name__} cannot be written as JSON")


def json_text(data: object) -> str:
    """Return data as JSON text with a final newline, indented by two spaces unless it is larger than a megabyte."""
    try:
        encoded = msgspec.json.encode(data, enc_hook=_plain)
    except UnicodeEncodeError:  # a file name that is not UTF-8; JSON escapes it
        import json

        return json.dumps(msgspec.to_builtins(data, enc_hook=_plain), indent=2) + "\n"
    return msgspec.json.format(encoded, indent=2 if len(encoded) <= _INDENTED else -1).decode() + "\n"
