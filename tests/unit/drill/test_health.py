"""Pods that the input says are not ready, and budgets with a status: counts, evictions and losses."""

from __future__ import annotations

import pytest

from topospread.drill.steps import AddNodes, Drain, Fail, Recover, Scale

from .builders import Json, at, budget, node, nodes, running, told, workload

THREE = nodes("a", "b", "c")


def evicted(*objects: Json, of: str = "a1") -> bool:
    found = told([*THREE, *objects], Drain(at(f"node={of}")))
    return not found.steps[1].not_evicted


@pytest.mark.parametrize("of", ["a1", "b1", "c1"])
def test_pods_that_are_not_ready_are_not_healthy(of: str) -> None:
    found = told([*THREE, *running(False, False, True), budget(minAvailable=2)], Drain(at(f"node={of}")))
    assert [each.why for each in found.steps[1].not_evicted] == [
        "The disruption budget shop/web needs 2 healthy pods and has 1 currently"
    ]
    assert "shop/web-a and shop/web-b are not ready in the input" in found.steps[0].remarks[0]


def test_a_pod_that_is_not_ready_is_evicted_while_its_budget_is_kept() -> None:
    assert evicted(*running(False, True, True), budget(minAvailable=2))
    assert not evicted(*running(False, True, True), budget(minAvailable=2), of="b1")
    assert not evicted(*running(False, True, True), budget(minAvailable=3))


def test_always_allow_lets_a_pod_that_is_not_ready_be_evicted() -> None:
    always = budget(minAvailable=3, unhealthyPodEvictionPolicy="AlwaysAllow")
    assert evicted(*running(False, True, True), always)
    assert not evicted(*running(False, True, True), always, of="b1")


def test_no_budget_guards_a_pod_that_has_not_started() -> None:
    assert evicted(*running(False, True, True, phase="Pending"), budget(minAvailable=3))


def test_the_new_pod_of_one_that_was_not_ready_is_ready() -> None:
    found = told([*THREE, *running(False, True, True)], Drain(at("node=a1")))
    (state,) = found.steps[1].changed
    assert (state.ready_before, state.fewest, state.ready) == (2, 2, 3)


def test_a_pod_stays_not_ready_when_its_node_returns_and_controllers_plan_again() -> None:
    steps = [Fail(at("node=a1")), Recover(at("node=a1")), AddNodes(1, "b1"), Scale("shop/deploy/web", 4)]
    forever = [{"operator": "Exists"}]
    objects = running(False, True, True)
    for each in objects:
        if each["kind"] == "Pod":
            each["spec"] = each["spec"] | {"tolerations": forever}
    found = told([*THREE, *objects], *steps)
    assert [each.ready for each in found.steps] == [2, 2, 2, 2, 3]


def test_pods_of_a_silent_node_are_ready_when_it_returns() -> None:
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
    three = [node("a1", "a", taints=[taint]), *nodes("b", "c")]
    found = told([*three, *running(False, True, True)], Recover(at("node=a1")))
    assert [each.ready for each in found.steps] == [2, 3]


def with_status(of: Json, **status: int) -> Json:
    return of | {"status": {"observedGeneration": 1, **status}}


def test_a_status_that_allows_no_eviction_counts() -> None:
    status = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 3}
    assert not evicted(*running(True, True, True), with_status(budget(minAvailable=2), **status))


def test_a_status_of_another_spec_is_ignored() -> None:
    status = {"disruptionsAllowed": 0, "currentHealthy": 3, "desiredHealthy": 3, "expectedPods": 3}
    assert evicted(*running(True, True, True), with_status(budget(minAvailable=2), **status))
    assert not evicted(*running(True, True, True), with_status(budget(minAvailable=3), **status))


def test_an_ordered_stateful_set_replaces_no_pod_after_one_that_is_not_ready() -> None:
    item = workload("StatefulSet", "db", 3)
    item["metadata"]["uid"] = "u"
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
    objects = [*THREE, item]
    for number, zone in enumerate("abc"):
        metadata = {"name": f"db-{number}", "namespace": "shop", "labels": {"app": "db"}, "ownerReferences": [owner]}
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": str(number != 0)}]}
        spec = item["spec"]["template"]["spec"] | {"nodeName": f"{zone}1"}
        objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": ready})
    found = told(objects, Drain(at("node=c1")))
    assert [(each.name, each.pods, each.ready) for each in found.harm.lost] == [("db", 1, 1)]
    assert any("shop/db-2 is not replaced: the StatefulSet waits" in each for each in found.steps[1].remarks)
    item["spec"]["podManagementPolicy"] = "Parallel"
    assert not told(objects, Drain(at("node=c1"))).harm
