"""The best node of each group of equal nodes, after any changes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.plugins.storage_builders import ZONE, cluster, node, zonal
from topospread.plugins.group_columns import ByDomain
from topospread.scheduling.groups import Groups, Heads

NODES = 9
WORTH = st.one_of(st.none(), st.integers(0, 2))


def by_head(found: Heads) -> dict[int, int]:
    return {head: size for head, size in zip(*found, strict=True) if size}


@given(
    st.lists(WORTH, min_size=NODES, max_size=NODES),
    st.lists(st.tuples(st.integers(0, NODES - 1), WORTH, st.sampled_from(["", "a", "b", "new"])), max_size=12),
    st.dictionaries(st.integers(0, NODES - 1), st.integers(1, 2)),
)
def test_heads_are_the_best_rows_by_score_and_then_by_name(
    worth: list[int | None], changes: list[tuple[int, int | None, str]], counts: dict[int, int]
) -> None:
    made = cluster(zonal(**{f"n{NODES - i}": "abc"[i % 3] for i in range(NODES)}))
    nodes, zones = made.nodes, made.nodes.labels(ZONE)
    points = np.array([each or 0 for each in worth], dtype=np.int64)
    groups = Groups([ByDomain(zones)], worth, points, nodes)
    for row, points_now, zone in changes:
        worth[row] = points_now
        if zone:
            made.put_node(node(nodes.names[row], {ZONE: zone}))
        assert groups.update([~row if zone else row])
    for counted, found in (({}, groups.heads()), (counts, groups.heads_beside([counts]))):
        expected: dict[object, list[int]] = {}
        for row, each in enumerate(worth):
            if each is not None:
                expected.setdefault((int(zones.codes[row]), counted.get(row, 0)), []).append(row)
        best = {
            min(rows, key=lambda row: (-(worth[row] or 0), nodes.names[row])): len(rows) for rows in expected.values()
        }
        assert by_head(found) == best
