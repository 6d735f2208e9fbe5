"""The reasons for a node: scores by plugin for it and its best rivals, and the arithmetic of topology spread.

All numbers are taken from the plugins' results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topospread.cluster.arrays import Ints
from topospread.plugins.old_versions.plain_sum import PlainSum
from topospread.plugins.pod_topology_spread import IGNORED, SoftConstraints
from topospread.scheduling.framework import WeightedScore
from topospread.scheduling.verdict import Verdict
from topospread.scheduling.view import View

from .rejections_per_node import SPREAD
from .result import NodeScores, ScoredNode, SpreadNodeScore, SpreadPoints

RIVALS = 3
"""Number of nodes to compare with the chosen one."""


def score_table(view: View, verdict: Verdict, chosen: str, *, draws: bool) -> NodeScores:
    """Return the scores of the chosen node, if it is feasible, and of the best other nodes."""
    total = verdict.total
    rivals = _distinct(verdict, chosen)
    shown = ([chosen] if chosen in total else []) + list(rivals)
    names = shown[: RIVALS + 1]
    weights = {each.plugin: each.weight for each in view.plugins.scores}
    at = {name: i for i, name in enumerate(total)}
    points = {name: {plugin: int(each[at[name]]) for plugin, each in verdict.points.items()} for name in names}
    return NodeScores(
        chosen=chosen,
        nodes=tuple(ScoredNode(name, total[name], points[name], rivals.get(name, 0)) for name in names),
        weights=weights,
        feasible=len(total),
        best=verdict.best if total else (),
        draws=draws,
        spread=_spread_scores(view, verdict, names),
    )


def _distinct(verdict: Verdict, chosen: str) -> dict[str, int]:
    """Return node → number of further nodes with equal scores, for the other feasible nodes, best first."""
    columns = np.stack(list(verdict.points.values())) if verdict.points else np.zeros((1, len(verdict.total)), np.int64)
    found: dict[bytes, list[str]] = {}
    for name, points in zip(verdict.total, columns.T, strict=True):
        if name != chosen:
            found.setdefault(points.tobytes(), []).append(name)
    firsts = {min(names): len(names) - 1 for names in found.values()}
    return dict(sorted(firsts.items(), key=lambda each: (-verdict.total[each[0]], each[0])))


def _spread_scores(view: View, verdict: Verdict, names: Sequence[str]) -> tuple[SpreadNodeScore, ...]:
    """Return PodTopologySpread's arithmetic for some feasible nodes; nothing without ScheduleAnyway constraints."""
    found = next((each for each in view.plugins.scores if each.plugin == SPREAD), None)
    if found is None or found.normalized is None or not isinstance(found.score, SoftConstraints | PlainSum):
        return ()
    if not names:
        return ()
    row_of = view.cluster.nodes.row_of
    rows = np.array([row_of[name] for name in verdict.feasible], dtype=np.int64)
    raw = found.score.score(rows)
    normalized = found.normalized.normalize(raw, rows)
    scored = raw[raw != IGNORED]
    bounds = (int(scored.min()), int(scored.max())) if len(scored) else (0, 0)
    at = {name: i for i, name in enumerate(verdict.feasible)}
    shown = np.array([at[name] for name in names], dtype=np.int64)
    parts = _parts(found.score, rows, shown) if isinstance(found.score, SoftConstraints) else {}
    return tuple(
        _spread_score(found, name, parts.get(row_of[name], ()), (raw[at[name]], normalized[at[name]]), bounds)
        for name in names
    )


def _spread_score(
    found: WeightedScore,
    node: str,
    parts: tuple[SpreadPoints, ...],
    points: tuple[np.int64, np.int64],
    bounds: tuple[int, int],
) -> SpreadNodeScore:
    return SpreadNodeScore(
        node=node,
        parts=parts,
        raw=None if points[0] == IGNORED else int(points[0]),
        lowest=bounds[0],
        highest=bounds[1],
        normalized=int(points[1]),
        weight=found.weight,
    )


def _parts(soft: SoftConstraints, rows: Ints, shown: Ints) -> dict[int, tuple[SpreadPoints, ...]]:
    """Return row of a scored node → the points from each soft constraint. ``shown``: positions among the rows."""
    scored = soft.scored(rows)
    left = shown if scored is None else shown[scored[shown]]
    parts: dict[int, list[SpreadPoints]] = {row: [] for row in rows[left].tolist()}
    for each in soft.parts(rows, scored):
        constraint, values = each.counted.constraint, each.counted.column.values
        columns = (rows, each.codes, each.matching, each.points)
        for row, code, number, points in zip(*(column[left].tolist() for column in columns), strict=True):
            there = code >= 0
            parts[row].append(
                SpreadPoints(
                    topology_key=constraint.topology_key,
                    domain=values[code] if there else None,
                    matching=number if there else 0,
                    domains=each.domains,
                    weight=each.weight,
                    max_skew=constraint.max_skew,
                    points=points,
                )
            )
    return {row: tuple(found) for row, found in parts.items()}
