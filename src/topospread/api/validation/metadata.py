"""Object metadata as the API server checks it when an object is created.

Sources: k8s.io/apimachinery/pkg/api/validation/objectmeta.go, and ValidateObjectMeta in
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from . import names
from .field import FieldError, all_invalid, invalid, required, too_long
from .labels import check_annotations, check_labels
from .rules import check_fields

Json = dict[str, Any]

_STANDARD_FINALIZERS: Final = ("kubernetes", "orphan", "foregroundDeletion")
_OWNER_FIELDS: Final = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")


def check_metadata(
    metadata: Json, check_name: Callable[[str], names.Reasons], *, prefix_too: bool = True
) -> Iterator[FieldError]:
    """Metadata of a namespaced object; ``prefix_too``: generateName must make a name that ``check_name`` allows."""
    prefix = metadata.get("generateName", "")
    if prefix and prefix_too:
        yield from all_invalid("metadata.generateName", prefix, check_name(names.name_prefix(prefix)))
    name = metadata.get("name", "")
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from all_invalid("metadata.name", name, check_name(name))
    namespace = metadata.get("namespace", "")
    if not namespace:
        yield required("metadata.namespace")
    else:
        yield from all_invalid("metadata.namespace", namespace, names.dns_label(namespace))
    yield from check_fields("metadata", "ObjectMeta", metadata)
    yield from check_labels("metadata.labels", metadata.get("labels", {}))
    yield from check_annotations("metadata.annotations", metadata.get("annotations", {}))
    yield from _check_owners("metadata.ownerReferences", metadata.get("ownerReferences", ()))
    yield from _check_finalizers("metadata.finalizers", metadata.get("finalizers", ()))
    yield from _check_managed_fields("metadata.managedFields", metadata.get("managedFields", ()))


def _check_owners(path: str, owners: Sequence[Json]) -> Iterator[FieldError]:
    first_controller = ""
    for index, owner in enumerate(owners):
        yield from _check_owner(f"{path}[{index}]", owner)
        if owner.get("controller"):
            controller = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if first_controller:
                detail = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{first_controller} and {controller}"
                )
                yield invalid(path, [_owner_as_printed(each) for each in owners], detail)
            first_controller = first_controller or controller


def _check_owner(path: str, owner: Json) -> Iterator[FieldError]:
    version = owner.get("apiVersion", "")
    if not version:
        yield required(f"{path}.apiVersion", "must not be empty")
    elif version.count("/") > 1 or version.endswith("/"):
        yield invalid(f"{path}.apiVersion", version, "must be <group>/<version> or <version>")
    yield from check_fields(path, "OwnerReference", owner)
    if version in ("v1", "/v1") and owner.get("kind") == "Event":
        yield invalid(path, _owner_as_printed(owner), "/v1, Kind=Event is disallowed from being an owner")


def _owner_as_printed(owner: Json) -> Json:
    shown = {field: owner.get(field, "") for field in _OWNER_FIELDS[:4]}
    return shown | {field: owner[field] for field in _OWNER_FIELDS[4:] if field in owner}


def _check_finalizers(path: str, finalizers: Sequence[str]) -> Iterator[FieldError]:
    for index, finalizer in enumerate(finalizers):
        yield from all_invalid(path, finalizer, names.label_key(finalizer))
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"{path}[{index}]", finalizer, detail)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        yield invalid(path, list(finalizers), "finalizer orphan and foregroundDeletion cannot be both set")


def _check_managed_fields(path: str, entries: Sequence[Json]) -> Iterator[FieldError]:
    for index, entry in enumerate(entries):
        inner = f"{path}[{index}]"
        yield from check_fields(inner, "ManagedFieldsEntry", entry)
        if entry.get("fieldsType", "FieldsV1") not in ("", "FieldsV1"):
            yield invalid(f"{inner}.fieldsType", entry["fieldsType"], "must be `FieldsV1`")
        yield from _check_manager(f"{inner}.manager", entry.get("manager", ""))
        if len(entry.get("subresource", "").encode()) > 256:
            yield too_long(f"{inner}.subresource", 256)


def _check_manager(path: str, manager: str) -> Iterator[FieldError]:
    if len(manager.encode()) > 128:
        yield too_long(path, 128)
    position = 0
    for character in manager:
        if not character.isprintable():
            yield invalid(path, manager, f"invalid character U+{ord(character):04X} (at position {position})")
        position += len(character.encode())
