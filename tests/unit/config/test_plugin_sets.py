"""Merging a file's plugins into the defaults."""

from __future__ import annotations

import pytest

from topospread.config.plugin_sets import PluginEntry, PluginSet, merge, names


def plugins(*texts: str, disabled: tuple[str, ...] = ()) -> PluginSet:
    """``"A:2"`` is plugin A with weight 2."""
    entries = (text.partition(":") for text in texts)
    return PluginSet(tuple(PluginEntry(name, int(weight or 0)) for name, _, weight in entries), disabled)


DEFAULT = plugins("A:1", "B:2", "C")


@pytest.mark.parametrize(
    ("custom", "merged"),
    [
        (plugins(), plugins("A:1", "B:2", "C")),
        (plugins("D:4"), plugins("A:1", "B:2", "C", "D:4")),
        (plugins("B:5"), plugins("A:1", "B:5", "C")),
        (plugins("D", "B:5", "E"), plugins("A:1", "B:5", "C", "D", "E")),
        (plugins(disabled=("B",)), plugins("A:1", "C", disabled=("B",))),
        (plugins("B:7", disabled=("B",)), plugins("A:1", "C", "B:7", disabled=("B",))),
        (plugins("C", "A:3", disabled=("*",)), plugins("C", "A:3", disabled=("*",))),
        (plugins("D", "D"), plugins("A:1", "B:2", "C", "D", "D")),
        (plugins("B:5", "B:6"), plugins("A:1", "B:6", "C", "B:5")),
    ],
    ids=["nothing", "more", "weight", "mixed", "less", "moved", "all-off", "twice", "default-twice"],
)
def test_merges_in_place(custom: PluginSet, merged: PluginSet) -> None:
    assert merge({"score": DEFAULT}, {"score": custom}, in_place=True) == {"score": merged}


def test_older_versions_append_a_default_that_is_enabled_again() -> None:
    merged = merge({"score": DEFAULT}, {"score": plugins("B:5")}, in_place=False)
    assert merged == {"score": plugins("A:1", "B:2", "C", "B:5")}


def test_points_of_either_side_are_there() -> None:
    merged = merge({"score": DEFAULT}, {"filter": plugins("X")}, in_place=True)
    assert merged == {"score": DEFAULT, "filter": plugins("X")}


def test_names_are_sorted_and_distinct() -> None:
    assert names([plugins("B", "A"), plugins("C", "A")]) == ["A", "B", "C"]
