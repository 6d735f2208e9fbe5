"""Pods of one workload in different situations are told apart, each with its number of pods."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plain_inventory import inventory
from topospread import Session
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.controllers.planned import QueuedPod
from topospread.simulation.options import PLAIN
from topospread.simulation.run import Run, prepare
from topospread.why import what_if
from topospread.why.explain import explain_pending
from topospread.why.repeated_simulation import tried_pods

Json = dict[str, Any]
LABELS = {"app": "x"}
CONTAINERS = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "500m"}}}]
SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": LABELS},
}


def node(name: str, zone: str, **spec: object) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {ZONE: zone, HOSTNAME: name}},
        "spec": spec,
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }


NODES = [node("a1", "a"), node("a2", "a"), node("b1", "b"), node("b2", "b"), node("c1", "c", unschedulable=True)]


def controller(kind: str, replicas: int, **spec: object) -> Json:
    template = {
        "metadata": {"labels": LABELS},
        "spec": {"containers": CONTAINERS, "topologySpreadConstraints": [SPREAD]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "x", "namespace": "shop", "uid": "u"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template, **spec},
    }


def pod(number: int, **spec: object) -> Json:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "u", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"x-{number}", "namespace": "shop", "uid": f"{number}", "labels": LABELS}
        | {"ownerReferences": [owner]},
        "spec": {"containers": CONTAINERS, "schedulerName": "default-scheduler", "topologySpreadConstraints": [SPREAD]}
        | spec,
    }


def nine() -> Session:
    """Return four pods on nodes, two that want an SSD, one for zone c, one gated, and one of another scheduler."""
    return Session(
        [
            *NODES,
            controller("ReplicaSet", 9),
            *(pod(at, nodeName=name) for at, name in enumerate(("a1", "a2", "b1", "b2"))),
            pod(4),
            pod(5, schedulerName="other"),
            pod(6, nodeSelector={"disktype": "ssd"}),
            pod(7, nodeSelector={"disktype": "ssd"}),
            pod(8, schedulingGates=[{"name": "wait"}]),
        ]
    )


def test_a_workloads_pods_are_grouped_by_situation() -> None:
    found = nine().why("rs/x")
    assert [(each.pods, each.verdict, each.example) for each in found.situations] == [
        (4, "yes", "x-0"),
        (2, "no", "x-6"),
        (1, "no", "x-4"),
        (1, "no", "x-8"),
        (1, "unknown", "x-5"),
    ]
    codes = [[cause.code for cause in each.causes] for each in found.situations]
    assert codes == [[], ["label-missing", "cordoned"], ["spread-domain-full", "cordoned"], ["scheduling-gate"], []]
    assert found.says == "shop/x-4 finds no node; 4 of the 9 pods of ReplicaSet x have one"
    rows = [line for line in found.text(width=200).splitlines() if line.endswith(tuple("045689"))]
    assert [row.split()[0] for row in rows[-5:]] == ["4", "2", "1", "1", "?"]


def test_a_pod_has_no_situations_of_its_workload() -> None:
    assert nine().why("x-6").situations == ()


def test_each_situation_has_its_own_block_and_its_own_row() -> None:
    explained = nine().why()
    assert [each.name for each in explained.pods] == ["x-6", "x-4", "x-8"]
    rows = nine().status().pending
    assert [(len(each.pods), each.causes[0].code) for each in rows if each.verdict == "no"] == [
        (2, "label-missing"),
        (1, "spread-domain-full"),
        (1, "scheduling-gate"),
    ]
    assert [each.pods for each in nine().status().pending if each.verdict == "unknown"] == [("shop/x-5",)]


def test_pods_that_are_not_created_share_the_situation_of_the_pod_before_them() -> None:
    taken = controller("StatefulSet", 5)
    assert [(each.pods, each.verdict) for each in Session([*NODES, taken]).why("sts/x").situations] == [
        (2, "yes"),
        (3, "no"),
    ]


def test_pods_that_are_refused_leave_the_others_their_nodes() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "shop"},
        "spec": {"hard": {"pods": "2"}},
    }
    found = Session([*NODES, quota, controller("Deployment", 6)]).why("deploy/x")
    assert "the API server refuses it; 2 of the 6 pods of Deployment x have a node" in found.says
    assert "fix: none tried; if the pod exceeds a quota, raise the quota or request less" in found.text(width=120)


def test_many_situations_are_counted_and_not_explained() -> None:
    pods = [pod(at, containers=[wanting(at)]) for at in range(9)]
    asked = Session([*NODES, controller("ReplicaSet", 9), *pods])
    assert len(asked.why("rs/x").situations) == 9
    rows = asked.status().pending
    assert sum(len(each.pods) for each in rows) == 9
    assert rows[-1].says.startswith("4 further situations, for example: 0/5 nodes are available: ")


def wanting(number: int) -> Json:
    return {"name": "c", "image": "i", "resources": {"requests": {f"example.com/r{number}": "1"}}}


def test_the_end_of_a_simulation_is_counted_once_for_all_its_workloads(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Run] = []

    def counting(run: Run) -> list[QueuedPod]:
        counted.append(run)
        return tried_pods(run)

    monkeypatch.setattr(what_if, "tried_pods", counting)
    large = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "8"}}}]
    pods = [pod(at, containers=large) | {"metadata": {"name": f"x-{at}", "namespace": "shop"}} for at in range(9)]
    run = prepare(inventory(*NODES, *pods), PLAIN)
    found = explain_pending(inventory(), run, set(run.plan.workloads), suggest=False)
    assert len(found.pending) == 9
    assert len(counted) == 1
