"""Label selectors: the typed struct of manifests, and the compiled selector that matches labels.

Sources: apimachinery ``pkg/labels/selector.go`` (Requirement, internalSelector) and ``pkg/apis/meta/v1/helpers.go``
(LabelSelectorAsSelector). `selector_text` parses the textual form (``-l app=web``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import msgspec

from .label_syntax import invalid, label_key_problems, label_value_problems, quoted
from .meta import KubeStruct

Operator = Literal["=", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
"""``=`` is the operator of matchLabels: In with one value, printed as ``key=value``."""

SELECTOR_OPERATORS: Mapping[str, Operator] = {
    "In": "In",
    "NotIn": "NotIn",
    "Exists": "Exists",
    "DoesNotExist": "DoesNotExist",
}
"""Operators of a label selector; node selectors also have Gt and Lt."""

_INTEGER = re.compile(r"([+-]?)0*([0-9]+)")
_PRINTED: Mapping[Operator, str] = {"=": "=", "In": " in ", "NotIn": " notin ", "Gt": ">", "Lt": "<"}


class LabelSelectorRequirement(KubeStruct, repr_omit_defaults=True):
    """One of ``matchExpressions`` (meta/v1 LabelSelectorRequirement)."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class LabelSelector(KubeStruct, repr_omit_defaults=True):
    """A label selector of a manifest (meta/v1 LabelSelector); all its requirements must hold.

    A selector without requirements matches everything; a missing selector matches nothing.
    """

    match_labels: dict[str, str] | None = None
    match_expressions: list[LabelSelectorRequirement] | None = None


class InvalidSelectorError(ValueError):
    """Error for an invalid selector. ``problems``: apimachinery's messages."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__(aggregated(problems))


def aggregated(problems: Sequence[str]) -> str:
    """Return several errors as one text without repeats (``utilerrors.Aggregate``)."""
    distinct = list(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def parse_int64(text: str) -> int | None:
    """Return ``strconv.ParseInt(text, 10, 64)``; None if Go returns an error."""
    found = _INTEGER.fullmatch(text)
    if not found or len(found[2]) > 19:
        return None
    number = int(found[1] + found[2])
    return number if -(2**63) <= number < 2**63 else None


class Requirement(msgspec.Struct, frozen=True):
    """A key, an operator and values (labels.Requirement)."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    @classmethod
    def checked(cls, key: str, operator: Operator, values: Sequence[str] | None, path: str = "") -> Requirement:
        """Return the requirement if labels.NewRequirement accepts it.

        Args:
            operator: Kubernetes' name of the operator.
            values: the values in the object; None for a missing list or null.
            path: path of the requirement; errors name its ``key`` and ``values``.

        Raises:
            InvalidSelectorError: if the requirement is invalid; with all errors.
        """
        dot = f"{path}." if path else ""
        problems = [invalid(f"{dot}key", key, "; ".join(found))] if (found := label_key_problems(key)) else []
        problems += _count_problems(f"{dot}values", operator, values)
        for index, value in enumerate(values or ()):
            if found := label_value_problems(value):
                problems.append(invalid(f"{dot}values[{index}][{key}]", value, "; ".join(found)))
        if problems:
            raise InvalidSelectorError(*problems)
        return cls(key, operator, tuple(values or ()))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels fulfil the requirement; NotIn and DoesNotExist also match labels without the key."""
        value = labels.get(self.key)
        match self.operator:
            case "=" | "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case _:
                return self._compares(value)

    def _compares(self, value: str | None) -> bool:
        """Return whether Gt or Lt holds for a label's value; False if it is missing or not an int64."""
        if value is None or len(self.values) != 1:
            return False
        have, limit = parse_int64(value), parse_int64(self.values[0])
        if have is None or limit is None:
            return False
        return have > limit if self.operator == "Gt" else have < limit

    def __str__(self) -> str:
        if self.operator == "Exists":
            return self.key
        if self.operator == "DoesNotExist":
            return f"!{self.key}"
        values = ",".join(sorted(self.values))
        return f"{self.key}{_PRINTED[self.operator]}" + (f"({values})" if self.operator in ("In", "NotIn") else values)


def _count_problems(path: str, operator: Operator, values: Sequence[str] | None) -> list[str]:
    """Return NewRequirement's errors about the number of values, and about non-integer values of Gt and Lt."""
    count = len(values or ())
    match operator:
        case "In" | "NotIn":
            wrong = "for 'in', 'notin' operators, values set can't be empty" if count == 0 else ""
        case "Exists" | "DoesNotExist":
            wrong = "values set must be empty for exists and does not exist" if count else ""
        case "=":
            wrong = "exact-match compatibility requires one single value" if count != 1 else ""
        case _:
            wrong = "for 'Gt', 'Lt' operators, exactly one value is required" if count != 1 else ""
    problems = [invalid(path, None if values is None else list(values), wrong)] if wrong else []
    if operator in ("Gt", "Lt"):
        must = "for 'Gt', 'Lt' operators, the value must be an integer"
        problems += [
            invalid(f"{path}[{index}]", value, must)
            for index, value in enumerate(values or ())
            if parse_int64(value) is None
        ]
    return problems


@dataclass(frozen=True, slots=True, eq=False)
class Selector:
    """A compiled selector (labels.Selector): requirements that must all hold, or a selector that matches nothing.

    Two selectors are equal if they have the same requirements, independent of order and repeated values; ``app=web``
    equals ``app in (web)``.

    Attributes:
        requirements: sorted by key.
        selects_nothing: whether it matches nothing (labels.Nothing()), as a missing label selector does.
    """

    requirements: tuple[Requirement, ...] = ()
    selects_nothing: bool = False
    _meaning: object = field(init=False, repr=False)
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "requirements", tuple(sorted(self.requirements, key=lambda each: each.key)))
        meaning = (
            self.selects_nothing,
            frozenset(
                (each.key, "In" if each.operator == "=" else each.operator, frozenset(each.values))
                for each in self.requirements
            ),
        )
        object.__setattr__(self, "_meaning", meaning)
        object.__setattr__(self, "_hash", hash(meaning))

    @classmethod
    def nothing(cls) -> Selector:
        """Return the selector that matches nothing."""
        return cls(selects_nothing=True)

    @classmethod
    def everything(cls) -> Selector:
        """Return the selector without requirements."""
        return cls()

    @classmethod
    def from_set(cls, labels: Mapping[str, str]) -> Selector:
        """Return a selector for exactly these labels, unchecked (labels.SelectorFromSet); an empty set matches all."""
        return cls(tuple(Requirement(key, "=", (value,)) for key, value in labels.items()))

    @classmethod
    def from_label_selector(cls, selector: LabelSelector | None) -> Selector:
        """Compile a selector (``metav1.LabelSelectorAsSelector``): None matches nothing, an empty selector everything.

        Raises:
            InvalidSelectorError: for the first invalid requirement, with apimachinery's message. (Go reads matchLabels
                in random order; this function sorts them by key.)
        """
        if selector is None:
            return cls.nothing()
        by_labels = _requiring(tuple(sorted((selector.match_labels or {}).items())))
        found = []
        for expression in selector.match_expressions or ():
            operator = SELECTOR_OPERATORS.get(expression.operator)
            if operator is None:
                raise InvalidSelectorError(f"{quoted(expression.operator)} is not a valid label selector operator")
            found.append(Requirement.checked(expression.key, operator, expression.values or None))
        return by_labels.with_requirements(*found)

    @property
    def empty(self) -> bool:
        """True if the selector matches everything (labels.Selector.Empty)."""
        return not self.requirements and not self.selects_nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels fulfil every requirement."""
        if self.selects_nothing:
            return False
        for each in self.requirements:  # noqa: SIM110 - faster, and asked of many pairs
            if not each.matches(labels):
                return False
        return True

    def with_requirements(self, *requirements: Requirement) -> Selector:
        """Return the selector with additional requirements; a selector that matches nothing is returned unchanged."""
        if self.selects_nothing or not requirements:
            return self
        return Selector((*self.requirements, *requirements))

    def with_match_label_keys(self, keys: Iterable[str] | None, labels: Mapping[str, str]) -> Selector:
        """Return the selector with the pod's own values of ``matchLabelKeys``; keys that the pod lacks are dropped.

        Source: ``mergeLabelSetWithSelector`` in pkg/scheduler/framework/plugins/podtopologyspread/common.go.
        """
        own = {key: labels[key] for key in keys or () if key in labels}
        return self.with_requirements(*(Requirement(key, "=", (value,)) for key, value in own.items()))

    def without_repeats(self) -> str:
        """Return the selector as text, with each requirement once.

        Selectors of default constraints repeat requirements, because several Services and owners contribute them.
        """
        said: dict[object, Requirement] = {}
        for each in self.requirements:
            meaning = (each.key, "In" if each.operator == "=" else each.operator, frozenset(each.values))
            if meaning not in said or each.operator == "=":
                said[meaning] = each
        return ",".join(map(str, said.values()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Selector) and self._meaning == other._meaning

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


@lru_cache(maxsize=1 << 14)
def _requiring(labels: tuple[tuple[str, str], ...]) -> Selector:
    return Selector(tuple(Requirement.checked(key, "=", (value,)) for key, value in labels))
