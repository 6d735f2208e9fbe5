"""Hard constraints of 1.19 to 1.23 beside a plain count of ``calPreFilterState``, node by node."""

from __future__ import annotations

import random

import msgspec
import pytest

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

VALUES = [None, None, "", "a", "b"]


def node(name: str, zone: str | None, disk: str) -> Node:
    labels = {"disk": disk} | ({} if zone is None else {"zone": zone})
    given = {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"pods": "99"}}}
    return msgspec.convert(given, Node)


def pod(disk: str | None, max_skew: int) -> Pod:
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": max_skew, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    spec = {
        "containers": [{"name": "c"}],
        "topologySpreadConstraints": [constraint | {"labelSelector": selector}],
        "nodeSelector": {} if disk is None else {"disk": disk},
    }
    metadata = {"name": "p", "namespace": "default", "labels": {"app": "web"}}
    return msgspec.convert({"metadata": metadata, "spec": spec}, Pod)


def admitted(nodes: dict[str, Node], pods: list[tuple[str, str]], asked: Pod, max_skew: int) -> list[str]:
    """Return the nodes that the constraint and the node selector admit."""
    wanted = asked.spec.node_selector or {}
    eligible = [each for each in nodes.values() if "zone" in each.labels and wanted.items() <= each.labels.items()]
    counts = dict.fromkeys((each.labels["zone"] for each in eligible), 0)
    for _, name in pods:
        value = nodes[name].labels.get("zone", "")
        if value in counts:
            counts[value] += 1
    least = min(counts.values(), default=0)
    return sorted(each.name for each in eligible if counts[each.labels["zone"]] + 1 - least <= max_skew)


@pytest.mark.parametrize("version", ["1.19", "1.23"])
def test_pods_on_nodes_without_the_key_count_under_the_empty_value(version: str) -> None:
    gates = gates_for(version)
    told = 0
    for seed in range(30):
        draw = random.Random(f"{version} {seed}")
        cluster, nodes, pods = Cluster(), dict[str, Node](), list[tuple[str, str]]()
        scheduler = Scheduler(cluster, {"default-scheduler": Framework(default_profile(version, gates), gates)})
        asked = [(pod(disk, most), most) for disk in (None, "ssd") for most in (1, 2)]
        for step in range(25):
            what = draw.choice(["node", "pod", "pod", "relabel", "gone"]) if nodes else "node"
            if what in ("node", "relabel"):
                name = f"n{step}" if what == "node" else draw.choice(sorted(nodes))
                nodes[name] = node(name, draw.choice(VALUES), draw.choice(["ssd", "hdd"]))
                cluster.put_node(nodes[name])
            elif what == "pod":
                pods.append((f"default/q{step}", draw.choice(sorted(nodes))))
                cluster.bind(pods[-1][0], cluster.shared_class(asked[0][0]), cluster.nodes.row_of[pods[-1][1]])
            elif pods:
                cluster.unbind(pods.pop(draw.randrange(len(pods)))[0])
            for each, most in asked if nodes else ():
                found = list(scheduler.verdict(each).feasible)
                assert found == admitted(nodes, pods, each, most), (seed, step)
                told += bool(found) and any("zone" not in nodes[name].labels for _, name in pods)
    assert told > 50
