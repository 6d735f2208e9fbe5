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
    NodeLabelArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
    ResourceWeight,
    ScoringStrategy,
    ServiceAffinityArgs,
    ShapePoint,
    VolumeBindingArgs,
)
from topospread.config.document import PluginConfig
from topospread.config.durations import parse_duration

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


def _resources(args: Args) -> tuple[ResourceWeight, ...]:
    return tuple(ResourceWeight(one.get("name", ""), one.get("weight", 0)) for one in args["resources"])


def _shape(points: Iterable[Args]) -> tuple[ShapePoint, ...]:
    return tuple(ShapePoint(one.get("utilization", 0), one.get("score", 0)) for one in points)


def _fit(args: Args) -> NodeResourcesFitArgs:
    ignored = tuple(args.get("ignoredResources", ())), tuple(args.get("ignoredResourceGroups", ()))
    strategy = args.get("scoringStrategy")
    if strategy is None:
        return NodeResourcesFitArgs(*ignored)
    ratio = strategy.get("requestedToCapacityRatio", {})
    return NodeResourcesFitArgs(
        *ignored, ScoringStrategy(strategy["type"], _resources(strategy), _shape(ratio.get("shape", ())))
    )


def _nanoseconds(text: str | None) -> int | None:
    return None if text is None else parse_duration(text)


_TYPED: Mapping[str, tuple[str, Callable[[Args], Any]]] = {
    "PodTopologySpread": ("pod_topology_spread", _spread),
    "NodeAffinity": ("node_affinity", lambda args: NodeAffinityArgs(args.get("addedAffinity"))),
    "NodeResourcesFit": ("node_resources_fit", _fit),
    "NodeResourcesBalancedAllocation": (
        "node_resources_balanced_allocation",
        lambda args: NodeResourcesBalancedAllocationArgs(_resources(args)),
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
        lambda args: VolumeBindingArgs(args["bindTimeoutSeconds"], _shape(args.get("shape", ()))),
    ),
    "DynamicResources": (
        "dynamic_resources",
        lambda args: DynamicResourcesArgs(
            _nanoseconds(args.get("filterTimeout")), _nanoseconds(args.get("bindingTimeout"))
        ),
    ),
    "NodeResourcesLeastAllocated": (
        "node_resources_least_allocated",
        lambda args: ScoringStrategy("LeastAllocated", _resources(args)),
    ),
    "NodeResourcesMostAllocated": (
        "node_resources_most_allocated",
        lambda args: ScoringStrategy("MostAllocated", _resources(args)),
    ),
    "RequestedToCapacityRatio": (
        "requested_to_capacity_ratio",
        lambda args: ScoringStrategy("RequestedToCapacityRatio", _resources(args), _shape(args.get("shape", ()))),
    ),
    "NodeLabel": (
        "node_label",
        lambda args: NodeLabelArgs(
            *(
                tuple(args.get(key, ()))
                for key in ("presentLabels", "absentLabels", "presentLabelsPreference", "absentLabelsPreference")
            )
        ),
    ),
    "ServiceAffinity": (
        "service_affinity",
        lambda args: ServiceAffinityArgs(
            tuple(args.get("affinityLabels", ())), tuple(args.get("antiAffinityLabelsPreference", ()))
        ),
    ),
}
