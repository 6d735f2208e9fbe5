"""Pods that cannot be judged at all stay pending with kube-scheduler's words, and take nothing else down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import topospread
from topospread.simulation.simulate import simulate

_NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "uid": "1", "labels": {"zone": "a"}},
    "status": {"allocatable": {"cpu": "4", "pods": "10"}},
}


def _pod(name: str, selector: dict[str, Any]) -> dict[str, Any]:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    spec = {"containers": [{"name": "c"}], "topologySpreadConstraints": [constraint]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "uid": name, "namespace": "d"}, "spec": spec}


def test_a_stored_pod_whose_selector_does_not_compile_stays_pending_and_the_next_one_is_placed(tmp_path: Path) -> None:
    broken = _pod("broken", {"matchExpressions": [{"key": "a", "operator": "Foo"}]})
    sound = _pod("sound", {"matchLabels": {"app": "x"}})
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [_NODE, broken, sound]}))

    placements = {each.name: each for each in simulate(topospread.load(str(file))).placements}

    assert placements["broken"].node is None
    assert '"Foo" is not a valid label selector operator' in placements["broken"].message
    assert placements["sound"].node == "n1"


def test_pods_a_stateful_set_has_not_created_wait_for_the_first_that_is_pending(tmp_path: Path) -> None:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "2"}}}
    labels = {"app": "db"}
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "d"},
        "spec": {
            "replicas": 5,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [_NODE, stateful]}))
    result = simulate(topospread.load(str(file)))
    assert [each.node for each in result.placements] == ["n1", "n1", None, None, None]
    assert [len(each.pods) for each in result.pending] == [1, 2]
    assert result.pending[1].message == "not created: its StatefulSet waits for db-2, which is pending"
