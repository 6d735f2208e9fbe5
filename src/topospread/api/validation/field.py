"""Errors for fields that an API server rejects, with its messages.

Source: k8s.io/apimachinery/pkg/util/validation/field/errors.go. A path is plain text as ``field.Path.String()``
prints it: ``spec.containers[0].resources.limits[cpu]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from topospread.api.label_syntax import quoted
from topospread.api.quantity import Quantity


class FieldError(msgspec.Struct, frozen=True):
    """An error about one field.

    Attributes:
        type: the API server's type of the error, ``FieldValueInvalid``.
        field: path of the field.
        message: the API server's message, with the path first: ``spec.nodeName: Invalid value: "-": …``.
    """

    type: str
    field: str
    message: str


class Named(str):
    """A string of a named Go type (an operator, a policy, a resource name), which Go prints as JSON."""

    __slots__ = ()


def printed(value: object) -> str:
    """Return a value in Go's output: strings with ``%q``, plain numbers, everything else as JSON.

    Dicts are printed in their own order: give structs in the order of Go's fields and maps sorted by key.
    """
    if isinstance(value, str) and not isinstance(value, Named):
        return quoted(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_json_of)
    if text.isascii() and "<" not in text and ">" not in text and "&" not in text:
        return text
    for escaped in "<>&\u2028\u2029":
        text = text.replace(escaped, f"\\u{ord(escaped):04x}")
    return text


def _json_of(value: object) -> str:
    if isinstance(value, Quantity):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _error(kind: str, words: str, path: str, detail: str) -> FieldError:
    return FieldError(kind, path, f"{path}: {words}: {detail}" if detail else f"{path}: {words}")


def invalid(path: str, value: object, detail: str) -> FieldError:
    """Return an error for a malformed value (failed pattern, out of bounds)."""
    return _error("FieldValueInvalid", f"Invalid value: {printed(value)}", path, detail)


def all_invalid(path: str, value: object, details: Iterable[str]) -> Iterator[FieldError]:
    """Yield one error about the value for each reason."""
    for detail in details:
        yield invalid(path, value, detail)


def required(path: str, detail: str = "") -> FieldError:
    """Return an error for a required value that is missing, null or empty."""
    return _error("FieldValueRequired", "Required value", path, detail)


def not_supported(path: str, value: object, supported: Iterable[str]) -> FieldError:
    """Return an error for a value that is not in the list."""
    known = ", ".join(map(quoted, supported))
    detail = f"supported values: {known}" if known else ""
    return _error("FieldValueNotSupported", f"Unsupported value: {printed(value)}", path, detail)


def forbidden(path: str, detail: str) -> FieldError:
    """Return an error for a value that is not allowed in this context."""
    return _error("FieldValueForbidden", "Forbidden", path, detail)


def duplicate(path: str, value: object, detail: str = "") -> FieldError:
    """Return an error for a repeated value."""
    return _error("FieldValueDuplicate", f"Duplicate value: {printed(value)}", path, detail)


def not_found(path: str, value: object, detail: str = "") -> FieldError:
    """Return an error for a reference to a missing object."""
    return _error("FieldValueNotFound", f"Not found: {printed(value)}", path, detail)


def too_long(path: str, limit: int, unit: str = "byte") -> FieldError:
    """Return an error for a text longer than ``limit`` bytes (or characters)."""
    detail = f"may not be more than {limit} {unit}{'' if limit == 1 else 's'}" if limit >= 0 else "value is too long"
    return _error("FieldValueTooLong", "Too long", path, detail)


def too_many(path: str, actual: int, limit: int) -> FieldError:
    """Return an error for a list of ``actual`` items, more than ``limit``."""
    detail = f"must have at most {limit} item{'' if limit == 1 else 's'}" if limit >= 0 else "has too many items"
    return _error("FieldValueTooMany", "Too many" + (f": {actual}" if actual >= 0 else ""), path, detail)


def type_error(path: str, words: str) -> FieldError:
    """Return an error for a value of a wrong type. The message is topospread's, because Go fails to decode it."""
    return FieldError("FieldValueTypeInvalid", path, f"{path}: {words}" if path else words)


def not_negative(path: str, value: int) -> Iterator[FieldError]:
    """Yield an error for a number below 0 (ValidateNonnegativeField)."""
    if value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def positive(path: str, value: int) -> Iterator[FieldError]:
    """Yield an error for a number below 1 (ValidatePositiveField)."""
    if value <= 0:
        yield invalid(path, value, "must be greater than zero")


def one_of(path: str, value: str, supported: Sequence[str]) -> Iterator[FieldError]:
    """Yield an error if a value of a named type is not in ``supported``."""
    if value not in supported:
        yield not_supported(path, Named(value), supported)


def report(errors: Iterable[FieldError]) -> list[FieldError]:
    """Return the errors without duplicates, sorted by message."""
    return sorted(dict.fromkeys(errors), key=lambda error: error.message)


class Options(msgspec.Struct, frozen=True):
    """Settings of the API server that change its validation.

    Attributes:
        allow_privileged: whether privileged containers are allowed (``--allow-privileged``).
        comparison_operators: whether tolerations may use Lt and Gt (TaintTolerationComparisonOperators).
    """

    allow_privileged: bool
    comparison_operators: bool = False
