"""Words of answers: counts, lists and the order of names."""

from __future__ import annotations

import pytest

from topospread.answers.words import counted, in_order, listed


@pytest.mark.parametrize(("number", "text"), [(0, "0 pods"), (1, "1 pod"), (2, "2 pods")])
def test_counted(number: int, text: str) -> None:
    assert counted(number, "pod") == text


def test_a_list_is_shortened_only_where_that_saves_something() -> None:
    assert listed(["a", "b", "c"], 2) == "a, b, c"
    assert listed(["a", "b", "c", "d"], 2) == "a, b and 2 more"


def test_names_are_sorted_as_people_count() -> None:
    assert in_order(["node-10", "node-9", "edge", "node-1"]) == ["edge", "node-1", "node-9", "node-10"]
