"""Strategic merge patch on plain data, as in kubectl and the API server.

Source: apimachinery ``pkg/util/strategicpatch/patch.go`` (StrategicMergeMapPatchUsingLookupPatchMeta), including its
bugs. Go iterates over a patch in random order; this module keeps the patch's order. Values are None, bool, int, float,
str, list or dict. Base and patch are changed in place, as in Go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from topospread.errors import InvalidError

Json = dict[str, Any]

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM_LIST = "$deleteFromPrimitiveList"
ELEMENT_ORDER = "$setElementOrder"


class PatchMeta(msgspec.Struct, frozen=True):
    """The tags of a field's Go type for a strategic merge.

    Attributes:
        members: fields of the object (or of the list's elements); None if the Go type is not a struct.
        merge_key: ``patchMergeKey`` of a list with ``patchStrategy: merge``; "" if the patch replaces the list.
        may_be_list: whether Go's type can be merged as a list; true for slices and pointers.
    """

    members: Mapping[str, PatchMeta] | None = None
    merge_key: str = ""
    may_be_list: bool = True

    def member(self, name: str) -> PatchMeta:
        """Return the field of this name (LookupPatchMetadataForStruct)."""
        if self.members is None:
            raise InvalidError([f"merging an object in json but data type is not struct, at the json field {name!r}"])
        if name not in self.members:
            raise InvalidError([f'unable to find api field for the json field "{name}"'])
        return self.members[name]

    def list_member(self, name: str) -> PatchMeta:
        """Return the list of this name (LookupPatchMetadataForSlice)."""
        found = self.member(name)
        if not found.may_be_list:
            raise InvalidError([f"expected slice or array type, at the json field {name!r}"])
        return found


def merge_object(original: Json, patch: Json, meta: PatchMeta) -> Json:
    """Merge ``patch`` into ``original`` and return it (Go: mergeMap).

    Raises:
        InvalidError: if the patch cannot be applied; with Go's message if it has one.
    """
    if DIRECTIVE in patch:
        # A patch with `$patch` replaces or deletes the object (handleDirectiveInMergeMap).
        directive = patch[DIRECTIVE]
        if directive == "replace":
            del patch[DIRECTIVE]
            return patch
        if directive == "delete":
            return {}
        raise _unknown_directive(directive, patch)
    _retain_keys(original, patch)
    _merge_ordered_lists(original, patch, meta)
    for name, value in patch.items():
        deletes = name.startswith(DELETE_FROM_LIST)
        _merge_member(original, _list_name(name, DELETE_FROM_LIST) if deletes else name, value, (meta, deletes))
    return original


def _retain_keys(original: Json, patch: Json) -> None:
    """Apply ``$retainKeys``: remove fields that the directive does not list (applyRetainKeysDirective)."""
    if RETAIN_KEYS not in patch:
        return
    kept = patch.pop(RETAIN_KEYS)
    if not isinstance(kept, list):
        raise InvalidError(["invalid patch format of retainKeys"])
    for name, value in patch.items():
        if value is not None and not name.startswith((DELETE_FROM_LIST, ELEMENT_ORDER)) and name not in kept:
            raise InvalidError(["invalid patch format of retainKeys"])
    for name in [each for each in original if each not in kept]:
        del original[name]


def _merge_ordered_lists(original: Json, patch: Json, meta: PatchMeta) -> None:
    """Merge the lists whose order ``$setElementOrder/NAME`` gives (mergePatchIntoOriginal)."""
    for directive in [each for each in patch if each.startswith(ELEMENT_ORDER)]:
        order = _list_of(patch.pop(directive))
        name = _list_name(directive, ELEMENT_ORDER)
        was = _list_of(original[name]) if name in original else None
        given = _list_of(patch[name]) if name in patch else None
        of_list = meta.list_member(name)
        _check_order(given or [], order, of_list.merge_key)
        if was is None and given is None:
            continue
        length = len(was or ())
        if was is None:
            merged = _list_of(_without_directives(given))
        elif given is None:
            merged = was
        else:
            merged = _merge_lists(was, given, of_list) if of_list.merge_key else given
        server_order = (was or [])[:length]
        _kind_of_elements(server_order + (given or []))
        original[name] = _ordered(merged, order, server_order, of_list.merge_key)
        patch.pop(name, None)


def _merge_member(original: Json, name: str, value: Any, how: tuple[PatchMeta, bool]) -> None:
    """Merge one member; ``how``: the object's meta, and whether ``value`` lists elements to delete."""
    meta, deletes = how
    if value is None:
        original.pop(name, None)
        return
    have: Any = original.get(name)
    if name not in original or _type_name(have) != _type_name(value):
        if not deletes:
            _discard_nulls(value)
            _set_without_directives(original, name, value)
    elif isinstance(value, dict):
        original[name] = merge_object(have, value, meta.member(name))
    elif isinstance(value, list):
        of_list = meta.list_member(name)
        if of_list.merge_key:
            original[name] = _merge_lists(have, value, of_list)
        else:
            original[name] = _delete_scalars(have, value) if deletes else value
    else:
        original[name] = value


def _merge_lists(original: list[Any], patch: list[Any], meta: PatchMeta) -> list[Any]:
    """Merge two lists of objects by the merge key (mergeSlice).

    ``original`` is changed in place, like the array behind a Go slice, because a caller reads it afterwards.
    """
    if not original and not patch:
        return original
    if _kind_of_elements(original + patch) is not dict:
        raise InvalidError(["expected a map[string]interface {}, but received another type"])
    key = meta.merge_key
    rest, length, replaces = _obey_directives(original, patch, key)
    target = rest if replaces else original
    elements = [] if replaces else rest
    before = len(rest) if replaces else length
    used = _merge_elements(target, before, elements, meta)
    return _ordered(target[:used], elements, target[:before], key)


def _obey_directives(original: list[Any], patch: list[Any], key: str) -> tuple[list[Any], int, bool]:
    """Delete the elements that ``$patch: delete`` names (mergeSliceWithSpecialElements).

    Returns:
        The patch's other elements, the original's remaining length, and whether the patch replaces the list.
    """
    rest: list[Any] = []
    length, replaces = len(original), False
    for element in patch:
        if DIRECTIVE not in element:
            rest.append(element)
            continue
        directive = element[DIRECTIVE]
        if directive == "delete":
            length = _delete_elements(original, length, key, _merge_value(element, key))
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise InvalidError(["merging lists cannot yet be specified in the patch"])
        else:
            raise _unknown_directive(directive, element)
    return rest, length, replaces


def _delete_elements(original: list[Any], length: int, key: str, value: Any) -> int:
    """Delete the elements with this merge key, and return the new length.

    Later elements move forward. As in a Go array, the values after the new end stay.
    """
    while (at := _find(original[:length], key, value)) >= 0:
        original[at : length - 1] = original[at + 1 : length]
        length -= 1
    return length


def _merge_elements(target: list[Any], length: int, elements: list[Any], meta: PatchMeta) -> int:
    """Merge each element into the first with its key, or append it (mergeSliceWithoutSpecialElements).

    Returns:
        The new number of elements.
    """
    for element in elements:
        at = _find(target[:length], meta.merge_key, _merge_value(element, meta.merge_key))
        if at >= 0:
            target[at] = merge_object(target[at], element, meta)
            continue
        target[length : length + 1] = [element]
        length += 1
    return length


def _ordered(merged: list[Any], order: list[Any], server_order: list[Any], key: str) -> list[Any]:
    """Return the patch's elements in its order, and others at the server's positions (normalizeElementOrder)."""
    named: list[Any] = []
    others: list[Any] = []
    for element in merged:
        at = _find(order, key, _merge_value(element, key)) if key else _index(order, element, key)
        (named if at >= 0 else others).append(element)
    for element in order + server_order if key else ():
        _merge_value(element, key)
    named, others = _sorted_by(named, order, key), _sorted_by(others, server_order, key)
    result: list[Any] = []
    while named and others:
        left, right = _index(server_order, others[0], key), _index(server_order, named[0], key)
        result.append(others.pop(0) if 0 <= left < right else named.pop(0))
    return result + named + others


def _sorted_by(elements: list[Any], order: list[Any], key: str) -> list[Any]:
    """Return elements sorted like Go: an insertion sort that also swaps two elements if ``order`` lacks one of them.

    Elements with a delete directive go last (normalizeSliceOrder).
    """
    deleted = [each for each in elements if key and each.get(DIRECTIVE) == "delete"]
    rest = [each for each in elements if not (key and each.get(DIRECTIVE) == "delete")]
    for start in range(1, len(rest)):
        at = start
        while at > 0:
            left, right = _index(order, rest[at], key), _index(order, rest[at - 1], key)
            if left >= 0 and right >= 0 and left >= right:
                break
            rest[at - 1], rest[at] = rest[at], rest[at - 1]
            at -= 1
    return rest + deleted


def _check_order(patch: list[Any], order: list[Any], key: str) -> None:
    """Check that the patch's elements are in the given order (validatePatchWithSetOrderList).

    An element with another directive than delete is skipped, except at the end, as in Go.
    """
    if not patch or not order:
        return
    elements = [each for each in patch if not (key and _object_of(each).get(DIRECTIVE) == "delete")]
    at = behind = 0
    while at < len(elements) and behind < len(order):
        if _is_directive(elements[at]):
            at += 1
            continue
        at += _same(*_values(elements[at], order[behind], key))
        behind += 1
    if at < len(elements) and behind >= len(order):
        raise InvalidError([f"the order of the patch's list does not match that of {ELEMENT_ORDER}"])


def _values(left: Any, right: Any, key: str) -> tuple[Any, Any]:
    """Return the values by which two elements are compared."""
    return (_merge_value(left, key), _merge_value(right, key)) if key else (left, right)


def _delete_scalars(original: list[Any], deleted: list[Any]) -> list[Any]:
    """Apply ``$deleteFromPrimitiveList``: return the original without the listed values (deleteFromSlice)."""
    if not original and not deleted:
        return original
    if _kind_of_elements(original + deleted) is dict:
        raise InvalidError(["cannot merge lists without merge key for struct"])
    return [each for each in original if not any(_same(each, other) for other in deleted)]


def _discard_nulls(value: Any) -> None:
    """Remove null members at any depth; null elements of lists stay (discardNullValuesFromPatch)."""
    if isinstance(value, dict):
        for name in [each for each, member in value.items() if member is None]:
            del value[name]
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _discard_nulls(member)


def _without_directives(value: Any) -> Any:
    """Return the value without contained objects that have ``$patch`` (removeDirectives)."""
    if isinstance(value, dict):
        for name, member in list(value.items()):
            _set_without_directives(value, name, member)
    elif isinstance(value, list):
        return [_without_directives(each) for each in value if not _is_directive(each)]
    return value


def _set_without_directives(target: Json, name: str, value: Any) -> None:
    if _is_directive(value):
        target.pop(name, None)
    else:
        target[name] = _without_directives(value)


def _is_directive(value: Any) -> bool:
    return isinstance(value, dict) and DIRECTIVE in value


def _find(elements: list[Any], key: str, value: Any) -> int:
    """Return the position of the first object with this merge key, −1 without one (findMapInSliceBasedOnKeyValue)."""
    for at, element in enumerate(elements):
        if key in element and _same(element[key], value):
            return at
    return -1


def _index(elements: list[Any], wanted: Any, key: str) -> int:
    """Return the position of the first element equal to ``wanted``, by merge key if there is one (index)."""
    if key:
        return _find(elements, key, wanted.get(key))
    _same(wanted, wanted)
    return next((at for at, element in enumerate(elements) if _same(element, wanted)), -1)


def _merge_value(element: Any, key: str) -> Any:
    if key not in _object_of(element):
        raise InvalidError([f"map: {element} does not contain declared merge key: {key}"])
    return element[key]


def _same(left: Any, right: Any) -> bool:
    """Return Go's == on interface values: same type and equal; lists and objects raise an error."""
    if _type_name(left) != _type_name(right):
        return False
    if isinstance(left, list | dict):
        raise InvalidError(["expected a merge key or a scalar, found a list or an object"])
    return bool(left == right)


def _kind_of_elements(elements: list[Any]) -> type:
    """Return the one type that all elements have (sliceElementType)."""
    names = {_type_name(each) for each in elements}
    if len(names) != 1 or names & {"null", "list"}:
        raise InvalidError(["no elements, lists of lists, or list element types that are not identical"])
    return type(elements[0])


def _type_name(value: Any) -> str:
    return "null" if value is None else type(value).__name__


def _object_of(value: Any) -> Json:
    if not isinstance(value, dict):
        raise InvalidError(["expected a map[string]interface {}, but received another type"])
    return value


def _list_of(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidError(["expected a []interface {}, but received another type"])
    return value


def _list_name(directive: str, prefix: str) -> str:
    """Return NAME of ``PREFIX/NAME`` (extractKey)."""
    head, slash, name = directive.partition("/")
    if not slash or head != prefix:
        raise InvalidError([f"invalid patch format: {directive}"])
    return name


def _unknown_directive(directive: Any, patch: Json) -> InvalidError:
    return InvalidError([f"unknown patch type: {directive} in map: {patch}"])
