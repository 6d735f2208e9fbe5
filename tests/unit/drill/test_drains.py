"""Drains: budgets, bare pods, DaemonSets, and replacements without a place."""

from __future__ import annotations

from topospread.drill.drill_run import DrillRun
from topospread.drill.steps import Drain, Fail, Uncordon
from topospread.simulation.options import SimulationOptions

from .builders import at, budget, inventory, node, nodes, spread, told, workload

SPREAD = {"topologySpreadConstraints": [spread()]}


def test_a_budget_is_broken_by_a_failure_and_respected_by_a_drain() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=4), budget(maxUnavailable=1)]
    failed = told(objects, Fail(at("node=a1")))
    assert [(each.healthy, each.needed) for each in failed.breaches] == [(2, 3)]
    drained = told(objects, Drain(at("node=a1")))
    assert drained.breaches == ()
    assert [len(each.pods) for each in drained.steps[1].events if each.kind == "evicted"] == [1, 1]
    assert drained.verdict == "yes"


def test_what_a_budget_forbids_is_named() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=2, spec=SPREAD), budget(minAvailable=2)]
    found = told(objects, Drain(at("node=a1")))
    assert [each.why for each in found.steps[1].not_evicted] == [
        "The disruption budget shop/web needs 2 healthy pods and has 2 currently"
    ]
    assert found.verdict != "yes"
    forced = told(objects, Drain(at("node=a1"), forced=True))
    assert not forced.steps[1].not_evicted
    assert [each.budget for each in forced.breaches] == ["shop/web"]


def test_a_drain_gets_stuck_when_replacements_find_no_place() -> None:
    full = [node("a1", "a", cpu="3"), node("b1", "b", cpu="3")]
    found = told([*full, workload("Deployment", replicas=6), budget(maxUnavailable=1)], Drain(at("node=a1")))
    outcome = found.steps[1]
    assert len(outcome.not_evicted) == 2
    assert [len(each.pods) for each in outcome.pending] == [1]


def test_a_drain_leaves_daemon_pods_and_refuses_a_node_with_a_bare_one() -> None:
    bare = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bare", "namespace": "shop", "uid": "1"},
        "spec": {"nodeName": "a1", "containers": [{"name": "c", "image": "i"}]},
    }
    objects = [*nodes("a", "b"), workload("DaemonSet", "log"), workload("Deployment", replicas=2)]
    clean = told(objects, Drain(at("node=a1"))).steps[1]
    assert {pod.workload for each in clean.events if each.kind == "evicted" for pod in each.pods} == {"Deployment/web"}
    refused = told([*objects, bare], Drain(at("node=a1"))).steps[1]
    assert "evicted" not in {each.kind for each in refused.events}
    assert {each.name for each in refused.not_evicted if "no controller would recreate it" in each.why} == {"bare"}
    forced = told([*objects, bare], Drain(at("node=a1"), forced=True)).steps[1]
    assert {pod.name for each in forced.events if each.kind == "evicted" for pod in each.pods} > {"bare"}
    assert (forced.not_evicted, forced.replaced) == ((), 1)


def test_what_follows_an_eviction_may_be_done_before_the_next() -> None:
    """A StatefulSet's pod comes back when the old one is gone, a Deployment's at once: still either may be first."""
    there = [
        node("a1", "a"),
        node("b1", "b", cpu="1", unschedulable=True),
        workload("StatefulSet", "db", 1),
        workload("Deployment", "web", 1),
    ]
    placed = set()
    for number in range(16):
        play = DrillRun(inventory(*there), SimulationOptions(seed=number, draws=bool(number)), {}, number)
        play.play([Uncordon(at("node=b1")), Drain(at("node=a1"))])
        placed |= {(number % 8 < 4, each.labels["app"]) for each in play.state.pods.on(["b1"])}
    assert placed == {(slow, app) for slow in (True, False) for app in ("db", "web")}
