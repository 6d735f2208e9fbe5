"""ImageLocality: the size of an image is what the first node said that had it."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.judging.cases import judge_case
from topospread.api.node import Node
from topospread.cluster import Cluster

Json = dict[str, Any]
MEGABYTE = 1024 * 1024


def node(name: str, size: int | None, image: str = "i:1") -> Json:
    images = [] if size is None else [{"names": [image], "sizeBytes": size * MEGABYTE}]
    return {"metadata": {"name": name}, "status": {"allocatable": {"pods": "9"}, "images": images}}


def points(*nodes: Json) -> Json:
    pod = {"metadata": {"name": "p", "namespace": "d"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    scores = judge_case({"nodes": list(nodes), "pods": [], "incoming": [pod]})["verdicts"][0]["scores"]
    return {name: of_plugins["ImageLocality"] for name, of_plugins in scores.items()}


def size_of(cluster: Cluster) -> int | None:
    state = cluster.nodes.images.get("i:1")
    return None if state is None else state.size // MEGABYTE


def test_the_first_node_says_the_size_for_all() -> None:
    large_first = points(node("amd64", 800), node("arm64", 200))
    small_first = points(node("arm64", 200), node("amd64", 800))
    assert (large_first["amd64"], large_first["arm64"]) == (79, 79)
    assert (small_first["amd64"], small_first["arm64"]) == (18, 18)


def test_the_size_stays_until_one_node_alone_has_the_image() -> None:
    cluster = Cluster()
    for each in (node("a", 800), node("b", 200)):
        cluster.add_node(msgspec.convert(each, Node))
    cluster.add_node(msgspec.convert(node("a", 100), Node))
    sizes = [size_of(cluster)]
    for name in ("a", "b"):
        cluster.remove_node(name)
        sizes.append(size_of(cluster))
    cluster.add_node(msgspec.convert(node("b", 300), Node))
    assert [*sizes, size_of(cluster)] == [800, 200, None, 300]


def test_a_node_that_alone_has_an_image_may_say_another_size() -> None:
    cluster = Cluster()
    for size in (800, 100):
        cluster.add_node(msgspec.convert(node("a", size), Node))
    assert size_of(cluster) == 100
