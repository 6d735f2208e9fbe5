"""The node table: columns follow nodes that come, change and go, and codes, ranks and states keep their meaning."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import numpy as np
import pytest

from topospread.api.node import Node
from topospread.cluster import nodes as module
from topospread.cluster.nodes import CPU, MEMORY, PODS, NodeTable

ZONE = "zone"


def node(name: str, zone: str | None = None, taints: tuple[str, ...] = (), **more: Any) -> Node:
    labels = {} if zone is None else {ZONE: zone}
    spec = {"taints": [{"key": each, "effect": "NoSchedule"} for each in taints]} | more.pop("spec", {})
    status = {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "9"} | more.pop("allocatable", {})} | more
    return msgspec.convert({"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}, Node)


def table(*nodes: Node, capacity: int = 64) -> NodeTable:
    made = NodeTable(capacity)
    for each in nodes:
        made.add(each)
    return made


def zones(made: NodeTable) -> dict[str, str | None]:
    column = made.labels(ZONE)
    codes = {name: int(column.codes[row]) for name, row in made.row_of.items()}
    return {name: None if code < 0 else column.values[code] for name, code in codes.items()}


def in_order(made: NodeTable) -> list[str]:
    return [made.names[row] for row in made.by_name.tolist() if made.alive[row]]


def test_a_node_is_a_row_with_its_amounts() -> None:
    made = table(node("a", allocatable={"cpu": "2", "example.com/gpu": "4", "odd": "3"}, spec={"unschedulable": True}))
    row, gpu = made.row_of["a"], made.resource("example.com/gpu")
    assert (made.allocatable[row, CPU], made.allocatable[row, MEMORY], made.allocatable[row, PODS]) == (2000, 2**30, 9)
    assert (made.allocatable[row, gpu], "odd" in made.resources, gpu) == (4, False, 6)
    assert made.resource("example.com/gpu") == gpu
    assert (len(made), made.size, made.unschedulable[row], made.nodes[row].name) == (1, 1, True, "a")
    made.replace(node("a"))
    assert (made.allocatable[row, CPU], made.allocatable[row, gpu], made.unschedulable[row]) == (1000, 0, False)


def test_a_row_is_used_again_and_nothing_is_left_in_it() -> None:
    made = table(node("a", "x", ("t",)), node("b", "y"))
    made.labels(ZONE)
    made.used[0] = 7
    assert made.remove("a") == 0
    assert (made.allocatable[0].any(), made.alive[0], made.nodes[0], made.labels(ZONE).codes[0]) == (
        False,
        False,
        None,
        -1,
    )
    assert (made.there[0].tolist(), made.there[1]) == ([1], ("b",))
    assert made.add(node("c")) == 0
    assert (made.used[0].any(), made.taint_sets[made.taints[0]], zones(made)) == (False, (), {"b": "y", "c": None})
    assert (made.there[0].tolist(), made.there[1], made.size) == ([0, 1], ("c", "b"), 2)


def test_every_column_grows_with_the_nodes() -> None:
    made = NodeTable(1)
    made.labels(ZONE)
    for number in range(5):
        made.add(node(f"n{number}", "a" if number % 2 else None))
    assert (made.capacity, len(made.labels(ZONE).codes), made.size, made.numbers) == (8, 8, 5, [0, 1, 2, 3, 4])
    assert made.labels(ZONE).codes.tolist() == [-1, 0, -1, 0, -1, -1, -1, -1]
    assert made.labels(ZONE).missing == 3


def test_ranks_follow_the_names_whoever_comes_between(monkeypatch: pytest.MonkeyPatch) -> None:
    for gap in (1 << 32, 4):
        monkeypatch.setattr(module, "_RANK_GAP", gap)
        made, names = NodeTable(2), [f"{number:03}" for number in range(60)]
        random.Random(3).shuffle(names)
        for number, name in enumerate(names):
            made.add(node(name))
            if number % 4 == 3:
                made.remove(names[number - 1])
            assert in_order(made) == sorted(made.row_of)
            assert made.ranks == made.rank[: made.size].tolist() == [-each for each in made.last_first]


def test_a_label_column_follows_its_nodes() -> None:
    made = table(node("a", "y"), node("b", "x"), node("c"))
    column = made.labels(ZONE)
    assert made.labels(ZONE) is column
    assert (column.values, column.codes[:3].tolist(), column.missing) == (["y", "x"], [0, 1, -1], 1)
    assert (column.code("x"), column.code("z"), column.by_name.tolist()) == (1, -1, [1, 0])
    assert (column.rows_with("y"), column.rows_with("z"), column.rows(1)) == ({0}, set(), {1})
    made.replace(node("a", "z"))
    made.replace(node("b"))
    made.replace(node("c", "y"))
    assert (zones(made), column.missing) == ({"a": "z", "b": None, "c": "y"}, 1)
    assert (column.rows_with("y"), column.rows_with("x"), column.rows_with("z")) == ({2}, set(), {0})
    assert [column.values[code] for code in column.by_name] == ["x", "y", "z"]
    made.remove("c")
    assert (column.missing, column.rows_with("y")) == (1, set())


def test_equal_numbers_of_states_mean_equal_amounts() -> None:
    made = table(node("a"), node("b"), node("c", allocatable={"cpu": "2"}))
    assert made.state(0) == made.state(1) != made.state(2)
    made.used[1, CPU] = 500
    assert made.state(1) == made.state(0), "known until it is said to have changed"
    made.states[1] = -1
    other = made.state(1)
    assert other not in (made.state(0), made.state(2))
    made.replace(node("a"))
    assert made.state(0) != other
    made.resource("example.com/gpu")
    assert made.states == [-1, -1, -1]
    assert len({made.state(row) for row in range(3)}) == 3


def test_numbers_of_states_are_never_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STATES_KEPT", 3)
    made, seen = table(node("a")), set()
    for amount in range(9):
        made.used[0, CPU], made.states[0] = amount, -1
        seen.add(made.state(0))
    assert seen == set(range(9))


def test_values_that_no_node_has_any_more_are_dropped() -> None:
    made = table(node("a", "x", ("t",)), node("b", "y"))
    column = made.labels(ZONE)
    for number in range(400):
        made.replace(node("b", f"z{number}", (f"t{number}",), allocatable={"cpu": str(number + 1)}))
        assert zones(made) == {"a": "x", "b": f"z{number}"}
        assert [each.key for each in made.taint_sets[made.taints[1]]] == [f"t{number}"]
        assert [each.key for each in made.taint_sets[made.taints[0]]] == ["t"]
        assert column.rows_with(f"z{number}") == {1}
        assert made.state(0) != made.state(1) or number == 0
    assert made.numbering > 0
    assert len(column.values) < 250
    assert len(made.taint_sets) < 250
    assert made.taint_sets[0] == ()


def test_codes_that_keep_their_meaning_keep_their_number() -> None:
    made = table(node("a", "x"))
    made.labels(ZONE)
    for number in range(400):
        made.replace(node("a", "xy"[number % 2]))
    assert (made.numbering, made.labels(ZONE).values) == (0, ["x", "y"])


def test_images_are_those_of_the_nodes() -> None:
    image = {"images": [{"names": ["i"], "sizeBytes": 5}]}
    made = table(node("a", **image), node("b", images=[{"names": ["i"], "sizeBytes": 9}]))
    state = made.images.get("i")
    assert state is not None
    assert (state.size, state.rows) == (5, {0: 5, 1: 9})
    made.replace(node("a"))
    assert (state.size, state.rows) == (9, {1: 9})
    made.remove("b")
    assert made.images.get("i") is None
    assert isinstance(made.rank, np.ndarray)
