"""The differences between gates and versions in dynamic resource allocation."""

from __future__ import annotations

from dataclasses import dataclass

from topospread.config.version_rules import gated, minor_version


@dataclass(frozen=True, slots=True)
class DynamicResourcesRules:
    """The features of the allocator, and of the plugins that leave resources to it.

    Source: plugins/dynamicresources/dynamicresources.go (``AllocatorFeatures``), k8s.io/dynamic-resource-allocation
    structured/internal/types.go (``Features``).

    Attributes:
        assumes_unjudged: whether to assume that a node passes if the search for its devices cannot be finished.
    """

    minor: int = minor_version()
    extended_resources: bool = gated("DRAExtendedResource")
    admin_access: bool = gated("DRAAdminAccess")
    prioritized_list: bool = gated("DRAPrioritizedList")
    partitionable_devices: bool = gated("DRAPartitionableDevices")
    device_taints: bool = gated("DRADeviceTaints")
    taint_rules: bool = gated("DRADeviceTaintRules")
    binding_conditions: bool = gated("DRADeviceBindingConditions")
    device_status: bool = gated("DRAResourceClaimDeviceStatus")
    consumable_capacity: bool = gated("DRAConsumableCapacity")
    fractional_range: bool = gated("DRAFractionalCapacityRange")
    list_attributes: bool = gated("DRAListTypeAttributes")
    optional_node_operations: bool = gated("DRAOptionalNodeOperations")
    derived_attributes: bool = gated("DRADerivedAttributes")
    compatibility_groups: bool = gated("DRADeviceCompatibilityGroups")
    node_allocatable: bool = gated("DRANodeAllocatableResources")
    workload_claims: bool = gated("DRAWorkloadResourceClaims")
    assumes_unjudged: bool = False

    @property
    def binds_by_conditions(self) -> bool:
        """True if devices with binding conditions may be allocated."""
        return self.binding_conditions and self.device_status
