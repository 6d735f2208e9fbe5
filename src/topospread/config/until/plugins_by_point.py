"""What feature gates made of the default plugins while those were listed by extension point, and do no longer.

Source: ``applyFeatureGates`` in pkg/scheduler/apis/config/VERSION/default_plugins.go of 1.19 to 1.29, and
pkg/scheduler/algorithmprovider/registry.go of 1.18.
"""

from __future__ import annotations

from collections.abc import Mapping

from topospread.config.gates import Gates


def gated_until_1_29(listed: list[str], minor: int, gates: Gates) -> None:
    """What they added to the one list of v1beta3 and v1."""
    if 26 <= minor < 30 and gates.enabled("PodSchedulingReadiness"):
        listed.append("SchedulingGates")
    if minor == 23 and not gates.enabled("DefaultPodTopologySpread"):
        listed.append("SelectorSpread:1")


def gated_by_point(plugins: dict[str, list[str]], minor: int, gates: Gates) -> None:
    """What they added to the lists of v1alpha2, v1beta1 and v1beta2."""
    if minor == 18:
        _gated_in_1_18(plugins, gates)
        return
    if gates.enabled("VolumeCapacityPriority"):
        plugins["score"].append("VolumeBinding:1")
    if minor <= 23 and not gates.enabled("DefaultPodTopologySpread"):
        plugins["preScore"].append("SelectorSpread")
        plugins["score"].append("SelectorSpread:1")
    if minor >= 26 and gates.enabled("PodSchedulingReadiness"):
        plugins["preEnqueue"] = ["SchedulingGates"]


def _gated_in_1_18(plugins: Mapping[str, list[str]], gates: Gates) -> None:
    if gates.enabled("EvenPodsSpread"):
        for point in ("preFilter", "filter", "preScore"):
            plugins[point].append("PodTopologySpread")
        plugins["score"].append("PodTopologySpread:1")
    if gates.enabled("ResourceLimitsPriorityFunction"):
        plugins["preScore"].append("NodeResourceLimits")
        plugins["score"].append("NodeResourceLimits:1")
