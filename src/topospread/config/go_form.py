"""Plugins' arguments as Go prints its internal types, for the one message of kube-scheduler that shows them.

The types are in ``internal_args.json``, which `conformance/oracle/cmd/fieldhistory` prints from the newest version's
pkg/scheduler/apis/config/types_pluginargs.go, whose fields have no JSON names; core/v1's have, and leave out what is
empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from topospread.api.shipped_table import shipped_table
from topospread.config.durations import format_duration, parse_duration


@cache
def _printed() -> dict[str, list[str]]:
    """Struct → its fields in order: name, Go's type, and "omitempty" where it is left out when it is empty."""
    return shipped_table(__package__, "internal_args.json", dict[str, list[str]])


def go_form(plugin: str, args: Mapping[str, Any] | None) -> Any:
    """Arguments of an in-tree plugin as data in the form, and the order, in which Go prints them."""
    return _written(_struct(plugin), args) if _struct(plugin) in _printed() else args


def same_args(plugin: str, one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Whether two arguments are the same to Kubernetes: for in-tree ones, nothing and an empty list are one."""
    if _struct(plugin) not in _printed():
        return one == other
    return bool(_without_empty(go_form(plugin, one)) == _without_empty(go_form(plugin, other)))


def _struct(plugin: str) -> str:
    return f"{plugin}Args"


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: kept for key, one in value.items() if (kept := _without_empty(one)) is not None}
    if isinstance(value, list):
        return [_without_empty(one) for one in value] or None
    return value


def _written(form: str, value: Any) -> Any:
    form = form.removeprefix("*")
    if isinstance(value, list):
        return [_written(form.removeprefix("[]"), one) for one in value]
    if form == "duration" and value is not None:
        return format_duration(parse_duration(value) or 0)
    if form not in _printed() or value is None:
        return dict(sorted(value.items())) if isinstance(value, dict) else value
    shown = {}
    for field in _printed()[form]:
        name, kind, *omitted = field.split()
        given = value.get(name[0].lower() + name[1:], _zero(kind))
        empty = given is None or (given in ("", [], {}) and kind[0] != "*")
        if not (omitted and empty):
            shown[name] = _written(kind, given)
    return shown


def _zero(kind: str) -> Any:
    if kind.startswith(("*", "[]", "map[]")):
        return None
    return {} if kind in _printed() else {"string": "", "bool": False}.get(kind, 0)
