"""The order of a node's pods is that of kube-scheduler's list: a pod that goes is replaced by the last one."""

from __future__ import annotations

import random
from typing import Any

from topospread.cluster.pod_order import PodOrder


class Node:
    """A node's pods beside a list that is kept as kube-scheduler keeps it."""

    def __init__(self, *keys: str) -> None:
        self.on_node: list[dict[str, Any]] = [{}, dict.fromkeys(keys)]
        self.order = PodOrder(self.on_node)
        self.expected = list(keys)

    def add(self, key: str) -> None:
        self.on_node[1][key] = None
        self.expected.append(key)

    def remove(self, key: str) -> None:
        self.order.goes(1, key)
        del self.on_node[1][key]
        last = self.expected.pop()
        if last != key:
            self.expected[self.expected.index(key)] = last


def test_pods_come_and_go_in_any_order() -> None:
    draw = random.Random(7)
    for _ in range(60):
        node, number = Node(), 0
        for _ in range(25):
            if node.expected and draw.random() < 0.5:
                node.remove(draw.choice(node.expected))
            else:
                number += 1
                node.add(f"p{number}")
            assert node.order.on(1) == node.expected
            assert [key for key in node.expected if node.order.is_last(1, key)] == node.expected[-1:]


def test_a_pod_that_comes_back_is_the_last() -> None:
    node = Node("a", "b", "c")
    node.remove("b")
    node.add("b")
    assert node.order.on(1) == ["a", "c", "b"]
    assert node.order.is_last(1, "b")


def test_nothing_is_kept_of_a_node_whose_last_pods_go_last_first_or_that_becomes_empty() -> None:
    node = Node("a", "b")
    node.remove("b")
    assert node.order.moved(1) is None
    node = Node("a", "b")
    node.remove("a")
    assert node.order.moved(1) == ["b"]
    node.remove("b")
    assert node.order.moved(1) is None


def test_an_order_is_put_back_as_a_copy() -> None:
    node = Node("a", "b", "c")
    node.remove("a")
    before = node.order.moved(1)
    node.remove("c")
    node.on_node[1]["c"] = None
    node.order.put_back(1, before)
    assert node.order.on(1) == ["c", "b"]
    node.order.put_back(1, None)
    assert node.order.on(1) == ["b", "c"]
