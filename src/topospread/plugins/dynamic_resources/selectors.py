"""CEL expressions on devices, evaluated by the library of the extra ``dra``. It chooses no devices.

The library does not check types before it evaluates. An expression that it cannot evaluate, or that uses functions of
Kubernetes that are missing here, is not judged. Source: k8s.io/dynamic-resource-allocation/cel/compile.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, Final, Protocol

from topospread.api.devices import Device, DeviceAttribute
from topospread.api.quantity import Quantity, QuantityError, parse_quantity

_QUANTITY: Final = "\x00quantity"
_SEMVER: Final = "\x00semver"
"""Keys of the maps that represent Kubernetes' own types, because the library knows no other objects."""
_INDEXED: Final = re.compile(r"""\[\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*\]""")
_SEMANTIC_VERSION: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?", re.ASCII
)
_MULTIPLYING: Final = re.compile(
    r"\.\s*(?:all|exists|exists_one|map|filter|sortBy|transform\w*|replace|join|format)\s*\(|\bcel\s*\.\s*bind\b"
)
"""Macros and functions whose results or steps multiply if they are nested."""
_FIND: Final = re.compile(r"\.\s*find(?:All)?\s*\(")
"""Python's regular expressions may try a pattern with repetitions in exponentially many ways."""
_TOLD: Final = re.compile(r"SelectorError: (.*)\. Check function arguments", re.DOTALL)

Value = Any


class CannotEvaluateError(Exception):
    """An expression that the library, or our functions for Kubernetes' types, cannot evaluate."""


class SelectorError(Exception):
    """kube-scheduler fails to evaluate an expression; the message is cel-go's."""


class Program(Protocol):
    """A compiled expression."""

    def execute(self, context: Any) -> Value:
        """Evaluate it."""

    def functions(self) -> list[str]:
        """Return the names of the functions that it calls."""


def is_installed() -> bool:
    """Return whether the extra ``dra`` is installed."""
    return _library() is not None


@cache
def _library() -> Any:
    try:
        import cel
    except ImportError:
        return None
    import logging

    # It logs every error of a function, which selectors may well have.
    logging.getLogger("cel").setLevel(logging.ERROR)
    return cel


def evaluated(expression: str, driver: str, device: Device) -> Value:
    """Return the value of an expression for a device.

    Raises:
        CannotEvaluateError: if the expression cannot be evaluated here.
        SelectorError: if kube-scheduler cannot evaluate it either, for example because of a missing key.
    """
    return _compiled(expression).value(driver, device)


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> _Expression:
    return _Expression(expression)


def _may_take_long(expression: str) -> bool:
    """Return whether steps or results could multiply: the library limits neither."""
    multiplying = len(_MULTIPLYING.findall(expression))
    return (
        multiplying > 3
        or (multiplying > 1 and len(expression) > 1000)
        or (_FIND.search(expression) is not None and any(sign in expression for sign in "*+{"))
    )


class _Expression:
    """A compiled expression; an error in it is returned for every device."""

    def __init__(self, expression: str) -> None:
        self._problem = ""
        library = _library()
        if library is None:
            self._problem = "the extra dra is not installed"
            return
        if _may_take_long(expression):
            self._problem = "the expression may take too long"
            return
        try:
            self._program: Program = library.compile(without_bindings(expression))
        except ValueError:
            self._problem = "the expression is not understood"
            return
        self._context = library.Context()
        self._missing: set[str] = set()
        for name in self._program.functions():
            function = _functions().get(name)
            if function is not None:
                self._context.add_function(name, function)
        self._domains = {first or second for first, second in _INDEXED.findall(expression)}
        self._is_iterated = re.search(r"\bin\s+device\.attributes\s*(?![\[.\w])", expression) is not None

    def value(self, driver: str, device: Device) -> Value:
        if self._problem:
            raise CannotEvaluateError(self._problem)
        variable = _variable(driver, device)
        if not self._is_iterated:
            # The maps of unknown domains are empty, and no error.
            for domain in self._domains:
                variable["attributes"].setdefault(domain, {})
                variable["capacity"].setdefault(domain, {})
        self._context.add_variable("device", variable)
        try:
            return self._program.execute(self._context)
        except KeyError as error:
            raise SelectorError(f"no such key: {error.args[0]}") from None
        except TypeError:
            raise SelectorError("no such overload") from None
        except ZeroDivisionError:
            raise SelectorError("division by zero") from None
        except OverflowError:
            raise SelectorError("integer overflow") from None
        except IndexError:
            raise SelectorError("index out of bounds") from None
        except Exception as error:
            # A function's own error comes as the library's, with its words inside.
            told = _TOLD.search(str(error))
            if told is not None:
                raise SelectorError(told[1]) from None
            raise CannotEvaluateError(str(error)) from None


def without_bindings(expression: str) -> str:
    """Return the expression with ``[value].map(x, body)[0]`` in place of ``cel.bind(x, value, body)``."""
    start = expression.find("cel.bind(")
    if start < 0:
        return expression
    parts, end = _arguments(expression, start + len("cel.bind("))
    if len(parts) != 3:
        return expression
    name, value, body = parts
    bound = f"[{value.strip()}].map({name.strip()}, {body.strip()})[0]"
    return without_bindings(expression[:start] + bound + expression[end:])


def _arguments(text: str, start: int) -> tuple[list[str], int]:
    """Return the arguments of a call whose bracket opened just before ``start``, and where the call ends."""
    parts, depth, begin, quote = [], 0, start, ""
    position = start
    while position < len(text):
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            if not depth:
                parts.append(text[begin:position])
                return parts, position + 1
            depth -= 1
        elif character == "," and not depth:
            parts.append(text[begin:position])
            begin = position + 1
        position += 1
    return [], len(text)


def qualified(name: str, driver: str) -> tuple[str, str]:
    """Return the domain and the identifier of an attribute or capacity, of the driver's domain by default."""
    domain, separator, identifier = name.partition("/")
    return (domain, identifier) if separator else (driver, name)


def _variable(driver: str, device: Device) -> dict[str, Any]:
    attributes: dict[str, dict[str, Value]] = {}
    for name, attribute in (device.attributes or {}).items():
        domain, identifier = qualified(name, driver)
        attributes.setdefault(domain, {})[identifier] = _attribute_value(name, attribute)
    capacity: dict[str, dict[str, Value]] = {}
    for name, each in (device.capacity or {}).items():
        domain, identifier = qualified(name, driver)
        capacity.setdefault(domain, {})[identifier] = _as_quantity(parse_quantity(each.value))
    return {
        "driver": driver,
        "allowMultipleAllocations": bool(device.allow_multiple_allocations),
        "attributes": attributes,
        "capacity": capacity,
    }


def _attribute_value(name: str, attribute: DeviceAttribute) -> Value:
    for values in (attribute.int_values, attribute.bool_values, attribute.string_values):
        if values is not None:
            return list(values)
    if attribute.version_values is not None:
        return [_version(name, each) for each in attribute.version_values]
    for value in (attribute.int_value, attribute.bool_value, attribute.string_value):
        if value is not None:
            return value
    if attribute.version_value is not None:
        return _version(name, attribute.version_value)
    raise SelectorError(f"attribute {name}: unsupported attribute value")


def _version(name: str, text: str) -> Value:
    try:
        return _semver(text)
    except SelectorError:
        raise CannotEvaluateError(f"attribute {name}: {text!r} is not a semantic version") from None


# Functions of Kubernetes' CEL environment: k8s.io/apiserver/pkg/cel/library (quantity.go, semverlib.go, lists.go).


@cache
def _functions() -> Mapping[str, Callable[..., Value]]:
    from cel.stdlib import STDLIB_FUNCTIONS

    extensions = {name: STDLIB_FUNCTIONS[name] for name in _STRINGS}
    return {
        "quantity": lambda text: _as_quantity(_parsed(text)),
        "isQuantity": _is_quantity,
        "semver": _semver,
        "isSemver": _is_semver,
        "compareTo": _compared,
        "isGreaterThan": lambda left, right: _compared(left, right) > 0,
        "isLessThan": lambda left, right: _compared(left, right) < 0,
        "sign": lambda value: _of_quantity(value).sign,
        "isInteger": lambda value: _of_quantity(value).exponent >= 0,
        "asInteger": _as_integer,
        "asApproximateFloat": lambda value: _scaled(_of_quantity(value)),
        "add": lambda left, right: _as_quantity(_of_quantity(left).add(_summand(right))),
        "sub": lambda left, right: _as_quantity(_of_quantity(left).add(_negative(_summand(right)))),
        "major": lambda value: _of_semver(value)[0][0],
        "minor": lambda value: _of_semver(value)[0][1],
        "patch": lambda value: _of_semver(value)[0][2],
        "find": _find,
        "findAll": lambda text, pattern, *limit: re.findall(pattern, text)[: limit[0] if limit else None],
        **extensions,
    }


_STRINGS: Final = frozenset(
    "charAt indexOf lastIndexOf lowerAscii upperAscii replace split substring trim join".split()  # noqa: SIM905
)


def _as_quantity(quantity: Quantity) -> Value:
    digits, zeros = quantity.unscaled, quantity.exponent
    while digits and digits % 10 == 0:
        digits, zeros = digits // 10, zeros + 1
    return {_QUANTITY: f"{digits}e{zeros if digits else 0}"}


def _of_quantity(value: Value) -> Quantity:
    if not isinstance(value, dict) or _QUANTITY not in value:
        raise SelectorError("no such overload")
    digits, _, exponent = value[_QUANTITY].partition("e")
    return Quantity(int(digits), int(exponent))


def _summand(value: Value) -> Quantity:
    return Quantity(value) if isinstance(value, int) and not isinstance(value, bool) else _of_quantity(value)


def _negative(quantity: Quantity) -> Quantity:
    return Quantity(-quantity.unscaled, quantity.exponent)


def _scaled(quantity: Quantity) -> float:
    return float(quantity.unscaled) * 10.0**quantity.exponent


def _as_integer(value: Value) -> int:
    quantity = _of_quantity(value)
    if quantity.exponent < 0:
        raise SelectorError("cannot convert value to integer")
    return quantity.value()


def _parsed(text: str) -> Quantity:
    try:
        return parse_quantity(text)
    except QuantityError as error:
        raise SelectorError(str(error)) from None


def _is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except QuantityError:
        return False
    return True


def _semver(text: str) -> Value:
    found = _SEMANTIC_VERSION.fullmatch(text)
    if found is None:
        raise SelectorError(f"Invalid semantic version: {text}")
    major, minor, patch, before = found.groups()
    return {_SEMVER: f"{major}.{minor}.{patch}-{before or ''}"}


def _is_semver(text: str) -> bool:
    return _SEMANTIC_VERSION.fullmatch(text) is not None


def _of_semver(value: Value) -> tuple[tuple[int, int, int], tuple[tuple[int, int, str], ...]]:
    """Return a version's numbers and its pre-release's sort key: numbers before words."""
    if not isinstance(value, dict) or _SEMVER not in value:
        raise SelectorError("no such overload")
    numbers, _, before = value[_SEMVER].partition("-")
    major, minor, patch = map(int, numbers.split("."))
    parts = before.split(".") if before else []
    return (major, minor, patch), tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)


def _compared(left: Value, right: Value) -> int:
    if isinstance(left, dict) and _SEMVER in left:
        (one, before), (other, after) = _of_semver(left), _of_semver(right)
        # A version without a pre-release comes after all of its pre-releases.
        keys = ((one, not before, before), (other, not after, after))
        return (keys[0] > keys[1]) - (keys[0] < keys[1])
    return _of_quantity(left).compare(_of_quantity(right))


def _find(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return found[0] if found else ""
