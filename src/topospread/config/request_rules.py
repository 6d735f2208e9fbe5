"""The rules by which each version counts a pod's requests; ``api/requests.py`` does the counting.

Source: pkg/scheduler/framework/types.go (``calculateResource``), plugins/noderesources/resource_allocation.go and
the PodRequests they call, of every version from 1.18 to 1.37.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from topospread.api.requests import RequestRules
from topospread.api.running_resources import StatusRule
from topospread.config.gates import Gates
from topospread.config.version_rules import by_gates, gated, rules_for, since, until
from topospread.config.versions import KubeVersion

_STATUS: Mapping[int, StatusRule] = {27: "allocated", 32: "running", 33: "running or allocated", 37: "whole pod"}
"""From which minor version on the status counts how."""


def _status(gates: Gates) -> StatusRule:
    if not gates.enabled("InPlacePodVerticalScaling"):
        return "ignored"
    return [rule for minor, rule in _STATUS.items() if KubeVersion(1, minor) <= gates.kube_version][-1]


@dataclass(frozen=True, slots=True)
class VersionedRequestRules(RequestRules):
    """The rules of counting, each with the version it entered."""

    sidecars: bool = since("1.28", "Restartable init containers (sidecars) count beside the containers.")
    sidecar_ports: bool = since("1.33", "NodePorts looks at the host ports of sidecars too.")
    overhead: bool = gated("PodOverhead")
    local_storage: bool = gated("LocalStorageCapacityIsolation")
    pod_level: bool = gated("PodLevelResources")
    pod_level_huge_pages: bool = since("1.33", "Resources at pod level include huge pages.")
    pod_level_status: bool = gated("InPlacePodLevelResourcesVerticalScaling")
    status: StatusRule = by_gates(  # noqa: RUF009
        _status,
        {
            "1.33": "A pod resized in place counts with the largest of what each container, or sidecar, requests, was "
            "allocated and runs with. (In 1.27 to 1.32 behind a gate that is off, and of fewer of these.)",
            "1.37": "A pod resized in place: what is requested, allocated and running is summed up over its containers "
            "first, then the largest sum counts.",
        },
    )
    fit_scores_containers_alone: bool = since(
        "1.33", "NodeResourcesFit's score no longer looks at resources at pod level, nor at the status."
    )
    fit_scores_overhead: bool = since(
        "1.24",
        "NodeResourcesFit's score counts the pod's own overhead. (In 1.22 and 1.23, where it took scoring over, not.)",
    )
    non_zero_of_sum: bool = since(
        "1.32",
        "Scoring by resources: what a container without requests counts as (100m, 200Mi) is added up over containers "
        "and sidecars alike. Before, sidecars of pods there counted as init containers do.",
    )
    rounds_the_sum: bool = since(
        "1.27", "Requests are rounded up to millicores and bytes once a pod, no longer once a container."
    )
    scoring_overhead_in_units: bool = until(
        "1.26",
        "Scoring by resources: a pod's cpu overhead counts as what it is. Before, 250m of it counted as 1 millicore.",
    )


def request_rules(gates: Gates) -> RequestRules:
    """Return the rules under these gates."""
    return rules_for(VersionedRequestRules, gates)
