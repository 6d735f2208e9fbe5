"""Object metadata, and the annotations of pods, as the API server checks them when an object is created.

Sources: k8s.io/apimachinery/pkg/api/validation/objectmeta.go, and ValidateObjectMeta in
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from . import names
from .defaults import containers_of, placed_containers
from .field import FieldError, Options, all_invalid, forbidden, invalid, printed, required, too_long
from .names import check_annotations, check_descending, check_labels
from .rules import check_fields
from .schema import WrongTypeError, decoded
from .selectors import check_tolerations

Json = dict[str, Any]

_STANDARD_FINALIZERS: Final = ("kubernetes", "orphan", "foregroundDeletion")
_OWNER_FIELDS: Final = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")


def check_metadata(
    metadata: Json, check_name: Callable[[str], names.Reasons], *, prefix_too: bool = True
) -> Iterator[FieldError]:
    """Check metadata of a namespaced object. ``prefix_too``: whether to check names from generateName, too."""
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


# Annotations with an effect on pods, as the API server checks them.
# Source: ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields and
# validateAppArmorAnnotationsAndFieldsMatchOnCreate in pkg/apis/core/validation/validation.go (Kubernetes 1.37).

_MIRROR: Final = "kubernetes.io/config.mirror"
_TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_is_cost = re.compile("0|-[0-9]+|[1-9][0-9]*").fullmatch


def check_pod_annotations(
    path: str, annotations: Mapping[str, str], spec: Json, options: Options
) -> Iterator[FieldError]:
    """Check the annotations of a pod or template; ``path`` is the path of the annotations."""
    if _MIRROR in annotations and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{path}[{_MIRROR}]", annotations[_MIRROR], detail)
    if annotations.get(_TOLERATIONS):
        yield from _check_tolerations(path, annotations[_TOLERATIONS], options)
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not (len(cost) < 100 and _is_cost(cost) and -(2**31) <= int(cost) < 2**31):
        yield invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer")
    for key, value in annotations.items():
        if key == _SECCOMP_POD or key.startswith(_SECCOMP_CONTAINER):
            yield from _check_seccomp(f"{path}.{key}", value)
        elif key.startswith(_APP_ARMOR):
            yield from _check_app_armor(f"{path}[{key}]", key.removeprefix(_APP_ARMOR), value, spec)


def _check_tolerations(path: str, text: str, options: Options) -> Iterator[FieldError]:
    try:
        tolerations = [decoded(each or {}, "Toleration") for each in json.loads(text) or ()]
    except (ValueError, TypeError, WrongTypeError) as problem:
        yield invalid(path, _TOLERATIONS, str(problem))
        return
    yield from check_tolerations(f"{path}.{_TOLERATIONS}", tolerations, options)


def _check_seccomp(path: str, profile: str) -> Iterator[FieldError]:
    if profile.startswith("localhost/"):
        yield from check_descending(path, profile.removeprefix("localhost/"))
    elif profile not in ("runtime/default", "docker/default", "unconfined"):
        yield invalid(path, profile, "must be a valid seccomp profile")


def _check_app_armor(path: str, container: str, profile: str, spec: Json) -> Iterator[FieldError]:
    if all(each.get("name", "") != container for each in containers_of(spec)):
        yield invalid(path, container, "container not found")
    if profile not in ("", "runtime/default", "unconfined") and not profile.startswith("localhost/"):
        yield invalid(path, profile, f"invalid AppArmor profile name: {printed(profile)}")


def check_profiles_match(path: str, annotations: Mapping[str, str], spec: Json) -> Iterator[FieldError]:
    """Check that seccomp and AppArmor annotations agree with the fields; ``path`` is the spec's."""
    if not annotations:
        return
    of_pod = spec.get("securityContext", {})
    if _SECCOMP_POD in annotations:
        inner = f"{path}.securityContext.seccompProfile"
        yield from _check_match(inner, "seccomp", annotations[_SECCOMP_POD], of_pod.get("seccompProfile"))
    for where, container in placed_containers(path, spec):
        inner = f"{where}.securityContext"
        name, context = container.get("name", ""), container.get("securityContext", {})
        seccomp = annotations.get(f"{_SECCOMP_CONTAINER}{name}")
        if seccomp is not None:
            yield from _check_match(f"{inner}.seccompProfile", "seccomp", seccomp, context.get("seccompProfile"))
        app_armor = annotations.get(f"{_APP_ARMOR}{name}")
        if app_armor is not None and spec.get("os", {}).get("name") != "windows":
            profile = context.get("appArmorProfile", of_pod.get("appArmorProfile"))
            yield from _check_match(f"{inner}.appArmorProfile", "apparmor", app_armor, profile)


def _check_match(path: str, kind: str, annotation: str, profile: Json | None) -> Iterator[FieldError]:
    if profile is None:
        return
    defaults = ("runtime/default", "docker/default") if kind == "seccomp" else ("runtime/default",)
    expected = {"Unconfined": ("unconfined",), "RuntimeDefault": defaults}
    type_differs = forbidden(f"{path}.type", f"{kind} type in annotation and field must match")
    profile_type = profile.get("type", "")
    if profile_type == "Localhost":
        if not annotation.startswith("localhost/"):
            yield type_differs
        elif annotation.removeprefix("localhost/") != profile.get("localhostProfile"):
            yield forbidden(f"{path}.localhostProfile", f"{kind} profile in annotation and field must match")
    elif profile_type in expected and annotation not in expected[profile_type]:
        yield type_differs
