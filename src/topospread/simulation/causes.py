"""The filter or score that moved a pod to another node between two simulations.

Both verdicts are from the pod's own attempt. Before the first moved pod both simulations are equal, so its cause is the
difference itself; later moves may be consequences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from topospread.scheduling.verdict import Verdict

from .comparison import Cause, Comparison, PlacementChange
from .result import Placement, Simulation

_OF_A_WORKLOAD: Final = 3
_IN_ALL: Final = 60
"""Number of pods whose causes are searched; each costs a full verdict."""


def to_watch(comparison: Comparison) -> tuple[frozenset[str], frozenset[str]]:
    """Return the pods whose verdicts explain moves: ``namespace/name`` in each of the two simulations.

    It chooses some pods of every workload, and always the first moved pod.
    """
    chosen = _chosen(comparison)
    sides = ([each.before for each in chosen], [each.after for each in chosen])
    return frozenset(map(_key, filter(None, sides[0]))), frozenset(map(_key, filter(None, sides[1])))


def with_causes(comparison: Comparison, before: Simulation, after: Simulation) -> Comparison:
    """Return the comparison with the causes of moves, in the order of placement.

    Args:
        comparison: the differences.
        before, after: the same two simulations, with verdicts of the pods that `to_watch` returns.
    """
    found = {}
    for change in _chosen(comparison):
        was, now = change.before, change.after
        if was is None or now is None:
            continue
        verdicts = before.verdicts.get(_key(was)), after.verdicts.get(_key(now))
        if verdicts[0] is not None and verdicts[1] is not None:
            found[change.key] = _cause(was, now, verdicts[0], verdicts[1])
    return replace(comparison, why=found)


def _chosen(comparison: Comparison) -> list[PlacementChange]:
    """Return the first moved pods of each workload, in the order of placement."""
    position = {_key(each): at for at, each in enumerate(comparison.before.placements)}
    chosen: list[PlacementChange] = []
    for workload in comparison.workloads:
        moved = (each for each in workload.moved if each.before is not None and each.after is not None)
        chosen += sorted(moved, key=lambda each: position.get(each.key, 0))[:_OF_A_WORKLOAD]
    return sorted(chosen, key=lambda each: position.get(each.key, 0))[:_IN_ALL]


def _key(pod: Placement) -> str:
    return f"{pod.namespace}/{pod.name}"


def _cause(was: Placement, now: Placement, before: Verdict, after: Verdict) -> Cause:
    old, new = was.node, now.node
    if old is not None and old not in after.total:
        return _rejected(old, after, "", nodes=before.nodes)
    if new is not None and new not in before.total:
        return _rejected(new, before, " before", nodes=after.nodes)
    if old is None or new is None:
        return Cause("tie", "", "it was tried while other pods were elsewhere")
    return _preferred(old, new, before, after)


def _rejected(node: str, verdict: Verdict, when: str, nodes: Iterable[str]) -> Cause:
    """Return the cause for a node that is feasible on one side only."""
    rejection = verdict.rejected.get(node)
    if rejection is None:
        missing = node not in verdict.nodes and node in nodes
        words = f"{node} is not there{when}" if missing else verdict.error or f"{node} does not take it{when}"
        return Cause("filter", "", words)
    verb = "rejected" if when else "rejects"
    return Cause("filter", rejection.plugin, f"{rejection.plugin} {verb} {node}{when}: {', '.join(rejection.reasons)}")


def _preferred(old: str, new: str, before: Verdict, after: Verdict) -> Cause:
    """Return the cause for two nodes that are feasible on both sides: the score whose difference grew most."""
    leads = [
        {plugin: side.scores[new].get(plugin, 0) - side.scores[old].get(plugin, 0) for plugin in side.points}
        for side in (before, after)
    ]
    won = {plugin: leads[1].get(plugin, 0) - leads[0].get(plugin, 0) for plugin in {**leads[0], **leads[1]}}
    plugin = max(won, key=lambda each: won[each], default="")
    if not plugin or won[plugin] <= 0:
        equal = after.total[old] == after.total[new]
        words = f"{old} and {new} have equal points" if equal else f"{old} was not among the nodes that were scored"
        return Cause("tie", "", words)
    points = leads[0].get(plugin, 0), leads[1].get(plugin, 0)
    words = f"{plugin} gives {new} {points[1]:+d} points beside {old}, {points[0]:+d} before"
    return Cause("score", plugin, words, points)
