"""The time at which a pod has to leave a node for its NoExecute taints. Nothing is deleted here.

Source: pkg/controller/tainteviction/taint_eviction.go (``processPodOnNode``, ``getMinTolerationTime``) and
pkg/apis/core/v1/helper/helpers.go (``GetMatchingTolerations``).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from topospread.api.node import Node
from topospread.api.node_selection import Taint, Toleration
from topospread.api.taints import tolerates


def no_execute(node: Node) -> list[Taint]:
    """The taints of a node that drive pods away."""
    return [each for each in node.spec.taints or () if each.effect == "NoExecute"]


def seconds_to_stay(
    tolerations: Iterable[Toleration], taints: Iterable[Taint], *, comparison_operators: bool = False
) -> float:
    """Return how long a pod stays after the taints are set; infinite if it tolerates all for good.

    Of each taint the first toleration that tolerates it counts, and of those the shortest time.
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
