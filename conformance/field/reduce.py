"""The smallest situation in which a difference still stands: whatever can go goes, and both are asked again."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.field import peers
from conformance.field.findings import Finding, compared
from conformance.field.situations import ZONE

Json = dict[str, Any]

ROUNDS = 40
OPTIONAL = ("minDomains", "nodeTaintsPolicy", "nodeAffinityPolicy", "matchLabelKeys")


@dataclass
class Reduction:
    """A situation on its way to being small.

    Attributes:
        answers: of kube-scheduler and the peer, in it.
        done: nothing more can go.
    """

    finding: Finding
    situation: Json
    answers: Json
    done: bool = False


def reduce(every: list[Reduction]) -> None:
    """Make the situation of each finding as small as it can be while it stands; all at once."""
    for number in range(ROUNDS):
        active = [each for each in every if not each.done]
        if not active:
            break
        print(f"round {number + 1}: {len(active)} to be made smaller", file=sys.stderr)
        for peer in sorted({each.finding.peer for each in active}):
            _round([each for each in active if each.finding.peer == peer], peer)


def _round(active: list[Reduction], peer: str) -> None:
    """Take the first simpler situation of each in which the difference still stands."""
    tried = [list(simpler(each.situation)) for each in active]
    situations = [situation for each in tried for situation in each]
    truth = peers.kube_scheduler(situations, ("again",) if peer == "descheduler" else ("now", "new"))
    said = _said(peer, situations)
    answers: list[Json] = [{"kube-scheduler": judged, peer: one} for judged, one in zip(truth, said, strict=True)]
    left = iter(answers)
    for each, steps in zip(active, tried, strict=True):
        each.done = True
        for situation in steps:
            found_now = next(left)
            kept = [found for found in compared(found_now) if found[:2] == each.finding[:2]]
            if kept and each.done:
                each.finding, each.situation, each.answers, each.done = kept[0], situation, found_now, False


def _said(peer: str, situations: list[Json]) -> list[Any]:
    """Asked less often: what does not show then is not taken."""
    if peer == "descheduler":
        return peers.descheduler(situations, times=2)
    return peers.karpenter(situations, times=8) if peer == "karpenter" else peers.ASKED[peer](situations)


def simpler(situation: Json) -> Iterator[Json]:
    """The situations that are one step smaller, the largest steps first."""
    for i, node in enumerate(situation["nodes"]):
        pods = [each for each in situation["pods"] if each["on"] != node["name"]]
        yield situation | {"nodes": _without(situation["nodes"], i), "pods": pods}
    pods = situation["pods"]
    if len(pods) > 3:
        yield situation | {"pods": pods[: len(pods) // 2]}
        yield situation | {"pods": pods[len(pods) // 2 :]}
    for i in range(len(pods)):
        yield situation | {"pods": _without(pods, i)}
    for i, pool in enumerate(situation["pools"]):
        yield situation | {"pools": _without(situation["pools"], i)}
        for zone in pool["zones"] if len(pool["zones"]) > 1 else ():
            yield _changed(situation, ["pools", i, "zones"], [each for each in pool["zones"] if each != zone])
    for i in range(len(situation["pod"]["constraints"])):
        yield _changed(situation, ["pod", "constraints"], _without(situation["pod"]["constraints"], i))
    yield from _plainer_pod(situation)
    yield from _plainer_cluster(situation)


def _plainer_pod(situation: Json) -> Iterator[Json]:
    """As many constraints, with less said about them."""
    for key in ("affinity", "nodeSelector", "tolerations"):
        yield from _dropped(situation, ["pod"], key)
    for i, constraint in enumerate(situation["pod"]["constraints"]):
        for key in OPTIONAL:
            yield from _dropped(situation, ["pod", "constraints", i], key)
        for key, value in (("maxSkew", 1),):
            if constraint[key] != value:
                yield _changed(situation, ["pod", "constraints", i, key], value)
        if constraint.get("labelSelector") != {"matchLabels": {"app": "web"}}:
            yield _changed(situation, ["pod", "constraints", i, "labelSelector"], {"matchLabels": {"app": "web"}})


def _plainer_cluster(situation: Json) -> Iterator[Json]:
    """As many nodes, pods and pools, with less said about them."""
    for i, node in enumerate(situation["nodes"]):
        for key in ("full", "taints", "unschedulable"):
            yield from _dropped(situation, ["nodes", i], key)
        keys = {ZONE, *(each["topologyKey"] for each in situation["pod"]["constraints"])}
        for label in set(node["labels"]) - keys:
            yield from _dropped(situation, ["nodes", i, "labels"], label)
    for i in range(len(situation["pods"])):
        for key in ("labels", "terminating", "bare", "plain"):
            yield from _dropped(situation, ["pods", i], key)
    for i in range(len(situation["pools"])):
        for key in ("labels", "taints"):
            yield from _dropped(situation, ["pools", i], key)


def _without(things: list[Any], index: int) -> list[Any]:
    return [*things[:index], *things[index + 1 :]]


def _at(situation: Json, path: list[Any]) -> Any:
    inner: Any = situation
    for step in path:
        inner = inner[step]
    return inner


def _dropped(situation: Json, path: list[Any], key: str) -> Iterator[Json]:
    if key in _at(situation, path):
        out = copy.deepcopy(situation)
        del _at(out, path)[key]
        yield out


def _changed(situation: Json, path: list[Any], value: Any) -> Json:
    out = copy.deepcopy(situation)
    _at(out, path[:-1])[path[-1]] = value
    return out
