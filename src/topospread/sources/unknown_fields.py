"""Fields in manifests that no Kubernetes API version has, each with the field that was probably meant."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from topospread.api.validation.schema import STRUCT_OF_ANY, fields_of, unknown_fields

from .positions import format_path, parse_path
from .versions import was_known

_INSIDE = (
    ("spec",),
    ("template", "spec"),
    ("spec", "template", "spec"),
    ("jobTemplate", "spec"),
    ("jobTemplate", "spec", "template", "spec"),
    ("spec", "jobTemplate", "spec", "template", "spec"),
)
"""Paths where a misplaced field may belong."""


def fields_of_no_version(value: Mapping[str, Any], kind: str) -> list[str]:
    """Return the paths of fields that the API server drops, or refuses with ``kubectl --validate=strict``."""
    version = value.get("apiVersion")
    return [path for path in unknown_fields(value, STRUCT_OF_ANY[kind]) if not was_known(kind, version, path)]


def meant(kind: str, path: str) -> str:
    """Return a hint on the correct name or parent of an unknown field; "" if none is known."""
    steps = parse_path(path)
    if not steps:  # a key without letters, such as "" or "["
        return ""
    *above, name = steps
    known = fields_of(STRUCT_OF_ANY[kind], above)
    lower = {each.lower(): each for each in known}
    close = get_close_matches(str(name).lower(), lower, 1, cutoff=0.75)
    if close:
        return f'; is "{lower[close[0]]}" meant?'
    for depth in range(len(above) - 1, -1, -1):
        if name in fields_of(STRUCT_OF_ANY[kind], above[:depth]):
            return f'; it belongs to "{format_path(above[:depth])}"' if depth else "; it belongs to the object itself"
    for inside in _INSIDE:
        if name in fields_of(STRUCT_OF_ANY[kind], [*above, *inside]):
            return f'; it belongs to "{format_path([*above, *inside])}"'
    return ""
