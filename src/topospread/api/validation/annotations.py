"""Annotations that mean something to a pod, as the API server checks them.

Source: ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields and
validateAppArmorAnnotationsAndFieldsMatchOnCreate in pkg/apis/core/validation/validation.go (Kubernetes 1.37).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .field import FieldError, forbidden, invalid, printed
from .options import Options
from .paths import check_descending
from .schema import WrongTypeError, decoded
from .tolerations import check_tolerations

Json = dict[str, Any]

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
    """The annotations of a pod or template; ``path`` is theirs."""
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
    if all(each.get("name", "") != container for _, each in _containers("", spec)):
        yield invalid(path, container, "container not found")
    if profile not in ("", "runtime/default", "unconfined") and not profile.startswith("localhost/"):
        yield invalid(path, profile, f"invalid AppArmor profile name: {printed(profile)}")


def _containers(path: str, spec: Json) -> Iterator[tuple[str, Json]]:
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind, ())):
            yield f"{path}.{kind}[{index}].securityContext", container


def check_profiles_match(path: str, annotations: Mapping[str, str], spec: Json) -> Iterator[FieldError]:
    """Seccomp and AppArmor profiles given as annotation and as field must agree; ``path`` is the spec's."""
    if not annotations:
        return
    of_pod = spec.get("securityContext", {})
    if _SECCOMP_POD in annotations:
        inner = f"{path}.securityContext.seccompProfile"
        yield from _check_match(inner, "seccomp", annotations[_SECCOMP_POD], of_pod.get("seccompProfile"))
    for inner, container in _containers(path, spec):
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
