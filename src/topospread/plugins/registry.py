"""All plugins: name → how a profile's arguments and a version's gates make one. A new plugin is one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from topospread.config.args import PluginArgs
from topospread.config.gates import Gates, gates_for

from .image_locality import ImageLocality
from .interface import Plugin
from .node_affinity import NodeAffinity
from .node_name import NodeName
from .node_ports import NodePorts
from .node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from .node_resources_fit import NodeResourcesFit
from .node_unschedulable import NodeUnschedulable
from .pod_topology_spread import PodTopologySpread
from .taint_toleration import TaintToleration


@dataclass(frozen=True, slots=True)
class Settings:
    """What a plugin is made from: the profile's arguments, and the gates of the Kubernetes version."""

    args: PluginArgs
    gates: Gates


def _taint_toleration(settings: Settings) -> Plugin:
    return TaintToleration(comparison_operators=settings.gates.enabled("TaintTolerationComparisonOperators"))


def _node_unschedulable(settings: Settings) -> Plugin:
    return NodeUnschedulable(comparison_operators=settings.gates.enabled("TaintTolerationComparisonOperators"))


def _pod_topology_spread(settings: Settings) -> Plugin:
    enabled = settings.gates.enabled
    return PodTopologySpread(
        settings.args.pod_topology_spread,
        inclusion_policies=enabled("NodeInclusionPolicyInPodTopologySpread"),
        match_label_keys=enabled("MatchLabelKeysInPodTopologySpread"),
        min_domains=enabled("MinDomainsInPodTopologySpread"),
        comparison_operators=enabled("TaintTolerationComparisonOperators"),
    )


PLUGINS: Mapping[str, Callable[[Settings], Plugin]] = {
    "NodeName": lambda settings: NodeName(),
    "NodeUnschedulable": _node_unschedulable,
    "TaintToleration": _taint_toleration,
    "NodeAffinity": lambda settings: NodeAffinity(settings.args.node_affinity.added_affinity),
    "NodePorts": lambda settings: NodePorts(),
    "NodeResourcesFit": lambda settings: NodeResourcesFit(settings.args.node_resources_fit),
    "NodeResourcesBalancedAllocation": lambda settings: NodeResourcesBalancedAllocation(
        settings.args.node_resources_balanced_allocation
    ),
    "ImageLocality": lambda settings: ImageLocality(),
    "PodTopologySpread": _pod_topology_spread,
}
"""Plugins with a Filter or a Score. SchedulingGates and PrioritySort work on the queue (`workloads`)."""


def default_settings() -> Settings:
    """Default arguments, and the gates of the newest Kubernetes version."""
    return Settings(PluginArgs(), gates_for("1.37"))
