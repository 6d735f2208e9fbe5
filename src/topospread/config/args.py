"""Typed arguments of the in-tree plugins, with defaults; ``load.py`` reads them.

Source: pkg/scheduler/apis/config/types_pluginargs.go (the internal types, with snake-case field names).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import FieldInfo, fields

from topospread.api.shipped_table import in_force, shipped_table
from topospread.config.versions import NEWEST

# ``defaults.json``: the defaults of a configuration's empty fields. `defaulting` applies them.
# `conformance/oracle/cmd/configdefaults` prints it from pkg/scheduler/apis/config/VERSION/defaults.go of every minor
# version, and ``systemDefaultConstraints`` of pkg/scheduler/framework/plugins/podtopologyspread/plugin.go.

IF = " if "
"""Separator between a field's name and its conditions: gates that are on, fields that are set; "!" negates."""


@cache
def printed_defaults() -> dict[str, dict[str, dict[int, dict[str, Any]]]]:
    """Return configuration version → struct → first minor version of Kubernetes → field → default.

    A key ``shape if SomeGate !field`` applies if the gate is on and the field is empty. A key ``resources[].weight``
    applies to every list item.
    """
    return shipped_table(__package__, "defaults.json", dict[str, dict[str, dict[int, dict[str, Any]]]])


class DefaultConstraint(msgspec.Struct, frozen=True, rename="camel"):
    """A default spread constraint. The plugin deduces a selector for each pod.

    ``None`` stands for an unset field, for which the plugin uses its default.
    """

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


SYSTEM_CONSTRAINTS = msgspec.convert(
    in_force(printed_defaults()["v1"]["systemDefaultConstraints"], NEWEST.minor)["defaultConstraints"],
    tuple[DefaultConstraint, ...],
)
"""The constraints of ``defaultingType: System``."""


class PodTopologySpreadArgs(msgspec.Struct, frozen=True, rename="camel"):
    """Default constraints; ``default_constraints`` is empty when ``defaulting_type`` is System."""

    default_constraints: tuple[DefaultConstraint, ...] = ()
    defaulting_type: str = "System"

    @property
    def constraints_in_force(self) -> tuple[DefaultConstraint, ...]:
        """The constraints for pods without their own: ``default_constraints``, or the built-in constraints."""
        return SYSTEM_CONSTRAINTS if self.defaulting_type == "System" else self.default_constraints


class NodeAffinityArgs(msgspec.Struct, frozen=True, rename="camel"):
    """``added_affinity``: a core/v1 NodeAffinity as plain data, applied to every pod in addition to its own."""

    added_affinity: Mapping[str, Any] | None = None


class ResourceWeight(msgspec.Struct, frozen=True, rename="camel"):
    """A scored resource and its weight (1 to 100)."""

    name: str = ""
    weight: int = 0


class ShapePoint(msgspec.Struct, frozen=True, rename="camel"):
    """A point of a scoring function: the score (0 to 10) at a utilization in percent (0 to 100)."""

    utilization: int = 0
    score: int = 0


CPU_AND_MEMORY = (ResourceWeight("cpu", 1), ResourceWeight("memory", 1))


class ScoringStrategy(msgspec.Struct, frozen=True, rename="camel"):
    """The scoring of node resources; ``shape`` is empty unless ``type`` is RequestedToCapacityRatio."""

    type: str = "LeastAllocated"
    resources: tuple[ResourceWeight, ...] = CPU_AND_MEMORY
    shape: tuple[ShapePoint, ...] = ()


class NodeResourcesFitArgs(msgspec.Struct, frozen=True, rename="camel"):
    """``ignored_*``: resources that Filter ignores. ``scoring_strategy``: used by Score only."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy()


class NodeResourcesBalancedAllocationArgs(msgspec.Struct, frozen=True, rename="camel"):
    """Resources whose use is to be balanced; every weight is 1."""

    resources: tuple[ResourceWeight, ...] = CPU_AND_MEMORY


class InterPodAffinityArgs(msgspec.Struct, frozen=True, rename="camel"):
    """``hard_pod_affinity_weight``: weight (0 to 100) of placed pods' required terms that match the incoming pod."""

    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class DefaultPreemptionArgs(msgspec.Struct, frozen=True, rename="camel"):
    """The minimum number of candidate nodes for preemption: the larger of a percentage and a number of nodes."""

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100


class VolumeBindingArgs(msgspec.Struct, frozen=True, rename="camel"):
    """``shape`` is empty if the version does not score storage capacity."""

    bind_timeout_seconds: int = 600
    shape: tuple[ShapePoint, ...] = ()


class DynamicResourcesArgs(msgspec.Struct, frozen=True, rename="camel"):
    """Timeouts in nanoseconds; ``None`` if the version has no such field. They do not affect which node a pod gets."""

    filter_timeout: int | None = None
    binding_timeout: int | None = None


class NodeLabelArgs(msgspec.Struct, frozen=True, rename="camel"):
    """Labels that a node must or must not have, and preferred labels; removed in 1.23."""

    present_labels: tuple[str, ...] = ()
    absent_labels: tuple[str, ...] = ()
    present_labels_preference: tuple[str, ...] = ()
    absent_labels_preference: tuple[str, ...] = ()


class ServiceAffinityArgs(msgspec.Struct, frozen=True, rename="camel"):
    """Node labels whose values must or should be equal for all pods of a Service; removed in 1.23."""

    affinity_labels: tuple[str, ...] = ()
    anti_affinity_labels_preference: tuple[str, ...] = ()


class PluginArgs(msgspec.Struct, frozen=True, rename="pascal"):
    """The arguments of every plugin that has arguments, enabled or not.

    ``node_resources_least_allocated``, ``…most_allocated`` and ``requested_to_capacity_ratio`` are for old scoring
    plugins, which v1beta2 replaced by NodeResourcesFit's scoring strategies. ``unknown``: plugin → arguments, for
    plugins that are not in-tree.
    """

    pod_topology_spread: PodTopologySpreadArgs = PodTopologySpreadArgs()
    node_affinity: NodeAffinityArgs = NodeAffinityArgs()
    node_resources_fit: NodeResourcesFitArgs = NodeResourcesFitArgs()
    node_resources_balanced_allocation: NodeResourcesBalancedAllocationArgs = NodeResourcesBalancedAllocationArgs()
    inter_pod_affinity: InterPodAffinityArgs = InterPodAffinityArgs()
    default_preemption: DefaultPreemptionArgs = DefaultPreemptionArgs()
    volume_binding: VolumeBindingArgs = VolumeBindingArgs()
    dynamic_resources: DynamicResourcesArgs = DynamicResourcesArgs()
    node_resources_least_allocated: ScoringStrategy = ScoringStrategy("LeastAllocated")
    node_resources_most_allocated: ScoringStrategy = ScoringStrategy("MostAllocated")
    requested_to_capacity_ratio: ScoringStrategy = ScoringStrategy("RequestedToCapacityRatio")
    node_label: NodeLabelArgs = NodeLabelArgs()
    service_affinity: ServiceAffinityArgs = ServiceAffinityArgs()
    unknown: Mapping[str, Any] = {}


PLUGINS: Mapping[str, FieldInfo] = {field.encode_name: field for field in fields(PluginArgs) if field.name != "unknown"}
"""Plugin → its field of `PluginArgs`."""
