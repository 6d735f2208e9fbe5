"""Node events that plugins register for without queueing hints, by version."""

from __future__ import annotations

import pytest

from topospread.config.gates import gates_for
from topospread.config.version_rules import rules_for
from topospread.plugins.cluster_event import ADD, NODE_LABEL, NODE_TAINT, UPDATE, ClusterEvent, Registration
from topospread.plugins.old_versions.node_events import NodeEventRules


def actions(version: str, plugin: str, today: int = ADD) -> int:
    rules = rules_for(NodeEventRules, gates_for(version))
    found = rules.without_hints(plugin, Registration(ClusterEvent("Node", today), lambda *_: False))
    assert found.hint(None, None, None), "the hint of today is not asked"
    return found.event.action


@pytest.mark.parametrize(
    ("version", "plugin", "today", "action"),
    [
        ("1.29", "NodeResourcesFit", ADD, ADD | UPDATE),
        ("1.29", "NodeUnschedulable", ADD, ADD),
        ("1.30", "NodeUnschedulable", ADD, ADD | UPDATE),
        ("1.29", "VolumeZone", ADD | NODE_LABEL, ADD | NODE_LABEL),
        ("1.30", "VolumeZone", ADD, ADD | NODE_TAINT),
        ("1.29", "PodTopologySpread", ADD | NODE_TAINT, ADD),
        ("1.29", "TaintToleration", ADD, ADD | UPDATE),
        ("1.33", "VolumeZone", ADD, ADD | NODE_TAINT | NODE_LABEL),
        ("1.33", "NodeResourcesFit", ADD, ADD | NODE_TAINT | NODE_LABEL),
    ],
)
def test_nodes_move_more_pods_than_with_hints(version: str, plugin: str, today: int, action: int) -> None:
    assert actions(version, plugin, today) == action


def test_events_of_other_objects_stay() -> None:
    registration = Registration(ClusterEvent("Pod", ADD))
    assert NodeEventRules().without_hints("NodeResourcesFit", registration) is registration
