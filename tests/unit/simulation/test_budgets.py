"""Disruption budgets during a simulation: completed from spec and pods, and recounted between evictions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parted import parted
from tests.unit.controllers.manifests import Json, inventory, workload
from topospread.simulation import budgets
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate

HIGH = {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}


def node(name: str) -> Json:
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}


def running(name: str, on: str, app: str, owner: Json | None = None, *, ready: bool = True) -> Json:
    metadata: Json = {"name": name, "namespace": "default", "uid": name, "labels": {"app": app}}
    if owner:
        reference = {"apiVersion": "apps/v1", "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": "o"}
        metadata["ownerReferences"] = [reference | {"controller": True}]
    requests = {"cpu": "3"}
    containers = [{"name": "c", "image": "i", "resources": {"requests": requests}}]
    spec = {"nodeName": on, "schedulerName": "default-scheduler", "priority": 0, "containers": containers}
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": str(ready)}]}
    return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def waiting(name: str) -> Json:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"priorityClassName": "high", "containers": containers},
    }


def budget(status: Json | None = None, app: str = "web", **spec: Any) -> Json:
    made: Json = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }
    return made | ({"status": status} if status else {})


def web(replicas: int, kind: str = "ReplicaSet") -> Json:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]
    made = workload(kind, "web", replicas=replicas, pod={"containers": containers})
    made["metadata"] |= {"uid": "o", "namespace": "default"}
    return made


def simulated(*objects: Json, **options: Any) -> Simulation:
    return simulate(inventory(HIGH, *objects), **parted(options))


def evicted(simulation: Simulation) -> list[str]:
    return [each.name for each in simulation.evictions]


def notes(simulation: Simulation) -> list[str]:
    return [note for note in simulation.notes if "PodDisruptionBudget" in note]


class TestCompleted:
    @pytest.mark.parametrize(
        ("spec", "allowed"),
        [
            ({"maxUnavailable": 1}, "1 eviction"),
            ({"maxUnavailable": "50%"}, "1 eviction"),
            ({"maxUnavailable": 0}, "0 evictions"),
            ({"minAvailable": 1}, "1 eviction"),
            ({"minAvailable": "51%"}, "0 evictions"),
            ({"minAvailable": 0}, "2 evictions"),
            ({}, "2 evictions"),
        ],
    )
    def test_from_spec_and_pods(self, spec: Json, allowed: str) -> None:
        replicas = web(2)
        pods = [running(f"web-{i}", f"n{i}", "web", replicas) for i in (1, 2)]
        result = simulated(node("n1"), node("n2"), replicas, *pods, budget(**spec))
        assert notes(result) == [
            "PodDisruptionBudget default/web has no status: computed from its spec and 2 healthy of 2 pods, it allows "
            f"{allowed}"
        ]

    def test_many_budgets_are_one_note(self) -> None:
        replicas = web(2)
        pods = [running(f"web-{i}", f"n{i}", "web", replicas) for i in (1, 2)]
        none, one = budget(maxUnavailable=0), budget(maxUnavailable=1)
        budgets = [each | {"metadata": each["metadata"] | {"name": f"p{i}"}} for i, each in enumerate([none, one, one])]
        (note,) = notes(simulated(node("n1"), node("n2"), replicas, *pods, *budgets))
        assert note == (
            "3 PodDisruptionBudgets have no status: computed from their specs and healthy pods, 1 allows none: "
            "default/p0"
        )

    def test_pod_that_is_not_ready_is_not_healthy(self) -> None:
        replicas = web(2)
        pods = [running("web-1", "n1", "web", replicas), running("web-2", "n2", "web", replicas, ready=False)]
        (note,) = notes(simulated(node("n1"), node("n2"), replicas, *pods, budget(minAvailable=1)))
        assert "1 healthy of 2 pods, it allows 0 evictions" in note

    def test_pods_that_nobody_owns_allow_nothing_by_share(self) -> None:
        (note,) = notes(simulated(node("n1"), running("web", "n1", "web"), budget(maxUnavailable=1)))
        assert "of 0 pods, it allows 0 evictions" in note

    def test_nothing_is_said_of_budgets_whose_pods_are_all_new(self) -> None:
        # "0 healthy of 0 pods, it allows 0 evictions" told users of charts nothing they could use.
        assert notes(simulated(node("n1"), node("n2"), web(2), budget(maxUnavailable=1))) == []

    def test_status_that_is_there_is_taken(self) -> None:
        given = budget({"disruptionsAllowed": 0}, minAvailable=0)
        assert notes(simulated(node("n1"), running("web", "n1", "web"), given)) == []

    def test_without_preemption_nothing_is_said(self) -> None:
        assert notes(simulated(node("n1"), running("web", "n1", "web"), budget(), preemption=False)) == []


class TestRecounted:
    NODES = (node("n1"), node("n2"), node("n3"))

    @pytest.mark.parametrize(
        "status",
        [
            None,
            {"disruptionsAllowed": 1},
            {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2},
        ],
    )
    def test_second_preemption_finds_the_budget_used_up(self, status: Json | None) -> None:
        pods = [running("web-1", "n1", "web"), running("web-2", "n2", "web"), running("other", "n3", "other")]
        result = simulated(*self.NODES, *pods, budget(status, minAvailable=1), waiting("high-1"), waiting("high-2"))
        assert evicted(result) == ["web-1", "other"]

    def test_replacement_on_a_node_makes_room_again(self) -> None:
        replicas = web(1)
        pods = [running("web-1", "n1", "web", replicas)]
        free = node("n2")
        result = simulated(node("n1"), free, replicas, *pods, budget(minAvailable=1), waiting("high-1"))
        assert evicted(result) == []
        assert result.placement("high-1").node == "n2"

    def test_run_can_be_repeated(self) -> None:
        pods = [running("web-1", "n1", "web"), running("other", "n3", "other")]
        given = inventory(HIGH, *self.NODES, *pods, budget(minAvailable=1), waiting("high-1"), waiting("high-2"))
        first, second = (simulate(given) for _ in range(2))
        assert (evicted(first), notes(first)) == (evicted(second), notes(second))


def test_preemptor_is_nominated_and_its_victim_comes_back() -> None:
    replicas = web(1)
    pods = [running("web-1", "n1", "web", replicas)]
    result = simulated(node("n1"), replicas, *pods, waiting("high"))
    (eviction,) = result.evictions
    assert (eviction.name, eviction.node, eviction.preemptor) == ("web-1", "n1", "default/high")
    assert result.placement("high").nominated_node == "n1"
    again = result.placement(eviction.created_anew or "")
    assert (again.node, again.nominated_node) == (None, None)
    assert result.pending


def test_nothing_is_evicted_without_preemption() -> None:
    replicas = web(1)
    result = simulated(node("n1"), replicas, running("web-1", "n1", "web", replicas), waiting("high"), preemption=False)
    assert result.evictions == ()
    assert result.placement("high").node is None


@pytest.mark.parametrize(("version", "nodes"), [("1.18", "n1"), ("1.19", None), ("1.37", None)])
def test_stored_pod_that_never_preempts_is_heeded_since_1_19(version: str, nodes: str | None) -> None:
    never = waiting("high")
    never["metadata"] |= {"uid": "stored"}
    never["spec"] |= {"preemptionPolicy": "Never", "priority": 1000, "schedulerName": "default-scheduler"}
    result = simulated(node("n1"), running("low", "n1", "low"), never, kube_version=version)
    assert result.placement("high").node == nodes


def test_pods_that_stay_pending_do_not_count_the_budgets_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counted, on_nodes = [], budgets._Standing.on_nodes
    monkeypatch.setattr(budgets._Standing, "on_nodes", lambda self: counted.append(self) or on_nodes(self))
    stuck = [{**waiting(f"p{at}"), "spec": {**waiting("p")["spec"], "priority": 0}} for at in range(20)]
    for each in stuck:
        del each["spec"]["priorityClassName"]
    outcome = simulated(node("n0"), running("a", "n0", "web"), budget(minAvailable=1), *stuck)
    assert len([each for each in outcome.placements if each.node is None]) == 20
    assert len(counted) <= 2
