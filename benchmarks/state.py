"""The cluster as something that lives: going back after a node failed, heartbeats, and a week of churn.

python -m benchmarks.state drill    prints a Drill as JSON
python -m benchmarks.state churn '{"days": 7}'    prints a list of days
python -m benchmarks.state pending    prints microseconds for each of 20,000 replicas that fit nowhere
"""

from __future__ import annotations

import gc
import json
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from msgspec.structs import replace

import topospread
from benchmarks.clusters import node, pod
from benchmarks.engine import resident
from topospread.api.node import Node, NodeCondition
from topospread.api.node_selection import Taint
from topospread.api.pod import Pod
from topospread.cluster import Cluster, NodeTable
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.simulation.simulate import simulate

NODES, PODS, WORKLOADS = 5_000, 100_000, 200
_REPLICAS = 20_000
_UNREACHABLE = [
    Taint(key="node.kubernetes.io/unreachable", effect="NoSchedule"),
    Taint(key="node.kubernetes.io/unreachable", effect="NoExecute"),
]


@dataclass(frozen=True, slots=True)
class Churn:
    """How much happens: every day so many pod events, by rollouts to new revisions, and so many nodes replaced.

    Attributes:
        events: pods created, placed or deleted, each day.
        replaced: nodes, each day, by ones with new names and labels.
    """

    nodes: int = NODES
    pods: int = PODS
    workloads: int = 2_000
    days: int = 7
    events: int = 150_000
    replaced: int = 500


@dataclass(frozen=True, slots=True)
class Day:
    """A day's end.

    Attributes:
        resident_mb: the process's resident size.
        microseconds: a placement, on average, of a pod whose workload has placed one that day.
        classes, views, values: entries that are kept.
    """

    resident_mb: float
    microseconds: float
    classes: int
    views: int
    values: int


@dataclass(frozen=True, slots=True)
class Drill:
    """What was measured on 5,000 nodes with 100,000 pods, in milliseconds (medians).

    Attributes:
        failure: a savepoint, a node fails, its pods are placed again, and back.
        heartbeat: a node object that says nothing new to scheduling, in microseconds.
    """

    failure: float
    heartbeat: float


def measured() -> dict[str, Any]:
    """The drill, seven days of churn, and events about volumes, each in a process of its own."""
    drilled, churned = _apart("benchmarks.state", "drill"), _apart("benchmarks.state", "churn", "{}")
    return {
        "drill": drilled,
        "churn": churned,
        "pending": _apart("benchmarks.state", "pending"),
        "volumes": _apart("benchmarks.volume_events"),
        "losses": _apart("benchmarks.drills"),
    }


def _apart(*words: str) -> Any:
    command = [sys.executable, "-m", *words]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def full_cluster() -> tuple[Scheduler, list[Pod]]:
    """The cluster, filled by the scheduler itself, and the workloads' pods."""
    cluster = Cluster()
    for i in range(NODES):
        cluster.apply("ADDED", msgspec.convert(node(i, tainted=False), Node))
    scheduler = Scheduler(cluster, {"default-scheduler": Framework(default_profile(), gates_for())})
    templates = [msgspec.convert(pod("", "hard", f"app-{i}"), Pod) for i in range(WORKLOADS)]
    for i in range(PODS):
        scheduler.schedule(templates[i * WORKLOADS // PODS], f"p-{i}")
    gc.collect()
    gc.freeze()
    return scheduler, templates


def drill() -> Drill:
    """Fail one node after another, each time from the same state."""
    scheduler, _ = full_cluster()
    cluster = scheduler.cluster
    draw = random.Random(1)
    rows = draw.sample(range(NODES), 400)
    failures = [_timed(lambda row=row: _fail(scheduler, row)) for row in rows]
    heartbeats = [_timed(lambda row=row, i=i: _beat(cluster.nodes, cluster, row, i)) for i, row in enumerate(rows)]
    # The first ones make the views that the others find.
    return Drill(median(failures[300:]) * 1e3, median(heartbeats) * 1e6)


def _timed(work: Any) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _fail(scheduler: Scheduler, row: int) -> None:
    cluster = scheduler.cluster
    with cluster.savepoint():
        there = list(cluster.on_node[row].items())
        failed = cluster.nodes.nodes[row]
        assert failed is not None
        cluster.put_node(replace(failed, spec=replace(failed.spec, taints=_UNREACHABLE)))
        for key, _ in there:
            cluster.delete_pod(key)
        for key, pod_class in there:
            placement = scheduler.schedule(pod_class.pod, f"{key}-anew")
            assert placement.node is not None


def pending() -> float:
    """Microseconds of a simulation for each of many replicas that fit nowhere, the fastest of five."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("", "hard", "web")["spec"]}
    template["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1000"}}
    spec = {"replicas": _REPLICAS, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    names = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "ns"}}
    items = [{"apiVersion": "v1", "kind": "Node", **node(i, tainted=False)} for i in range(100)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*items, {**names, "spec": spec}]}))
        inventories = [topospread.load(str(path)) for _ in range(5)]
    return min(_timed(lambda each=each: simulate(each)) for each in inventories) / _REPLICAS * 1e6


def _beat(nodes: NodeTable, cluster: Cluster, row: int, i: int) -> None:
    there = nodes.nodes[row]
    assert there is not None
    heartbeat = NodeCondition(type="Ready", last_heartbeat_time=f"2026-01-01T00:{i // 60:02}:{i % 60:02}Z")
    assert not cluster.apply("MODIFIED", replace(there, status=replace(there.status, conditions=[heartbeat])))


def churn(work: Churn) -> list[Day]:
    """Go through the days: workloads roll out new revisions one after another, nodes are replaced."""
    cluster = Cluster()
    for i in range(work.nodes):
        cluster.apply("ADDED", _numbered(i))
    scheduler = Scheduler(cluster, {"default-scheduler": Framework(default_profile(), gates_for())})
    each = work.pods // work.workloads
    for app in range(work.workloads):
        _roll_out(scheduler, app, 0, each)
    draw, revision, made, days = random.Random(1), 0, work.nodes, []
    for _ in range(work.days):
        events, seconds, placed, replaced = 0, 0.0, 0, 0
        while events < work.events:
            revision += 1
            app = draw.randrange(work.workloads)
            for i in range(each):
                cluster.delete_pod(f"ns/app-{app}-{i}")
            spent, count = _roll_out(scheduler, app, revision, each)
            seconds, placed, events = seconds + spent, placed + count, events + 3 * each
            if replaced < work.replaced * events // work.events:
                _replace_node(cluster, draw, made)
                made, replaced = made + 1, replaced + 1
        values = len(cluster.nodes.labels("kubernetes.io/hostname").values)
        days.append(Day(resident() / 1e6, seconds / placed * 1e6, len(cluster.classes), len(scheduler.views), values))
    return days


def _numbered(i: int) -> Node:
    return msgspec.convert(node(i, tainted=False), Node)


def _roll_out(scheduler: Scheduler, app: int, revision: int, pods: int) -> tuple[float, int]:
    """Place the pods of a new revision; seconds for all but the first, and how many these are."""
    template = msgspec.convert(pod("", "hard", f"app-{app}"), Pod)
    labels = {**template.labels, "pod-template-hash": f"{revision:x}"}
    template = replace(template, metadata=replace(template.metadata, labels=labels))
    begin = 0.0
    for i in range(pods):
        if i == 1:
            begin = time.process_time()
        assert scheduler.schedule(template, f"app-{app}-{i}").node is not None
    return time.process_time() - begin, pods - 1


def _replace_node(cluster: Cluster, draw: random.Random, number: int) -> None:
    """A node goes, its pods with it, and one with another name comes; the workloads have fewer pods until they roll."""
    name = draw.choice(list(cluster.nodes.row_of))
    for key in cluster.remove_node(name):
        cluster.delete_pod(key)
    cluster.apply("ADDED", _numbered(number))


if __name__ == "__main__":
    if sys.argv[1] == "drill":
        print(json.dumps(asdict(drill())))
    elif sys.argv[1] == "pending":
        print(json.dumps(pending()))
    else:
        print(json.dumps([asdict(day) for day in churn(Churn(**json.loads(sys.argv[2])))]))
