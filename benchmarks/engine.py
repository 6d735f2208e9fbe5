"""The engine alone: pods placed one after another on a cluster in memory, timed one by one, in a process of its own.

python -m benchmarks.engine '{"kind": "hard2", "nodes": 5000}'    prints a Timing as JSON
"""

from __future__ import annotations

import gc
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import msgspec

from benchmarks.clusters import KEYS, NO_KEYS, node, placed, pod
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.workload import Service
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Placement, Scheduler
from topospread.scheduling.framework import Framework


@dataclass(frozen=True, slots=True)
class Work:
    """What is placed on what.

    Attributes:
        kind: of pod, see `benchmarks.clusters.constraints`; ``default`` has a Service and no constraints of its own.
        init: pods that are there before.
        measure: pods that are placed.
        apps: workloads they belong to.
        order: whether workloads take turns, come one after another, or at random.
    """

    kind: str
    nodes: int = 5_000
    init: int = 5_000
    measure: int = 5_000
    apps: int = 1
    order: Literal["turns", "after", "random"] = "turns"

    def sequence(self) -> Iterator[int]:
        """Which workload each measured pod belongs to."""
        draw = random.Random(2)
        for i in range(self.measure):
            if self.order == "random":
                yield draw.randrange(self.apps)
            else:
                yield i * self.apps // self.measure if self.order == "after" else i % self.apps


@dataclass(frozen=True, slots=True)
class Timing:
    """What was measured.

    Attributes:
        pods_per_second: over all measured pods.
        median, p99: of single placements, in microseconds.
        seconds: for all measured pods.
        unplaced: pods that stayed pending.
        peak_mb: the largest resident size of the process, in MB.
        bytes_per_node, bytes_per_pod: growth of the resident size while nodes, and pods there before, were added.
        evaluated: rows whose own points were evaluated, per placement.
        compared: heads of buckets that were compared, per placement.
    """

    pods_per_second: float
    median: float
    p99: float
    seconds: float
    unplaced: int
    peak_mb: float
    bytes_per_node: float
    bytes_per_pod: float
    evaluated: float
    compared: float


def measure(work: Work) -> Timing:
    """Place the pods of the work in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.engine", json.dumps(asdict(work))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Timing(**json.loads(done.stdout))


def resident() -> int:
    """The process's resident size, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def _cluster(work: Work) -> tuple[Cluster, float, float]:
    """The cluster with its pods there, and what a node and a pod took, in bytes."""
    cluster = Cluster()
    begin = resident()
    for i in range(work.nodes):
        tainted = work.kind == "honor" and i % 10 == 0
        keys = KEYS.get(work.kind, NO_KEYS)
        cluster.add_node(msgspec.convert(node(i, tainted=tainted, keys=keys), Node))
    with_nodes = resident()
    plain = cluster.pod_class(msgspec.convert(pod("init", "none", "plain"), Pod))
    for name, row in placed(work.nodes, work.init):
        cluster.bind(f"ns/{name}", plain, row)
    with_pods = resident()
    return cluster, (with_nodes - begin) / work.nodes, (with_pods - with_nodes) / max(work.init, 1)


def _scheduler(cluster: Cluster, work: Work) -> tuple[Scheduler, list[Pod]]:
    """Return a scheduler for the cluster, and a pod of each workload."""
    apps = [f"app-{i}" for i in range(work.apps)]
    if work.kind == "default":
        services = [{"metadata": {"name": app, "namespace": "ns"}, "spec": {"selector": {"app": app}}} for app in apps]
        cluster.objects.add(msgspec.convert(services, list[Service]))
    scheduler = Scheduler(cluster, {"default-scheduler": Framework(default_profile(), gates_for())})
    return scheduler, [msgspec.convert(pod("", work.kind, app), Pod) for app in apps]


def placements(work: Work) -> Iterator[Placement]:
    """Place the pods of the work in this process."""
    scheduler, templates = _scheduler(_cluster(work)[0], work)
    for i, app in enumerate(work.sequence()):
        yield scheduler.schedule(templates[app], f"m-{i:06d}")


def _measure(work: Work) -> dict[str, Any]:
    cluster, per_node, per_pod = _cluster(work)
    scheduler, templates = _scheduler(cluster, work)
    gc.collect()
    gc.freeze()
    times = []
    unplaced = 0
    begin = time.perf_counter()
    for i, app in enumerate(work.sequence()):
        start = time.perf_counter()
        placement = scheduler.schedule(templates[app], f"m-{i:06d}")
        times.append(time.perf_counter() - start)
        unplaced += placement.node is None
    seconds = time.perf_counter() - begin
    times.sort()
    timing = Timing(
        pods_per_second=work.measure / seconds,
        median=times[len(times) // 2] * 1e6,
        p99=times[int(0.99 * (len(times) - 1))] * 1e6,
        seconds=seconds,
        unplaced=unplaced,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        bytes_per_node=per_node,
        bytes_per_pod=per_pod,
        evaluated=scheduler.work.rows / work.measure,
        compared=scheduler.work.heads / work.measure,
    )
    return asdict(timing)


if __name__ == "__main__":
    print(json.dumps(_measure(Work(**json.loads(sys.argv[1])))))
