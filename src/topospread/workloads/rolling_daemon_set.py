"""One step of a DaemonSet's rolling update: on which nodes old pods go, and where new ones come beside them.

Pods that come in the place of those that are gone are not told here. Source: pkg/controller/daemon/update.go
(``rollingUpdate``), and of surges ``podsShouldBeOnNode`` in daemon_controller.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from topospread.api.rollout import Strategy


@dataclass(frozen=True, slots=True)
class OnNode:
    """A DaemonSet's pods on a node, those left out that are being deleted: ``None`` for none, or whether available."""

    new: bool | None = None
    old: bool | None = None


def nodes_to_replace(nodes: Mapping[str, OnNode], strategy: Strategy) -> tuple[list[str], list[str]]:
    """Nodes whose old pod is deleted now, and nodes that get a new pod beside their old one.

    ``nodes``: all that should run a pod, in the order in which they are looked at: the controller's is drawn.
    """
    return _surging(nodes, strategy.max_surge) if strategy.max_surge else (_going(nodes, strategy.max_unavailable), [])


def _going(nodes: Mapping[str, OnNode], most: int) -> list[str]:
    """Return the nodes whose old pod goes: the unavailable ones, and of the others as many as may be unavailable."""
    unavailable = 0
    stuck: list[str] = []
    candidates: list[str] = []
    for name, each in nodes.items():
        if (each.new is None) == (each.old is None):  # none, or both
            unavailable += 1
        elif each.new is not None:
            unavailable += not each.new
        elif not each.old:
            stuck.append(name)
            unavailable += 1
        elif unavailable < most:
            candidates.append(name)
    return [*stuck, *candidates[: max(most - unavailable, 0)]]


def _surging(nodes: Mapping[str, OnNode], most: int) -> tuple[list[str], list[str]]:
    """Old pods beside which a new one is available, or that are not available themselves; and where new ones come."""
    surging = 0
    going: list[str] = []
    stuck: list[str] = []
    candidates: list[str] = []
    for name, each in nodes.items():
        if each.old is None:
            continue
        if each.new is None:
            if not each.old:
                stuck.append(name)
            elif surging < most:
                candidates.append(name)
        elif each.new or not each.old:
            going.append(name)
        else:
            surging += 1
    return going, [*stuck, *candidates[: max(most - surging, 0)]]
