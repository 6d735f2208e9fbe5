"""Devices of dynamic resource allocation: ResourceSlices, DeviceClasses and DeviceTaintRules (data only).

Source: k8s.io/api/resource/v1/types.go. Opaque configuration for drivers is not read, because it does not affect
placement.
"""

from __future__ import annotations

import msgspec

from .meta import Int64, KubeObject, KubeStruct, RawQuantity
from .node_selection import NodeSelector

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Prefix of the implicit extended resource of a DeviceClass; the class's name follows."""
DEVICE_KINDS = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
"""Kinds of the objects that a pod's claims refer to."""


class DeviceTaint(KubeStruct):
    """A taint of a device; ``effect`` is NoSchedule, NoExecute or None."""

    key: str = ""
    value: str = ""
    effect: str = ""


class DeviceAttribute(KubeStruct):
    """One value, or a list of values, of a device's attribute."""

    int_value: Int64 | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")
    int_values: list[Int64] | None = msgspec.field(default=None, name="ints")
    bool_values: list[bool] | None = msgspec.field(default=None, name="bools")
    string_values: list[str] | None = msgspec.field(default=None, name="strings")
    version_values: list[str] | None = msgspec.field(default=None, name="versions")


class CapacityRange(KubeStruct):
    """The amounts of a capacity that a share may consume: from ``min`` in steps up to ``max``."""

    min: RawQuantity | None = None
    max: RawQuantity | None = None
    step: RawQuantity | None = None


class CapacityRequestPolicy(KubeStruct):
    """The default and the allowed amounts of a capacity that a share of a device may consume."""

    default: RawQuantity | None = None
    valid_values: list[RawQuantity] | None = None
    valid_range: CapacityRange | None = None


class DeviceCapacity(KubeStruct):
    """A device's capacity, and the amounts of it that shares of the device may consume."""

    value: RawQuantity = 0
    request_policy: CapacityRequestPolicy | None = None


class Counter(KubeStruct):
    """An amount that several devices of a pool consume together."""

    value: RawQuantity = 0


class CounterSet(KubeStruct):
    """Named counters, such as those of a physical device that is offered as several devices."""

    name: str = ""
    counters: dict[str, Counter] | None = None


class DeviceCounterConsumption(KubeStruct):
    """The amounts that an allocated device consumes of a counter set."""

    counter_set: str = ""
    counters: dict[str, Counter] | None = None
    compatibility_groups: list[str] | None = None


class NodeAllocatableMapping(KubeStruct):
    """The amount of a resource of the node's allocatable that an allocated device uses, from its own amounts."""

    capacity_key: str | None = None
    capacity_multiplier: RawQuantity | None = None
    device_multiplier: RawQuantity | None = None


class NodeAllocatableOverhead(KubeStruct):
    """The additional amount of a resource of the node's allocatable for each pod or container with the device."""

    per_pod: RawQuantity | None = None
    per_container: RawQuantity | None = None


class NodeAllocatableResource(KubeStruct):
    """The amount of a resource of the node's allocatable that an allocated device uses."""

    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class Device(KubeStruct):
    """A device of a ResourceSlice."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] | None = None
    capacity: dict[str, DeviceCapacity] | None = None
    consumes_counters: list[DeviceCounterConsumption] | None = None
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: list[DeviceTaint] | None = None
    binds_to_node: bool | None = None
    binding_conditions: list[str] | None = None
    binding_failure_conditions: list[str] | None = None
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: dict[str, NodeAllocatableResource] | None = None


class ResourcePool(KubeStruct):
    """The pool of a slice, and the number of slices in its generation."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(KubeStruct):
    """A part of a driver's pool: devices or shared counters, and the nodes that reach them."""

    driver: str = ""
    pool: ResourcePool = msgspec.field(default_factory=ResourcePool)
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    devices: list[Device] | None = None
    per_device_node_selection: bool | None = None
    shared_counters: list[CounterSet] | None = None
    skip_node_operations: list[str] | None = None


class ResourceSlice(KubeObject):
    """``resource.k8s.io/v1`` ResourceSlice."""

    spec: ResourceSliceSpec = msgspec.field(default_factory=ResourceSliceSpec)


class CELDeviceSelector(KubeStruct):
    """A CEL expression on a device."""

    expression: str = ""


class DeviceSelector(KubeStruct):
    """A condition on a device."""

    cel: CELDeviceSelector | None = None


class DeviceClassSpec(KubeStruct):
    """The devices of a class, and the extended resource that stands for the class."""

    extended_resource_name: str | None = None
    selectors: list[DeviceSelector] | None = None


class DeviceClass(KubeObject):
    """``resource.k8s.io/v1`` DeviceClass."""

    spec: DeviceClassSpec = msgspec.field(default_factory=DeviceClassSpec)


class DeviceTaintSelector(KubeStruct):
    """A selection of devices by driver, pool and name; unset fields match everything."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(KubeStruct):
    """A taint and the devices that receive it."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = msgspec.field(default_factory=DeviceTaint)


class DeviceTaintRule(KubeObject):
    """``resource.k8s.io/v1`` DeviceTaintRule. Before 1.37, only API versions that are off by default serve it."""

    spec: DeviceTaintRuleSpec = msgspec.field(default_factory=DeviceTaintRuleSpec)
