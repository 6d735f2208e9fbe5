"""Many pods that wait are moved, refused and put back together; one that is looked at is what it would have been."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plain_inventory import inventory
from tests.unit.drill.builders import at, node, spread, workload
from topospread.api.node_selection import Taint
from topospread.controllers.node_lifecycle import with_taints
from topospread.controllers.planned import QueuedPod
from topospread.drill.drill_run import DrillRun
from topospread.drill.result import StepOutcome
from topospread.drill.steps import Cordon, Fail, Wait
from topospread.scheduling.queued_pod_info import QueuedPodInfo
from topospread.scheduling.unschedulable_pods import UnschedulablePods
from topospread.simulation import batched_unschedulable_pods, virtual_queue
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import PodOutcome, Run, repeated

Queued = list[tuple[str, int, int, int]]


def lost() -> tuple[DrillRun, StepOutcome]:
    """A zone of forty nodes is lost, and eighty pods wait for the sake of their constraint."""
    there = [node(f"n{i}", "abc"[i % 3], cpu="9") for i in range(120)]
    wanted = [
        workload("Deployment", name, 120, {"topologySpreadConstraints": [spread(labelSelector=selects)]})
        for name in ("web", "api")
        for selects in [{"matchLabels": {"app": name}}]
    ]
    play = DrillRun(inventory(*there, *wanted), SimulationOptions(), {})
    play.begin()
    return play, play.go_on(Fail(at("zone=a")))


def waiting(play: DrillRun) -> Queued:
    infos = play.state.queue.queue.unschedulable.infos
    return [(each.key, each.timestamp, each.attempts, each.unschedulable_count) for each in infos]


def test_an_event_that_moves_many_pods_takes_up_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    play, _ = lost()
    taken_up: list[QueuedPodInfo] = []
    put = UnschedulablePods.put

    def noted(pods: UnschedulablePods, info: QueuedPodInfo) -> None:
        taken_up.append(info)
        put(pods, info)

    monkeypatch.setattr(UnschedulablePods, "put", noted)
    before = play.state.queue.queue.cycle
    play.go_on(Fail(at("node=n1")))
    tried = play.state.queue.queue.cycle - before

    assert tried > 80, "the taints brought all of them back"
    assert len(taken_up) < tried / 4


def test_a_pod_of_a_crowd_gets_its_last_outcome_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    play, _ = lost()
    written: list[PodOutcome] = []

    def noted(last: PodOutcome, run: Run, queued: QueuedPod) -> PodOutcome | None:
        outcome = repeated(last, run, queued)
        written.extend([outcome] if outcome is not None else [])
        return outcome

    monkeypatch.setattr(virtual_queue, "repeated", noted)
    before = play.state.queue.queue.cycle
    play.take(Fail(at("zone=b")), Wait(900))
    after = play.take(Wait(900), None)
    tried = play.state.queue.queue.cycle - before

    assert 0 < len(written) < tried / 4
    outcomes = [play.state.run.outcome(each.queued) for each in play.state.pods.waiting.values() if each.queued]
    assert {each.placement.message for each in outcomes if each} == {each.message for each in after.pending}


def test_pods_of_a_crowd_stand_where_they_would_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    for many in (1, 1 << 30):
        monkeypatch.setattr(batched_unschedulable_pods, "MANY", many)
        play, first = lost()
        second = play.go_on(Cordon(at("node=n1")))
        found.append((first.events, second.events, waiting(play), play.state.queue.queue.cycle))

    assert found[0] == found[1]
    assert max(attempts for _, _, attempts, _ in found[0][2]) > 10


def test_a_pod_that_is_deleted_out_of_a_crowd_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batched_unschedulable_pods, "MANY", 1)
    play, _ = lost()
    pods, keys = play.state.queue.queue.unschedulable, [key for key, *_ in waiting(play)]
    play.state.change_node(with_taints(play.state.node("n1"), [Taint(key="k", effect="NoSchedule")]))
    play.state.queue.queue.delete(keys[0])

    assert pods.batch is not None
    assert keys[0] not in pods.batch
    assert keys[1] in pods.batch
    play.state.settle()
    assert {key for key, *_ in waiting(play)} == set(keys[1:])
