"""Taints of NotReady nodes: when and how fast the node lifecycle controller adds them, and how long pods then stay.

Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go
(``ComputeZoneState``, ``setLimiterInZone``, ``handleDisruption``), its config/v1alpha1/defaults.go, and
component-helpers node/topology/helpers.go (``GetZoneKey``). The controller's flags have their defaults.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Literal

from msgspec.structs import replace

from topospread.admission.tolerations import NOT_READY, UNREACHABLE
from topospread.api.node import Node
from topospread.api.node_selection import Taint, Toleration
from topospread.api.taints import tolerates
from topospread.api.well_known_labels import REGION, ZONE
from topospread.config.versions import KubeVersion

UNREACHABLE_TAINTS = (Taint(key=UNREACHABLE, effect="NoSchedule"), Taint(key=UNREACHABLE, effect="NoExecute"))
"""Taints of a node whose kubelet stopped reporting. The first is added immediately, the second at the rate
`taints_a_second`.
"""

_SILENT = frozenset({UNREACHABLE, NOT_READY})
_LONGER_GRACE_SINCE = KubeVersion(1, 32)
_UNHEALTHY_ZONE = 0.55
_LARGE_ZONE = 50
_RATE, _SECONDARY_RATE = 0.1, 0.01

ZoneState = Literal["normal", "partial", "full"]
"""State of a zone by its NotReady nodes: ``full`` if all are, ``partial`` for at least 55 % and three nodes."""


def grace_seconds(version: KubeVersion) -> int:
    """Return the seconds until a node that stops reporting counts as unreachable (``--node-monitor-grace-period``)."""
    return 50 if version >= _LONGER_GRACE_SINCE else 40


def zone_key(node: Node) -> tuple[str, str]:
    """Return a node's region and zone, "" if missing. Nodes with equal keys share one rate of tainting."""
    return node.labels.get(REGION, ""), node.labels.get(ZONE, "")


def zone_state(silent: int, nodes: int) -> ZoneState:
    """Return the state of a zone. ``silent``: number of its NotReady nodes."""
    if silent and silent == nodes:
        return "full"
    return "partial" if silent > 2 and silent / nodes >= _UNHEALTHY_ZONE else "normal"


def taints_a_second(state: ZoneState, nodes: int) -> float:
    """Return the number of nodes of a zone that get the NoExecute taint per second; 0 if the controller waits.

    This holds for clusters with at least one healthy node. Without one, the controller taints no node.
    """
    if state == "partial":
        return _SECONDARY_RATE if nodes > _LARGE_ZONE else 0.0
    return _RATE


def is_silent(node: Node) -> bool:
    """Return whether the controller has tainted a node as not ready or unreachable."""
    return any(each.key in _SILENT for each in node.spec.taints or ())


def with_taints(node: Node, taints: Iterable[Taint]) -> Node:
    """Return the node with these taints added."""
    there = list(node.spec.taints or ())
    return replace(node, spec=replace(node.spec, taints=[*there, *(each for each in taints if each not in there)]))


def as_well(node: Node) -> Node:
    """Return the node after its kubelet reports again: without the taints not-ready and unreachable."""
    left = [each for each in node.spec.taints or () if each.key not in _SILENT]
    return replace(node, spec=replace(node.spec, taints=left or None))


# The time after which the taint eviction controller deletes a pod because of its node's NoExecute taints.
# Source: pkg/controller/tainteviction/taint_eviction.go (``processPodOnNode``, ``getMinTolerationTime``) and
# pkg/apis/core/v1/helper/helpers.go (``GetMatchingTolerations``).


def no_execute(node: Node) -> list[Taint]:
    """Return the NoExecute taints of a node."""
    return [each for each in node.spec.taints or () if each.effect == "NoExecute"]


def seconds_to_stay(
    tolerations: Iterable[Toleration], taints: Iterable[Taint], *, comparison_operators: bool = False
) -> float:
    """Return the seconds that a pod stays on a node after the taints are set; infinite if it tolerates all of them.

    For each taint, the first matching toleration counts. The shortest time of all taints wins.
    """
    allowed = list(tolerations)
    shortest = inf
    for taint in taints:
        using = (each for each in allowed if tolerates(each, taint, comparison_operators=comparison_operators))
        used = next(using, None)
        if used is None:
            return 0
        if used.toleration_seconds is not None:
            shortest = min(shortest, max(used.toleration_seconds, 0))
    return shortest
