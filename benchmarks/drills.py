"""N-1: every node of a large cluster fails, each from the same beginning; how long that takes with all processes.

python -m benchmarks.drills '{"nodes": 1000, "pods": 20000, "workloads": 200}'    prints what was measured as JSON
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from benchmarks.clusters import node
from topospread.api.inventory import Inventory
from topospread.api.node import Node
from topospread.api.workload import Deployment
from topospread.drill.each import drill_each
from topospread.drill.forked import cores
from topospread.simulation.options import SimulationOptions

ZONE = "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class NodeLosses:
    """What was measured.

    Attributes:
        seconds: for all nodes, the beginning included, in which every pod is placed.
        cpu: seconds of CPU that this took in all processes.
        processes: at work at once.
        short: how many of the drills do not hold.
    """

    nodes: int
    pods: int
    seconds: float
    cpu: float
    processes: int
    short: int


def cluster(nodes: int, pods: int, workloads: int) -> Inventory:
    """Nodes in zones, and Deployments with a hard constraint over them."""
    return Inventory(
        nodes=[msgspec.convert(node(i, tainted=False), Node) for i in range(nodes)],
        deployments=[msgspec.convert(deployment(i, pods // workloads), Deployment) for i in range(workloads)],
    )


def deployment(number: int, replicas: int) -> dict[str, Any]:
    """A Deployment with a hard constraint on the zone, as a manifest."""
    labels = {"app": f"app-{number}"}
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [container], "topologySpreadConstraints": [constraint]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"app-{number}", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def every_node(nodes: int = 1000, pods: int = 20_000, workloads: int = 200) -> NodeLosses:
    """Fail one node after the other."""
    inventory = cluster(nodes, pods, workloads)
    begin, busy = time.perf_counter(), _cpu()
    found = drill_each(inventory, "node", SimulationOptions())
    seconds = time.perf_counter() - begin
    return NodeLosses(nodes, pods, seconds, _cpu() - busy, cores(), sum(not each.holds for each in found.outcomes))


def _cpu() -> float:
    """Seconds of CPU, those of processes that are over included."""
    return sum(os.times()[:4])


def main() -> None:
    """Measure, and print JSON."""
    given = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    print(json.dumps(asdict(every_node(**given)) | {"load": os.getloadavg()[0]}))


if __name__ == "__main__":
    main()
