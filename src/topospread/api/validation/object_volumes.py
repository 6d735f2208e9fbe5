"""Volumes whose files are written from objects of the API: ConfigMaps, Secrets, fields of the pod, tokens.

Source: validateSecretVolumeSource, validateDownwardAPIVolumeSource, validateProjectedVolumeSource and what they call
in pkg/apis/core/validation/validation.go (Kubernetes 1.37). Trust bundles and certificates are `certificates`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .certificates import check_pod_certificate, check_taken, check_trust_bundle, check_user
from .environment import VOLUME_FIELDS, check_field_reference, check_resource_reference
from .field import FieldError, forbidden, invalid, required
from .paths import check_not_reserved
from .rules import check_fields

Json = dict[str, Any]

_PROJECTIONS: Final = (
    "secret",
    "configMap",
    "downwardAPI",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
)


def check_keys(path: str, source: Json) -> Iterator[FieldError]:
    """A volume of a ConfigMap or a Secret, but for its name."""
    for index, item in enumerate(source.get("items", ())):
        yield from _check_key_to_path(f"{path}.items[{index}]", item)


def _check_key_to_path(path: str, item: Json) -> Iterator[FieldError]:
    yield from check_fields(path, "KeyToPath", item)
    yield from check_not_reserved(f"{path}.path", item.get("path", ""))


def check_downward_api(path: str, source: Json) -> Iterator[FieldError]:
    """A volume of the pod's own fields."""
    for item in source.get("items", ()):
        # The API server names the source, not its item.
        yield from _check_downward_file(path, item)


def _check_downward_file(path: str, item: Json) -> Iterator[FieldError]:
    yield from check_fields(path, "DownwardAPIVolumeFile", item)
    yield from check_not_reserved(f"{path}.path", item.get("path", ""))
    if "fieldRef" in item:
        yield from check_field_reference(f"{path}.fieldRef", item["fieldRef"], VOLUME_FIELDS)
        if "resourceFieldRef" in item:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield invalid(path, "resource", detail)
    elif "resourceFieldRef" in item:
        yield from check_resource_reference(f"{path}.resourceFieldRef", item["resourceFieldRef"], in_volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")


def check_projected(path: str, source: Json) -> Iterator[FieldError]:
    """A volume of several sources, which may not write one file twice."""
    taken: set[str] = set()
    for index, each in enumerate(source.get("sources", ())):
        yield from _check_projection(path, f"{path}.sources[{index}]", each, taken)


def _check_projection(path: str, inner: str, source: Json, taken: set[str]) -> Iterator[FieldError]:
    given = [kind for kind in _PROJECTIONS if kind in source]
    for kind in ("secret", "configMap"):
        if kind in source:
            name = source[kind].get("name", "")
            if not name:
                yield required(f"{inner}.{kind}.name")
            for position, item in enumerate(source[kind].get("items", ())):
                yield from _check_key_to_path(f"{inner}.{kind}.items[{position}]", item)
                if item.get("path"):
                    yield from check_taken(path, item["path"], name, taken)
    for item in source.get("downwardAPI", {}).get("items", ()):
        yield from _check_downward_file(f"{inner}.downwardAPI", item)
        if item.get("path"):
            yield from check_taken(path, item["path"], item["path"], taken)
    if "serviceAccountToken" in source:
        yield from _check_token(path, f"{inner}.serviceAccountToken", source["serviceAccountToken"])
    if "clusterTrustBundle" in source:
        yield from check_trust_bundle(path, f"{inner}.clusterTrustBundle", source["clusterTrustBundle"], taken)
    if "podCertificate" in source:
        yield from check_pod_certificate(path, f"{inner}.podCertificate", source["podCertificate"], taken)
    if len(given) > 1:
        yield forbidden(inner, "may not specify more than 1 volume type per source")


def _check_token(path: str, inner: str, token: Json) -> Iterator[FieldError]:
    seconds, target = token.get("expirationSeconds", 3600), token.get("path", "")
    if seconds < 600:
        yield invalid(f"{inner}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > 2**32:
        yield invalid(f"{inner}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    # The API server names the volume's path here, not the source's.
    if not target:
        yield required(f"{path}.path")
    else:
        yield from check_not_reserved(f"{path}.path", target)
    yield from check_user(f"{inner}.user", token)
