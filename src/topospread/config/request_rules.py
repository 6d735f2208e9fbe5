"""The rules of each version for a pod's requests; ``api/requests.py`` applies them.

Source: pkg/scheduler/framework/types.go (``calculateResource``), plugins/noderesources/resource_allocation.go and
the PodRequests they call, of every version from 1.18 to 1.37.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from topospread.api.requests import RequestRules
from topospread.api.running_resources import StatusRule
from topospread.config.gates import Gates
from topospread.config.version_rules import by_gates, gated, rules_for, since, until
from topospread.config.versions import KubeVersion

_STATUS: Mapping[int, StatusRule] = {27: "allocated", 32: "running", 33: "running or allocated", 37: "whole pod"}
"""First minor version → rule for the resources in a pod's status."""


def _status(gates: Gates) -> StatusRule:
    if not gates.enabled("InPlacePodVerticalScaling"):
        return "ignored"
    return [rule for minor, rule in _STATUS.items() if KubeVersion(1, minor) <= gates.kube_version][-1]


@dataclass(frozen=True, slots=True)
class VersionedRequestRules(RequestRules):
    """The rules for summing a pod's requests, each with the version that introduced it."""

    sidecars: bool = since("1.28", "Restartable init containers (sidecars) count in addition to the containers.")
    sidecar_ports: bool = since("1.33", "NodePorts includes the host ports of sidecars.")
    overhead: bool = gated("PodOverhead")
    local_storage: bool = gated("LocalStorageCapacityIsolation")
    pod_level: bool = gated("PodLevelResources")
    pod_level_huge_pages: bool = since("1.33", "Resources at pod level include huge pages.")
    pod_level_status: bool = gated("InPlacePodLevelResourcesVerticalScaling")
    status: StatusRule = by_gates(  # noqa: RUF009
        _status,
        {
            "1.33": "A pod resized in place counts with the largest of each container's requested, allocated and "
            "running resources. (Behind a gate since 1.27.)",
            "1.37": "Pods resized in place: requested, allocated and running resources are each summed over the "
            "containers, then the largest sum counts.",
        },
    )
    fit_scores_containers_alone: bool = since(
        "1.33", "NodeResourcesFit's score ignores resources at pod level and the status."
    )
    fit_scores_overhead: bool = since(
        "1.24",
        "NodeResourcesFit's score includes the pod's overhead.",
    )
    non_zero_of_sum: bool = since(
        "1.32",
        "Scoring by resources: the default of containers without requests (100m, 200Mi) is summed "
        "over containers and sidecars alike. Before, sidecars of running pods counted as init "
        "containers.",
    )
    rounds_the_sum: bool = since(
        "1.27", "Requests are rounded up to millicores and bytes per pod. Before, per container."
    )
    scoring_overhead_in_units: bool = until(
        "1.26",
        "Scoring by resources: cpu overhead counts in full. Before, 250m counted as 1 millicore.",
    )


@lru_cache(maxsize=64)
def request_rules(gates: Gates) -> RequestRules:
    """Return the rules under these gates."""
    return rules_for(VersionedRequestRules, gates)
