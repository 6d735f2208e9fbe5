"""Evaluate parsed CEL: operators, macros and the order of errors as in cel-go, within a budget of steps.

Kubernetes' API server ends an expression at a cost of 1,000,000. A step here costs one or a few of its units. An
expression beyond the budget cannot be evaluated, so no answer depends on the API server's limit. Source:
github.com/google/cel-go interpreter/interpretable.go, interpreter/attributes.go, common/types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import prod
from typing import Any, Final

from .functions import FUNCTIONS
from .parsing import Node, parse
from .regular import MOST_READINGS, work_of
from .values import (
    CannotEvaluateError,
    CelError,
    Defaulting,
    Lazy,
    Message,
    Optional,
    Type,
    Uint,
    Unknown,
    Value,
    all_of,
    compare,
    equals,
    found_once,
    is_number,
    optional_of,
    type_of,
    whole,
)

OBJECT: Final = "Object"
PATCH: Final = "JSONPatch"
"""Types that expressions of mutating policies create."""
MOST_STEPS: Final = 100_000
"""Steps of one budget, about a microsecond each."""
_STEPS_OF_ALL: Final = 5
"""Steps charged for each expression, even an unparsable one, and for each error."""
TYPE_NAMES: Final = frozenset("bool bytes double int list map null_type string type uint".split())  # noqa: SIM905
MACROS: Final = frozenset(
    "all exists exists_one existsOne map filter transformList transformMap optMap optFlatMap".split()  # noqa: SIM905
)
_QUADRATIC: Final = frozenset("distinct sets.contains sets.equivalent sets.intersects".split())  # noqa: SIM905
_LOOKS_INSIDE: Final = _QUADRATIC | frozenset("_==_ _!=_ _in_ format join indexOf lastIndexOf".split())  # noqa: SIM905
_COMPARES: Final = frozenset("sort isSorted min max sum".split())  # noqa: SIM905
_READINGS: Final = {"matches": 1, "find": 1, "findAll": MOST_READINGS}
"""Function with a regular expression → maximum number of times it reads a text."""
_SIGNS_A_STEP: Final = 10_000
"""Pairs of characters that Python compares in one step. A search from the end may compare all pairs."""
_SOUND: Final = frozenset("_==_ _!=_ _in_ !_ startsWith endsWith contains".split())  # noqa: SIM905
"""Functions that never fail if their arguments have the right types."""
_MISSING: Final = object()


class Budget:
    """Remaining steps for expressions."""

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self.steps = steps

    @property
    def is_spent(self) -> bool:
        """Return whether an expression took more steps than were left."""
        return self.steps < 0

    def spend(self, steps: int) -> None:
        """Take steps.

        Raises:
            CannotEvaluateError: if too few steps remain.
        """
        self.steps -= steps
        if self.steps < 0:
            raise CannotEvaluateError("its expressions take too long")


def evaluate(expression: str, variables: Mapping[str, Value], budget: Budget) -> Value:
    """Return the value of an expression.

    Raises:
        CelError: if the expression itself fails.
        CannotEvaluateError: if topospread cannot evaluate it.
    """
    budget.spend(_STEPS_OF_ALL)
    try:
        return _Evaluation(variables, budget).value(parsed(expression))
    except CelError:
        budget.spend(_STEPS_OF_ALL)
        raise
    except RecursionError:
        raise CannotEvaluateError("the expression is nested too deeply") from None
    except (ValueError, ArithmeticError):
        raise CannotEvaluateError("the expression has a number or a character out of range") from None


parsed = found_once(16384)(parse)


class _Evaluation:
    """One evaluation: its variables, including macro variables, and its budget."""

    def __init__(self, names: Mapping[str, Value], budget: Budget) -> None:
        self._names = dict(names)
        self._budget = budget

    def value(self, node: Node) -> Value:
        """Return the value of a node of the syntax tree."""
        self._budget.spend(1)
        value: Value = getattr(self, f"_{node[0]}")(*node[1:])
        return value

    def _values(self, nodes: list[Node]) -> list[Value]:
        """Return the values of nodes in order. If an earlier value may be an error, an error's message is unknown."""
        found: list[Value] = []
        for each in nodes:
            try:
                found.append(self.value(each))
            except CelError:
                if any(isinstance(one, Unknown) and not one.is_sound for one in found):
                    raise CelError("…") from None
                raise
        return found

    def _literal(self, value: Value) -> Value:
        return value

    def _name(self, name: str) -> Value:
        if name in self._names:
            return self._names[name]
        if name in TYPE_NAMES:
            return Type(name)
        raise CannotEvaluateError(f"{name} cannot be evaluated")

    def _if(self, condition: Node, then: Node, otherwise: Node) -> Value:
        decided = self.value(condition)
        if isinstance(decided, Unknown):
            return decided
        if not isinstance(decided, bool):
            raise CelError("no such overload")
        return self.value(then if decided else otherwise)

    def _select(self, of: Node, field: str, optional: bool) -> Value:
        return self._at(self.value(of), field, optional)

    def _index(self, of: Node, index: Node, optional: bool) -> Value:
        holder, key = self._values([of, index])
        return self._at(holder, key, optional)

    def _at(self, holder: Value, key: Value, optional: bool) -> Value:
        for each in (holder, key):
            if isinstance(each, Unknown):
                return Unknown(each.what)
        if isinstance(holder, Optional):
            holder, optional = (holder.value if holder.present else None), True
        found = _looked_up(holder, key, present_only=optional)
        if isinstance(found, Unknown) or not optional:
            return found
        return Optional(None, present=False) if found is _MISSING else Optional(found)

    def _list(self, items: list[tuple[Node, bool]]) -> Value:
        found = []
        for node, optional in items:
            value = self.value(node)
            if not optional:
                found.append(value)
            elif isinstance(value, Unknown):
                return value
            elif optional_of(value).present:
                found.append(value.value)
        return found

    def _map(self, entries: list[tuple[Node, Node, bool]]) -> Value:
        found: dict[Value, Value] = {}
        for key_node, node, optional in entries:
            key, value = self.value(key_node), self.value(node)
            if isinstance(key, Unknown) or (optional and isinstance(value, Unknown)):
                return key if isinstance(key, Unknown) else value
            if not isinstance(key, str | int) or isinstance(key, Uint):
                raise CelError("unsupported key type")
            if key in found:
                raise CelError(f"Failed with repeated key: {key}")
            if not optional:
                found[key] = value
            elif optional_of(value).present:
                found[key] = value.value
        return found

    def _message(self, name: str, fields: list[tuple[str, Node, bool]]) -> Value:
        if name != PATCH and name.partition(".")[0] != OBJECT:
            raise CannotEvaluateError(f"{name} cannot be evaluated")
        found = Message(name)
        for field, node, optional in fields:
            value = self.value(node)
            if not optional:
                found[field] = value
            elif isinstance(value, Unknown):
                return value
            elif optional_of(value).present:
                found[field] = value.value
        return found

    def _call(self, name: str, target: Node | None, arguments: list[Node]) -> Value:  # noqa: PLR0911 - kinds of calls
        if name in ("_&&_", "_||_"):
            return self._logic([partial(self.value, each) for each in arguments], name == "_||_")
        if target is None and name == "has" and len(arguments) == 1 and arguments[0][0] == "select":
            return self._has(arguments[0])
        if name == "bind" and target == ("name", "cel") and len(arguments) == 3 and arguments[0][0] == "name":
            return self._bound({arguments[0][1]: self.value(arguments[1])}, arguments[2])
        if target is not None and name in MACROS and len(arguments) >= 2 and arguments[0][0] == "name":
            return self._macro(name, target, arguments)
        if target is not None and target[0] == "name" and target[1] not in self._names:
            name, target = f"{target[1]}.{name}", None
        given = self._values(([target] if target is not None else []) + arguments)
        self._budget.spend(self._cost(name, given))
        unknown = next((each for each in given if isinstance(each, Unknown)), None)
        if name == "orValue" and len(given) == 2 and unknown is not given[0]:
            return given[0].value if optional_of(given[0]).present else given[1]
        if unknown is not None:
            return unknown if name in _SOUND else Unknown(unknown.what)
        if name in ("_==_", "_!=_"):
            equal = equals(*given)
            return equal if isinstance(equal, Unknown) else equal == (name == "_==_")
        if name == "_in_":
            return _is_in(*given)
        function = FUNCTIONS.get(name) or OPERATORS.get(name)
        if function is None:
            raise CannotEvaluateError(f"{name}() cannot be evaluated")
        try:
            made = function(*given)
        except (TypeError, AttributeError):
            raise CannotEvaluateError(f"{name}() cannot be evaluated for these arguments") from None
        self._budget.spend(_size(made) // 10)
        return made

    def _cost(self, name: str, given: list[Value]) -> int:
        """Return the steps of a call, roughly proportional to its work."""
        if name in _READINGS and len(given) >= 2 and all(isinstance(each, str) for each in given[:2]):
            self._budget.spend(10 * len(given[1]))  # to compile the pattern
            return work_of(*given[:2]) * _READINGS[name] // 2
        if name == "join" and isinstance(given[0], list) and isinstance(given[-1], str):
            self._budget.spend(len(given[0]) * len(given[-1]) // 10)
        if name == "lastIndexOf" and all(isinstance(each, str) for each in given):
            return int(prod(map(len, given))) // _SIGNS_A_STEP
        if name in _COMPARES and isinstance(given[0], list):
            return len(given[0]) * (len(given[0]).bit_length() if name == "sort" else 1)
        if name not in _LOOKS_INSIDE:
            return sum(map(_size, given)) // 10
        weights = [weight_of(each, self._budget.steps + 1) for each in given]
        return weights[0] * max(weights) if name in _QUADRATIC else sum(weights)

    def _logic(self, operands: Iterable[Callable[[], Value]], decisive: bool) -> Value:
        """Return the value of ``||`` (decisive: true) or ``&&``: a decisive operand wins over errors before it."""
        problem: CelError | None = None
        unknown: Unknown | None = None
        for each in operands:
            try:
                value = each()
            except CelError as error:
                problem = problem or error
                continue
            if value is decisive:
                return decisive
            if isinstance(value, Unknown):
                unknown = unknown or value
            elif not isinstance(value, bool):
                problem = problem or CelError("no such overload")
        if unknown is not None:
            return Unknown(unknown.what) if problem is not None else unknown
        if problem is not None:
            raise problem
        return not decisive

    def _has(self, select: Node) -> Value:
        _, of, field, _ = select
        holder = self.value(of)
        if isinstance(holder, Unknown):
            return holder
        if isinstance(holder, Optional):
            if not holder.present:
                return False
            holder = holder.value
        if isinstance(holder, list):
            raise CelError("unsupported index type 'string' in list")
        return isinstance(holder, Mapping) and _holds(holder, field)

    def _macro(self, name: str, target: Node, arguments: list[Node]) -> Value:
        over = self.value(target)
        if isinstance(over, Unknown):
            return Unknown(over.what)
        if name in ("optMap", "optFlatMap"):
            if not optional_of(over).present:
                return over
            made = self._bound({arguments[0][1]: over.value}, arguments[1])
            return made if name == "optFlatMap" or isinstance(made, Unknown) else Optional(made)
        if isinstance(over, Message):
            raise CannotEvaluateError(f"the fields of {over.name} are not enumerated")
        if not isinstance(over, list | Mapping):
            raise CelError("no such overload")
        self._budget.spend(len(over) // 10)
        if isinstance(over, dict):
            for each in over.values():
                if isinstance(each, Unknown) and each.may_be_absent:
                    return Unknown(each.what)
        two = name.startswith("transform") or (len(arguments) == 3 and name != "map")
        names = [each[1] for each in arguments[: 1 + two]]
        bodies = arguments[1 + two :]
        if two:
            pairs: Iterable[tuple[Value, ...]] = over.items() if isinstance(over, Mapping) else enumerate(over)
        else:
            pairs = ((each,) for each in over)
        rounds = (dict(zip(names, pair, strict=True)) for pair in pairs)
        if name in ("all", "exists"):
            return self._logic((partial(self._bound, each, bodies[0]) for each in rounds), decisive=name == "exists")
        return self._made(name, rounds, bodies)

    def _made(self, name: str, rounds: Iterable[dict[str, Value]], bodies: list[Node]) -> Value:
        found: list[Value] = []
        keys: list[Value] = []
        counts = name in ("exists_one", "existsOne")
        for each in rounds:
            if counts or name == "filter" or len(bodies) == 2:
                kept = self._bound(each, bodies[0])
                if isinstance(kept, Unknown):
                    return kept
                if not isinstance(kept, bool):
                    raise CelError("no such overload")
                if not kept:
                    continue
            keys.append(next(iter(each.values())))
            found.append(keys[-1] if counts or name == "filter" else self._bound(each, bodies[-1]))
        if counts:
            return len(found) == 1
        return dict(zip(keys, found, strict=True)) if name == "transformMap" else found

    def _bound(self, more: dict[str, Value], node: Node) -> Value:
        before = self._names
        self._names = {**before, **more}
        try:
            return self.value(node)
        finally:
            self._names = before


def _looked_up(holder: Value, key: Value, *, present_only: bool) -> Value:
    """Return a map's or list's value at a key. A missing key is an error, or `_MISSING` if ``present_only``."""
    if isinstance(holder, Mapping):
        if isinstance(key, float) and key.is_integer():
            key = int(key)
        if isinstance(key, str | int) and (key in holder or isinstance(holder, Defaulting)):
            return holder[key]
    elif isinstance(holder, list):
        if not is_number(key) or key != int(key):
            raise CelError(f"unsupported index type '{type_of(key)}' in list")
        if 0 <= key < len(holder):
            return holder[int(key)]
        if not present_only:
            raise CelError(f"index out of bounds: {key}")
    if present_only:
        return _MISSING
    if isinstance(holder, Message):
        raise CannotEvaluateError(f"a field that {holder.name} lacks cannot be evaluated")
    raise CelError(f"no such key: {key}")


def _holds(holder: Mapping[Value, Value], key: Value) -> Value:
    """Return whether a map has a key. This does not evaluate the variable behind the key."""
    if key not in holder or isinstance(holder, Lazy):
        return key in holder
    value = holder[key]
    return value if isinstance(value, Unknown) and value.may_be_absent else True


def _is_in(item: Value, holder: Value) -> Value:
    if isinstance(holder, Mapping):
        return isinstance(item, str | int) and _holds(holder, item)
    if not isinstance(holder, list):
        raise CelError("no such overload")
    differs = all_of(not found if isinstance(found := equals(item, each), bool) else found for each in holder)
    return differs if isinstance(differs, Unknown) else not differs


def _size(value: Value) -> int:
    return len(value) if isinstance(value, str | list) or (isinstance(value, dict) and value) else 1


def weight_of(value: Value, most: int) -> int:
    """Return a value's size: 1 for each nested value, 1 for ten characters of text. Counting stops at ``most``."""
    found, waiting = 0, [value]
    while waiting and found < most:
        one = waiting.pop()
        found += 1 + (len(one) // 10 if isinstance(one, str) else 0)
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
    return found


def _arithmetic(operation: Callable[[Any, Any], Any]) -> Callable[[Value, Value], Value]:
    def apply(left: Value, right: Value) -> Value:
        if not is_number(left) or type(left) is not type(right):
            raise CelError("no such overload")
        made = operation(left, right)
        if isinstance(left, Uint):
            if not 0 <= made < 2**64:
                raise CelError("unsigned integer overflow")
            return Uint(made)
        return made if isinstance(left, float) else whole(made)

    return apply


def _added(left: Value, right: Value) -> Value:
    if type(left) is type(right) and isinstance(left, str | list):
        return left + right
    return _arithmetic(lambda one, other: one + other)(left, right)


def _divided(left: Value, right: Value) -> Value:
    if isinstance(left, float):
        if right:
            return left / right
        raise CannotEvaluateError("a division of a double by zero cannot be evaluated")
    if right == 0:
        raise CelError("division by zero")
    amount = abs(left) // abs(right)
    return amount if (left < 0) == (right < 0) else -amount


def _rest(left: Value, right: Value) -> Value:
    if isinstance(left, float):
        raise CelError("no such overload")
    if right == 0:
        raise CelError("modulus by zero")
    return abs(left) % abs(right) * (-1 if left < 0 else 1)


def _negated(value: Value) -> Value:
    if isinstance(value, Uint) or not is_number(value):
        raise CelError("no such overload")
    return -value if isinstance(value, float) else whole(-value)


def _not(value: Value) -> Value:
    if not isinstance(value, bool):
        raise CelError("no such overload")
    return not value


OPERATORS: Final[Mapping[str, Callable[..., Value]]] = {
    "_+_": _added,
    "_-_": _arithmetic(lambda one, other: one - other),
    "_*_": _arithmetic(lambda one, other: one * other),
    "_/_": _arithmetic(_divided),
    "_%_": _arithmetic(_rest),
    "_<_": lambda left, right: compare(left, right) == -1,
    "_<=_": lambda left, right: compare(left, right) in (-1, 0),
    "_>_": lambda left, right: compare(left, right) == 1,
    "_>=_": lambda left, right: compare(left, right) in (0, 1),
    "!_": _not,
    "-_": _negated,
}

__all__ = ["Budget", "CannotEvaluateError", "CelError", "Lazy", "Optional", "Unknown", "evaluate", "weight_of"]
