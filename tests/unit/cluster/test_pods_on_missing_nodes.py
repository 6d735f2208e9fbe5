"""Pods whose node is not known yet: found, taken when the node comes, in order, and given back by an undo."""

from __future__ import annotations

from typing import Any

from topospread.cluster.pods_on_missing_nodes import PodsOnMissingNodes
from topospread.cluster.undo import UndoLog

CLASS: Any = "class"


def pods(*keys: str, undo: UndoLog | None = None) -> PodsOnMissingNodes:
    made = PodsOnMissingNodes(undo or UndoLog())
    for key in keys:
        made.put(key, CLASS, f"since {key}", "n1")
    return made


def test_a_pod_is_found_with_its_node_until_it_goes() -> None:
    made = pods("a")
    made.put("b", CLASS, "", "n2")
    assert made.find("a") == ("n1", (CLASS, "since a"))
    assert made.find("b") == ("n2", (CLASS, ""))
    assert "a" in made
    made.delete("a")
    assert "a" not in made
    assert made.find("a") is None
    assert list(made.take_all("n1")) == []
    assert list(made.take_all("n2")) == ["b"]


def test_the_last_pod_takes_the_place_of_one_that_goes() -> None:
    made = pods("a", "b", "c")
    made.delete("a")
    assert list(made.take_all("n1").items()) == [("c", (CLASS, "since c")), ("b", (CLASS, "since b"))]
    made = pods("a", "b", "c")
    made.delete("c")
    assert list(made.take_all("n1")) == ["a", "b"]
    assert "b" not in made


def test_an_undo_gives_back_what_was_there() -> None:
    undo = UndoLog()
    made = pods("a", "b", undo=undo)
    changes = (
        lambda: made.put("c", CLASS, "", "n1"),
        lambda: made.delete("a"),
        lambda: made.take_all("n1"),
        lambda: made.put("d", CLASS, "", "n2"),
    )
    for change in changes:
        undo.steps = []
        change()
        for call, given in reversed(undo.steps):
            call(*given)
        undo.steps = None
        assert [made.find(key) for key in "abcd"] == [("n1", (CLASS, f"since {key}")) for key in "ab"] + [None, None]
        assert list(made._by_node) == ["n1"]
        assert list(made._by_node["n1"]) == ["a", "b"]
