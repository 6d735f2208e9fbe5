"""The best node of each group is the best there is, whatever rows were added, removed and changed before."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from topospread.api.meta import ObjectMeta
from topospread.api.node import Node, NodeStatus
from topospread.cluster import NodeTable
from topospread.scheduling.groups import Groups, Heads

POINTS = st.none() | st.integers(0, 3)
NAMES = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=12, unique=True)


class Column:
    """A value for each row that the test chooses."""

    is_fixed = False

    def __init__(self, key: str, rows: int) -> None:
        self.key = key
        self.of = [0] * rows

    def values(self, rows: Any) -> Any:
        return np.array(self.of, dtype=np.int64)[rows]

    def value(self, row: int) -> int:
        return self.of[row]


def expected(looks: dict[int, Any], worth: list[int | None], ranks: list[int]) -> list[tuple[int, int]]:
    """Return each group's head and size, found by looking at every row."""
    found: dict[Any, list[tuple[int, int, int]]] = {}
    for row, look in looks.items():
        points = worth[row]
        if points is not None:
            found.setdefault(look, []).append((-points, ranks[row], row))
    return sorted((min(entries)[2], len(entries)) for entries in found.values())


def found(heads: Heads) -> list[tuple[int, int]]:
    return sorted((row, size) for row, size in zip(*heads, strict=True) if size)


@given(names=NAMES, wide=st.sampled_from([1, 1 << 40]), data=st.data())
def test_heads_are_the_best_of_their_groups_after_any_history(names: list[str], wide: int, data: st.DataObject) -> None:
    """``wide``: a factor that makes values so large that they cannot be numbered in one small number."""
    nodes = NodeTable()
    for name in names:
        nodes.add(named(name))
    every = range(len(names))
    columns = [Column("zone", len(names)), Column("rack", len(names))]
    worth: list[int | None] = [None] * len(names)
    counts: list[dict[int, int]] = [{}, {}]
    for row in every:
        change(row, columns, worth, wide, data)
    groups = Groups(columns, worth, np.array([each or 0 for each in worth], dtype=np.int64), nodes)
    for _ in range(data.draw(st.integers(0, 40), label="changes")):
        row = data.draw(st.sampled_from(every))
        if data.draw(st.booleans(), label="another node"):
            nodes.remove(names[row])
            names[row] = data.draw(st.text("abc", min_size=1, max_size=4).filter(lambda name: name not in names))
            assert nodes.add(named(names[row])) == row
            change(row, columns, worth, wide, data)
            assert groups.update([~row])
        else:
            change(row, columns, worth, wide, data)
            assert groups.update([row])
        for each in counts:
            each.pop(row, None)
            if data.draw(st.booleans(), label="counted"):
                each[row] = data.draw(st.integers(1, 2))
        plain = {row: tuple(each.of[row] for each in columns) for row in every}
        assert found(groups.heads()) == expected(plain, worth, nodes.ranks)
        one = {row: (look, counts[0].get(row)) for row, look in plain.items()}
        assert found(groups.heads_beside(counts[:1])) == expected(one, worth, nodes.ranks)
        both = {row: (look, counts[1].get(row)) for row, look in one.items()}
        assert found(groups.heads_beside(counts)) == expected(both, worth, nodes.ranks)


def change(row: int, columns: list[Column], worth: list[int | None], wide: int, data: st.DataObject) -> None:
    """Give a row other values and other points."""
    for each in columns:
        each.of[row] = data.draw(st.integers(-1, 1)) * wide
    points = data.draw(POINTS)
    worth[row] = None if points is None else points * wide


def named(name: str) -> Node:
    return Node(metadata=ObjectMeta(name=name), status=NodeStatus())
