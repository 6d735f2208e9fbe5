"""Deadlocks of a PodGroup and a spread constraint, each played by a simulation as well."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from topospread.config.gates import gates_for
from topospread.lint.run import lint
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate
from topospread.sources.load import load

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
LABELS = {"app": "training"}
RULE = "group-spread-deadlock"


def node(name: str, **labels: str) -> Json:
    status = {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "99"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def group(minimum: int, key: str = "") -> Json:
    spec: Json = {"schedulingPolicy": {"gang": {"minCount": minimum}}}
    if key:
        spec["schedulingConstraints"] = {"topology": [{"key": key}]}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": spec}


def job(count: int, **constraint: object) -> Json:
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **constraint}
    spec = {
        "restartPolicy": "Never",
        "schedulingGroup": {"podGroupName": "g"},
        "containers": [{"name": "c", "image": "x:1", "resources": {"requests": {"cpu": "1"}}}],
        "topologySpreadConstraints": [{"labelSelector": {"matchLabels": LABELS}, **spread}],
    }
    template = {"metadata": {"labels": LABELS}, "spec": spec}
    whole = {"parallelism": count, "completions": count, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "g"}, "spec": whole}


def found(folder: Path, nodes: list[Json], *items: Json) -> list[str]:
    cluster, manifests = folder / "cluster.json", folder / "app.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    manifests.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    report = lint([str(manifests)], cluster=str(cluster))
    return [f"{each.place.object}: {each.message}" for each in report if each.rule == RULE]


def placed(folder: Path) -> int:
    values = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
    both = gates_for("1.37", values), gates_for("1.37", values, component="apiserver")
    options = SimulationOptions(gates=both[0], apiserver_gates=both[1])
    result = simulate(load([str(folder / "cluster.json"), str(folder / "app.json")]), options)
    return sum(each.node is not None for each in result.placements)


def test_both_places_are_named(tmp_path: Path) -> None:
    nodes = [node("a", rack="a1", **{ZONE: "a"}), node("b", rack="b1", **{ZONE: "b"})]
    assert found(tmp_path, nodes, group(4, "rack"), job(4)) == [
        f"PodGroup default/g: maxSkew 1 over {ZONE} of Job default/g admits at most 1 of 4 pods that the group needs "
        "at once (spec.template.spec.topologySpreadConstraints[0])",
        f"Job default/g: maxSkew 1 over {ZONE} admits at most 1 of 4 pods that PodGroup default/g needs at once "
        "(spec.schedulingConstraints.topology[0])",
    ]


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([group(4), job(4, minDomains=3)], True),  # two zones, each with maxSkew pods
        ([group(2), job(4, minDomains=3)], False),
        ([group(4), job(4)], False),
        ([group(4, ZONE), job(4, whenUnsatisfiable="ScheduleAnyway")], False),
        ([group(4, ZONE), job(4, maxSkew=4)], False),
        ([group(4, ZONE), job(4, labelSelector={"matchLabels": {"app": "other"}})], False),
    ],
)
def test_what_is_a_deadlock(items: list[Json], *, says: bool, tmp_path: Path) -> None:
    nodes = [node("a", **{ZONE: "a"}), node("b", **{ZONE: "b"})]
    assert bool(found(tmp_path, nodes, *items)) == says


def test_others_that_the_constraint_counts_may_raise_the_minimum(tmp_path: Path) -> None:
    nodes = [node("a", **{ZONE: "a"}), node("b", **{ZONE: "b"})]
    other = job(4)
    other["metadata"] = {"name": "other"}
    del other["spec"]["template"]["spec"]["schedulingGroup"]
    assert not found(tmp_path, nodes, group(4, ZONE), job(4), other)


def test_a_simulation_places_none_where_it_is_said_and_all_where_it_is_not(tmp_path: Path) -> None:
    draw = Random(7)
    said = 0
    for _ in range(60):
        racks = [(f"r{index}", draw.choice("abc")) for index in range(draw.randrange(1, 5))]
        nodes = [node(f"{rack}-{index}", rack=rack, **{ZONE: zone}) for rack, zone in racks for index in range(2)]
        count = draw.randrange(1, 6)
        more = {"minDomains": draw.randrange(2, 4)} if draw.random() < 0.5 else {}
        key = draw.choice(("", "rack", ZONE))
        deadlock = found(tmp_path, nodes, group(count, key), job(count, maxSkew=draw.randrange(1, 4), **more))
        said += bool(deadlock)
        assert placed(tmp_path) == (0 if deadlock else count), (nodes, key, more, deadlock)
    assert 10 < said < 50
