"""Validation of containers' environment variables and their sources.

Source: ValidateEnv, ValidateEnvFrom and what they call in pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from topospread.api.quantity import ZERO, Quantity

from . import names
from .field import FieldError, all_invalid, invalid, not_supported, required
from .names import check_no_backsteps
from .rules import check_fields

Json = dict[str, Any]

ENVIRONMENT_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
"""Fields of the pod from which an environment variable can be set."""

VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
"""Fields of the pod from which a file of a downwardAPI volume can be written."""

_KNOWN_LABELS: Final = frozenset(
    (*ENVIRONMENT_FIELDS, *VOLUME_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase")
)
_DIVIDED: Final = {
    f"{side}.{name}": words
    for side in ("limits", "requests")
    for name, words in (("cpu", "cpu"), ("memory", "memory"), ("ephemeral-storage", "local ephemeral storage"))
}
_RESOURCES: Final = tuple(sorted(_DIVIDED))
_HUGE_PAGES: Final = ("limits.hugepages-", "requests.hugepages-")
_DIVISORS: Final = ("1", *(f"1{unit}" for unit in ("k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")))
_SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def check_environment(path: str, variables: Sequence[Json]) -> Iterator[FieldError]:
    """Check ``env`` of a container."""
    for index, variable in enumerate(variables):
        inner = f"{path}[{index}]"
        yield from check_fields(inner, "EnvVar", variable)
        if "valueFrom" in variable:
            yield from _check_value_from(f"{inner}.valueFrom", variable["valueFrom"], variable.get("value", ""))


def _check_value_from(path: str, source: Json, value: str) -> Iterator[FieldError]:
    checks: dict[str, Callable[[str, Json], Iterator[FieldError]]] = {
        "fieldRef": lambda inner, reference: check_field_reference(inner, reference, ENVIRONMENT_FIELDS),
        "resourceFieldRef": lambda inner, reference: check_resource_reference(inner, reference, in_volume=False),
        "configMapKeyRef": _check_key_reference,
        "secretKeyRef": _check_key_reference,
        "fileKeyRef": _check_file_reference,
    }
    given = [name for name in _SOURCES if name in source]
    for name in given:
        yield from checks[name](f"{path}.{name}", source[name])
    if not given:
        known = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        yield invalid(path, "", f"must specify one of: {known}")
    elif value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def check_field_reference(path: str, reference: Json, known: Sequence[str]) -> Iterator[FieldError]:
    """Check a reference to a field of the pod, possibly with a key in brackets (validateObjectFieldSelector)."""
    version, field = reference.get("apiVersion", ""), reference.get("fieldPath", "")
    if not version:
        yield required(f"{path}.apiVersion")
        return
    if not field:
        yield required(f"{path}.fieldPath")
        return
    name, key = _subscripted(field)
    problem = _conversion_problem(version, field, name, key)
    if problem:
        yield invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {problem}")
        return
    if field == "spec.host":
        name = "spec.nodeName"
    if key is not None:
        subject = key.lower() if name == "metadata.annotations" else key
        yield from all_invalid(path, subject, names.label_key(subject))
    elif name not in known:
        yield not_supported(f"{path}.fieldPath", name, known)


def _subscripted(field: str) -> tuple[str, str | None]:
    """Split ``metadata.labels['app']`` into path and key; the key is None without brackets."""
    name, bracket, rest = field.partition("['")
    if bracket and name and rest.endswith("']"):
        return name, rest.removesuffix("']")
    return field, None


def _conversion_problem(version: str, field: str, name: str, key: str | None) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    if key is not None:
        supported = name in ("metadata.annotations", "metadata.labels")
        return "" if supported else f"field label does not support subscript: {field}"
    known = field in _KNOWN_LABELS or field == "spec.host"
    return "" if known else f"field label not supported: {field}"


def check_resource_reference(path: str, reference: Json, *, in_volume: bool) -> Iterator[FieldError]:
    """Check a reference to a container's request or limit (validateContainerResourceFieldSelector)."""
    resource = reference.get("resource", "")
    if in_volume and not reference.get("containerName"):
        yield required(f"{path}.containerName")
    elif not resource:
        yield required(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        yield not_supported(f"{path}.resource", resource, _RESOURCES)
    divisor: Quantity = reference.get("divisor", ZERO)
    if divisor.sign:
        yield from _check_divisor(f"{path}.divisor", resource, str(divisor))


def _check_divisor(path: str, resource: str, divisor: str) -> Iterator[FieldError]:
    kind = "hugepages" if resource.startswith(_HUGE_PAGES) else _DIVIDED.get(resource)
    known = ("1m", "1") if kind == "cpu" else _DIVISORS
    if kind is not None and divisor not in known:
        values = "1m and 1" if kind == "cpu" else ", ".join(_DIVISORS)
        yield invalid(path, resource, f"only divisor's values {values} are supported with the {kind} resource")


def _check_key_reference(path: str, reference: Json) -> Iterator[FieldError]:
    name = reference.get("name", "")
    yield from all_invalid(f"{path}.name", name, names.subdomain(name))
    yield from check_fields(path, "ConfigMapKeySelector", reference)  # a SecretKeySelector has the same fields


def _check_file_reference(path: str, reference: Json) -> Iterator[FieldError]:
    yield from check_fields(path, "FileKeySelector", reference)
    if reference.get("path"):
        yield from check_no_backsteps(f"{path}.path", reference["path"])


def check_environment_sources(path: str, sources: Sequence[Json]) -> Iterator[FieldError]:
    """Check ``envFrom`` of a container."""
    for index, source in enumerate(sources):
        inner = f"{path}[{index}]"
        yield from check_fields(inner, "EnvFromSource", source)
        given = [name for name in ("configMapRef", "secretRef") if name in source]
        for kind in given:
            name = source[kind].get("name", "")
            if not name:
                yield required(f"{inner}.{kind}.name")
            else:
                reasons = names.subdomain(names.name_prefix(name))
                yield from all_invalid(f"{inner}.{kind}.name", name, reasons)
        # In this error, the API server has the list's path instead of the item's.
        if not given:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            yield invalid(path, "", "may not have more than one field specified at a time")
