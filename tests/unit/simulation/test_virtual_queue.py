"""Pods that found no node are tried again when something happens that may help them, and in the queue's order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import topospread
from tests.parted import parted
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate

Json = dict[str, Any]


def _node(name: str, cpu: str = "4") -> Json:
    labels = {"kubernetes.io/hostname": name}
    allocatable = {"cpu": cpu, "memory": "8Gi", "pods": "10"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": allocatable},
    }


def _pod(name: str, cpu: str, namespace: str = "d", **spec: object) -> Json:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "namespace": namespace, "uid": name, "labels": {"app": name.rstrip("0123456789")}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def _near(app: str, **where: object) -> Json:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}, **where}
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def _simulated(folder: Path, *items: Json, **options: Any) -> Simulation:
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return simulate(topospread.load(str(file)), **parted(options))


def _nodes(result: Simulation) -> dict[str, str | None]:
    return {each.name: each.node for each in result.placements}


def test_a_pod_that_may_not_preempt_takes_what_another_one_s_victim_leaves(tmp_path: Path) -> None:
    there = _pod("there", "4", priority=0, nodeName="n1")
    polite = _pod("polite", "3", priority=10, preemptionPolicy="Never")
    rude = _pod("rude", "1", priority=9)
    result = _simulated(tmp_path, _node("n1"), there, polite, rude)
    assert _nodes(result) == {"polite": "n1", "rude": "n1"}


def test_a_pod_that_preempts_waits_for_its_turn_with_the_node_promised_to_it(tmp_path: Path) -> None:
    nodes = [_node("n1"), _node("n2")]
    there = [_pod("victim", "4", priority=0, nodeName="n1"), _pod("stays", "2", priority=99, nodeName="n2")]
    pods = [_pod("rude", "3", priority=10), _pod("meanwhile", "1", priority=5), _pod("too-large", "2", priority=5)]
    result = _simulated(tmp_path, *nodes, *there, *pods)
    # Nothing is on n1 as yet when the others are tried, so it scores better than n2; what is promised is not taken.
    assert _nodes(result) == {"rude": "n1", "meanwhile": "n1", "too-large": "n2"}
    assert {each.name: each.nominated_node for each in result.placements}["rude"] == "n1"


def test_replicas_that_preempt_one_after_another_each_make_room_elsewhere(tmp_path: Path) -> None:
    nodes = [_node(f"n{i}") for i in range(3)]
    there = [_pod(f"low{i}", "4", priority=0, nodeName=f"n{i}") for i in range(3)]
    result = _simulated(tmp_path, *nodes, *there, *(_pod(f"high{i}", "3", priority=10) for i in range(4)))
    assert sorted(node or "" for node in _nodes(result).values()) == ["", "n0", "n1", "n2"]
    assert len(result.evictions) == 3


def test_a_pod_is_placed_once_the_pod_it_wants_near_is_there(tmp_path: Path) -> None:
    result = _simulated(tmp_path, _node("n1"), _pod("late", "1", priority=5, **_near("first")), _pod("first", "1"))
    assert _nodes(result) == {"late": "n1", "first": "n1"}


def test_five_minutes_bring_back_a_pod_whose_hint_misses_the_other_namespace(tmp_path: Path) -> None:
    # InterPodAffinity's hint asks a namespaceSelector without the namespace's labels.
    prod = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "prod", "labels": {"env": "prod"}}}
    near = _near("first", namespaceSelector={"matchLabels": {"env": "prod"}})
    late = _pod("late", "1", priority=5, **near)
    result = _simulated(tmp_path, _node("n1"), prod, late, _pod("first", "1", namespace="prod"))
    assert _nodes(result) == {"late": "n1", "first": "n1"}


def test_of_pods_that_one_event_helps_the_more_important_one_comes_first(tmp_path: Path) -> None:
    wanting = [_pod(f"late{priority}", "3", priority=priority, **_near("first")) for priority in (5, 7, 6)]
    result = _simulated(tmp_path, _node("n1"), *wanting, _pod("first", "1"), preemption=False)
    assert _nodes(result) == {"first": "n1", "late7": "n1", "late5": None, "late6": None}


def test_a_stateful_set_goes_on_when_its_first_pod_is_placed_later(tmp_path: Path) -> None:
    labels = {"app": "db"}
    template = {"metadata": {"labels": labels}, "spec": {**_pod("db", "1")["spec"], **_near("first"), "priority": 5}}
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "d"},
        "spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": template},
    }
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 5}
    template["spec"] |= {"priorityClassName": "high"}
    del template["spec"]["priority"]
    result = _simulated(tmp_path, _node("n1"), high, stateful, _pod("first", "1"))
    assert _nodes(result) == {"db-0": "n1", "db-1": "n1", "db-2": "n1", "first": "n1"}


@pytest.mark.parametrize("version", ["1.32", "1.37"])
def test_waits_end_also_where_pods_are_not_popped_before_their_time(tmp_path: Path, version: str) -> None:
    late = _pod("late", "1", priority=5, **_near("first"))
    result = _simulated(tmp_path, _node("n1"), late, _pod("first", "1"), kube_version=version)
    assert _nodes(result) == {"late": "n1", "first": "n1"}


def test_a_pod_that_cannot_be_judged_does_not_keep_the_run_from_ending(tmp_path: Path) -> None:
    claims = _pod("claims", "1", priority=5, resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
    result = _simulated(tmp_path, _node("n1"), claims, *(_pod(f"p{i}", "1") for i in range(5)))
    assert _nodes(result) == {"claims": None, "p0": "n1", "p1": "n1", "p2": "n1", "p3": "n1", "p4": None}
