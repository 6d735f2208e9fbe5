"""Cluster events: which registrations cover which events."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.unit.plugins.storage_builders import pod
from topospread.api.pod import PodStatus
from topospread.plugins.cluster_event import (
    ADD,
    ALL,
    DELETE,
    NODE_LABEL,
    NODE_TAINT,
    UNSCHEDULABLE_TIMEOUT,
    UPDATE,
    ClusterEvent,
    Registration,
    takes_room,
)


@pytest.mark.parametrize(
    ("registered", "incoming", "covered"),
    [
        (("Node", ADD), ("Node", ADD), True),
        (("Node", ADD | DELETE), ("Node", ADD), True),
        (("Node", ADD), ("Node", DELETE), False),
        (("Node", ADD), ("Node", ADD | DELETE), False),
        (("Node", UPDATE), ("Node", NODE_LABEL), True),
        (("Node", NODE_LABEL), ("Node", NODE_TAINT), False),
        (("Node", ADD), ("CSINode", ADD), False),
        (("Pod", DELETE), ("AssignedPod", DELETE), True),
        (("Pod", DELETE), ("UnscheduledPod", DELETE), True),
        (("Pod", DELETE), ("TargetPod", DELETE), True),
        (("Pod", DELETE), ("Node", DELETE), False),
        (("AssignedPod", DELETE), ("Pod", DELETE), False),
        (("*", ADD), ("Node", ADD), True),
        (("*", ADD), ("Node", DELETE), False),
        (("*", ALL), ("Node", DELETE), True),
        (("Node", ALL), ("*", ALL), False),
    ],
)
def test_a_registration_covers_what_is_as_special(
    registered: tuple[str, int], incoming: tuple[str, int], covered: bool
) -> None:
    assert ClusterEvent(*registered).covers(ClusterEvent(*incoming)) == covered  # type: ignore[arg-type]


def test_only_everything_of_everything_is_a_wildcard() -> None:
    assert UNSCHEDULABLE_TIMEOUT.wildcard
    assert not ClusterEvent("*", ADD).wildcard
    assert not ClusterEvent("Node", ALL).wildcard
    assert (UPDATE & (ADD | DELETE), UPDATE | ADD | DELETE) == (0, ALL)


def test_a_pod_takes_room_on_its_node_or_on_the_one_that_it_is_nominated_for() -> None:
    placed, nominated = pod(nodeName="n"), replace(pod(), status=PodStatus(nominated_node_name="n"))
    assert takes_room(placed, counts_nominated=False)
    assert takes_room(nominated, counts_nominated=True)
    assert not takes_room(nominated, counts_nominated=False)
    assert not takes_room(pod(), counts_nominated=True)
    assert Registration(ClusterEvent("Node", ADD)).hint(pod(), None, None)
