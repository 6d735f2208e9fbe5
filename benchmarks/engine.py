"""The engine alone: pods placed one after another on a cluster in memory, timed one by one."""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass

import msgspec

from benchmarks.clusters import node, placed, pod
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.workload import Service
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework


@dataclass(frozen=True, slots=True)
class Work:
    """What is placed on what.

    Attributes:
        kind: of pod, see `benchmarks.clusters.constraints`; ``default`` has a Service and no constraints of its own.
        apps: workloads that take turns.
    """

    kind: str
    nodes: int = 5_000
    init: int = 5_000
    measure: int = 5_000
    apps: int = 1


@dataclass(frozen=True, slots=True)
class Timing:
    """Pods per second, and how long single placements took, in microseconds."""

    pods_per_second: float
    median: float
    p99: float
    unplaced: int = 0


def build(work: Work) -> tuple[Scheduler, list[Pod]]:
    """The cluster with its pods there, and a template for each workload."""
    cluster = Cluster()
    for i in range(work.nodes):
        tainted = work.kind == "honor" and i % 10 == 0
        cluster.add_node(msgspec.convert(node(i, tainted=tainted), Node))
    plain = cluster.pod_class(msgspec.convert(pod("init", "none", "plain"), Pod))
    for name, row in placed(work.nodes, work.init):
        cluster.bind(f"ns/{name}", plain, row)
    apps = [f"app-{i}" for i in range(work.apps)]
    if work.kind == "default":
        services = [{"metadata": {"name": app, "namespace": "ns"}, "spec": {"selector": {"app": app}}} for app in apps]
        cluster.objects.add(msgspec.convert(services, list[Service]))
    scheduler = Scheduler(cluster, {"default-scheduler": Framework(default_profile(), gates_for())})
    return scheduler, [msgspec.convert(pod("", work.kind, app), Pod) for app in apps]


def measure(work: Work) -> Timing:
    """Place the pods of the work; building the cluster is not timed."""
    scheduler, templates = build(work)
    gc.collect()
    gc.freeze()
    times = []
    unplaced = 0
    begin = time.perf_counter()
    for i in range(work.measure):
        start = time.perf_counter()
        placement = scheduler.schedule(templates[i % work.apps], f"m-{i:06d}")
        times.append(time.perf_counter() - start)
        unplaced += placement.node is None
    seconds = time.perf_counter() - begin
    gc.unfreeze()
    times.sort()
    return Timing(
        pods_per_second=work.measure / seconds,
        median=statistics.median(times) * 1e6,
        p99=times[int(0.99 * (len(times) - 1))] * 1e6,
        unplaced=unplaced,
    )
