"""KeylessCounts, through whole verdicts: under the built-in defaults no zone and an empty zone are one domain."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.judging.cases import judge_case
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.workload import Service
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

Json = dict[str, Any]
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
SERVICE: Json = {"metadata": {"name": "web", "namespace": "d"}, "spec": {"selector": {"app": "web"}}}


def node(name: str, zone: str | None) -> Json:
    labels = {HOST: name} | ({} if zone is None else {ZONE: zone})
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"pods": "20"}}}


def pod(name: str, on: str = "") -> Json:
    metadata = {"name": name, "namespace": "d", "labels": {"app": "web"}}
    return {"metadata": metadata, "spec": {"containers": [{"name": "c"}], **({"nodeName": on} if on else {})}}


def points(nodes: list[Json], pods: list[Json]) -> dict[str, int]:
    """Node → PodTopologySpread's points, which are twice what the plugin gives."""
    case = {"nodes": nodes, "pods": pods, "incoming": [pod("new")], "services": [SERVICE]}
    scores = judge_case(case)["verdicts"][0]["scores"]
    return {name: of_plugins.get("PodTopologySpread", 0) for name, of_plugins in scores.items()}


def test_pods_on_nodes_without_a_zone_count_for_the_empty_zone() -> None:
    nodes = [node("empty", ""), node("none", None), node("z", "z")]
    pods = [pod("1", "none"), pod("2", "z")]
    # Two zones, three hosts. empty: 1 · ln 4 + 4 + 2 → 7; none: 1 · ln 5 + 2 → 4; z: 1 · ln 4 + 4 + 1 · ln 5 + 2 → 9.
    assert points(nodes, pods) == {"empty": 2 * 66, "none": 2 * 100, "z": 2 * 44}


def test_no_zone_and_the_empty_zone_weigh_as_one_domain() -> None:
    pods = [pod(str(i), "a") for i in range(3)]
    apart = points([node("a", "a"), node("b", "b"), node("c", None)], pods)
    joined = points([node("a", "a"), node("b", ""), node("c", None)], pods)
    assert apart["b"] != joined["b"]


def test_counts_follow_pods_and_nodes_as_they_come() -> None:
    cluster = Cluster()
    for name, zone in (("empty", ""), ("none", None), ("z", "z")):
        cluster.add_node(msgspec.convert(node(name, zone), Node))
    cluster.objects.add([msgspec.convert(SERVICE, Service)])
    gates = gates_for("1.37", {})
    profile = default_profile("1.37", gates)
    scheduler = Scheduler(cluster, {"default-scheduler": Framework(profile, gates)})
    incoming = msgspec.convert(pod("new"), Pod)
    scheduler.verdict(incoming)
    cluster.add_pod(msgspec.convert(pod("1", "none"), Pod))
    cluster.add_node(msgspec.convert(node("z", None), Node))
    cluster.add_pod(msgspec.convert(pod("2", "z"), Pod))
    cluster.add_node(msgspec.convert(node("none", "y"), Node))
    kept_up = scheduler.verdict(incoming)
    anew = Scheduler(cluster, {"default-scheduler": Framework(profile, gates)}).verdict(incoming)
    assert kept_up.scores == anew.scores
    cluster.unbind("d/2")
    assert scheduler.verdict(incoming).scores != anew.scores
