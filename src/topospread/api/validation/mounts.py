"""The API server's validation of volume mounts and devices of containers.

Source: ValidateVolumeMounts, ValidateVolumeDevices and what they call in pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .field import FieldError, forbidden, invalid, not_found, required
from .paths import check_descending, check_no_backsteps
from .rules import check_fields

Json = dict[str, Any]


def check_mounts(path: str, container: Json, volumes: Mapping[str, Json]) -> Iterator[FieldError]:
    """``volumeMounts``; ``volumes`` are the pod's volumes that are valid, by name."""
    devices = {each.get("name", ""): each.get("devicePath", "") for each in container.get("volumeDevices", ())}
    mounted: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts", ())):
        inner = f"{path}[{index}]"
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{inner}.name")
        if name not in volumes:
            yield not_found(f"{inner}.name", name)
        if not target:
            yield required(f"{inner}.mountPath")
        if target in mounted:
            yield invalid(f"{inner}.mountPath", target, "must be unique")
        mounted.add(target)
        if name in devices:
            yield invalid(f"{inner}.name", name, "must not already exist in volumeDevices")
        if target in devices.values():
            yield invalid(f"{inner}.mountPath", target, "must not already exist as a path in volumeDevices")
        # The API server leaves out the mount's index for what is wrong with a path, its mode or its propagation.
        sub_path, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
        if sub_path:
            yield from check_descending(f"{path}.subPath", sub_path)
        if expression:
            if sub_path:
                yield invalid(f"{inner}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive")
            yield from check_descending(f"{path}.subPathExpr", expression)
        yield from _check_options(path, mount, privileged=_is_privileged(container))


def _is_privileged(container: Json) -> bool:
    return bool(container.get("securityContext", {}).get("privileged"))


def _check_options(path: str, mount: Json, *, privileged: bool) -> Iterator[FieldError]:
    propagation, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    yield from check_fields(path, "VolumeMount", mount)
    if propagation == "Bidirectional" and not privileged:
        detail = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden(f"{path}.mountPropagation", detail)
    field = f"{path}.recursiveReadOnly"
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            yield forbidden(field, "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            yield forbidden(field, "may only be specified when mountPropagation is None or not specified")


def check_devices(path: str, container: Json, volumes: Mapping[str, Json]) -> Iterator[FieldError]:
    """``volumeDevices``; ``volumes`` as for mounts."""
    mounts = {each.get("name", ""): each.get("mountPath", "") for each in container.get("volumeMounts", ())}
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices", ())):
        inner = f"{path}[{index}]"
        name, target = device.get("name", ""), device.get("devicePath", "")
        yield from _check_device(inner, device, volumes)
        if name in names:
            yield invalid(f"{inner}.name", name, "must be unique")
        if target in paths:
            yield invalid(f"{inner}.devicePath", target, "must be unique")
        if target and any(check_no_backsteps(inner, target)):
            yield invalid(f"{inner}.devicePath", target, "can not contain backsteps ('..')")
        else:
            paths.add(target)
        if name in mounts:
            yield invalid(f"{inner}.name", name, "must not already exist in volumeMounts")
        if target in mounts.values():
            yield invalid(f"{inner}.devicePath", target, "must not already exist as a path in volumeMounts")
        if name:
            names.add(name)


def _check_device(path: str, device: Json, volumes: Mapping[str, Json]) -> Iterator[FieldError]:
    name, volume = device.get("name", ""), volumes.get(device.get("name", ""))
    if not name:
        yield required(f"{path}.name")
    if volume is None:
        yield not_found(f"{path}.name", name)
    elif "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
        detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        yield invalid(f"{path}.name", name, detail)
    if not device.get("devicePath"):
        yield required(f"{path}.devicePath")
