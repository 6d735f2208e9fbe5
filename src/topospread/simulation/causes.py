"""The filter or score because of which two simulations place a pod on different nodes.

It compares the verdicts of the pod's last attempts. Up to the first moved pod both simulations are equal, so the first
move is caused by the difference of the inputs. Later moves may be consequences of earlier moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Final

from topospread.api.inventory import Inventory
from topospread.scheduling.verdict import Verdict
from topospread.text import listed

from .comparison import Cause, Comparison, PlacementChange
from .options import SimulationOptions
from .placing import Progress
from .result import Placement
from .simulate import simulate

_OF_A_WORKLOAD: Final = 3
_IN_ALL: Final = 60
"""Maximum number of pods whose causes are searched, because each needs a full verdict."""


def with_causes(
    comparison: Comparison,
    inventories: Iterable[Inventory],
    sides: Iterable[SimulationOptions],
    progress: Progress | None = None,
) -> Comparison:
    """Return the comparison with the causes of the first moves: up to three of a workload, sixty in all.

    Both sides are simulated again for the verdicts on these pods, the first moved pod among them. All pods that only
    one side judges follow, without a verdict.
    """
    unjudged = dict(_unjudged(comparison))
    chosen = [each for each in _chosen(comparison) if each.key not in unjudged]
    if not chosen:
        return replace(comparison, why=unjudged)
    pods = [each.before for each in chosen], [each.after for each in chosen]
    before, after = (
        simulate(one, replace(by, watch=frozenset(map(_key, filter(None, some)))), progress=progress)
        for one, by, some in zip(inventories, sides, pods, strict=True)
    )
    found: dict[str, Cause] = {}
    nodes = [{_key(each): each.node for each in side.placements} for side in (comparison.before, comparison.after)]
    for change in chosen:
        was, now = change.before, change.after
        if was is None or now is None:
            continue
        verdicts = before.verdicts.get(_key(was)), after.verdicts.get(_key(now))
        if verdicts[0] is not None and verdicts[1] is not None:
            cause = _cause(was, now, verdicts[0], verdicts[1])
            gone = _earlier(nodes[0], nodes[1], _key(was), now.node)
            come = _earlier(nodes[1], nodes[0], _key(now), was.node)
            words = [f"; {listed(come, 1)} came to {was.node}"] if come else []
            words += [f"; {listed(gone, 1)} left {now.node}"] if gone else []
            then = words[-1 if now.node not in verdicts[0].total else 0] if words else ""
            found[change.key] = replace(cause, sentence=cause.sentence + then)
    return replace(comparison, why={**found, **unjudged})


def _unjudged(comparison: Comparison) -> Iterator[tuple[str, Cause]]:
    """Yield the pods that have a node on one side and are not judged on the other, with this cause."""
    parts = [
        {pod: part for part in side.unjudged for pod in part.pods} for side in (comparison.before, comparison.after)
    ]
    for change in comparison.moved:
        if change.before is None or change.after is None or None not in change.nodes:
            continue
        at = change.nodes.index(None)
        part = parts[at].get(_key((change.before, change.after)[at]))
        if part is not None:
            words = f"not judged {('before', 'after')[at]} the change: {part.what}; {part.because}"
            yield change.key, Cause("unjudged", "", words)


def _earlier(here: Mapping[str, str | None], there: Mapping[str, str | None], pod: str, node: str | None) -> list[str]:
    """Return the pods that ``here`` places on ``node`` before ``pod``, and that ``there`` does not place on it.

    ``here``, ``there``: pod → node in each simulation, in the order of placement.
    """
    earlier = takewhile(lambda key: key != pod, here)
    return [key for key in earlier if node is not None and here[key] == node != there.get(key)]


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
        return Cause("tie", "", "other pods were on other nodes at its attempt")
    return _preferred(old, new, before, after)


def _rejected(node: str, verdict: Verdict, when: str, nodes: Iterable[str]) -> Cause:
    """Return the cause for a node that only one simulation's filters accept; ``verdict`` is of the other."""
    rejection = verdict.rejected.get(node)
    if rejection is None:
        missing = node not in verdict.nodes and node in nodes
        words = f"{node} does not exist{when}" if missing else verdict.error or f"{node} is not feasible{when}"
        return Cause("filter", "", words)
    verb = "rejected" if when else "rejects"
    return Cause("filter", rejection.plugin, f"{rejection.plugin} {verb} {node}{when}: {', '.join(rejection.reasons)}")


def _preferred(old: str, new: str, before: Verdict, after: Verdict) -> Cause:
    """Return the cause if both nodes are feasible in both simulations: the score by which the new node gained most."""
    leads = [
        {plugin: side.scores[new].get(plugin, 0) - side.scores[old].get(plugin, 0) for plugin in side.points}
        for side in (before, after)
    ]
    won = {plugin: leads[1].get(plugin, 0) - leads[0].get(plugin, 0) for plugin in {**leads[0], **leads[1]}}
    plugin = max(won, key=lambda each: won[each], default="")
    if not plugin or won[plugin] <= 0:
        equal = after.total[old] == after.total[new]
        words = f"{old} and {new} have equal points" if equal else f"{old} was not scored"
        return Cause("tie", "", words)
    points = leads[0].get(plugin, 0), leads[1].get(plugin, 0)
    words = f"{plugin} gives {new} {points[1]:+d} points compared with {old}, before {points[0]:+d}"
    return Cause("score", plugin, words, points)
