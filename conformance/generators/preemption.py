"""Random priorities, start times, budgets and nominations on a full cluster, so that evictions decide."""

from __future__ import annotations

from conformance.generators.draw import Draw, Json
from conformance.generators.pods import Pods
from conformance.generators.selectors import selector


def preemption(draw: Draw, pods: Pods, nodes: list[Json], bound: list[Json], incoming: list[Json]) -> Json:
    """Make the case one of preemption; returns the keys of the case that this adds."""
    for node in nodes:
        _shrink(draw, node)
    for pod in bound:
        _rank_bound(draw, pod)
    for pod in incoming:
        _rank_incoming(draw, pod)
    budgets = [_budget(draw, i) for i in range(draw.choice([0, 1, 1, 2, 3]))]
    nominated = [_nominated(draw, pods.plain(f"nominated{i}"), nodes) for i in range(draw.choice([0, 0, 1, 2]))]
    case: Json = {"preempt": True}
    if nominated:
        case["nominated"] = nominated
    if budgets:
        case["podDisruptionBudgets"] = budgets
    return case


def _shrink(draw: Draw, node: Json) -> None:
    allocatable = {
        "cpu": draw.choice(["1", "1500m", "2"]),
        "memory": "4Gi",
        "pods": draw.choice(["5", "110"]),
        "ephemeral-storage": "100Gi",
    }
    node["status"]["allocatable"] = node["status"]["capacity"] = allocatable
    if draw.chance(0.6):
        node["spec"].pop("taints", None)
        node["spec"].pop("unschedulable", None)


def _rank_bound(draw: Draw, pod: Json) -> None:
    pod["spec"]["priority"] = draw.choice([0, 0, 10, 10, 100])
    started = f"2026-01-01T{draw.randint(0, 3):02d}:{draw.choice([0, 30]):02d}:00Z"
    pod["status"] = {"phase": pod.get("status", {}).get("phase", "Running"), "startTime": started}
    requests = {"cpu": draw.choice(["100m", "300m", "600m"]), "memory": draw.choice(["64Mi", "1Gi"])}
    pod["spec"]["containers"][0]["resources"] = {"requests": requests}


def _rank_incoming(draw: Draw, pod: Json) -> None:
    pod["spec"]["priority"] = draw.choice([0, 10, 50, 100, 1000])
    if draw.chance(0.1):
        pod["spec"]["preemptionPolicy"] = "Never"
    requests = {"cpu": draw.choice(["500m", "900m", "1400m"]), "memory": draw.choice(["64Mi", "2Gi"])}
    pod["spec"]["containers"][0]["resources"] = {"requests": requests}
    pod["spec"]["containers"][0].pop("ports", None)


def _budget(draw: Draw, number: int) -> Json:
    matching = selector(draw, odd=False)
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": f"pdb{number}", "namespace": draw.namespace()},
        "spec": {"selector": matching, "maxUnavailable": 1},
        "status": {
            "disruptionsAllowed": draw.choice([0, 0, 1, 2]),
            "currentHealthy": 3,
            "desiredHealthy": 2,
            "expectedPods": 3,
            "observedGeneration": 1,
        },
    }


def _nominated(draw: Draw, pod: Json, nodes: list[Json]) -> Json:
    pod["spec"]["priority"] = draw.choice([0, 50, 1000])
    pod["status"] = {"nominatedNodeName": draw.choice(nodes)["metadata"]["name"]}
    return pod
