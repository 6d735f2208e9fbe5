"""Find expressions that cannot compile: unknown names and functions, and types that no overload takes.

The check knows fewer types than cel-go's checker: a type that it does not know agrees with every other type. So an
expression without a problem here may still not compile. Sources: github.com/google/cel-go checker/checker.go and
cel/validator.go; k8s.io/apiserver pkg/cel/environment/base.go and pkg/cel/library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .evaluation import MACROS, OBJECT, OPERATORS, PATCH, TYPE_NAMES, parsed
from .functions import FUNCTIONS
from .parsing import Node
from .values import CannotEvaluateError, Uint

_ANY: Final = "dyn"
_NUMBERS: Final = ("int", "uint", "double")
_SCALARS: Final = frozenset((*_NUMBERS, "bool", "string", "null"))
_LITERALS: Final = {bool: "bool", Uint: "uint", int: "int", float: "double", str: "string", type(None): "null"}
_RESULTS: Final = {"int": "int", "uint": "uint", "double": "double", "bool": "bool", "string": "string", "size": "int"}
_OF_TEXT: Final = dict.fromkeys(("startsWith", "endsWith", "matches"), "bool") | dict.fromkeys(
    ("lowerAscii", "upperAscii", "trim", "replace", "substring", "charAt", "format"), "string"
)
"""Function of a string → type of its result."""
_ADDED: Final = {"_+_": (*_NUMBERS, "string", "list"), "_%_": ("int", "uint")}
_COMPARISONS: Final = frozenset(("_<_", "_<=_", "_>_", "_>=_"))
_OTHERS: Final = frozenset(
    """_&&_ _||_ _==_ _!=_ _in_ orValue or timestamp duration bytes getFullYear getMonth getDate getDayOfMonth
    getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds allowed check error errored
    fieldSelector labelSelector group name namespace path reason resource serviceAccount subresource cidr
    containsCIDR containsIP masked prefixLength family ip ip.isCanonical isCIDR isGlobalUnicast isIP
    isLinkLocalMulticast isLinkLocalUnicast isLoopback isUnspecified url isURL getEscapedPath getHost
    getHostname getPort getQuery getScheme format.named validate includes flatten lists.range reverse slice
    strings.quote first last sortBy transformMapEntry""".split()  # noqa: SIM905
)
"""Functions and macros of the API server that `evaluation` cannot evaluate."""
_PREFIXES: Final = ("format.", "google.", "kubernetes.", "net.")


def problem_of(expression: str, names: Mapping[str, str], wanted: str = _ANY) -> tuple[str, str]:
    """Return (why an expression cannot compile, its type); "" and perhaps ``dyn`` if no problem is known.

    Args:
        expression: the expression.
        names: type of each variable; ``variables.a`` is the variable `a` of the policy.
        wanted: type that the expression must have.
    """
    try:
        found = _Check(names).type_of(parsed(expression))
    except _ProblemError as error:
        return str(error), _ANY
    except (CannotEvaluateError, ValueError, ArithmeticError, RecursionError):
        return "", _ANY  # `evaluate` reports the reason
    return ("", found) if _agree(found, wanted) else (f"it is of type {found}, not {wanted}", _ANY)


class _ProblemError(Exception):
    """An expression cannot compile."""


def _agree(*types: str) -> bool:
    """Return whether types are equal, as far as they are known. Null agrees with every type that is not scalar."""
    known = {each for each in types if each not in (_ANY, "null")}
    inner = [each[5:-1] for each in known if each.startswith("list(")]
    return len(known) <= 1 or (len(inner) == len(known) and _agree(*inner))


def _require(met: bool, operator: str) -> None:
    if not met:
        raise _ProblemError(f"no overload of {operator} takes these types")


class _Check:
    """The check of one expression, with the variables in scope."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._local: dict[str, str] = {}
        self._mixes = False

    def type_of(self, node: Node) -> str:
        """Return the type of a node.

        Raises:
            _ProblemError: if it cannot compile.
        """
        found: str = getattr(self, f"_{node[0]}")(*node[1:])
        return found

    def _literal(self, value: object) -> str:
        return _LITERALS.get(type(value), _ANY)

    def _name(self, name: str) -> str:
        if not self._is_declared(name) and name not in TYPE_NAMES and f"{name}." not in _PREFIXES:
            raise _ProblemError(f"undeclared reference to '{name}'")
        return self._local.get(name) or self._names.get(name, _ANY)

    def _is_declared(self, name: str) -> bool:
        return name in self._local or name in self._names

    def _if(self, condition: Node, then: Node, otherwise: Node) -> str:
        _require(_agree(self.type_of(condition), "bool"), "_?_:_")
        one, other = self.type_of(then), self.type_of(otherwise)
        _require(_agree(one, other), "_?_:_")
        return one if one == other else _ANY

    def _select(self, of: Node, field: str, optional: bool) -> str:
        if of == ("name", "variables") and not optional:
            return self._name(f"variables.{field}")
        if self.type_of(of) in _SCALARS:
            raise _ProblemError(f"no field {field} can be selected")
        return _ANY

    def _index(self, of: Node, index: Node, optional: bool) -> str:
        holder, _ = self.type_of(of), self.type_of(index)
        _require(holder not in _SCALARS, "_[_]")
        return holder[5:-1] if holder.startswith("list(") and not optional else _ANY

    def _list(self, items: list[tuple[Node, bool]]) -> str:
        types = [self.type_of(node) if not optional else self._any(node) for node, optional in items]
        _require(self._mixes or _agree(*types), "[…]")
        return f"list({types[0]})" if len(set(types)) == 1 else "list(dyn)"

    def _map(self, entries: list[tuple[Node, Node, bool]]) -> str:
        keys = [self.type_of(key) for key, _, _ in entries]
        values = [self.type_of(node) if not optional else self._any(node) for _, node, optional in entries]
        _require(self._mixes or (_agree(*keys) and _agree(*values)), "{…}")
        return "map"

    def _message(self, name: str, fields: list[tuple[str, Node, bool]]) -> str:
        if name != PATCH and name.partition(".")[0] != OBJECT and not name.startswith(_PREFIXES):
            raise _ProblemError(f"undeclared reference to '{name}'")
        for field, node, optional in fields:
            found = self.type_of(node)
            if name == PATCH and field not in ("op", "path", "from", "value"):
                raise _ProblemError(f"undefined field '{field}'")
            _require(name != PATCH or field == "value" or optional or _agree(found, "string"), f"{PATCH}.{field}")
        return name

    def _any(self, node: Node) -> str:
        self.type_of(node)
        return _ANY

    def _call(self, name: str, target: Node | None, arguments: list[Node]) -> str:
        if target is None and name == "has":
            return self._has(arguments)
        if target == ("name", "cel") and name == "bind" and len(arguments) == 3:
            return self._in_scope({arguments[0][1]: self.type_of(arguments[1])}, arguments[2])
        if target is not None and name in MACROS and len(arguments) >= 2 and arguments[0][0] == "name":
            return self._macro(name, target, arguments)
        if target is not None and target[0] == "name" and not self._is_declared(target[1]):
            name, target = f"{target[1]}.{name}", None
        if not (name in FUNCTIONS or name in OPERATORS or name in _OTHERS or name.startswith(_PREFIXES)):
            raise _ProblemError(f"undeclared reference to '{name}'")
        mixes, self._mixes = self._mixes, self._mixes or name == "format"
        types = [self.type_of(each) for each in ([target] if target is not None else []) + arguments]
        self._mixes = mixes
        return self._result(name, types)

    def _result(self, name: str, types: list[str]) -> str:
        if name in ("_&&_", "_||_", "!_"):
            _require(_agree("bool", *types), name)
            return "bool"
        if name in ("_==_", "_!=_"):
            _require(_agree(*types), name)
            return "bool"
        if name in _COMPARISONS:
            kinds = ["number" if each in _NUMBERS else each for each in types]
            _require(_agree(*kinds) and not any(each == "map" or each.startswith("list") for each in kinds), name)
            return "bool"
        if name == "_in_":
            inner = types[1][5:-1] if types[1].startswith("list(") else _ANY
            _require(types[1] not in _SCALARS and _agree(types[0], inner), name)
            return "bool"
        if name in OPERATORS:
            allowed = ("int", "double") if name == "-_" else _ADDED.get(name, _NUMBERS)
            _require(_agree(*types) and all(each.partition("(")[0] in (*allowed, _ANY) for each in types), name)
            return next((each for each in types if each != _ANY), _ANY)
        if name in _OF_TEXT and types:
            _require(_agree(types[0], "string") and types[0] != "null", name)
        if name == "size" and types:
            _require(types[0] not in _SCALARS - {"string"}, name)
        return _OF_TEXT.get(name) or _RESULTS.get(name, _ANY)

    def _has(self, arguments: list[Node]) -> str:
        if len(arguments) != 1 or arguments[0][0] != "select":
            raise _ProblemError("invalid argument to has() macro")
        self.type_of(arguments[0])
        return "bool"

    def _macro(self, name: str, target: Node, arguments: list[Node]) -> str:
        over = self.type_of(target)
        _require(over not in _SCALARS, name)
        two = name.startswith("transform") or (len(arguments) == 3 and name != "map")
        each = over[5:-1] if over.startswith("list(") and not two and not name.startswith("opt") else _ANY
        scope = {str(one[1]): each for one in arguments[: 1 + two]}
        found = [self._in_scope(scope, body) for body in arguments[1 + two :]]
        tests = found if name in ("all", "exists", "exists_one", "existsOne", "filter") else found[:-1]
        _require(_agree("bool", *tests), name)
        if name == "map":
            return f"list({found[-1]})"
        return over if name == "filter" else "bool" if tests == found else _ANY

    def _in_scope(self, more: dict[str, str], node: Node) -> str:
        before, self._local = self._local, {**self._local, **more}
        try:
            return self.type_of(node)
        finally:
            self._local = before
