"""Random situations: small clusters in zones, one workload, one or two constraints; equal seeds give equal ones."""

from __future__ import annotations

import random
from typing import Any

from conformance.field.situations import HOST, ZONE

Json = dict[str, Any]

RACK = "example.com/rack"
TIER = "tier"
DEDICATED = "dedicated"


def situations(seed: int, count: int) -> list[Json]:
    """``count`` situations, named after their number."""
    return [_situation(random.Random(f"{seed}/{i}"), f"drawn-{i:03d}") for i in range(count)]


def _situation(draw: random.Random, name: str) -> Json:
    zones = ["a", "b", "c", "d"][: draw.randint(2, 4)]
    nodes = [each for zone in zones for each in _nodes(draw, zone)]
    if draw.random() < 0.6:
        _fill(draw, nodes)
    asked = _pod(draw)
    return {
        "name": name,
        "nodes": nodes,
        "pods": _standing(draw, nodes, asked),
        "pod": asked,
        "pools": _pools(draw, zones),
    }


def _nodes(draw: random.Random, zone: str) -> list[Json]:
    out = []
    for number in range(draw.choice([0, 1, 1, 1, 2])):
        labels = {ZONE: zone}
        if draw.random() < 0.5:
            labels[RACK] = f"r{draw.randint(1, 3)}"
        if draw.random() < 0.5:
            labels[TIER] = draw.choice(["front", "back"])
        made: Json = {"name": f"{zone}{number + 1}", "labels": labels}
        if draw.random() < 0.2:
            made["taints"] = [_taint(draw)]
        if draw.random() < 0.1:
            made["unschedulable"] = True
        out.append(made)
    return out


def _taint(draw: random.Random) -> Json:
    return {"key": DEDICATED, "value": "batch", "effect": draw.choice(["NoSchedule", "NoSchedule", "PreferNoSchedule"])}


def _fill(draw: random.Random, nodes: list[Json]) -> None:
    """Leave no room: the pod is pending whatever its constraints say."""
    most = draw.choice([0.5, 1.0])
    for each in nodes:
        if draw.random() < most:
            each["full"] = True


def _pod(draw: random.Random) -> Json:
    labels = {"app": "web", "pod-template-hash": draw.choice(["old", "new"])}
    keys = draw.choice([[ZONE], [ZONE], [ZONE], [HOST], [RACK], [ZONE, HOST], [ZONE, RACK]])
    out: Json = {"labels": labels, "constraints": [_constraint(draw, key) for key in keys]}
    if draw.random() < 0.2:
        out["nodeSelector"] = {TIER: draw.choice(["front", "back"])}
    if draw.random() < 0.15:
        term = {"key": TIER, "operator": draw.choice(["NotIn", "Exists", "DoesNotExist"])}
        wanted: Json = term | ({"values": ["back"]} if term["operator"] == "NotIn" else {})
        terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
        out["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    if draw.random() < 0.2:
        out["tolerations"] = [{"key": DEDICATED, "operator": "Exists"}]
    return out


def _constraint(draw: random.Random, key: str) -> Json:
    out: Json = {
        "maxSkew": draw.choice([1, 1, 1, 2]),
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway" if draw.random() < 0.2 else "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    if out["whenUnsatisfiable"] == "DoNotSchedule" and draw.random() < 0.3:
        out["minDomains"] = draw.randint(2, 5)
    if draw.random() < 0.3:
        out["nodeTaintsPolicy"] = draw.choice(["Honor", "Honor", "Ignore"])
    if draw.random() < 0.2:
        out["nodeAffinityPolicy"] = draw.choice(["Honor", "Ignore", "Ignore"])
    if draw.random() < 0.2:
        out["matchLabelKeys"] = ["pod-template-hash"]
    elif draw.random() < 0.06:
        del out["labelSelector"]
    elif draw.random() < 0.06:
        out["labelSelector"] = {"matchLabels": {"app": "api"}}
    return out


def _standing(draw: random.Random, nodes: list[Json], asked: Json) -> list[Json]:
    out = []
    for _ in range(draw.randint(0, 7) if nodes else 0):
        made: Json = {"on": draw.choice(nodes[: draw.choice([1, 2, len(nodes)])])["name"]}
        if draw.random() < 0.25:
            made["labels"] = asked["labels"] | {"pod-template-hash": "old"}
        if draw.random() < 0.08:
            made["terminating"] = True
        if draw.random() < 0.1:
            made |= {"bare": True, "plain": True}
        if draw.random() < 0.05:
            made |= {"labels": {"app": "api"}, "plain": True}
        out.append(made)
    return out


def _pools(draw: random.Random, zones: list[str]) -> list[Json]:
    out: list[Json] = [{"name": "one", "zones": sorted(draw.sample(zones, draw.randint(1, len(zones))))}]
    if draw.random() < 0.4:
        out.append({"name": "two", "zones": sorted(draw.sample(zones, draw.randint(1, len(zones))))})
    for each in out:
        if draw.random() < 0.4:
            each["labels"] = {TIER: draw.choice(["front", "back"])}
        if draw.random() < 0.15:
            each["taints"] = [_taint(draw)]
    return out
