"""All plugins: name → function that creates the plugin from a profile's arguments and a version's gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import msgspec

from topospread.config.args import PluginArgs
from topospread.config.gates import Gates
from topospread.config.version_rules import rules_for

from .affinity_requeueing import AffinityHintRules
from .attached_volumes import NodeVolumeLimitsRules
from .default_selector import default_selector
from .dynamic_resources import DynamicResources, DynamicResourcesRules
from .image_locality import ImageLocality, ImageLocalityRules
from .inter_pod_affinity import InterPodAffinity, InterPodAffinityRules
from .interface import Plugin
from .node_affinity import NodeAffinityPlugin, NodeAffinityRules
from .node_declared_features import NodeDeclaredFeatures
from .node_name import NodeName, NodeNameRules
from .node_ports import NodePorts, NodePortsRules
from .node_resources_balanced_allocation import BalancedAllocationRules, NodeResourcesBalancedAllocation
from .node_resources_fit import NodeResourcesFit, NodeResourcesFitRules
from .node_unschedulable import NodeUnschedulable, NodeUnschedulableRules
from .node_volume_limits import NodeVolumeLimits
from .old_versions.any_owner import selector_of_all
from .old_versions.balance_of_two import BalanceOfTwo, BalanceOfTwoRules
from .old_versions.non_csi_limits import KINDS, NonCsiLimits
from .old_versions.plain_sum import PlainSum
from .old_versions.resource_strategies import StrategyPlugin, StrategyRules
from .old_versions.selector_spread import SelectorSpread
from .old_versions.whole_domains import whole_domains
from .pod_topology_spread import PodTopologySpread, SoftConstraints, SpreadMethods
from .pod_topology_spread_rules import PodTopologySpreadRules
from .spread_counts import taking_part
from .taint_toleration import TaintToleration, TaintTolerationRules
from .volume_binding import VolumeBinding, scores_storage
from .volume_finding import VolumeBindingRules
from .volume_restrictions import VolumeRestrictions, VolumeRestrictionsRules
from .volume_zone import VolumeZone, VolumeZoneRules

Rules = TypeVar("Rules")


class PluginSettings(msgspec.Struct, frozen=True):
    """The input for making a plugin: the profile's arguments, and the gates of the Kubernetes version."""

    args: PluginArgs
    gates: Gates

    def rules(self, kind: type[Rules]) -> Rules:
        """Return a plugin's rules in this Kubernetes version."""
        return rules_for(kind, self.gates)


def _non_csi_limits(name: str) -> Callable[[PluginSettings], Plugin]:
    return lambda settings: NonCsiLimits(name, settings.gates.kube_version.minor)


def _balanced_allocation(settings: PluginSettings) -> Plugin:
    if settings.rules(BalanceOfTwoRules).in_force:
        return BalanceOfTwo()
    args, rules = settings.args.node_resources_balanced_allocation, settings.rules(BalancedAllocationRules)
    return NodeResourcesBalancedAllocation(args, rules)


def _spread_methods(settings: PluginSettings) -> SpreadMethods:
    rules = settings.rules(PodTopologySpreadRules)
    return SpreadMethods(
        hard_counts=whole_domains if rules.counts_whole_domain else taking_part,
        soft_score=SoftConstraints if rules.weighs_domains else PlainSum,
        selector_of=default_selector if rules.selector_by_owner else selector_of_all,
    )


def _selector_spread(name: str) -> Callable[[PluginSettings], Plugin]:
    return lambda settings: SelectorSpread(name, _spread_methods(settings).selector_of)


def _volume_binding(settings: PluginSettings) -> Plugin:
    rules = settings.rules(VolumeBindingRules)
    scored = scores_storage(settings.gates)
    return VolumeBinding(replace(rules, shape=settings.args.volume_binding.shape) if scored else rules)


PLUGINS: Mapping[str, Callable[[PluginSettings], Plugin]] = {
    "NodeName": lambda settings: NodeName(settings.rules(NodeNameRules)),
    "NodeUnschedulable": lambda settings: NodeUnschedulable(settings.rules(NodeUnschedulableRules)),
    "TaintToleration": lambda settings: TaintToleration(settings.rules(TaintTolerationRules)),
    "NodeAffinity": lambda settings: NodeAffinityPlugin(
        settings.args.node_affinity.added_affinity, settings.rules(NodeAffinityRules)
    ),
    "NodePorts": lambda settings: NodePorts(settings.rules(NodePortsRules)),
    "NodeResourcesFit": lambda settings: NodeResourcesFit(
        settings.args.node_resources_fit, settings.rules(NodeResourcesFitRules), settings.rules(DynamicResourcesRules)
    ),
    "NodeResourcesBalancedAllocation": _balanced_allocation,
    "NodeResourcesLeastAllocated": lambda settings: StrategyPlugin(
        "NodeResourcesLeastAllocated", settings.args.node_resources_least_allocated, settings.rules(StrategyRules)
    ),
    "NodeResourcesMostAllocated": lambda settings: StrategyPlugin(
        "NodeResourcesMostAllocated", settings.args.node_resources_most_allocated, settings.rules(StrategyRules)
    ),
    "RequestedToCapacityRatio": lambda settings: StrategyPlugin(
        "RequestedToCapacityRatio", settings.args.requested_to_capacity_ratio, settings.rules(StrategyRules)
    ),
    "ImageLocality": lambda settings: ImageLocality(settings.rules(ImageLocalityRules)),
    "VolumeRestrictions": lambda settings: VolumeRestrictions(settings.rules(VolumeRestrictionsRules)),
    **{name: _non_csi_limits(name) for name in KINDS},
    "NodeVolumeLimits": lambda settings: NodeVolumeLimits(settings.rules(NodeVolumeLimitsRules)),
    "VolumeBinding": _volume_binding,
    "VolumeZone": lambda settings: VolumeZone(current_labels=settings.rules(VolumeZoneRules).current_labels),
    "NodeDeclaredFeatures": lambda settings: NodeDeclaredFeatures(
        settings.gates.kube_version.minor, enabled=settings.gates.enabled("NodeDeclaredFeatures")
    ),
    "DynamicResources": lambda settings: DynamicResources(settings.rules(DynamicResourcesRules)),
    "PodTopologySpread": lambda settings: PodTopologySpread(
        settings.args.pod_topology_spread, settings.rules(PodTopologySpreadRules), _spread_methods(settings)
    ),
    **{name: _selector_spread(name) for name in ("SelectorSpread", "DefaultPodTopologySpread")},
    "InterPodAffinity": lambda settings: InterPodAffinity(
        settings.args.inter_pod_affinity, settings.rules(InterPodAffinityRules), settings.rules(AffinityHintRules)
    ),
}
"""Plugins with a Filter or Score. SchedulingGates and PrioritySort are part of the scheduling queue."""

ASKED_ABOUT_CLAIMS = frozenset(
    {"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "DynamicResources", *KINDS}
)
"""Plugins whose answers depend on a pod's claims."""
ASKED_OF_EACH_CLASS = frozenset(
    {"PodTopologySpread", "InterPodAffinity", "SelectorSpread", "DefaultPodTopologySpread", "DynamicResources"}
)
"""Plugins whose answers depend on the pod's labels, on its relations to other pods, or on device claims."""
