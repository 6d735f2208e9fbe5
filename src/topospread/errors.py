"""The exceptions that topospread raises on purpose.

TopospreadError
 ├─ InputError            unusable input; the message says where and what to do (exit code 2)
 │   ├─ DecodeError       not YAML or JSON, or a field of another type than Kubernetes gives it
 │   ├─ InvalidError      decoded, but the API server (or kube-scheduler) denies it
 │   ├─ DuplicateError    one object twice in one path, or one YAML key twice in one mapping
 │   └─ ConfigError       a KubeSchedulerConfiguration, feature gate or version that is not usable
 ├─ UsageError            options that cannot be combined, or that name a missing object (exit code 2)
 └─ UnknownVerdictError   yes or no is needed and the verdict is unknown; carries the answer

An answer that is "no" (pods pending, findings) is not an error: commands return it with exit code 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Place:
    """A location in the input. Unknown parts are empty or None.

    Attributes:
        source: path as it was given, ``-`` for standard input.
        document: position of the YAML document in the source, from 1.
        object: ``Kind namespace/name`` (or ``Kind name``).
        field: path of the field as the API server writes it, ``spec.containers[0].name``.
        line: line in the source, from 1.
        column: column in the line, from 1.
    """

    source: str = ""
    document: int | None = None
    object: str = ""
    field: str = ""
    line: int | None = None
    column: int | None = None

    def at(self, field: str) -> Place:
        """Return the same location with another field path."""
        return replace(self, field=field)

    def __str__(self) -> str:
        head = self.source
        if self.line is not None:
            numbers = [str(each) for each in (self.line, self.column) if each is not None]
            head = ":".join([head, *numbers]) if head else f"line {', column '.join(numbers)}"
        parts = [head] if head else []
        if self.document is not None:
            parts.append(f"document {self.document}")
        parts += [part for part in (self.object, self.field) if part]
        return ": ".join(parts)


class TopospreadError(Exception):
    """The base class of all errors that topospread raises on purpose.

    Errors cross process boundaries: pickle restores their attributes and does not call their constructors again.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[TopospreadError], args: tuple[Any, ...], attributes: dict[str, Any]) -> TopospreadError:
    """Rebuild an unpickled error from its arguments and attributes."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class InputError(TopospreadError):
    """Unusable input. ``place`` is its location; the message states the problem and the fix.

    Attributes:
        parts: field path and words of each problem, if the message joins several.
    """

    parts: tuple[tuple[str, str], ...] = ()

    def __init__(self, message: str, place: Place | None = None) -> None:
        self.message = message
        self.place = place or Place()
        super().__init__(message)

    @classmethod
    def joined(cls, parts: Sequence[tuple[str, str]], place: Place) -> Self:
        """Return one error for several problems, at the place of the first."""
        (first, what), *others = parts
        message = "; ".join([what, *(f"{path}: {more}" if path else more for path, more in others)])
        error = cls(message, place.at(first) if first else place)
        error.parts = tuple(parts)
        return error

    def __str__(self) -> str:
        where = str(self.place)
        return f"{where}: {self.message}" if where else self.message


class DecodeError(InputError):
    """Text that is not YAML or JSON, or a field whose type is wrong."""


class InvalidError(InputError):
    """An object that the API server or kube-scheduler denies. ``problems`` lists every reason."""

    def __init__(self, problems: Sequence[str], place: Place | None = None) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems), place)


class DuplicateError(InputError):
    """An object that occurs twice in one path, or a YAML key that occurs twice in one mapping."""


class ConfigError(InputError):
    """An unusable KubeSchedulerConfiguration, feature gate or version."""

    @property
    def first(self) -> str:
        """kube-scheduler's own message, which names only the first problem."""
        return self.parts[0][1] if self.parts else self.message


class UsageError(TopospreadError):
    """Options that cannot be combined, or that name a missing object."""


class UnknownVerdictError(TopospreadError):
    """The verdict is unknown where yes or no is needed.

    `bool()` of an answer raises it, and so does every question of a session with ``unknown="raise"``.

    Attributes:
        answer: the answer (`topospread.answer.Answer`); its `unjudged` lists the parts without a verdict.
    """

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        super().__init__(f"{answer.kind}: the verdict is unknown: {answer.says}; see .verdict and .unjudged")
