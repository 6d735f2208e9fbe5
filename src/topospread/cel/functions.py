"""Functions of CEL and of Kubernetes' libraries for it.

Sources: github.com/google/cel-go common/stdlib, ext/strings.go, ext/sets.go, ext/lists.go; k8s.io/apiserver
pkg/cel/library (quantity.go, semverlib.go, lists.go, regex.go).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cmp_to_key, partial
from itertools import pairwise
from typing import Any, Final

from topospread.api.quantity import Quantity, QuantityError, parse_quantity

from .regular import find, find_all, is_match
from .values import (
    CannotEvaluateError,
    CelError,
    Optional,
    SemanticVersion,
    Type,
    Uint,
    Unknown,
    Value,
    compare,
    equals,
    is_number,
    optional_of,
    type_of,
    whole,
)

_SEMANTIC_VERSION: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?", re.ASCII
)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DIRECTIVE: Final = re.compile(r"%(%|(?:\.[0-9]+)?[a-zA-Z])")
_SPACES: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""Characters that Go treats as white space."""
_MOST_LONG: Final = 100_000
_LONGEST_VERSION: Final = 1_000


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise TypeError("an argument is not a string")  # the caller names the function
    return value


def _list(value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise TypeError("an argument is not a list")  # the caller names the function
    if any(isinstance(each, Unknown) for each in value):
        raise CannotEvaluateError("a list has an item that is not known")
    return value


def _of_texts(apply: Callable[..., Value]) -> Callable[..., Value]:
    return lambda *given: apply(*map(_text, given))


def _between(apply: Callable[[str, str], bool]) -> Callable[[Value, Value], Value]:
    def checked(text: Value, other: Value) -> bool:
        if not isinstance(text, str) or not isinstance(other, str):
            raise CelError("no such overload")
        return apply(text, other)

    return checked


def _size(value: Value) -> int:
    if not isinstance(value, str | list | Mapping):
        raise CelError("no such overload: size")
    return len(value)


def _failed(value: Value, name: str) -> CelError:
    return CelError(f"type conversion error from '{type_of(value)}' to '{name}'")


def _int(value: Value) -> int:
    if isinstance(value, str):
        if len(value) > 40 or not _INTEGER.fullmatch(value) or not -(2**63) <= int(value) < 2**63:
            raise _failed(value, "int")
        return int(value)
    if not is_number(value):
        raise CannotEvaluateError("int() cannot be evaluated for this argument")
    if isinstance(value, float) and not -(2.0**63) < value < 2.0**63:
        raise CelError("integer overflow")
    return whole(int(value))


def _uint(value: Value) -> Uint:
    if not is_number(value) or not 0 <= value < 2**64:
        raise CannotEvaluateError("uint() cannot be evaluated for this argument")
    return Uint(value)


def _double(value: Value) -> float:
    if not is_number(value):
        raise CannotEvaluateError("double() cannot be evaluated for this argument")
    return float(value)


def _bool(value: Value) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value in ("1", "t", "T", "TRUE", "true", "True"):
            return True
        if value in ("0", "f", "F", "FALSE", "false", "False"):
            return False
    if isinstance(value, str):
        raise _failed(value, "bool")
    raise CannotEvaluateError("bool() cannot be evaluated for this argument")


def _string(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, list | Mapping) or value is None:
        raise CelError(f"no such overload: string({type_of(value)})")
    raise CannotEvaluateError("string() cannot be evaluated for this argument")


def _formatted(pattern: str, values: Value) -> str:
    given = iter(_list(values))
    missing = object()

    def one(found: re.Match[str]) -> str:
        directive = found[1]
        if directive == "%":
            return "%"
        value = next(given, missing)
        if value is missing:
            raise CannotEvaluateError("format() cannot be evaluated for these arguments")
        if directive == "s":
            return value if isinstance(value, str) else _shown(value)
        if directive == "d" and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if directive in ("x", "X", "b", "o") and type(value) is int:
            return format(value, directive)
        raise CannotEvaluateError("format() cannot be evaluated for these arguments")

    made = _DIRECTIVE.sub(one, _text(pattern))
    if "%" in _DIRECTIVE.sub("", pattern):
        raise CannotEvaluateError("format() cannot be evaluated for this text")
    return made


def _shown(value: Value) -> str:  # noqa: PLR0911 - the kinds of values
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        if not value.isascii() or not value.isprintable() or '"' in value or "\\" in value:
            raise CannotEvaluateError("format() cannot be evaluated for this text")
        return f'"{value}"'
    if isinstance(value, int):
        return str(value)
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{_shown(key)}:{_shown(each)}' for key, each in value.items()))}}}"
    if isinstance(value, Type):
        return value.name
    raise CannotEvaluateError("format() cannot be evaluated for these arguments")


def _char_at(text: Value, index: Value) -> str:
    if not isinstance(index, int) or not 0 <= index <= len(_text(text)):
        raise CelError(f"index out of range: {index}")
    return str(text[index : index + 1])


def _substring(text: Value, begin: Value, end: Value = None) -> str:
    length = len(_text(text))
    end = length if end is None else end
    if not 0 <= begin <= length:
        raise CelError(f"index out of range: {begin}")
    if not 0 <= end <= length:
        raise CelError(f"index out of range: {end}")
    if begin > end:
        raise CelError(f"invalid substring range. start: {begin}, end: {end}")
    return str(text[begin:end])


def _index_of(where: Value, what: Value) -> int:
    if isinstance(where, str):
        return where.find(_text(what))
    return next((at for at, each in enumerate(_list(where)) if equals(each, what)), -1)


def _last_index_of(where: Value, what: Value) -> int:
    if isinstance(where, str):
        return where.rfind(_text(what))
    items = _list(where)
    return next((at for at in range(len(items) - 1, -1, -1) if equals(items[at], what)), -1)


def _replaced(text: Value, old: Value, new: Value, count: Value = -1) -> str:
    many = _text(text).count(_text(old)) if old else len(text) + 1
    if len(text) + many * len(_text(new)) > _MOST_LONG:
        raise CannotEvaluateError("the result of replace() is too long")
    return str(text.replace(old, new, count))


def _split(text: Value, separator: Value, count: Value = -1) -> list[str]:
    if count == 0:
        return []
    if not _text(separator):
        raise CannotEvaluateError("split() cannot be evaluated with an empty separator")
    return list(_text(text).split(separator, count - 1 if count > 0 else -1))


def _joined(items: Value, separator: Value = "") -> str:
    return str(_text(separator).join(map(_text, _list(items))))


def _cased(lower: bool, text: Value) -> str:
    letters = [(each.lower() if lower else each.upper()) if each.isascii() else each for each in _text(text)]
    return "".join(letters)


def _contains(items: Value, others: Value) -> bool:
    return all(any(equals(one, other) for one in _list(items)) for other in _list(others))


def _distinct(items: Value) -> list[Value]:
    found: list[Value] = []
    for each in _list(items):
        if not any(equals(each, one) for one in found):
            found.append(each)
    return found


def _sorted(items: Value) -> list[Value]:
    return sorted(_list(items), key=cmp_to_key(compare))


def _is_sorted(items: Value) -> bool:
    found = _list(items)
    return all(compare(one, other) <= 0 for one, other in pairwise(found))


def _sum(items: Value) -> Value:
    found = _list(items)
    if not found or not all(type(each) is int for each in found):
        raise CannotEvaluateError("sum() cannot be evaluated for these items")
    total = 0
    for each in found:
        total = whole(total + each)
    return total


def _outermost(name: str, sign: int, items: Value) -> Value:
    found = _list(items)
    if not found:
        raise CelError(f"{name} called on empty list")
    best = found[0]
    for each in found[1:]:
        if compare(each, best) == sign:
            best = each
    return best


def _quantity(text: Value) -> Quantity:
    try:
        return parse_quantity(_text(text))
    except QuantityError as error:
        raise CelError(str(error)) from None


def _is_quantity(text: Value) -> bool:
    try:
        _quantity(text)
    except CelError:
        return False
    return True


def _of_quantity(value: Value) -> Quantity:
    if not isinstance(value, Quantity):
        raise CelError("no such overload")
    return value


def _summed(sign: int, left: Value, right: Value) -> Quantity:
    other = Quantity(right) if isinstance(right, int) and not isinstance(right, bool) else _of_quantity(right)
    try:
        return _of_quantity(left).add(Quantity(sign * other.unscaled, other.exponent))
    except QuantityError as error:
        raise CannotEvaluateError(str(error)) from None


def _as_integer(value: Value) -> int:
    if not _is_integer(value):
        raise CelError("cannot convert value to integer")
    return _of_quantity(value).value()


def _is_integer(value: Value) -> bool:
    quantity = _of_quantity(value)
    return quantity.exponent >= 0 or quantity.unscaled % 10**-quantity.exponent == 0


def semantic_version(text: Value) -> SemanticVersion:
    """Parse a semantic version.

    Raises:
        CannotEvaluateError: if the text is not a version, or too long.
    """
    found = _SEMANTIC_VERSION.fullmatch(_text(text)) if len(_text(text)) <= _LONGEST_VERSION else None
    if found is None:
        raise CannotEvaluateError("semver() cannot be evaluated for this text")
    major, minor, patch, before = found.groups()
    parts = before.split(".") if before else []
    return SemanticVersion(
        (int(major), int(minor), int(patch)),
        tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts),
    )


def _compared(left: Value, right: Value) -> int:
    if isinstance(left, SemanticVersion) and isinstance(right, SemanticVersion):
        one: Any = left.key
        other: Any = right.key
        return int(one > other) - int(one < other)
    return _of_quantity(left).compare(_of_quantity(right))


def _present(value: Value) -> Value:
    if not optional_of(value).present:
        raise CelError("optional.none() dereference")
    return value.value


FUNCTIONS: Final[Mapping[str, Callable[..., Value]]] = {
    "size": _size,
    "int": _int,
    "uint": _uint,
    "double": _double,
    "bool": _bool,
    "string": _string,
    "dyn": lambda value: value,
    "type": lambda value: Type(type_of(value)),
    "startsWith": _between(str.startswith),
    "endsWith": _between(str.endswith),
    "contains": _between(lambda text, part: part in text),
    "matches": _of_texts(is_match),
    "find": _of_texts(find),
    "findAll": lambda text, pattern, most=-1: find_all(_text(text), _text(pattern), most),
    "format": _formatted,
    "charAt": _char_at,
    "substring": _substring,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "trim": _of_texts(lambda text: text.strip(_SPACES)),
    "lowerAscii": partial(_cased, True),
    "upperAscii": partial(_cased, False),
    "sets.contains": _contains,
    "sets.equivalent": lambda left, right: _contains(left, right) and _contains(right, left),
    "sets.intersects": lambda left, right: any(equals(one, other) for one in _list(left) for other in _list(right)),
    "distinct": _distinct,
    "sort": _sorted,
    "isSorted": _is_sorted,
    "sum": _sum,
    "min": partial(_outermost, "min", -1),
    "max": partial(_outermost, "max", 1),
    "quantity": _quantity,
    "isQuantity": _is_quantity,
    "compareTo": _compared,
    "isGreaterThan": lambda left, right: _compared(left, right) > 0,
    "isLessThan": lambda left, right: _compared(left, right) < 0,
    "sign": lambda value: _of_quantity(value).sign,
    "isInteger": _is_integer,
    "asInteger": _as_integer,
    "asApproximateFloat": lambda value: float(_of_quantity(value).unscaled) * 10.0 ** _of_quantity(value).exponent,
    "add": partial(_summed, 1),
    "sub": partial(_summed, -1),
    "semver": semantic_version,
    "isSemver": lambda text: _SEMANTIC_VERSION.fullmatch(_text(text)) is not None,
    "major": lambda value: value.numbers[0],
    "minor": lambda value: value.numbers[1],
    "patch": lambda value: value.numbers[2],
    "jsonpatch.escapeKey": _of_texts(lambda text: text.replace("~", "~0").replace("/", "~1")),
    "optional.of": Optional,
    "optional.ofNonZeroValue": lambda value: Optional(value, present=bool(value)),
    "optional.none": lambda: Optional(None, present=False),
    "hasValue": lambda value: value.present,
    "value": _present,
}
"""Function → its evaluator. Unknown arguments are handled by the caller."""
