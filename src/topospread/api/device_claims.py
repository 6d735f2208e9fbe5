"""Claims on devices: ResourceClaims and their templates (data only).

Source: k8s.io/api/resource/v1/types.go. Opaque configuration for drivers is not read, because it does not affect
placement.
"""

from __future__ import annotations

import msgspec

from .devices import DeviceSelector
from .meta import Int64, KubeObject, KubeStruct, ObjectMeta, RawQuantity
from .node_selection import NodeSelector

EXACT_COUNT = "ExactCount"
ALL = "All"


class CapacityRequirements(KubeStruct):
    """Capacity name → amount that a share of a device needs."""

    requests: dict[str, RawQuantity] | None = None


class DeviceToleration(KubeStruct):
    """A toleration of device taints; ``operator`` is Equal or Exists."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class DeviceDerivedAttribute(KubeStruct):
    """An additional attribute that devices have for a request; a CEL expression computes its value."""

    name: str = ""
    expression: str = ""


class ExactDeviceRequest(KubeStruct):
    """A request for a number of devices of a class, or for all matching devices."""

    device_class_name: str = ""
    selectors: list[DeviceSelector] | None = None
    allocation_mode: str = EXACT_COUNT
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: list[DeviceToleration] | None = None
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DeviceDerivedAttribute] | None = None

    @property
    def devices(self) -> int:
        """The number of devices in mode ExactCount; 1 by default (pkg/apis/resource/v1/defaults.go)."""
        return self.count or 1


class DeviceSubRequest(ExactDeviceRequest):
    """An alternative within a device request; it has no ``adminAccess``."""

    name: str = ""


class DeviceRequest(KubeStruct):
    """A request of a claim: devices, or the first of several alternatives that can be allocated."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: list[DeviceSubRequest] | None = None


class DeviceConstraint(KubeStruct):
    """An attribute that must be equal, or distinct, for all devices of some requests."""

    requests: list[str] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(KubeStruct):
    """Requests for devices, and constraints across them."""

    requests: list[DeviceRequest] | None = None
    constraints: list[DeviceConstraint] | None = None


class ResourceClaimSpec(KubeStruct):
    """``spec`` of a ResourceClaim."""

    devices: DeviceClaim = msgspec.field(default_factory=DeviceClaim)


class AllocatedDevice(KubeStruct):
    """A device, or a share of one, allocated for a request."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: list[DeviceToleration] | None = None
    binding_conditions: list[str] | None = None
    binding_failure_conditions: list[str] | None = None
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, RawQuantity] | None = None
    skip_node_operations: list[str] | None = None


class DeviceAllocationResult(KubeStruct):
    """All devices of an allocation."""

    results: list[AllocatedDevice] | None = None


class AllocationResult(KubeStruct):
    """Allocated devices, and the nodes that reach them; no selector means all nodes."""

    devices: DeviceAllocationResult = msgspec.field(default_factory=DeviceAllocationResult)
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ClaimConsumer(KubeStruct):
    """A pod or PodGroup for which a claim is reserved."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceCondition(KubeStruct):
    """A condition that a driver reports of an allocated device."""

    type: str = ""
    status: str = ""
    reason: str = ""


class AllocatedDeviceStatus(KubeStruct):
    """A driver's status of an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    conditions: list[DeviceCondition] | None = None


class ResourceClaimStatus(KubeStruct):
    """``status`` of a ResourceClaim."""

    allocation: AllocationResult | None = None
    reserved_for: list[ClaimConsumer] | None = None
    devices: list[AllocatedDeviceStatus] | None = None


class ResourceClaim(KubeObject):
    """``resource.k8s.io/v1`` ResourceClaim."""

    spec: ResourceClaimSpec = msgspec.field(default_factory=ResourceClaimSpec)
    status: ResourceClaimStatus = msgspec.field(default_factory=ResourceClaimStatus)


class ResourceClaimTemplateSpec(KubeStruct):
    """The labels and spec of the claim that is created for each pod."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: ResourceClaimSpec = msgspec.field(default_factory=ResourceClaimSpec)


class ResourceClaimTemplate(KubeObject):
    """``resource.k8s.io/v1`` ResourceClaimTemplate."""

    spec: ResourceClaimTemplateSpec = msgspec.field(default_factory=ResourceClaimTemplateSpec)
