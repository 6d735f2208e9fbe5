"""SelectorSpread, through whole verdicts: its points are in them."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case

Json = dict[str, Any]

GROUP = "kubescheduler.config.k8s.io"
API_VERSIONS = {"1.18": "v1alpha2", "1.19": "v1beta1", "1.21": "v1beta1", "1.22": "v1beta2", "1.27": "v1beta2"}
SERVICE: Json = {"metadata": {"name": "web", "namespace": "d"}, "spec": {"selector": {"app": "web"}}}


def node(name: str, **labels: str) -> Json:
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"pods": "20"}}}


def pod(name: str, on: str = "", **spec: Any) -> Json:
    metadata = {"name": name, "namespace": "d", "labels": {"app": "web"}}
    return {"metadata": metadata, "spec": {"containers": [{"name": "c"}], **({"nodeName": on} if on else {}), **spec}}


def points(
    nodes: list[Json], pods: list[Json], incoming: Json, version: str = "1.27", name: str = "SelectorSpread"
) -> Json:
    """Node → points of SelectorSpread, which alone scores."""
    alone = {"disabled": [{"name": "*"}], "enabled": [{"name": name, "weight": 1}]}
    plugins = {"preScore": alone, "score": alone}
    api_version = f"{GROUP}/{API_VERSIONS[version]}"
    profile = {"schedulerName": "default-scheduler", "plugins": plugins}
    config = {"apiVersion": api_version, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    case = {"nodes": nodes, "pods": pods, "incoming": [incoming], "services": [SERVICE], "kubeVersion": version}
    scores = judge_case(case | {"config": config})["verdicts"][0]["scores"]
    return {name: sum(of_plugins.values()) for name, of_plugins in scores.items()}


def test_nodes_with_fewer_pods_of_the_service_are_better() -> None:
    nodes = [node("a"), node("b"), node("c")]
    assert points(nodes, [pod("1", "a"), pod("2", "a"), pod("3", "b")], pod("new")) == {"a": 0, "b": 50, "c": 100}


def test_two_thirds_are_the_zone() -> None:
    nodes = [node("a", **{"topology.kubernetes.io/zone": "x"}), node("b", **{"topology.kubernetes.io/zone": "x"})]
    nodes.append(node("c", **{"topology.kubernetes.io/zone": "y"}))
    assert points(nodes, [pod("1", "a")], pod("new")) == {"a": 0, "b": 33, "c": 100}


def test_a_node_without_a_zone_counts_alone() -> None:
    nodes = [node("a", **{"topology.kubernetes.io/zone": "x"}), node("b"), node("c")]
    assert points(nodes, [pod("1", "a"), pod("2", "b")], pod("new")) == {"a": 0, "b": 0, "c": 100}


def test_pods_with_constraints_of_their_own_are_not_scored() -> None:
    constraint = {"maxSkew": 1, "topologyKey": "x", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
    nodes = [node("a"), node("b")]
    assert points(nodes, [pod("1", "a")], pod("new", topologySpreadConstraints=[constraint])) == {"a": 0, "b": 0}


def test_terminating_pods_do_not_count() -> None:
    going = pod("1", "a")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert points([node("a"), node("b")], [going], pod("new")) == {"a": 100, "b": 100}


@pytest.mark.parametrize("version", ["1.19", "1.21", "1.22", "1.27"])
def test_the_score_is_the_same_in_all_versions(version: str) -> None:
    assert points([node("a"), node("b")], [pod("1", "a")], pod("new"), version) == {"a": 0, "b": 100}


def test_1_18_has_it_by_another_name() -> None:
    name = "DefaultPodTopologySpread"
    assert points([node("a"), node("b")], [pod("1", "a")], pod("new"), "1.18", name) == {"a": 0, "b": 100}
