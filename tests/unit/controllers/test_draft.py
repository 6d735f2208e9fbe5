"""A plan's queue in scheduling order, and the pods that bypass kube-scheduler."""

from __future__ import annotations

import pytest

from tests.unit.controllers.manifests import Json, container, inventory, names, node, pod, row, workload
from topospread.controllers.planner import plan

HIGH = {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}


class TestOrder:
    def test_input_order_across_kinds(self):
        result = plan(
            inventory(
                pod("a"), workload("StatefulSet", "b"), workload("Deployment", "c"), pod("d"), workload("Job", "e")
            )
        )
        assert [each.name for each in result.workloads] == ["a", "b", "c", "d", "e"]
        assert [each.workload.name for each in result.queue] == ["a", "b", "c", "d", "e"]

    def test_priority_then_age_then_input(self):
        result = plan(
            inventory(
                HIGH,
                workload("Deployment", "new"),
                pod("young", creationTimestamp="2026-01-02T00:00:00Z"),
                pod("old", creationTimestamp="2026-01-01T23:00:00-05:00"),
                pod("oldest", creationTimestamp="2026-01-01T00:00:00Z"),
                pod("without"),
                pod("urgent", priorityClassName="high"),
            )
        )
        assert [each.workload.name for each in result.queue] == ["urgent", "oldest", "young", "old", "new", "without"]
        assert [each.priority for each in result.queue][:2] == [1000, 0]

    def test_nothing_comes_before_what_it_waits_for(self):
        there = pod("db-0", "StatefulSet/db", labels={"app": "db"}, creationTimestamp="2026-01-01T00:00:00Z")
        item = workload("StatefulSet", "db", replicas=3, pod={"priorityClassName": "high"})
        assert names(plan(inventory(HIGH, item, there, pod("x", priority=10)))) == ["x", "db-0", "db-1", "db-2"]

    def test_objects_without_a_place_come_last(self):
        given = inventory(workload("Deployment", "a"), workload("Deployment", "b"))
        del given.places["Deployment", "default", "a"]
        assert [each.name for each in plan(given).workloads] == ["b", "a"]


def roomy(**allocatable: str) -> Json:
    return node("n1") | {"status": {"allocatable": {"pods": "110", "cpu": "4"} | allocatable}}


def test_template_bound_to_a_node_bypasses_kube_scheduler():
    result = plan(inventory(roomy(), workload("Deployment", "web", replicas=2, pod={"nodeName": "n1"})))
    assert result.queue == []
    assert len({each.name for each in result.bound}) == 2
    assert row(result, "web").existing == result.bound


@pytest.mark.parametrize(
    ("allocatable", "requests", "admitted", "short"),
    [
        ({}, {"cpu": "1"}, 3, "cpu"),
        ({"cpu": "8"}, {"cpu": "1"}, 6, ""),
        ({"pods": "3"}, {}, 2, "pods"),
        ({}, {"memory": "1"}, 0, "memory"),
        ({}, {"example.com/gpu": "1"}, 6, ""),
        ({"example.com/gpu": "1"}, {"example.com/gpu": "1"}, 1, "example.com/gpu"),
    ],
)
def test_a_kubelet_refuses_pods_that_its_node_has_no_room_for(allocatable, requests, admitted, short):
    there = pod("other", node_name="n1", containers=[container(requests={"cpu": "1"})])
    bound = {"nodeName": "n1", "containers": [container(requests=requests, limits=requests)]}
    result = plan(inventory(roomy(**allocatable), there, workload("Deployment", "web", replicas=6, pod=bound)))
    assert (len(row(result, "web").existing), len(result.queue)) == (admitted, 6 - admitted)
    assert {each.pod.spec.preemption_policy for each in result.queue} == ({"Never"} if short else set())
    refusal = [f"nodeName is n1, whose kubelet refuses its pods: OutOf{short}"] if short else []
    assert [each for each in row(result, "web").notes if "kubelet" in each] == refusal


def test_template_bound_to_a_missing_node_has_pods_that_wait():
    result = plan(inventory(node("n1"), workload("Deployment", "web", replicas=2, pod={"nodeName": "ghost"})))
    assert (len(result.queue), result.bound) == (2, [])
