"""Claims on storage as the API server checks them where a pod or a StatefulSet makes them.

Source: ValidatePersistentVolumeClaimTemplate and ValidatePersistentVolumeClaimSpec in
pkg/apis/core/validation/validation.go (Kubernetes 1.37).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .field import FieldError, forbidden, invalid, one_of, required
from .labels import check_annotations, check_labels
from .rules import check_fields
from .selectors import check_label_selector

Json = dict[str, Any]

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def check_claim_template(path: str, template: Json) -> Iterator[FieldError]:
    """The template of an ephemeral volume's claim: of its metadata only labels and annotations may be given."""
    metadata = template.get("metadata", {})
    yield from check_annotations(f"{path}.metadata.annotations", metadata.get("annotations", {}))
    yield from check_labels(f"{path}.metadata.labels", metadata.get("labels", {}))
    for field, value in metadata.items():
        if field not in ("labels", "annotations") and value not in ("", 0):
            shown = {"uid": "uID"}.get(field, field)
            yield forbidden(f"{path}.metadata.{shown}", "cannot be set")
    yield from check_claim_spec(f"{path}.spec", template.get("spec", {}))


def check_claim_spec(path: str, spec: Json) -> Iterator[FieldError]:
    """``spec`` of a PersistentVolumeClaim."""
    modes = spec.get("accessModes", ())
    yield from check_fields(path, "PersistentVolumeClaimSpec", spec)
    yield from check_label_selector(f"{path}.selector", spec.get("selector"))
    for mode in modes:
        yield from one_of(f"{path}.accessModes", mode, _ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(mode in _ACCESS_MODES[:3] for mode in modes):
        yield forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")
    storage = spec.get("resources", {}).get("requests", {}).get("storage")
    if storage is None:
        yield required(f"{path}.resources[storage]")
    elif storage.sign <= 0:
        yield invalid(f"{path}.resources[storage]", str(storage), "must be greater than zero")
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, each in (("dataSource", source), ("dataSourceRef", reference)):
        if each is not None:
            yield from _check_source(f"{path}.{field}", each)
    if source is None or reference is None:
        return
    # The API server prints the path where the value would be.
    if reference.get("namespace"):
        yield invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif any(source.get(field) != reference.get(field) for field in ("apiGroup", "kind", "name")):
        yield invalid(path, {}, "must match dataSourceRef")


def _check_source(path: str, source: Json) -> Iterator[FieldError]:
    group, kind = source.get("apiGroup", ""), source.get("kind", "")
    yield from check_fields(path, "TypedObjectReference", source)
    if not group and kind != "PersistentVolumeClaim":
        yield invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
