"""A dry run restores the node that it tries, and leaves no trace in the journal."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.dry_run import DryRun
from topospread.scheduling.framework import Framework
from topospread.scheduling.view import Shared, View

FRAMEWORK = Framework(default_profile("1.37"), gates_for("1.37"))


def pod(name: str, port: int = 0, **requests: str) -> Pod:
    container: dict[str, Any] = {"name": "c", "resources": {"requests": requests}}
    if port:
        container["ports"] = [{"containerPort": port, "hostPort": port}]
    metadata = {"name": name, "namespace": "default"}
    return msgspec.convert({"metadata": metadata, "spec": {"containers": [container], "nodeName": "n"}}, Pod)


def cluster_with(*pods: Pod) -> Cluster:
    cluster = Cluster()
    allocatable = {"cpu": "2", "pods": "10"}
    cluster.add_node(msgspec.convert({"metadata": {"name": "n"}, "status": {"allocatable": allocatable}}, Node))
    for each in pods:
        cluster.add_pod(each)
    return cluster


def view_of(cluster: Cluster, incoming: Pod) -> View:
    free = msgspec.structs.replace(incoming, spec=msgspec.structs.replace(incoming.spec, node_name=None))
    return View(cluster, FRAMEWORK, cluster.shared_class(free), Shared())


def test_the_node_passes_without_a_pod_and_is_as_before_after_that() -> None:
    cluster = cluster_with(pod("a", 80, cpu="1"), pod("b", cpu="1"), pod("c"))
    view = view_of(cluster, pod("new", 80, cpu="1"))
    used, order, position = cluster.nodes.used.copy(), cluster.order.on(0), cluster.journal.position
    with DryRun(view, 0) as dry_run:
        dry_run.remove("default/b")
        assert not dry_run.passes()
        dry_run.remove("default/a")
        assert dry_run.passes()
        dry_run.add("default/b", cluster.shared_class(pod("b", cpu="1")))
        assert dry_run.passes()
    assert (cluster.nodes.used == used).all()
    assert cluster.order.on(0) == order
    assert cluster.journal.position == position
    assert [each for each in (("0.0.0.0", "TCP", 80),) if cluster.ports.among([each], 0)]


def test_a_pod_may_request_a_resource_that_no_node_and_no_pod_has() -> None:
    cluster = cluster_with(pod("a", cpu="1"))
    view = view_of(cluster, pod("new", cpu="1"))
    nominated = cluster.shared_class(pod("nominated", **{"example.com/gpu": "1"}))
    with DryRun(view, 0) as dry_run:
        dry_run.add("default/nominated", nominated)
        assert dry_run.passes()
    assert not cluster.nodes.used[0, cluster.nodes.resource("example.com/gpu")]


def test_an_added_pod_takes_its_ports_for_the_time_being() -> None:
    cluster = cluster_with(pod("a", cpu="1"))
    view = view_of(cluster, pod("new", 80))
    with DryRun(view, 0) as dry_run:
        assert dry_run.passes()
        dry_run.add("default/b", cluster.shared_class(pod("b", 80)))
        assert not dry_run.passes()
    with DryRun(view, 0) as dry_run:
        assert dry_run.passes()
