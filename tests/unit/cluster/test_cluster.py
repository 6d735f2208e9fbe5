"""One surface for what happens: repeats, order, and updates that say nothing new."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.forks import fork
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.policy import PodDisruptionBudget
from topospread.api.workload import ReplicaSet, Service
from topospread.cluster import Cluster
from topospread.cluster.nodes import NON_ZERO_CPU
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

ZONE = "topology.kubernetes.io/zone"


def node(name: str, zone: str = "a", **more: Any) -> Node:
    status = {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "9"}, **more.pop("status", {})}
    return msgspec.convert({"metadata": {"name": name, "labels": {ZONE: zone}, **more}, "status": status}, Node)


def pod(name: str, on: str = "", *, cpu: str = "1", **more: Any) -> Pod:
    status = more.pop("status", {})
    spec = {"nodeName": on or None, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **more}
    metadata = {"name": name, "namespace": "ns", "labels": {"app": "web"}}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, Pod)


def budget(allowed: int) -> PodDisruptionBudget:
    spec, status = {"selector": {"matchLabels": {"app": "web"}}}, {"disruptionsAllowed": allowed}
    return msgspec.convert(
        {"metadata": {"name": "b", "namespace": "ns"}, "spec": spec, "status": status}, PodDisruptionBudget
    )


def owned(replicas: int) -> ReplicaSet:
    spec = {"selector": {"matchLabels": {"app": "web"}}, "replicas": replicas}
    return msgspec.convert({"metadata": {"name": "rs", "namespace": "ns"}, "spec": spec}, ReplicaSet)


def cluster(*items: KubeObject) -> Cluster:
    made = Cluster()
    for item in items:
        made.apply("ADDED", item)
    return made


def scheduler(made: Cluster) -> Scheduler:
    return Scheduler(made, {"default-scheduler": Framework(default_profile(), gates_for())})


def used(made: Cluster, name: str) -> int:
    """Millicores that pods on a node take."""
    row = made.nodes.row_of[name]
    return int(made.nodes.used[row, made.nodes.resource("cpu")])


def test_a_pod_that_is_told_of_twice_counts_once() -> None:
    made = cluster(node("n"), pod("p", "n", cpu="100m"))
    assert not made.apply("ADDED", pod("p", "n", cpu="100m"))
    made.add_pod(pod("p", "n", cpu="100m"))
    assert used(made, "n") == 100


def test_a_resized_pod_takes_what_it_takes_now() -> None:
    made = cluster(node("n"), pod("p", "n", cpu="100m"))
    assert made.apply("MODIFIED", pod("p", "n", cpu="300m"))
    assert used(made, "n") == 300


def test_an_empty_map_of_what_is_allocated_is_no_map_that_is_missing() -> None:
    """kube-scheduler asks for nil: where nothing is allocated the default stands in, 100m where 50m are requested."""
    told = {"containerStatuses": [{"name": "c", "allocatedResources": {}}]}
    made = cluster(node("n"), pod("p", "n", cpu="50m", status=told))
    made.apply("ADDED", pod("q", "n", cpu="50m"))
    assert int(made.nodes.used[made.nodes.row_of["n"], NON_ZERO_CPU]) == 100 + 50


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_ends_frees_its_node(phase: str) -> None:
    made = cluster(node("n"), pod("p", "n"))
    assert made.apply("MODIFIED", pod("p", "n", status={"phase": phase}))
    assert used(made, "n") == 0


def test_pods_that_come_before_their_node_count_once_it_comes() -> None:
    made = cluster(pod("p", "n", cpu="100m"), pod("gone", "n", cpu="100m"))
    made.apply("DELETED", pod("gone", "n"))
    assert not made.placed
    made.apply("ADDED", node("n"))
    assert used(made, "n") == 100


def test_pods_of_a_node_that_goes_count_again_when_it_comes_back() -> None:
    made = cluster(node("n"), pod("p", "n", cpu="100m"))
    made.apply("DELETED", node("n"))
    assert not made.placed
    made.apply("ADDED", node("n"))
    assert used(made, "n") == 100


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            node("n", status={"conditions": [{"type": "Ready", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}]}),
            node("n", status={"conditions": [{"type": "Ready", "lastHeartbeatTime": "2026-01-01T00:00:10Z"}]}),
        ),
        (node("n", resourceVersion="1"), node("n", resourceVersion="2")),
        (pod("p", "n", status={"phase": "Pending"}), pod("p", "n", status={"phase": "Running"})),
        (owned(1), owned(5)),
        (
            Service(metadata=msgspec.structs.replace(owned(1).metadata, resource_version="1")),
            Service(metadata=msgspec.structs.replace(owned(1).metadata, resource_version="2")),
        ),
    ],
)
def test_what_scheduling_does_not_read_changes_nothing(before: KubeObject, after: KubeObject) -> None:
    made = cluster(node("n"), before)
    position = made.journal.position
    assert not made.apply("MODIFIED", after)
    assert made.journal.position == position


def test_a_budget_that_changes_is_one_budget_and_renews_no_view() -> None:
    made = cluster(*(node(f"n{i}") for i in range(3)), budget(1))
    asked = scheduler(made)
    asked.verdict(pod("new"))
    made.apply("MODIFIED", budget(0))
    asked.verdict(pod("new"))
    assert len(made.objects.pod_disruption_budgets) == 1
    assert asked.work.built == 1


def test_what_preemption_found_is_forgotten_when_a_budget_changes() -> None:
    made = cluster(node("n"), pod("there", "n"), budget(1))
    asked, important = scheduler(made), pod("new", priority=10)
    verdict = asked.pending_verdict(important)
    assert asked.pending_preemption(important, verdict).candidates[0].violations == 0
    made.apply("MODIFIED", budget(0))
    assert asked.pending_preemption(important, verdict).candidates[0].violations == 1


def test_promises_are_by_name_and_go_with_their_node() -> None:
    promised = pod("promised", priority=10, status={"nominatedNodeName": "n"})
    made = cluster(node("n"), promised)
    assert len(made.nominated) == 1
    made.apply("DELETED", node("n"))
    made.apply("ADDED", node("other"))
    assert not made.nominated
    assert scheduler(made).verdict(pod("new")).feasible == ("other",)
    made.apply("ADDED", node("n"))
    assert scheduler(made).verdict(pod("new")).feasible == ("other",)
    made.apply("MODIFIED", pod("promised", priority=10))
    assert scheduler(made).verdict(pod("new")).feasible == ("n", "other")


def test_a_promised_pod_that_comes_on_a_node_is_promised_nothing() -> None:
    made = cluster(node("n"), node("other"), pod("promised", priority=10, status={"nominatedNodeName": "n"}))
    made.apply("MODIFIED", pod("promised", "other", priority=10))
    assert not made.nominated
    assert made.placed == {"ns/promised": made.nodes.row_of["other"]}


def test_a_savepoint_puts_back_which_node_said_first_how_large_an_image_is() -> None:
    def with_image(name: str, size: int) -> Node:
        return node(name, status={"images": [{"names": ["i"], "sizeBytes": size}]})

    made = cluster(with_image("first", 10), with_image("second", 20))
    made.apply("DELETED", with_image("first", 10))
    made.apply("ADDED", with_image("first", 30))
    with made.savepoint():
        made.apply("DELETED", with_image("second", 20))
        made.apply("DELETED", with_image("first", 30))
        made.apply("ADDED", with_image("third", 40))
    image = made.nodes.images.get("i")
    assert image is not None
    assert (image.size, len(image.rows)) == (20, 2)


def test_a_fork_writes_nothing_into_what_it_was_made_of() -> None:
    made = cluster(node("n"), node("m"), pod("p", "n", cpu="100m"))
    position, forked = made.journal.position, fork(made)
    forked.apply("DELETED", pod("p", "n"))
    forked.apply("DELETED", node("m"))
    assert (made.journal.position, used(made, "n"), used(forked, "n")) == (position, 100, 0)
    assert sorted(made.nodes.row_of) == ["m", "n"]


def test_a_port_that_two_pods_have_is_free_once_one_goes_until_the_other_is_heard_of_again() -> None:
    ports = {"containers": [{"name": "c", "ports": [{"hostPort": 80, "protocol": "TCP"}]}]}
    first, second = pod("first", "n", **ports), pod("second", "n", **ports)
    made = cluster(node("n"), first, second)
    made.apply("DELETED", first)
    assert not made.ports.users("TCP", 80)
    assert made.apply("MODIFIED", second)
    assert made.ports.users("TCP", 80)


def test_rows_with_less_important_pods_are_known_as_pods_come_and_go_and_in_a_fork() -> None:
    cluster = Cluster()
    rows = {name: cluster.add_node(node(name)) for name in ("a", "b")}
    cluster.add_pod(pod("low", "a", priority=1))
    cluster.add_pod(pod("high", "b", priority=5))
    assert cluster.rows_below(1) == set()
    assert cluster.rows_below(5) == fork(cluster).rows_below(5) == {rows["a"]}
    with cluster.savepoint():
        cluster.delete_pod("ns/low")
        assert cluster.rows_below(5) == set()
    assert cluster.rows_below(6) == {rows["a"], rows["b"]}
