"""Apply a JSON patch (RFC 6902) to an object of the cluster; a drill then applies the resulting manifest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from typing import Any

import msgspec

from topospread.answer import Remedy
from topospread.api.decoding import decode
from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.validation import validate_object
from topospread.errors import InvalidError, Place, UsageError
from topospread.simulation.options import SimulationOptions
from topospread.whole_number import whole_number

from .drill_run import DrillRun
from .steps import Apply, Rollout, Step

Json = dict[str, Any]
_REMOVED = ({"op": "remove", "path": ""},)
_MISSING = object()


@dataclass(frozen=True, slots=True)
class PatchedObject:
    """An object and the patch to apply to it.

    Attributes:
        patch: RFC 6902 operations, as JSON text.
    """

    kind: str
    namespace: str
    name: str
    patch: str

    @property
    def operations(self) -> list[Json]:
        """Return the patch as data."""
        found: list[Json] = json.loads(self.patch)
        return found

    @property
    def object(self) -> str:
        """``KIND/NAMESPACE/NAME``; ``KIND/NAME`` for cluster-scoped objects."""
        return "/".join(each for each in (self.kind, self.namespace, self.name) if each)

    def __str__(self) -> str:
        return f"patch {self.object} {self.patch}"


def patched(inventory: Inventory, change: PatchedObject) -> Inventory:
    """Return an inventory that contains only the patched object.

    Raises:
        InputError: if the API server denies the object.
        UsageError: if the object does not exist, or the patch does not apply to it.
    """
    return _of([manifest(inventory, change)])


def after_remedy(inventory: Inventory, options: SimulationOptions, remedy: Remedy) -> Inventory:
    """Return the cluster after the changes of a remedy, once it is stable.

    Raises:
        InputError: if the API server denies an object.
        UsageError: if the remedy does not patch objects, or an object is missing.
    """
    applied: dict[str, Inventory] = {}
    steps: list[Step] = []
    latest = inventory  # the inventory after all parts so far, because several parts may change one object
    for part in remedy.parts:
        target = part.object
        kind, namespace, name = (target.get(each, "") for each in ("kind", "namespace", "name"))
        change = PatchedObject(kind, namespace, name, json.dumps(list(part.patch)))
        if part.command and "restart" in part.command:
            steps.append(Rollout(f"{namespace}/{kind.lower()}/{name}"))
        elif not part.patch:
            raise UsageError(f"{part.says}: it does not patch an object")
        else:
            made = Inventory() if part.patch == _REMOVED else patched(latest, change)
            latest = replaced(latest, change, made)
            if part.command and kind != "Pod":
                steps += [Apply(change.object)] if change.object not in applied else []
                applied[change.object] = made
            else:  # a change without a rollout, such as of a pod or a node: it is part of the initial cluster
                inventory = replaced(inventory, change, made)
                applied |= {change.object: made} if change.object in applied else {}
    play = DrillRun(inventory, options, applied)
    play.begin()
    for step in steps:
        play.take(step, None)
    return play.state.inventory()


def replaced(inventory: Inventory, change: PatchedObject, made: Inventory) -> Inventory:
    """Return the inventory with the object of `change` replaced by the object in `made`."""
    attribute = KINDS[change.kind.removesuffix("List")].attribute
    there: list[KubeObject] = getattr(inventory, attribute)
    own = change.namespace or "default", change.name
    left = [each for each in there if (each.namespace or "default", each.name) != own]
    changed = with_fields(inventory)
    setattr(changed, attribute, [*left, *getattr(made, attribute)])
    return changed


def manifest(inventory: Inventory, change: PatchedObject) -> Json:
    """Return the patched object as plain data.

    Raises:
        UsageError: if the object does not exist, or the patch does not apply to it.
    """
    made = _new_object(change)
    if made is not None:
        return made
    if change.kind not in KINDS:
        raise UsageError(f"patch {change.object}: {change.kind} does not affect placement")
    before = _document(inventory, change)
    document = apply_patch(before, change.operations)
    if not isinstance(document, dict):
        raise UsageError(f"patch {change.object}: the result is not an object")
    known = {str(each) for each in validate_object(before)}
    problems = [str(each) for each in validate_object(document) if str(each) not in known]
    if problems:
        raise InvalidError(problems, Place(object=change.object))
    return document


def _new_object(change: PatchedObject) -> Json | None:
    """Return the object that the patch appends to a list; None for other patches."""
    first, *more = change.operations or [{}]
    value = first.get("value")
    if more or first.get("path") != "/items/-" or not isinstance(value, dict):
        return None
    kind = change.kind.removesuffix("List")
    return {"apiVersion": "v1", "kind": kind, **value}


def _document(inventory: Inventory, change: PatchedObject) -> Json:
    """Return the current object.

    Raises:
        UsageError: if it does not exist.
    """
    for each in getattr(inventory, KINDS[change.kind].attribute):
        item: KubeObject = each
        if item.name == change.name and (not change.namespace or item.namespace == change.namespace):
            found: Json = msgspec.to_builtins(item)
            return found
    raise UsageError(f"patch {change.object}: object not found")


def _of(documents: Sequence[Json]) -> Inventory:
    made = Inventory()
    for each in documents:
        kind = str(each.get("kind"))
        if kind not in KINDS:
            raise UsageError(f"patch: {kind} does not affect placement")
        item = decode(each, KINDS[kind].struct, Place(object=kind))
        getattr(made, KINDS[kind].attribute).append(item)
    return made


def apply_patch(document: Any, operations: Sequence[Json]) -> Any:
    """Apply RFC 6902 operations add, replace and remove to a copy of the document.

    Replacing a missing field is allowed, because default values are not stored.

    Raises:
        UsageError: if a path does not exist, or the operation is not supported.
    """
    made = msgspec.json.decode(msgspec.json.encode(document))
    for each in operations:
        made = _applied(made, str(each.get("op")), str(each.get("path", "")), each.get("value", _MISSING))
    return made


def _applied(document: Any, op: str, path: str, value: Any) -> Any:
    if op not in ("add", "replace", "remove") or (value is _MISSING) != (op == "remove"):
        raise UsageError(f"patch: {op} {path}: use add or replace with a value, or remove without one")
    if not path:
        return None if op == "remove" else value
    *way, last = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
    inner = document
    for part in way:
        inner = _child(inner, part, path)
    if isinstance(inner, list):
        at = len(inner) if last == "-" and op == "add" else _index(last, len(inner) + (op == "add"), path)
        if op == "add":
            inner.insert(at, value)
        elif op == "replace":
            inner[at] = value
        else:
            del inner[at]
    elif isinstance(inner, dict):
        if op == "remove" and last not in inner:
            raise UsageError(f"patch: {path} is not there")
        if op == "remove":
            del inner[last]
        else:
            inner[last] = value
    else:
        raise UsageError(f"patch: {path} leads nowhere")
    return document


def _child(inner: Any, part: str, path: str) -> Any:
    if isinstance(inner, dict) and part in inner:
        return inner[part]
    if isinstance(inner, list):
        return inner[_index(part, len(inner), path)]
    raise UsageError(f"patch: {path} is not there")


def _index(text: str, size: int, path: str) -> int:
    index = whole_number(text)
    if index is None or index >= size:
        raise UsageError(f"patch: {path} is not there")
    return index
