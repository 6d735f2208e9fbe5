"""How fast nodes are tainted that are silent, and when pods have to leave them."""

from __future__ import annotations

from math import inf

import pytest

from topospread.api.node_selection import Taint, Toleration
from topospread.controllers.node_lifecycle import ZoneState, seconds_to_stay, taints_a_second, zone_state

UNREACHABLE = Taint(key="node.kubernetes.io/unreachable", effect="NoExecute")
GPU = Taint(key="gpu", effect="NoExecute")


@pytest.mark.parametrize(
    ("silent", "nodes", "state"),
    [(0, 4, "normal"), (4, 4, "full"), (1, 1, "full"), (2, 3, "normal"), (3, 5, "partial"), (3, 6, "normal")],
)
def test_the_state_of_a_zone(silent: int, nodes: int, state: ZoneState) -> None:
    assert zone_state(silent, nodes) == state


@pytest.mark.parametrize(
    ("state", "nodes", "rate"), [("normal", 9, 0.1), ("full", 9, 0.1), ("partial", 50, 0), ("partial", 51, 0.01)]
)
def test_how_many_nodes_are_tainted_in_a_second(state: ZoneState, nodes: int, rate: float) -> None:
    assert taints_a_second(state, nodes) == rate


def tolerates(taint: Taint, seconds: int | None = None) -> Toleration:
    return Toleration(key=taint.key, operator="Exists", effect="NoExecute", toleration_seconds=seconds)


@pytest.mark.parametrize(
    ("tolerations", "taints", "seconds"),
    [
        ([], [UNREACHABLE], 0),
        ([tolerates(UNREACHABLE, 300)], [UNREACHABLE], 300),
        ([tolerates(UNREACHABLE)], [UNREACHABLE], inf),
        ([tolerates(UNREACHABLE, 300)], [UNREACHABLE, GPU], 0),
        ([tolerates(UNREACHABLE, 300), tolerates(GPU)], [UNREACHABLE, GPU], 300),
        ([tolerates(UNREACHABLE, 300), tolerates(GPU, 20)], [UNREACHABLE, GPU], 20),
        ([tolerates(UNREACHABLE, -1)], [UNREACHABLE], 0),
        ([tolerates(UNREACHABLE, 60), tolerates(UNREACHABLE)], [UNREACHABLE], 60),
        ([], [], inf),
    ],
)
def test_how_long_a_pod_stays(tolerations: list[Toleration], taints: list[Taint], seconds: float) -> None:
    assert seconds_to_stay(tolerations, taints) == seconds
