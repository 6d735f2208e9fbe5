"""Fields of typed objects by their path (``spec.containers[].volumeMounts``): is one given, and the object without it.

Which fields, and why, is the matter of `dropped_fields.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

Object = TypeVar("Object", bound=Struct)

PathTree = dict[str, "PathTree"]
"""Attribute → what is looked for in its value, or in each item of the list that it is; {} for the field itself."""


class _Step(NamedTuple):
    """One field on the way: its attribute, its name, and whether it is a list."""

    attribute: str
    name: str
    listed: bool


@cache
def _steps(path: str) -> tuple[_Step, ...]:
    steps = []
    for part in path.split("."):
        name = part.removesuffix("[]")
        attribute = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
        steps.append(_Step(attribute, name, part != name))
    return tuple(steps)


def path_tree(paths: Iterable[str]) -> PathTree:
    """Paths with what they share in common; a field whose value is wanted as a whole needs no look inside."""
    tree: PathTree = {}
    for path in sorted(paths, key=len):
        *way, last = (step.attribute for step in _steps(path))
        branch = tree
        for attribute in way:
            known = attribute in branch
            branch = branch.setdefault(attribute, {})
            if known and not branch:
                break
        else:
            branch.setdefault(last, {})
    return tree


def mentions(value: Any, tree: PathTree) -> bool:
    """Return whether any field of a tree is given."""
    for attribute, inside in tree.items():
        current = getattr(value, attribute)
        if not current:
            continue
        if not inside:
            return True
        if isinstance(current, list):
            for item in current:
                if mentions(item, inside):
                    return True
        elif mentions(current, inside):
            return True
    return False


def without_field(value: Object, path: str, found: list[str], *, whole_item: bool = False) -> Object:
    """The struct without a field; the very struct where it is not given.

    Args:
        value: stays as it is.
        path: the field, ``[]`` behind what is a list.
        found: gets the path of every one that is given, with indices.
        whole_item: take the items of the list that have the field off the list.
    """
    made: Object = _without(value, _steps(path), whole_item, "", found)
    return made


def _without(value: Any, steps: Sequence[_Step], whole_item: bool, path: str, found: list[str]) -> Any:
    step, rest = steps[0], steps[1:]
    current = getattr(value, step.attribute)
    if not current:
        return value
    where = f"{path}{step.name}"
    if not rest:
        found.append(where)
        return replace(value, **{step.attribute: None})
    if not step.listed:
        made = _without(current, rest, whole_item, f"{where}.", found)
        return value if made is current else replace(value, **{step.attribute: made})
    items = [_without(each, rest, whole_item, f"{where}[{i}].", found) for i, each in enumerate(current)]
    if all(now is before for now, before in zip(items, current, strict=True)):
        return value
    kept = [now for now, before in zip(items, current, strict=True) if now is before or not whole_item]
    return replace(value, **{step.attribute: kept})
