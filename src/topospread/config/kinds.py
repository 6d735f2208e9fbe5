"""The fields of KubeSchedulerConfiguration and of the plugins' arguments, for every version that had them.

``fields.json`` maps version → struct → field → type, with the first minor version of Kubernetes if that is later than
the version's own. `conformance/oracle/cmd/fieldhistory` prints it from the sources of kube-scheduler's configuration
(k8s.io/kube-scheduler, 0.18 to 0.37) and its dependencies.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from topospread.api.shipped_table import shipped_table
from topospread.config.api_versions import KIND, ApiVersion
from topospread.config.schema import (
    ANYTHING,
    BASE64,
    BOOLEAN,
    DURATION,
    FLOAT,
    INT32,
    INT64,
    STRING,
    ListOf,
    MapOf,
    Object,
    Type,
)
from topospread.config.versions import KubeVersion

_SCALARS: dict[str, Type] = {
    "string": STRING,
    "bool": BOOLEAN,
    "int32": INT32,
    "int64": INT64,
    "float32": FLOAT,
    "duration": DURATION,
    "bytes": BASE64,
    "any": ANYTHING,
}
_TYPE_META: dict[str, Type] = {"apiVersion": STRING, "kind": STRING}
_ARGS = "Args"


@cache
def _printed() -> dict[str, dict[str, dict[str, str]]]:
    return shipped_table(__package__, "fields.json", dict[str, dict[str, dict[str, str]]])


@cache
def _struct(api: str, name: str, minor: int) -> Object:
    """Return the fields of a struct in a configuration version, as a minor version of Kubernetes has it."""
    fields: dict[str, Type] = {}
    for field, text in _printed()[api][name].items():
        what, _, since = text.partition(" since ")
        if minor >= int(since or 0):
            fields[field] = _type(api, what, minor)
    return Object(fields)


def _type(api: str, what: str, minor: int) -> Type:
    if what.startswith("[]"):
        return ListOf(_type(api, what[2:], minor))
    if what.startswith("map "):
        return MapOf(_type(api, what[4:], minor))
    return _SCALARS.get(what) or _struct(api, what, minor)


def plugin_points(api: ApiVersion, version: KubeVersion) -> tuple[str, ...]:
    """Return the fields of ``plugins``."""
    return tuple(_struct(api.name, "Plugins", version.minor).fields)


def profile_fields(api: ApiVersion, version: KubeVersion) -> Mapping[str, Type]:
    """Return the fields of a profile."""
    return _struct(api.name, "KubeSchedulerProfile", version.minor).fields


def extender_fields(api: ApiVersion, version: KubeVersion) -> Mapping[str, Type]:
    """Return the fields of an extender."""
    return _struct(api.name, "Extender", version.minor).fields


def configuration(api: ApiVersion, version: KubeVersion) -> Object:
    """Return the fields of a KubeSchedulerConfiguration; plugin arguments are not decoded."""
    return _struct(api.name, KIND, version.minor)


def plugin_args(api: ApiVersion, version: KubeVersion) -> dict[str, Object]:
    """Return plugin → the fields of its arguments."""
    found = {}
    for name in _printed()[api.name]:
        fields = _struct(api.name, name, version.minor).fields if name.endswith(_ARGS) else {}
        if fields:
            found[name.removesuffix(_ARGS)] = Object({**_TYPE_META, **fields})
    return found
