"""Plugins' arguments from plain data, already decoded, defaulted and validated, to the types the plugins take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from topospread.config.args import (
    DefaultConstraint,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
    ScoringStrategy,
    VolumeBindingArgs,
)
from topospread.config.document import PluginConfig
from topospread.config.durations import parse_duration
from topospread.config.resource_weights import shape_points, typed_weights
from topospread.config.until import removed_plugins

Args = Mapping[str, Any]


def typed_args(plugin_config: Iterable[PluginConfig]) -> PluginArgs:
    """All arguments; a plugin that is not listed has its defaults, as nothing will ask for them."""
    typed: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for one in plugin_config:
        known = _TYPED.get(one.name)
        if known is None or not one.in_tree:
            unknown[one.name] = one.args
        else:
            attribute, convert = known
            typed[attribute] = convert(one.args or {})
    return PluginArgs(**typed, unknown=unknown)


def _spread(args: Args) -> PodTopologySpreadArgs:
    return PodTopologySpreadArgs(
        tuple(_constraint(one) for one in args.get("defaultConstraints", ())), args["defaultingType"]
    )


def _constraint(one: Args) -> DefaultConstraint:
    return DefaultConstraint(
        one.get("maxSkew", 0),
        one.get("topologyKey", ""),
        one.get("whenUnsatisfiable", ""),
        one.get("minDomains"),
        one.get("nodeAffinityPolicy"),
        one.get("nodeTaintsPolicy"),
        tuple(one.get("matchLabelKeys", ())),
    )


def _fit(args: Args) -> NodeResourcesFitArgs:
    ignored = tuple(args.get("ignoredResources", ())), tuple(args.get("ignoredResourceGroups", ()))
    strategy = args.get("scoringStrategy")
    if strategy is None:
        return NodeResourcesFitArgs(*ignored)
    ratio = strategy.get("requestedToCapacityRatio", {})
    return NodeResourcesFitArgs(
        *ignored, ScoringStrategy(strategy["type"], typed_weights(strategy), shape_points(ratio.get("shape", ())))
    )


def _nanoseconds(text: str | None) -> int | None:
    return None if text is None else parse_duration(text)


_TYPED: Mapping[str, tuple[str, Callable[[Args], Any]]] = {
    "PodTopologySpread": ("pod_topology_spread", _spread),
    "NodeAffinity": ("node_affinity", lambda args: NodeAffinityArgs(args.get("addedAffinity"))),
    "NodeResourcesFit": ("node_resources_fit", _fit),
    "NodeResourcesBalancedAllocation": (
        "node_resources_balanced_allocation",
        lambda args: NodeResourcesBalancedAllocationArgs(typed_weights(args)),
    ),
    "InterPodAffinity": (
        "inter_pod_affinity",
        lambda args: InterPodAffinityArgs(
            args["hardPodAffinityWeight"], args.get("ignorePreferredTermsOfExistingPods", False)
        ),
    ),
    "DefaultPreemption": (
        "default_preemption",
        lambda args: DefaultPreemptionArgs(args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]),
    ),
    "VolumeBinding": (
        "volume_binding",
        lambda args: VolumeBindingArgs(args["bindTimeoutSeconds"], shape_points(args.get("shape", ()))),
    ),
    "DynamicResources": (
        "dynamic_resources",
        lambda args: DynamicResourcesArgs(
            _nanoseconds(args.get("filterTimeout")), _nanoseconds(args.get("bindingTimeout"))
        ),
    ),
    **removed_plugins.TYPED,
}
