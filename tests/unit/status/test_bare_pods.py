"""Bare pods that are alike are looked at together, and told one by one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plain_inventory import inventory
from topospread.answers.status import status
from topospread.status import status as bare_pods

ZONE = "topology.kubernetes.io/zone"


def node(name: str, zone: str, **spec: Any) -> dict[str, Any]:
    amounts = {"cpu": "8", "memory": "8Gi", "pods": "20"}
    metadata = {"name": name, "labels": {ZONE: zone, "kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": {"allocatable": amounts}}


def pod(name: str, on: str, app: str) -> dict[str, Any]:
    selects = {"labelSelector": {"matchLabels": {"app": app}}}
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"} | selects
    spec = {"nodeName": on, "containers": [{"name": "c", "image": "i"}], "topologySpreadConstraints": [spread]}
    metadata = {"name": name, "namespace": "shop", "uid": name, "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}}


def test_what_is_said_of_each_is_its_own_and_each_class_is_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    looked_at = bare_pods.looked_at

    def noted(workload: Any, *given: Any) -> Any:
        asked.append(workload.name)
        return looked_at(workload, *given)

    monkeypatch.setattr(bare_pods, "looked_at", noted)
    there = [node("a", "a"), node("b", "b"), node("shut", "a", unschedulable=True)]
    pods = [pod(f"web-{i}", on, "web") for i, on in enumerate(("a", "shut", "b"))]
    found = status(inventory(*there, *pods, pod("db", "b", "db"))).workloads
    assert asked == ["web-0", "db"]
    assert {each.name: (each.existing, [one.node for one in each.refused]) for each in found} == {
        "db": (1, []),
        "web-0": (1, []),
        "web-1": (1, ["shut"]),
        "web-2": (1, []),
    }
    assert {each.constraints[0].skew for each in found if each.name != "db"} == {1}
    assert {each.name: {(one.domain, one.lost) for one in each.losses} for each in found}["web-2"] == {("b", 1)}
