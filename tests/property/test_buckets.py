"""The best node of each group is the best there is, whatever rows came, went and changed before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from topospread.api.meta import ObjectMeta
from topospread.api.node import Node, NodeStatus
from topospread.cluster import NodeTable
from topospread.scheduling.buckets import Buckets

POINTS = st.integers(0, 3)
NAMES = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=12, unique=True)


def heads_of(groups: dict[int, tuple[int, ...]], points: dict[int, int], ranks: list[int]) -> dict[Any, Any]:
    """What each group's head and size have to be, found by looking at every row."""
    found: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
    for row, group in groups.items():
        found.setdefault(group, []).append((-points[row], ranks[row], row))
    return {group: (min(entries), len(entries)) for group, entries in found.items()}


@given(names=NAMES, wide=st.sampled_from([1, 1 << 40]), data=st.data())
def test_heads_are_the_best_of_their_groups_after_any_history(names: list[str], wide: int, data: st.DataObject) -> None:
    """``wide``: what values are taken times, so that they cannot be numbered in one small number."""
    nodes = NodeTable()
    for name in names:
        nodes.add(Node(metadata=ObjectMeta(name=name), status=NodeStatus()))
    every = range(len(names))
    group = st.tuples(st.integers(-1, 1), st.integers(0, 2)).map(lambda key: tuple(each * wide for each in key))
    groups = {row: data.draw(group) for row in every if data.draw(st.booleans())}
    points = {row: data.draw(POINTS) * wide for row in groups}
    backwards = nodes.by_name[::-1]
    rows = backwards[[int(row) in groups for row in backwards]]
    columns = [np.array([groups[int(row)][i] for row in rows], dtype=np.int64) for i in range(2)]
    worth: list[int | None] = [points.get(row) for row in every]
    own: Any = SimpleNamespace(worth=list(worth), points=np.array([each or 0 for each in worth], dtype=np.int64))
    buckets = Buckets(columns, rows, own, nodes)
    for _ in range(data.draw(st.integers(0, 40), label="changes")):
        if data.draw(st.booleans()):
            entries, sizes = buckets.heads()
            found = {groups[entry[2]]: (entry, size) for entry, size in zip(entries, sizes, strict=True)}
            assert found == heads_of(groups, points, nodes.ranks)
        row = data.draw(st.sampled_from(every))
        worth[row] = data.draw(st.none() | POINTS.map(lambda each: each * wide))
        if row in groups and data.draw(st.booleans(), label="in its group"):
            assert buckets.update({row}, worth) == []
        elif worth[row] is not None:
            groups[row] = data.draw(group)
            buckets.put(row, groups[row], worth[row] or 0)
        else:
            buckets.drop(row)
        points[row] = worth[row] or 0
        if worth[row] is None:
            groups.pop(row, None)
    entries, sizes = buckets.heads()
    found = {groups[entry[2]]: (entry, size) for entry, size in zip(entries, sizes, strict=True)}
    assert found == heads_of(groups, points, nodes.ranks)
