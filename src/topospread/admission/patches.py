"""The two kinds of changes that mutating policies make to an object: JSON patches and apply configurations.

Sources: gopkg.in/evanphx/json-patch.v4 patch.go; k8s.io/apiserver pkg/admission/plugin/policy/mutating/patch/smd.go,
sigs.k8s.io/structured-merge-diff typed/merge.go. ``merge_lists.json`` has the merge keys of each list.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from topospread.api.shipped_table import shipped_table
from topospread.api.validation.schema import field_struct, fields_of

Json = dict[str, Any]

OPEN: Final = "…"
"""Text in place of an unknown part of an API server message."""
_MISSING: Final = "missing value"
_MOST_COPIED: Final = 3 << 20
"""Maximum number of bytes that the copy operations of a JSON patch may add (``JSONPatchMaxCopyBytes``)."""
_LIST_DEFAULTS: Final[Mapping[str, Any]] = {"protocol": "TCP", "containerPort": 0}
"""Merge key → its default for list items without it; other keys default to ""."""


class PatchError(Exception):
    """A patch that cannot be applied; the message is the API server's."""


class TestFailedError(Exception):
    """A test operation of a JSON patch failed, so the whole patch changes nothing."""


# JSON patches.


def patched(given: Json, operations: Iterable[Json]) -> Json:
    """Return an object after the operations of a JSON patch.

    Raises:
        PatchError: if an operation cannot be applied.
        TestFailedError: if a test operation fails.
    """
    found = copy.deepcopy(given)
    copied = 0
    for each in operations:
        how = _OPERATIONS.get(each.get("op", ""))
        if how is None:
            raise PatchError(f"Unexpected kind: {each.get('op', '')}")
        copied += how(found, each) or 0
        if copied > _MOST_COPIED:
            raise PatchError(OPEN)
    return found


def _add(found: Json, operation: Json) -> None:
    path = operation["path"]
    holder, key = _holder(found, path, f'add operation does not apply: doc is missing path: "{path}"')
    _put(holder, key, copy.deepcopy(operation.get("value")), f"error in add for path: '{path}'")


def _remove(found: Json, operation: Json) -> None:
    path = operation["path"]
    holder, key = _holder(found, path, f'remove operation does not apply: doc is missing path: "{path}"')
    _take(holder, key, f"error in remove for path: '{path}'")


def _replace(found: Json, operation: Json) -> None:
    path = operation["path"]
    holder, key = _holder(found, path, f"replace operation does not apply: doc is missing path: {path}")
    if isinstance(holder, list):
        try:
            key = _index(key, len(holder))
        except PatchError:
            raise PatchError(f"replace operation does not apply: doc is missing key: {path}: {_MISSING}") from None
    holder[key] = copy.deepcopy(operation.get("value"))


def _move(found: Json, operation: Json) -> None:
    holder, key = _origin(found, operation)
    value = _take(holder, key, f"error in move for path: '{key}'")
    holder, key = _destination(found, operation)
    _put(holder, key, value, f"error in move for path: '{operation['path']}'")


def _copy(found: Json, operation: Json) -> int:
    """Apply a copy operation of a JSON patch. Return the size of the copied value in bytes of JSON."""
    holder, key = _origin(found, operation)
    value = _got(holder, key, f"error in copy for from: '{operation.get('from', '')}'")
    holder, key = _destination(found, operation)
    text = json.dumps(value)
    _put(holder, key, json.loads(text), "error while adding value during copy")
    return len(text)


def _origin(found: Json, operation: Json) -> tuple[Any, Any]:
    origin = operation.get("from", "")
    return _holder(found, origin, f"{operation['op']} operation does not apply: doc is missing from path: {origin}")


def _destination(found: Json, operation: Json) -> tuple[Any, Any]:
    path = operation["path"]
    return _holder(found, path, f"{operation['op']} operation does not apply: doc is missing destination path: {path}")


def _test(found: Json, operation: Json) -> None:
    path = operation["path"]
    holder, key = _holder(found, path, f"test operation does not apply: is missing path: {path}")
    if not _alike(_got(holder, key, f"error in test for path: '{path}'"), operation.get("value")):
        raise TestFailedError


_OPERATIONS: Final[Mapping[str, Callable[[Json, Json], int | None]]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _alike(one: Any, other: Any) -> bool:
    """Return whether two values are equal as JSON; unlike in Python, true differs from 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def steps_of(path: str) -> list[str]:
    """Return the keys that a JSON pointer names."""
    return [each.replace("~1", "/").replace("~0", "~") for each in path.split("/")[1:]]


def _holder(found: Any, path: str, missing: str) -> tuple[Any, Any]:
    """Return the object or list that contains a path's last key, and that key (``findObject``).

    Raises:
        PatchError: if the object or list does not exist; ``missing`` starts the message.
    """
    steps = steps_of(path)
    try:
        for each in steps[:-1]:
            found = found.get(each) if isinstance(found, dict) else found[_index(each, len(found))]
            if not isinstance(found, dict | list):
                steps = []
                break
    except PatchError:
        steps = []
    if not steps:
        raise PatchError(f"{missing}: {_MISSING}")
    return found, steps[-1]


def _index(key: str, size: int) -> int:
    """Return the index that a key of a JSON pointer stands for; a negative key counts from the end of the list.

    Raises:
        PatchError: if the key is not a number or is out of range.
    """
    digits = key.lstrip("+-")
    if not digits.isascii() or not digits.isdigit() or len(key) - len(digits) > 1 or len(digits) > 9:
        raise PatchError(f'strconv.Atoi: parsing "{key}": invalid syntax')
    index = int(key)
    if not -size <= index < size:
        raise PatchError(f"Unable to access invalid index: {index}: invalid index referenced")
    return index % size


def _put(holder: Any, key: str, value: Any, head: str) -> None:
    if isinstance(holder, dict):
        holder[key] = value
    elif key == "-":
        holder.append(value)
    else:
        try:
            holder.insert(_index(key, len(holder) + 1), value)
        except PatchError as error:
            said = str(error)
            if said.startswith("strconv"):
                said = f"value was not a proper array index: '{key}': {said}"
            raise PatchError(f"{head}: {said}") from None


def _take(holder: Any, key: str, head: str) -> Any:
    if isinstance(holder, dict):
        if key not in holder:
            raise PatchError(f"{head}: Unable to remove nonexistent key: {key}: {_MISSING}")
        return holder.pop(key)
    return holder.pop(_place(holder, key, head))


def _got(holder: Any, key: str, head: str) -> Any:
    return holder.get(key) if isinstance(holder, dict) else holder[_place(holder, key, head)]


def _place(holder: list[Any], key: str, head: str) -> int:
    try:
        return _index(key, len(holder))
    except PatchError as error:
        raise PatchError(f"{head}: {error}") from None


# Apply configurations.


def applied(struct: str, given: Json, part: Json) -> Json:
    """Return an object with an apply configuration (``part``) merged into it.

    Raises:
        PatchError: if the part does not fit the kind, or sets a field that cannot be merged (an atomic field).
    """
    _check(struct, part, "")
    whole = list(_replaced_as_a_whole(struct, part, ""))
    if whole:
        listed = whole[0] if len(whole) == 1 else OPEN
        raise PatchError(f"invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {listed}")
    found: Json = _merged(struct, given, part)
    return found


@cache
def _merging() -> Mapping[str, Mapping[str, str]]:
    return shipped_table(__package__, "merge_lists.json", dict[str, dict[str, str]])


def _check(kind: str, value: Any, path: str) -> None:
    """Raise PatchError unless ``kind`` has all fields of ``value``, with matching types and unique merge keys."""
    head = "failed to convert patch object to typed object: "
    known = fields_of(kind, ())
    if known and isinstance(value, dict):
        for name, each in value.items():
            if name not in known:
                raise PatchError(f"{head}{path}.{name}: field not declared in schema")
            keys = _merging().get(kind, {}).get(name, "").split()
            if keys and isinstance(each, list) and len({_named(keys, item) for item in each}) < len(each):
                raise PatchError(f"{head}{OPEN}")
            _check(field_struct(kind, name), each, f"{path}.{name}")
    elif kind.startswith("[]") and isinstance(value, list):
        for each in value:
            _check(kind[2:], each, path)
    elif known or value is None or (kind.startswith("map ") and not isinstance(value, dict)) or kind.startswith("[]"):
        raise PatchError(f"{head}{OPEN}")


def _replaced_as_a_whole(kind: str, value: Any, path: str) -> Iterator[str]:
    """Yield the paths of atomic lists, maps and structs in ``value``, which cannot be merged (``findAtomics``)."""
    how = _merging().get(kind, {})
    if isinstance(value, dict) and fields_of(kind, ()):
        if "" in how:
            yield path
        for name, each in value.items():
            if how.get(name) == "" and isinstance(each, dict | list):
                yield f"{path}.{name}"
            yield from _replaced_as_a_whole(field_struct(kind, name), each, f"{path}.{name}")
    elif kind.startswith("[]") and isinstance(value, list):
        for index, each in enumerate(value):
            yield from _replaced_as_a_whole(kind[2:], each, f"{path}[{index}]")


def _merged(kind: str, left: Any, right: Any) -> Any:
    if not isinstance(left, dict) or not isinstance(right, dict) or not (left or right):
        return right
    how, known = _merging().get(kind, {}), fields_of(kind, ())
    found = dict(left)
    for name, each in right.items():
        of = field_struct(kind, name) if known else kind.removeprefix("map ")
        if of.startswith("[]") and isinstance(each, list) and (each or left.get(name)):
            found[name] = _merged_list(of[2:], how.get(name, "=").split(), left.get(name) or [], each)
        else:
            found[name] = _merged(of, left.get(name), each) if name in left else each
    return found


def _named(keys: Sequence[str], item: Any) -> str:
    """Return the identity of a list item as JSON text: the values of its merge keys, or for ``=`` the whole item."""
    if keys == ["="] or not isinstance(item, dict):
        return json.dumps(item)
    return json.dumps([item.get(key, _LIST_DEFAULTS.get(key, "")) for key in keys])


def _merged_list(kind: str, keys: Sequence[str], left: list[Any], right: list[Any]) -> list[Any]:
    """Return the items of both lists; items with equal keys are merged (``visitListItems``)."""
    lefts, rights = [_named(keys, each) for each in left], [_named(keys, each) for each in right]
    shared = [each for each in rights if each in lefts]
    found: list[Any] = []
    taken: list[Any] = []
    at, to = 0, 0

    def take_right() -> None:
        name = rights[to]
        taken.append(name)
        found.append(_merged(kind, left[lefts.index(name)], right[to]) if name in lefts else right[to])

    while at < len(left) or to < len(right):
        if at < len(left) and to < len(right):
            if lefts[at] == rights[to]:
                take_right()
                at, to = at + 1, to + 1
                shared = shared[1:]
                continue
            if lefts[at] in rights and shared and shared[0] != lefts[at]:
                at += 1
                continue
        if at < len(left):
            if lefts[at] not in rights:
                found.append(left[at])
                at += 1
                continue
            if lefts[at] in taken:
                at += 1
        if to < len(right):
            take_right()
            if shared and shared[0] == rights[to]:
                shared = shared[1:]
            to += 1
    return found
