"""The fields and JSON types of the kinds that topospread reads, and the decoding of plain data by them.

``schema.json`` lists the fields of every struct in objects of these kinds (Kubernetes 1.37: k8s.io/api);
``conformance/oracle/cmd/schema`` writes it. `rules` checks values. As in Go, ``null`` leaves a field unset and is the
zero value in a list or a map, unknown fields are ignored, and field names are case-sensitive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from topospread.api.quantity import ZERO, NumberText, QuantityError, parse_quantity
from topospread.api.timestamps import seconds

Json = dict[str, Any]
Reader = Callable[[Any], Any]
Search = Callable[[object, str, dict[str, str]], None]
"""Function (value, path, found) that adds the value's unknown fields to ``found``.

``found``: path of the unknown field → known field that differs only in case, or "".
"""

STRUCT_OF: Final = {
    "Pod": "Pod",
    "ReplicationController": "ReplicationController",
    "Deployment": "Deployment",
    "ReplicaSet": "ReplicaSet",
    "StatefulSet": "StatefulSet",
    "DaemonSet": "DaemonSet",
    "Job": "Job",
    "CronJob": "CronJob",
}
"""Kind whose field values are checked → its struct in the schema."""

STRUCT_OF_ANY: Final = STRUCT_OF | {
    kind: kind
    for kind in (
        "Node",
        "Namespace",
        "Service",
        "HorizontalPodAutoscaler",
        "PodDisruptionBudget",
        "PriorityClass",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
        "VolumeAttachment",
        "DeviceClass",
        "ResourceSlice",
        "ResourceClaimTemplate",
        "DeviceTaintRule",
        "Workload",
        "PodGroup",
        "LimitRange",
        "ResourceQuota",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "RuntimeClass",
    )
}
STRUCT_OF_ANY["ResourceClaim"] = "ResourceClaimObject"
"""Kind → its struct, for every kind that topospread reads."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ZEROS: Final = {"string": "", "bool": False, "int32": 0, "int64": 0, "intorstring": 0, "quantity": ZERO}
_BITS: Final = {"int32": 31, "int64": 63}


class WrongTypeError(Exception):
    """Error for a value of a wrong type: ``path`` is the field in the API server's form, ``words`` the reason."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words
        self.path = ""

    def under(self, segment: str) -> WrongTypeError:
        """Return the error with a longer path; ``segment`` is a field, or an index in brackets."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{segment}{joint}{self.path}"
        return self

    def __str__(self) -> str:
        return f"{self.path}: {self.words}" if self.path else self.words


def decoded(data: object, struct: str) -> Json:
    """Return a copy of plain data as Go decodes it into a struct: known fields that are set, quantities parsed.

    Raises:
        WrongTypeError: for the first value whose type is not the field's.
    """
    read: Json = _reader(struct)(data)
    return read


def unknown_fields(data: object, struct: str) -> list[str]:
    """Return paths of unknown fields, which the API server ignores, or rejects with strict validation."""
    return list(_unknown(data, struct))


def wrong_case_fields(data: object, struct: str) -> dict[str, str]:
    """Return path of an unknown field → known field, for fields that differ from it only in case."""
    return {path: known for path, known in _unknown(data, struct).items() if known}


def _unknown(data: object, struct: str) -> dict[str, str]:
    found: dict[str, str] = {}
    _search(struct)(data, "", found)
    return found


def fields_of(struct: str, path: Sequence[str | int]) -> list[str]:
    """Return the names of the fields at a path in a struct; empty if the path is unknown or not an object."""
    for step in path:
        if struct in _structs():
            struct = _structs()[struct].get(str(step), "")
        elif struct.startswith(("[]", "map ")):
            struct = struct.removeprefix("[]").removeprefix("map ")
    return list(_structs().get(struct, ()))


def field_struct(struct: str, field: str) -> str:
    """Return the struct of a field's type."""
    return _structs()[struct][field]


@cache
def _structs() -> dict[str, dict[str, str]]:
    read: dict[str, dict[str, str]] = json.loads(files(__package__).joinpath("schema.json").read_text("utf-8"))
    return read


@cache
def _search(kind: str) -> Search:
    """Return the function that collects unknown fields of a type's value, nested ones included."""
    if kind in _structs():
        return _struct_search(_structs()[kind])
    inner = _search(kind.removeprefix("[]").removeprefix("map ")) if kind.startswith(("[]", "map ")) else _nothing
    if inner is _nothing:
        return _nothing
    return _list_search(inner) if kind.startswith("[]") else _map_search(inner)


def _struct_search(fields: dict[str, str]) -> Search:
    searches: dict[str, Search] = {}  # filled on demand, because structs can be recursive

    def search(data: object, path: str, found: dict[str, str]) -> None:
        if not isinstance(data, dict):
            return
        for key, value in data.items():
            kind = fields.get(key)
            if kind is None:
                lower = str(key).lower()
                known = next((name for name in fields if name.lower() == lower), "")
                found[f"{path}.{key}" if path else str(key)] = known
            elif isinstance(value, dict | list):
                if key not in searches:
                    searches[key] = _search(kind)
                if searches[key] is not _nothing:
                    searches[key](value, f"{path}.{key}" if path else key, found)

    return search


def _list_search(inner: Search) -> Search:
    def search(data: object, path: str, found: dict[str, str]) -> None:
        if isinstance(data, list):
            for index, value in enumerate(data):
                inner(value, f"{path}[{index}]", found)

    return search


def _map_search(inner: Search) -> Search:
    def search(data: object, path: str, found: dict[str, str]) -> None:
        if isinstance(data, dict):
            for key, value in data.items():
                inner(value, f"{path}[{key}]", found)

    return search


def _nothing(data: object, path: str, found: dict[str, str]) -> None:
    """Find nothing: a `Search` for types without fields."""


@cache
def _reader(kind: str) -> Reader:
    """Return the function that reads a value of a type of the schema."""
    if kind in _structs():
        return _struct_reader(_structs()[kind])
    if kind.startswith("[]"):
        return _list_reader(_reader(kind[2:]), kind[2:])
    if kind.startswith("map "):
        return _map_reader(_reader(kind[4:]), kind[4:])
    if kind in _BITS:
        return _integer_reader(_BITS[kind])
    return {
        "string": _string,
        "bool": _boolean,
        "quantity": _quantity,
        "time": _time,
        "intorstring": _integer_or_string,
        "any": _anything,
    }[kind]


def _struct_reader(fields: dict[str, str]) -> Reader:
    readers = {name: _reader(kind) for name, kind in fields.items()}

    def read(value: Any) -> Json:
        if not isinstance(value, dict):
            raise WrongTypeError(f"expected an object, got {_named(value)}")
        result = {}
        name = ""
        try:
            for name, item in value.items():
                reader = readers.get(name)
                if reader is not None and item is not None:
                    result[name] = reader(item)
        except WrongTypeError as problem:
            raise problem.under(name) from None
        return result

    return read


def _list_reader(reader: Reader, kind: str) -> Reader:
    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise WrongTypeError(f"expected a list, got {_named(value)}")
        result: list[Any] = []
        try:
            for item in value:
                result.append(_zero(kind) if item is None else reader(item))  # noqa: PERF401 - its length tells where
        except WrongTypeError as problem:
            raise problem.under(f"[{len(result)}]") from None
        return result

    return read


def _map_reader(reader: Reader, kind: str) -> Reader:
    def read(value: Any) -> Json:
        if not isinstance(value, dict):
            raise WrongTypeError(f"expected an object, got {_named(value)}")
        result = {}
        key: Any = ""
        try:
            for key, item in value.items():
                result[_string(key)] = _zero(kind) if item is None else reader(item)
        except WrongTypeError as problem:
            raise problem.under(f"[{key}]") from None
        return result

    return read


def _zero(kind: str) -> Any:
    return {} if kind in _structs() else _ZEROS.get(kind)


def _string(value: Any) -> str:
    if type(value) is not str and (not isinstance(value, str) or isinstance(value, NumberText)):
        raise WrongTypeError(f"expected a string, got {_named(value)}")
    # Go reads half a surrogate pair as the replacement character.
    return value if value.isascii() else _SURROGATE.sub("\ufffd", value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongTypeError(f"expected true or false, got {_named(value)}")
    return value


def _integer_reader(bits: int) -> Reader:
    low, high = -(2**bits), 2**bits - 1

    def read(value: Any) -> int:
        if type(value) is not int:
            raise WrongTypeError(f"expected an integer, got {_named(value)}")
        if not low <= value <= high:
            raise WrongTypeError(f"expected an integer from {low} to {high}, got {_named(value)}")
        return value

    return read


def _integer_or_string(value: Any) -> int | str:
    if isinstance(value, str) and not isinstance(value, NumberText):
        return _string(value)
    if type(value) is not int or not -(2**31) <= value < 2**31:
        raise WrongTypeError(f"expected an integer or a string, got {_named(value)}")
    return value


def _quantity(value: Any) -> Any:
    if isinstance(value, bool | dict | list):
        raise WrongTypeError(f"expected a quantity, got {_named(value)}")
    try:
        return parse_quantity(value)
    except QuantityError as problem:
        raise WrongTypeError(f"{_named(value)} is no quantity: {problem}") from None
    except TypeError:
        raise WrongTypeError(f"expected a quantity, got {_named(value)}") from None


def _time(value: Any) -> str:
    text = _string(value)
    if seconds(text) is None:
        raise WrongTypeError(f"expected a time like 2006-01-02T15:04:05Z, got {_named(value)}")
    return text


def _anything(value: Any) -> Any:
    return value


def _named(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str) and not isinstance(value, NumberText):
        return f'the string "{value}"' if len(value) <= 40 else f'the string "{value[:40]}…"'
    return f"the number {value}" if isinstance(value, int | float | NumberText) else f"a {type(value).__name__}"
