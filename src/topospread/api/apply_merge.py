"""Merging spread constraints as server-side apply does, on plain data; who owns which field is not known here.

Source: structured-merge-diff v6 ``typed/merge.go`` and ``typed/validate.go`` with the schema of core/v1
TopologySpreadConstraint: a list keyed by topologyKey and whenUnsatisfiable, in which labelSelector and
matchLabelKeys are atomic. Nothing is removed: what apply removes is what its field manager applied before and no
longer names, which only ``managedFields`` tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topospread.errors import InvalidError

Json = dict[str, Any]
Key = tuple[str | None, str | None]

_STRINGS = ("topologyKey", "whenUnsatisfiable", "nodeAffinityPolicy", "nodeTaintsPolicy")
_NUMBERS = ("maxSkew", "minDomains")
_UNDECLARED = "field not declared in schema"


def element_key(constraint: Json) -> Key:
    """topologyKey and whenUnsatisfiable, which apply tells constraints apart by; a missing one is "", its default."""
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def apply_constraint(base: Json, applied: Json) -> Json:
    """The fields of ``base``, those that ``applied`` names replaced; a null leaves the field unset.

    Raises:
        InvalidError: a field that the type lacks, or that has another type.
    """
    _check([f"{path}: {text}" for path, text in _problems(applied)])
    return {**base, **applied}


def apply_constraints(base: list[Json], applied: list[Json]) -> list[Json]:
    """``base`` with ``applied`` merged into it.

    Constraints of one key are merged field by field. Where the base has a key twice, the applied constraint stands
    in for both. The applied constraints keep their order, those of the base keep theirs as far as that allows.

    Raises:
        InvalidError: a field that the type lacks or that has another type, or a key that is applied twice.
    """
    name = "topologySpreadConstraints"
    _check([f"{name}[{at}]{path}: {text}" for at, each in enumerate(applied) for path, text in _problems(each)])
    keys = [element_key(each) for each in applied]
    _check([f"{name}: duplicate entries for key {key}" for key in dict.fromkeys(keys) if keys.count(key) > 1])
    base_keys = [element_key(each) for each in base]
    once = {key: each for key, each in zip(base_keys, base, strict=True) if base_keys.count(key) == 1}
    return [
        base[at] if at is not None else {**once.get(keys[position], {}), **applied[position]}
        for at, position in _walk(base_keys, keys)
    ]


def _walk(base: Sequence[Key], applied: Sequence[Key]) -> list[tuple[int | None, int]]:
    """The order of the merged list (visitListItems).

    Returns:
        For each place either (position in the base, −1), a constraint that is not applied, or
        (None, position among the applied).
    """
    here, there = set(applied), set(base)
    shared = iter([key for key in applied if key in there])
    wanted = next(shared, None)
    done: set[Key] = set()
    merged: list[tuple[int | None, int]] = []
    left = right = 0
    while left < len(base) or right < len(applied):
        if left < len(base):
            key = base[left]
            if key not in here:
                merged.append((left, -1))
                left += 1
                continue
            if right < len(applied) and key != applied[right] and wanted is not None and wanted != key:
                left += 1  # its turn comes with the applied one
                continue
            if key in done or (right < len(applied) and key == applied[right]):
                left += 1
        if right < len(applied):
            key = applied[right]
            done.add(key)
            merged.append((None, right))
            right += 1
            if wanted == key:
                wanted = next(shared, None)
    return merged


def _check(problems: list[str]) -> None:
    if problems:
        raise InvalidError(problems)


def _problems(constraint: Any) -> list[tuple[str, str]]:
    """Path and complaint of whatever does not fit the schema of a constraint (AsTyped)."""
    if not isinstance(constraint, dict):
        return [
            ("", f"associative list with keys may not have {'a null' if constraint is None else 'non-map'} elements")
        ]
    found: list[tuple[str, str]] = []
    for name, value in constraint.items():
        if name in _STRINGS:
            found += _string_problems(value, f".{name}")
        elif name in _NUMBERS:
            fits = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            found += [] if fits else [(f".{name}", "expected numeric (int or float)")]
        elif name == "matchLabelKeys":
            found += _list_problems(value, f".{name}")
        elif name == "labelSelector":
            found += _selector_problems(value, f".{name}")
        else:
            found.append((f".{name}", _UNDECLARED))
    return found


def _selector_problems(selector: Any, path: str) -> list[tuple[str, str]]:
    if not isinstance(selector, dict):
        return [] if selector is None else [(path, "expected map")]
    found = [(f"{path}.{name}", _UNDECLARED) for name in selector if name not in ("matchLabels", "matchExpressions")]
    labels, expressions = selector.get("matchLabels"), selector.get("matchExpressions")
    if isinstance(labels, dict):
        for name, value in labels.items():
            found += _string_problems(value, f"{path}.matchLabels.{name}")
    elif labels is not None:
        found.append((f"{path}.matchLabels", "expected map"))
    if isinstance(expressions, list):
        for at, each in enumerate(expressions):
            found += _requirement_problems(each, f"{path}.matchExpressions[{at}]")
    elif expressions is not None:
        found.append((f"{path}.matchExpressions", "expected list"))
    return found


def _requirement_problems(requirement: Any, path: str) -> list[tuple[str, str]]:
    if not isinstance(requirement, dict):
        return [] if requirement is None else [(path, "expected map")]
    found = [(f"{path}.{name}", _UNDECLARED) for name in requirement if name not in ("key", "operator", "values")]
    for name in ("key", "operator"):
        found += _string_problems(requirement.get(name), f"{path}.{name}")
    return found + _list_problems(requirement.get("values"), f"{path}.values")


def _list_problems(value: Any, path: str) -> list[tuple[str, str]]:
    if not isinstance(value, list):
        return [] if value is None else [(path, "expected list")]
    return [each for at, item in enumerate(value) for each in _string_problems(item, f"{path}[{at}]")]


def _string_problems(value: Any, path: str) -> list[tuple[str, str]]:
    return [] if value is None or isinstance(value, str) else [(path, "expected string")]
