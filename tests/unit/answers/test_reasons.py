from __future__ import annotations

import pytest

from tests.unit.render.builders import CORDONED, CPU, MEMORY, SPREAD, TAINTED
from topospread.answers.reasons import closed, full, its_nodes, nodes_and, of_them, on_it, others


@pytest.mark.parametrize(
    ("reasons", "nodes", "text"),
    [
        ({}, 3, "3 nodes"),
        ({}, 1, "1 node"),
        ({CPU: 3}, 3, "3 nodes, all lack cpu"),
        ({CPU: 1}, 1, "1 node, which lacks cpu"),
        ({CPU: 3, MEMORY: 3}, 3, "3 nodes, all lack cpu and memory"),
        ({CPU: 2, MEMORY: 2, "Insufficient nvidia.com/gpu": 2}, 4, "4 nodes: 2 lack cpu, memory and nvidia.com/gpu"),
        ({CPU: 2, CORDONED: 1}, 4, "4 nodes: 2 lack cpu, 1 is cordoned"),
        ({"Too many pods": 2}, 2, "2 nodes, all have no room for another pod"),
        (
            {"node(s) had untolerated taint {a: b}": 1, "node(s) had untolerated taint {c: }": 1},
            2,
            "2 nodes, all are tainted",
        ),
        ({"node(s) exploded": 2}, 2, "2 nodes, all are out: exploded"),
    ],
)
def test_nodes_and_what_is_wrong_with_them(reasons: dict[str, int], nodes: int, text: str) -> None:
    assert nodes_and(reasons, nodes) == text


@pytest.mark.parametrize(
    ("reasons", "nodes", "text"),
    [
        ({}, 3, ""),
        ({CPU: 3}, 3, "its 3 nodes lack cpu"),
        ({CPU: 1, MEMORY: 1}, 1, "its node lacks cpu and memory"),
        ({CPU: 2, CORDONED: 1}, 3, "of its 3 nodes 2 lack cpu, 1 is cordoned"),
        ({SPREAD: 2}, 2, "its 2 nodes are ruled out by another constraint"),
    ],
)
def test_why_an_allowed_domain_does_not_take_the_pod(reasons: dict[str, int], nodes: int, text: str) -> None:
    assert its_nodes(reasons, nodes) == text


def test_one_node() -> None:
    assert on_it({CORDONED: 1, CPU: 1}) == "is cordoned and lacks cpu"


def test_nodes_of_several_domains() -> None:
    assert of_them({TAINTED: 2, CORDONED: 1}) == "2 are tainted, 1 is cordoned"


def test_kinds_of_reasons() -> None:
    reasons = {CPU: 1, CORDONED: 2, SPREAD: 3, f"{SPREAD} (missing required label)": 4}
    assert closed(reasons) == {CORDONED: 2}
    assert full(reasons) == {CPU: 1}
    assert others(reasons) == {CPU: 1, CORDONED: 2}
