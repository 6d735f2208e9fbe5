"""Which of equally good nodes is taken: by name, drawn, or as kube-scheduler's heap has it since 1.35."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.select_host import top_of_heap

NAMES = ["b", "c", "a", "d"]


def scheduler(version: str, seed: int | None = None, *, sampled: bool = False) -> Scheduler:
    """Four equal nodes, which came in this order."""
    cluster = Cluster()
    for name in NAMES:
        node: dict[str, Any] = {"metadata": {"name": name}, "status": {"allocatable": {"pods": "9"}}}
        cluster.add_node(msgspec.convert(node, Node))
    gates = gates_for(version, {})
    framework = Framework(default_profile(version, gates), gates)
    return Scheduler(cluster, {"default-scheduler": framework}, seed, sampled=sampled)


def taken(version: str, seed: int | None = None, *, sampled: bool = False) -> str | None:
    pod = {"metadata": {"name": "p", "namespace": "d"}, "spec": {"containers": [{"name": "c"}]}}
    return scheduler(version, seed, sampled=sampled).schedule(msgspec.convert(pod, Pod)).node


def go_heap_top(totals: list[int]) -> int:
    """The place whose node ``heap.Init`` brings to the top (container/heap)."""
    heap = list(range(len(totals)))

    def less(i: int, j: int) -> bool:
        return totals[heap[i]] > totals[heap[j]]

    for start in reversed(range(len(heap) // 2)):
        i = start
        while (child := 2 * i + 1) < len(heap):
            if child + 1 < len(heap) and less(child + 1, child):
                child += 1
            if not less(child, i):
                break
            heap[i], heap[child] = heap[child], heap[i]
            i = child
    return heap[0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=70))
def test_the_top_is_that_of_a_go_heap(totals: list[int]) -> None:
    best = np.flatnonzero(np.array(totals) == max(totals))
    assert top_of_heap(np.arange(len(totals)), best) == go_heap_top(totals)


@pytest.mark.parametrize(("version", "nodes"), [("1.34", set(NAMES)), ("1.35", {"a"}), ("1.37", {"a"})])
def test_equals_are_drawn_until_1_34_alone(version: str, nodes: set[str]) -> None:
    assert {taken(version, seed) for seed in range(40)} == nodes


def test_without_a_seed_it_is_the_first_by_name() -> None:
    assert [taken("1.34"), taken("1.37"), taken("1.34", sampled=True)] == ["a", "a", "a"]


def test_a_walk_of_1_35_takes_the_first_that_it_comes_past() -> None:
    assert taken("1.35", sampled=True) == "b"
