"""DeviceClasses as far as an extended resource may stand for one; how devices are allocated is not modelled."""

from __future__ import annotations

import msgspec

from .meta import KubeObject, KubeStruct

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Before the name of a DeviceClass: a resource that stands for any class, whatever it is called."""


class DeviceClassSpec(KubeStruct):
    """What pods may ask for instead of claiming a device of the class."""

    extended_resource_name: str | None = None


class DeviceClass(KubeObject):
    """``resource.k8s.io/v1`` DeviceClass."""

    spec: DeviceClassSpec = msgspec.field(default_factory=DeviceClassSpec)
