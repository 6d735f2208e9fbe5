"""Convert objects of the Python clients kubernetes, kr8s and lightkube to dictionaries, without importing them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from topospread.api.served import versions_of
from topospread.errors import UsageError

_CLASS = re.compile(r"(?:V\d+(?:alpha\d+|beta\d+)?)?(\w+)")
"""Pattern for the kind in a client's class name: ``V1Pod``, ``Pod``."""


def plain_object(given: Any) -> dict[str, Any]:
    """Return a client library's object with the API's field names. Raise UsageError if it is no Kubernetes object."""
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(raw := getattr(given, "raw", None), Mapping):  # kr8s
        found: Any = dict(raw)
    elif hasattr(given, "attribute_map"):  # kubernetes
        found = _of_model(given)
    elif callable(to_dict := getattr(given, "to_dict", None)):  # lightkube
        found = to_dict()
    else:
        raise UsageError(f"{type(given).__name__}: expected a Kubernetes object: a dictionary or a client's object")
    kind = _CLASS.fullmatch(type(given).__name__)
    found["kind"] = found.get("kind") or (kind[1] if kind else "")
    found["apiVersion"] = found.get("apiVersion") or next(iter(versions_of(found["kind"])), "v1")
    return dict(found)


def _of_model(value: Any) -> Any:
    """Return an object of the client kubernetes as plain data, without unset fields."""
    if hasattr(value, "attribute_map"):
        fields = ((key, getattr(value, name)) for name, key in value.attribute_map.items())
        return {key: _of_model(each) for key, each in fields if each is not None}
    if isinstance(value, Mapping):
        return {key: _of_model(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_of_model(each) for each in value]
    return value
