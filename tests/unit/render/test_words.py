"""Counts and lists in words."""

from __future__ import annotations

import pytest

from topospread.render.words import counted, in_order, listed, verb


@pytest.mark.parametrize(("number", "words"), [(0, "0 pods"), (1, "1 pod"), ("0–3", "0–3 pods")])
def test_counted(number: int | str, words: str) -> None:
    assert counted(number, "pod") == words


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, ""), (1, "n0"), (2, "n0 and n1"), (4, "n0, n1, n2 and n3"), (6, "n0, n1, n2 and 3 more")],
)
def test_listed(count: int, words: str) -> None:
    assert listed([f"n{i}" for i in range(count)]) == words


def test_numbers_in_names_are_ordered_by_value() -> None:
    assert in_order(["node-10", "node-2"]) == ["node-2", "node-10"]
    assert [verb(1, "waits", "wait"), verb(2, "waits", "wait")] == ["waits", "wait"]
