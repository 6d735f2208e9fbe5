"""Why that node, as text: plugin by plugin beside its best rivals, topology spread's sums, and other choices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .layout import Layout
from .paragraphs import counted, hanging, together

if TYPE_CHECKING:
    from topospread.explanation import Explanation, ScoreTable, SpreadScore, Without

_INSTEAD = {"system": "the built-in defaults apply then", "profile": "the profile's defaults apply then"}


def score_lines(explanation: Explanation, layout: Layout) -> Iterator[str]:
    """The score table, the spread arithmetic, and the choice without each constraint."""
    table = explanation.scores
    if table is None or not table.nodes:
        return
    if table.feasible == 1:
        only = f"{table.nodes[0].node} is the only feasible node: kube-scheduler does not score it"
        yield from hanging("", only, layout.width, 2)
    else:
        yield from _table(table, layout)
    if table.spread and table.feasible > 1:
        yield ""
        yield from _spread(table, layout)
    if explanation.without:
        yield ""
        yield layout.style("Without a constraint", "bold")
        for each in explanation.without:
            yield from hanging("  ", _without(each, explanation), layout.width, 4)


def _table(table: ScoreTable, layout: Layout) -> Iterator[str]:
    """Points by plugin; a letter stands for each node, since names are long."""
    title = layout.style("Scores", "bold") + "  "
    yield from hanging(title, f"(weighted points, {table.feasible} feasible nodes)", layout.width, 2)
    letters = "ABCDEFGH"[: len(table.nodes)]
    for letter, each in zip(letters, table.nodes, strict=True):
        alike = f"and {counted(each.alike, 'node')} more with these points" if each.alike else ""
        said = ", ".join(filter(None, (_rank(each.node, table), alike)))
        yield from hanging(f"  {letter}  {each.node}  ", said, layout.width, 5)
    width = max(map(len, (*table.weights, "total")), default=0)
    cells = [[str(each.points.get(plugin, 0)) for each in table.nodes] for plugin in table.weights]
    totals = [str(each.total) for each in table.nodes]
    column = max(len(cell) for row in (*cells, totals) for cell in row)
    yield _line("", letters, width + 4, column)
    for (plugin, weight), row in zip(table.weights.items(), cells, strict=True):
        yield _line(f"{plugin:<{width}} ×{weight:<2}", row, width + 4, column)
    yield _line("total", totals, width + 4, column)


def _line(head: str, cells: Sequence[str], width: int, column: int) -> str:
    return f"  {head:<{width}}" + "".join(f"  {cell:>{column}}" for cell in cells)


def _rank(node: str, table: ScoreTable) -> str:
    """What the node is among the feasible ones."""
    text = "chosen" if node == table.chosen else ""
    if node in table.best and len(table.best) > 1:
        others = f"as good as {counted(len(table.best) - 1, 'other node')}"
        takes = "draws" if table.draws else "goes by the order in which it looks at nodes"
        return f"chosen, {others}: kube-scheduler {takes}, here it is the first by name" if text else "as good"
    if text and node not in table.best:
        return f"{text}, though others score higher"
    return text


def _spread(table: ScoreTable, layout: Layout) -> Iterator[str]:
    """How PodTopologySpread comes to its points: pods · ln(domains + 2) + maxSkew − 1, added up, rounded, set against
    the highest and lowest."""
    yield from hanging(
        layout.style("PodTopologySpread", "bold") + "  ",
        "(pods × ln(domains + 2) + maxSkew − 1, added up and rounded; fewer is better)",
        layout.width,
        2,
    )
    for letter, each in zip("ABCDEFGH", table.spread, strict=False):
        yield from hanging(f"  {letter}  ", _sum(each), layout.width, 5)
        yield from hanging(" " * 5, _normalized(each), layout.width, 5)


def _sum(score: SpreadScore) -> str:
    if score.raw is None:
        return "lacks a key: not scored"
    parts = [
        f"{part.domain or 'no domain'}: "
        + together(f"{part.matching} × ln({part.domains} + 2) + {part.max_skew - 1} = {part.points:.3f}")
        for part in score.parts
    ]
    total = sum(part.points for part in score.parts)
    result = f"{total:.3f} → {score.raw}" if score.parts else f"{score.raw} matching pods"
    return "; ".join([*parts, result])


def _normalized(score: SpreadScore) -> str:
    points = f"{score.normalized} × {score.weight} = {score.normalized * score.weight}"
    if score.raw is None or not score.parts:
        return points
    if not score.highest:
        return f"nothing is there to be near to: {points}"
    return f"100 × ({score.highest} + {score.lowest} − {score.raw}) ÷ {score.highest} = {points}"


def _without(each: Without, explanation: Explanation) -> str:
    what = f"{each.topology_key} ({'hard' if each.when_unsatisfiable == 'DoNotSchedule' else 'soft'}): "
    if each.node is None:
        what += "no node"
    elif each.node == explanation.node and each.equals == 1:
        what += f"the same node, {each.total} points"
    else:
        as_good = f" or one of {counted(each.equals - 1, 'other node')} as good" if each.equals > 2 else ""
        as_good = as_good or (" or another node as good" if each.equals == 2 else "")
        what += f"{each.node}{as_good}, {each.total} points"
    return what + (f"; {_INSTEAD[each.instead]}" if each.instead else "")
