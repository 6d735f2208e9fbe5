"""Nominated pods by node: by row while the node exists, by name while it does not, and undone step by step."""

from __future__ import annotations

from typing import Any

from topospread.cluster.journal import Journal
from topospread.cluster.nominations import Nominations
from topospread.cluster.undo import UndoLog

A: Any = "class a"
B: Any = "class b"


class Nominated:
    def __init__(self, **rows: int) -> None:
        self.rows, self.journal, self.undo = rows, Journal(), UndoLog()
        self.of = Nominations(self.rows, self.journal, self.undo)


def test_a_nomination_is_replaced_and_removed() -> None:
    it = Nominated(n1=1, n2=2)
    it.of.add("a", A, "n1")
    it.of.add("b", B, "n1")
    assert it.of.by_row == {1: {"a": A, "b": B}}
    it.of.add("a", A, "n2")
    assert (it.of.by_row, it.of.node_of("a")) == ({1: {"b": B}, 2: {"a": A}}, "n2")
    it.of.remove("b")
    it.of.remove("unknown")
    assert (it.of.by_row, it.of.node_of("b")) == ({2: {"a": A}}, "")


def test_the_same_again_changes_nothing_and_another_class_does() -> None:
    it = Nominated(n1=1)
    it.of.add("a", A, "n1")
    position = it.journal.position
    it.of.add("a", A, "n1")
    assert it.journal.position == position
    it.of.add("a", B, "n1")
    assert it.journal.position > position
    assert it.of.by_row == {1: {"a": B}}


def test_a_node_that_is_deleted_and_comes_back_has_its_nominations() -> None:
    it = Nominated(n1=1)
    it.of.add("a", A, "n1")
    it.of.add("b", A, "away")
    del it.rows["n1"]
    it.of.node_goes(1)
    it.of.node_goes(7)
    assert (it.of.by_row, it.of.node_of("a")) == ({}, "n1")
    it.rows |= {"n1": 4, "away": 5, "new": 6}
    for name in ("n1", "away", "new"):
        it.of.node_came(name)
    assert it.of.by_row == {4: {"a": A}, 5: {"b": A}}
    it.of.remove("b")
    assert it.of.by_row == {4: {"a": A}}


def test_changes_are_undone_in_order() -> None:
    it = Nominated(n1=1, n2=2)
    it.of.add("a", A, "n1")
    it.undo.steps = []
    it.of.add("a", A, "n2")
    it.of.add("b", B, "n1")
    it.of.remove("b")
    for call, given in reversed(it.undo.steps):
        call(*given)
    assert (it.of.by_row, it.of.node_of("a"), it.of.node_of("b")) == ({1: {"a": A}}, "n1", "")
