"""Split a text into its objects as plain data, with their locations. Lists are flattened.

In a snapshot most objects are pods of a controller, whose template is linted instead. Such pods are decoded directly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.errors import DecodeError
from topospread.sources.json_text import (
    JsonList,
    looks_like_json,
    no_list,
    read_value,
    split_documents,
)
from topospread.sources.load import is_yaml
from topospread.sources.locations import Location
from topospread.sources.quantities import KnownQuantities
from topospread.sources.text import Text
from topospread.sources.yaml import read_documents

_HEAD: Final = msgspec.json.Decoder(KubeObject)
_POD: Final = msgspec.json.Decoder(Pod)


def objects_in(text: Text, *, applied: bool = False) -> Iterator[tuple[Any, Location]]:
    """Yield each object of a text with its location. Documents that are not objects are yielded, too.

    Objects are plain data, except stored pods with a controller, which are typed unless `applied`.

    Raises:
        DecodeError: if the text is neither YAML nor JSON.
        DuplicateError: if a mapping has a key twice.
    """
    if not looks_like_json(text):
        yield from _in_yaml(text)
        return
    listed = JsonList.at(Location(text, start=0, end=len(text.data)))
    if listed is not None:
        yield from _in_list(listed, applied=applied)
        return
    spans = _json_documents(text)
    for start, end in spans:
        yield from _objects(read_value(text, start, end), Location(text, start=start, end=end))
    if not spans:
        yield from _in_yaml(text)


def _in_yaml(text: Text) -> Iterator[tuple[Any, Location]]:
    for document in read_documents(text):
        yield from _objects(document.value, Location(text, document.number, document.line))


def _json_documents(text: Text) -> list[tuple[int, int]]:
    """Return the positions of JSON documents; empty if the text is YAML that starts with a brace."""
    try:
        return split_documents(text)
    except DecodeError as error:
        if not is_yaml(text):
            raise error
        return []


def _in_list(listed: JsonList, *, applied: bool) -> Iterator[tuple[Any, Location]]:
    of, quantities = _item_type(listed.kind, listed.api_version), KnownQuantities()
    for index, raw in enumerate(listed.items):
        location = listed.spot_of(index)
        pod = None if applied else _owned_pod(raw, of, quantities)
        if pod is not None:
            yield pod, location
            continue
        value = read_value(location.text, location.start, location.end)
        yield from _objects(_typed(value, of), location)


def _owned_pod(raw: msgspec.Raw, of: dict[str, Any], quantities: KnownQuantities) -> Pod | None:
    """Return a stored pod with a controller; None for other objects and for pods that need full decoding."""
    try:
        head = _HEAD.decode(raw)
        metadata = head.metadata
        is_pod = (head.api_version or of.get("apiVersion"), head.kind or of.get("kind")) == ("v1", "Pod")
        if is_pod and metadata.uid and metadata.name and metadata.controller is not None:
            pod = _POD.decode(raw)
            return pod if quantities.all_valid(pod) else None
    except (ValueError, RecursionError):
        pass  # full decoding reports the place of the error
    return None


def _objects(value: Any, location: Location) -> Iterator[tuple[Any, Location]]:
    """Yield the objects of a document: one object, or those of a list."""
    if value is None:
        return
    kind, items = (value.get("kind"), value.get("items")) if isinstance(value, dict) else (None, None)
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)):
        if isinstance(kind, str) and isinstance(value.get("apiVersion"), str) and _replaces(value, kind):
            raise no_list(location.place())
        yield value, location
        return
    listed = JsonList.at(location) if location.document is None else None
    of = _item_type(kind, value.get("apiVersion"))
    for index, item in enumerate(items):
        yield from _objects(_typed(item, of), listed.spot_of(index) if listed else location.item("items", index))


def _typed(item: Any, of: dict[str, Any]) -> Any:
    """Return a list's item with the default type. Like kubectl, treat a null, "" or a non-string as a missing type."""
    if not isinstance(item, dict):
        return item
    has_type = any(isinstance(each, str) and each for each in (item.get("kind"), item.get("apiVersion")))
    return {**of, **item} if has_type else {**item, **of}


def _replaces(value: dict[str, Any], kind: str) -> bool:
    """Return whether the object has ``items``, which kubectl applies instead of it, although it is not a list."""
    return "items" in value and isinstance(value["items"], list | None) and not kind.endswith("List")


def _item_type(kind: str, version: Any) -> dict[str, Any]:
    """Return the default type of list items: Pods in a PodList, unknown in a List."""
    item = kind.removesuffix("List")
    return {"kind": item, "apiVersion": version} if item else {}
