"""CEL values without a Python type, unknown values, and equality and order of all values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Final, TypeVar

from topospread.api.quantity import Quantity

T = TypeVar("T")
Value = Any
"""bool, int, `Uint`, float, str, None, list, dict, or one of the classes here."""
MOST_INT: Final = 2**63 - 1
LEAST_INT: Final = -(2**63)


class CannotEvaluateError(Exception):
    """An expression that cannot be evaluated: it has unsupported syntax or exceeds the budget."""


class CelError(Exception):
    """An error of the expression itself; the message is cel-go's."""


def found_once(size: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Cache a function's results and CEL errors for ``size`` texts; `functools.lru_cache` does not cache errors."""

    def cached(made: Callable[[str], T]) -> Callable[[str], T]:
        @lru_cache(maxsize=size)
        def outcome(text: str) -> T | CannotEvaluateError | CelError:
            try:
                return made(text)
            except (CannotEvaluateError, CelError) as error:
                return error

        @wraps(made)
        def found(text: str) -> T:
            known = outcome(text)
            if isinstance(known, CannotEvaluateError | CelError):
                raise known.with_traceback(None)
            return known

        return found

    return cached


class Uint(int):
    """An unsigned integer."""


@dataclass(frozen=True)
class Unknown:
    """A value that is unknown.

    Attributes:
        what: description of the value.
        is_sound: whether the value certainly has the expected type and is not an error.
        may_be_absent: whether the field may be missing.
    """

    what: str
    is_sound: bool = False
    may_be_absent: bool = False


@dataclass(frozen=True)
class Optional:
    """A value that may be absent.

    Attributes:
        value: the value, if it is present.
        present: whether the value is present.
    """

    value: Value = None
    present: bool = True


def optional_of(value: Value) -> Optional:
    """Return the value, which must be an optional.

    Raises:
        CelError: if it has another type.
    """
    if not isinstance(value, Optional):
        raise CelError("no such overload")
    return value


@dataclass(frozen=True)
class Type:
    """A type as a value, as ``type()`` returns it."""

    name: str


@dataclass(frozen=True)
class SemanticVersion:
    """A semantic version: its numbers, and the sort key of its pre-release."""

    numbers: tuple[int, int, int]
    before: tuple[tuple[int, int, str], ...]

    def __str__(self) -> str:
        """Return the version without its build metadata."""
        before = ".".join(word or str(number) for _, number, word in self.before)
        return ".".join(map(str, self.numbers)) + (f"-{before}" if before else "")

    @property
    def key(self) -> tuple[object, ...]:
        """The key that orders versions: one without a pre-release comes after all of its pre-releases."""
        return (self.numbers, not self.before, self.before)


class Lazy(Mapping[str, Value]):
    """The variables of a policy. Each variable is evaluated when it is first read."""

    def __init__(self, makers: Mapping[str, Callable[[], Value]]) -> None:
        self._makers = makers
        self._made: dict[str, Value] = {}

    def __getitem__(self, key: str) -> Value:
        if key not in self._made:
            try:
                self._made[key] = self._makers[key]()
            except CelError as error:
                self._made[key] = CelError(f'composited variable "{key}" fails to evaluate: {error}')
        if isinstance(self._made[key], CelError):
            raise self._made[key]
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._makers

    def __iter__(self) -> Any:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class Defaulting(dict[Value, Value]):
    """A map whose missing keys have an empty map as their value, though it does not contain them."""

    def __missing__(self, key: Value) -> Value:
        return {}


class Message(dict[str, Value]):
    """An object that a mutating policy makes, of a named type; missing keys are fields that are not set."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


_TYPES: Final = (
    (bool, "bool"), (Uint, "uint"), (int, "int"), (float, "double"), (str, "string"), (list, "list"), (Mapping, "map"),
    (Type, "type"), (Optional, "optional_type"), (Quantity, "kubernetes.Quantity"),
    (SemanticVersion, "kubernetes.Semver"),
)  # fmt: skip


def type_of(value: Value) -> str:
    """Return the name of a value's type."""
    if isinstance(value, Message):
        return value.name
    return "null_type" if value is None else next(name for kind, name in _TYPES if isinstance(value, kind))


def is_number(value: Value) -> bool:
    """Return whether a value is of one of the three numeric types."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def equals(left: Value, right: Value) -> Value:  # noqa: PLR0911 - the kinds of values
    """Return whether two values are equal; `Unknown` if that depends on an unknown value."""
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    if is_number(left) and is_number(right):
        return left == right
    if type_of(left) != type_of(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all_of(equals(one, other) for one, other in zip(left, right, strict=True))
    if isinstance(left, Mapping):
        for each in (*left.values(), *right.values()):
            if isinstance(each, Unknown) and each.may_be_absent:
                return Unknown(each.what)
        if left.keys() != right.keys():
            return False
        return all_of(equals(left[key], right[key]) for key in left)
    if isinstance(left, Optional):
        return left.present == right.present and (not left.present or equals(left.value, right.value))
    return bool(left == right)


def all_of(values: Any) -> Value:
    """Return whether all values are true; `Unknown` if that depends on an unknown value."""
    found: Value = True
    for each in values:
        if each is False:
            return False
        if isinstance(each, Unknown):
            found = each
    return found


def compare(left: Value, right: Value) -> int:
    """Return -1, 0 or 1 for less, equal or greater; 2 if the numbers have no order (NaN).

    Raises:
        CelError: if there is no order between the types.
    """
    ordered = (is_number(left) and is_number(right)) or (
        type_of(left) == type_of(right) and isinstance(left, bool | str)
    )
    if not ordered:
        raise CelError("no such overload")
    if any(isinstance(each, float) and math.isnan(each) for each in (left, right)):
        return 2
    return int(left > right) - int(left < right)


def whole(value: int) -> int:
    """Return an integer if it fits into 64 bits.

    Raises:
        CelError: if it does not fit.
    """
    if not LEAST_INT <= value <= MOST_INT:
        raise CelError("integer overflow")
    return value
