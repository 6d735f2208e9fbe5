"""The causes for which a pod has its node: the domains that constraints admit, and the scores of the feasible nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topospread.answer import Cause

from .causes import node_words
from .words import counted, in_order, listed, noun_of

if TYPE_CHECKING:
    from topospread.explanation import ConstraintTable, Explanation, NodeScores

_NAMES = 3


def causes_of_node(found: Explanation) -> tuple[Cause, ...]:
    """Return up to three causes for the node of a pod; of a pod on a node, as if it were scheduled now."""
    if found.verdict is None or found.verdict.error:
        return ()
    causes = [cause for table in found.constraints for cause in _narrowing(table)][:2]
    for near in found.nearest:
        words = node_words(near.obstacles)
        causes.append(Cause(code="node-rejects", says=f"{near.node} would reject it now: it {words}", nodes=1))
    if found.scores is not None and found.scores.nodes:
        causes.append(_of_scores(found.scores))
    return tuple(causes[:3])


def _narrowing(table: ConstraintTable) -> Iterator[Cause]:
    """Yield the domains that a hard constraint admits, if it rejects others."""
    arithmetic = table.arithmetic
    admitted = in_order(each.name for each in table.domains if each.allowed)
    if arithmetic.hard and 0 < len(admitted) < len(table.domains):
        alone = " alone" if len(admitted) <= _NAMES + 1 else ""
        noun = noun_of(arithmetic.topology_key)
        says = f"maxSkew {arithmetic.max_skew} over {noun}s admits it to {listed(admitted, _NAMES)}{alone}"
        yield Cause(code="one-domain", says=says, objects=tuple(admitted) if len(admitted) <= _NAMES else ())


def _of_scores(table: NodeScores) -> Cause:
    first = table.nodes[0]
    if table.feasible == 1:
        return Cause(code="only-node", says=f"{first.node} is the only feasible node", objects=(first.node,))
    of = f"of {counted(table.feasible, 'feasible node')}"
    best = max(table.nodes, key=lambda each: each.total)
    if table.chosen not in table.best:
        own = next((each for each in table.nodes if each.node == table.chosen), None)
        rest = f", {own.node} {own.total}" if own is not None else ""
        says = f"{of} {best.node} scores most now, {best.total}{rest}"
        return Cause(code="lower-score", says=says, objects=(best.node,))
    if len(table.best) > 1:
        others = counted(len(table.best) - 1, "other node")
        takes = "draws one of them" if table.draws else "takes the first in its own order"
        says = f"{of} {table.chosen} and {others} score most, {first.total}: kube-scheduler {takes}"
        return Cause(code="tie", says=says, nodes=len(table.best), objects=(table.chosen,))
    rival = table.nodes[1]
    leads = {plugin: first.points.get(plugin, 0) - rival.points.get(plugin, 0) for plugin in table.weights}
    plugin = max(leads, key=leads.__getitem__, default="")
    detail = f" ({plugin} {first.points.get(plugin, 0)} to {rival.points.get(plugin, 0)})" if plugin else ""
    says = f"{of} {first.node} scores {first.total}, {rival.node} {rival.total}{detail}"
    return Cause(code="best-score", says=says, objects=(first.node, rival.node))
