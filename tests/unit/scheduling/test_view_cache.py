"""What is remembered is counted: it grows with what there is, not with views times classes, and goes with what goes."""

from __future__ import annotations

import gc
from typing import Any

import msgspec

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def scheduler_of(nodes: int) -> Scheduler:
    cluster = Cluster()
    for i in range(nodes):
        metadata = {"name": f"node-{i}", "labels": {ZONE: f"zone-{i % 3}", HOST: f"node-{i}"}}
        status = {"allocatable": {"cpu": "64", "pods": "5000"}}
        cluster.add_node(msgspec.convert({"metadata": metadata, "status": status}, Node))
    return Scheduler(cluster, {"default-scheduler": Framework(default_profile(), gates_for())})


def spread(labels: dict[str, str]) -> dict[str, Any]:
    selector = {"matchLabels": labels}
    hard = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return {"topologySpreadConstraints": [hard]}


def replica(app: str, spec: dict[str, Any], **labels: str) -> Pod:
    metadata = {"name": app, "namespace": "default", "labels": {"app": app, **labels}}
    return msgspec.convert({"metadata": metadata, "spec": {"containers": [{"name": "c"}], **spec}}, Pod)


def test_classes_that_select_the_same_pods_share_counts_and_groups() -> None:
    scheduler = scheduler_of(300)
    pods = [replica(f"app-{i}", spread({"team": "one"}), team="one") for i in range(20)]
    for turn in range(10):
        for i, pod in enumerate(pods):
            assert scheduler.schedule(pod, f"app-{i}-{turn}").node is not None

    views = [scheduler.view(scheduler.cluster.shared_class(pod)) for pod in pods]
    counts = {each.counts for view in views for each in view.plugins.prepared["PodTopologySpread"].watcher.hard}

    assert len(counts) == 1
    assert len(scheduler.cluster.selections) == 1
    assert len({view.node_local for view in views}) == 1
    assert len(views[0].node_local._groups) == 1


def test_views_that_are_dropped_leave_no_selections() -> None:
    scheduler = scheduler_of(3)
    cluster = scheduler.cluster
    for i in range(30):
        scheduler.schedule(replica(f"app-{i}", spread({"app": f"app-{i}"})), f"app-{i}")
    assert len(cluster.selections) == 30

    del scheduler
    gc.collect()

    assert len(cluster.selections) == 0
