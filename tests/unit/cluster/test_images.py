"""Sizes of images: the first node's size counts, and the last node's once the others are gone."""

from __future__ import annotations

import msgspec

from topospread.api.node import Node
from topospread.cluster.images import Images


def node(**sizes: int | None) -> Node:
    images = [
        {"names": [name, f"{name}:latest"]} | ({} if size is None else {"sizeBytes": size})
        for name, size in sizes.items()
    ]
    return msgspec.convert({"metadata": {"name": "n"}, "status": {"images": images}}, Node)


def filled(*nodes: Node) -> Images:
    made = Images()
    for row, each in enumerate(nodes):
        made.add(row, each)
    return made


def test_the_first_node_says_the_size_and_every_node_has_its_own() -> None:
    made = filled(node(a=10, b=None), node(a=20))
    for name in ("a", "a:latest"):
        state = made.get(name)
        assert state is not None
        assert (state.size, state.rows) == (10, {0: 10, 1: 20})
    assert made.sizes(node(b=1, a=1, c=1)) == {"b": 0, "b:latest": 0, "a": 10, "a:latest": 10}
    assert made.get("c") is None
    assert filled(msgspec.convert({"metadata": {"name": "n"}}, Node)).get("a") is None


def test_a_node_that_has_an_image_twice_counts_the_first() -> None:
    twice = msgspec.convert(
        {
            "metadata": {"name": "n"},
            "status": {"images": [{"names": ["a"], "sizeBytes": 1}, {"names": ["a"], "sizeBytes": 2}]},
        },
        Node,
    )
    state = filled(twice).get("a")
    assert state is not None
    assert (state.size, state.rows) == (1, {0: 1})


def test_an_image_that_no_node_has_is_forgotten() -> None:
    made = filled(node(a=10), node(a=20))
    made.remove(0, node(a=10, unknown=3))
    assert made.get("a") is not None
    made.remove(1, node(a=20))
    assert made.get("a") is None


def test_the_size_of_the_only_node_left_counts_once_it_is_settled() -> None:
    made, first = filled(node(a=10, b=1), node(a=20), node(a=30)), node(a=10, b=1)
    made.remove(0, first)
    made.settle(first)
    assert made.sizes(node(a=0)) == {"a": 10, "a:latest": 10}
    made.remove(1, node(a=20))
    before = made.sizes(node(a=0))
    made.settle(node(a=20, gone=1))
    assert made.sizes(node(a=0)) == {"a": 30, "a:latest": 30}
    made.put_sizes(before)
    assert made.sizes(node(a=0)) == {"a": 10, "a:latest": 10}
