"""What comes of the steps of a drill."""

from __future__ import annotations

from dataclasses import replace

import pytest

from topospread.drill.drill_run import DrillRun
from topospread.drill.result import StepOutcome, WorkloadState
from topospread.drill.steps import Cordon, Drain, Fail, Recover, Scale, Step, Uncordon, Wait
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

from .builders import at, happened, inventory, node, nodes, running, spread, told, workload

SPREAD = {"topologySpreadConstraints": [spread()]}
HONOR = {"topologySpreadConstraints": [spread(nodeTaintsPolicy="Honor")]}


def state(outcome: StepOutcome, name: str = "web") -> WorkloadState:
    return next(each for each in outcome.changed if each.name == name)


def test_the_beginning_is_what_a_simulation_says() -> None:
    objects = [*nodes("a", "b", "c"), workload("Deployment", replicas=7, spec=SPREAD)]
    begin = told(objects).steps[0]
    simulated = simulate(inventory(*objects))
    placed = {each.name: each.node for event in begin.events for each in event.pods}
    assert placed == {each.name: each.node for each in simulated.placements}


def test_pods_of_a_silent_node_go_after_the_grace_period_and_five_minutes() -> None:
    found = told([*nodes("a", "b"), workload("Deployment", replicas=2)], Fail(at("node=a1")))
    assert happened(found.steps[1]) == [
        (0, "down", 1),
        (50, "tainted", 1),
        (50, "tainted", 1),
        (350, "evicted", 1),
        (350, "placed", 1),
    ]
    assert state(found.steps[1]).ready == 2
    assert state(found.steps[1]).fewest == 1


def test_until_1_31_the_grace_period_is_forty_seconds() -> None:
    found = told([*nodes("a", "b"), workload("Deployment")], Fail(at("node=a1")), kube_version="1.31")
    assert [each.at for each in found.steps[1].events if each.kind == "tainted"] == [40, 40]


def test_toleration_seconds_of_the_pod_decide() -> None:
    toleration = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
    hasty = workload("Deployment", "web", 2, {"tolerations": [toleration | {"tolerationSeconds": 20}]})
    forever = workload("Deployment", "api", 2, {"tolerations": [toleration]})
    found = told([*nodes("a"), hasty, forever, node("b1", "b")], Fail(at("node=a1"))).steps[1]
    gone = [(each.at, {pod.workload for pod in each.pods}) for each in found.events if each.kind == "evicted"]
    assert gone == [(70, {"Deployment/web"})]
    assert any("api" in each and "no tolerationSeconds" in each for each in found.remarks)


def test_the_nodes_of_a_zone_are_tainted_ten_seconds_apart() -> None:
    found = told([*nodes("a", "a", "a", "b"), workload("Deployment", replicas=4)], Fail(at("zone=a")))
    times = [each.at for each in found.steps[1].events if each.detail.endswith("NoExecute")]
    assert times == [50, 60, 70]


def test_a_zone_of_which_most_is_silent_is_not_evicted_from() -> None:
    objects = [*nodes("a", "a", "a", "a", "b"), workload("Deployment", replicas=5)]
    found = told(objects, Fail(at("node=a1")), Fail(at("node=a2")), Fail(at("node=a3")))
    evicted = [
        {pod.node for pod in each.pods} for step in found.steps for each in step.events if each.kind == "evicted"
    ]
    assert evicted == [{"a1"}, {"a2"}]
    assert any("PartialDisruption" in each for each in found.steps[3].remarks)


def test_where_every_node_is_silent_nobody_is_evicted() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=2)]
    at_once = told(objects, Fail(at("zone=a")), Wait(0), Fail(at("zone=b")))
    assert "evicted" not in {each.kind for step in at_once.steps for each in step.events}
    assert any("every node is NotReady" in each for each in at_once.steps[3].remarks)


def test_of_pods_that_are_there_the_beginning_does_not_tell() -> None:
    there = [workload("Deployment", name, replicas=2) for name in ("web", "api")]
    first = DrillRun(inventory(*nodes("a", "b"), *there), SimulationOptions(), {})
    first.keeps_after = True
    placed = first.begin().after
    assert placed is not None
    play = DrillRun(placed, SimulationOptions(), {})
    assert play.begin().changed == ()
    assert play.go_on(Fail(at("node=a1"))).changed != ()


def test_a_node_that_is_back_in_time_loses_nothing() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=4)]
    found = told(objects, Fail(at("node=a1")), Wait(240), Recover(at("node=a1")))
    assert [each.kind for step in found.steps[1:] for each in step.events] == ["down", "tainted", "tainted", "up"]
    assert state(found.steps[1]).fewest == 2
    assert found.steps[3].ready == 4
    assert found.verdict == "yes"


def test_a_dead_zone_is_still_a_domain_unless_taints_are_honoured() -> None:
    zones = nodes("a", "a", "b", "b", "c", "c")
    ignored = told([*zones, workload("Deployment", replicas=6, spec=SPREAD)], Fail(at("zone=a")))
    assert [len(each.pods) for each in ignored.pending] == [2]
    assert [each.code for each in ignored.answer().causes] == ["zone-gone-counts", "taint"]
    honoured = told([*zones, workload("Deployment", replicas=6, spec=HONOR)], Fail(at("zone=a")))
    assert honoured.pending == ()
    assert honoured.verdict == "yes"


@pytest.mark.parametrize(
    ("replicas", "zones", "says"),
    [
        (
            3,
            "a",
            "yes: 2 pods are ready after 1 step, and no pod is newly pending; 1 pod of a StatefulSet is not replaced: ",
        ),
        (3, "ab", "no: 2 pods of StatefulSets are not replaced: shop/db has 1 of 3"),
        (
            2,
            "a",
            "yes: 1 pod is ready after 1 step, and no pod is newly pending; 1 pod of a StatefulSet is not replaced: ",
        ),
        (1, "a", "no: 1 pod of a StatefulSet is not replaced: shop/db has 0 of 1"),
        (0, "a", "yes: 0 pods are ready after 1 step, and no pod is newly pending"),
    ],
)
def test_a_stateful_set_that_loses_its_quorum_or_every_pod_is_harmed(replicas: int, zones: str, says: str) -> None:
    objects = [*nodes("a", "b", "c"), node("e", "e"), workload("StatefulSet", "db", replicas)]
    steps = [Fail(at(f"node={zone}1")) for zone in zones]
    answer = told(objects, *steps).answer()
    assert " ".join(answer.text().split()).startswith(says.replace("1 step", f"{len(steps)} step"))
    already = told(objects, Fail(at("node=a1")), Recover(at("node=a1")), Fail(at("node=a1")))
    assert bool(already.harm.lost) == (replicas == 1)


def test_a_pod_of_a_stateful_set_on_a_dead_node_is_not_replaced_before_the_node_is_back() -> None:
    objects = [*nodes("a", "b", "c"), workload("StatefulSet", "db", 3)]
    found = told(objects, Fail(at("node=a1")), Recover(at("node=a1")))
    lost = state(found.steps[1], "db")
    assert (lost.ready, lost.pending, lost.terminating) == (2, 0, 1)
    assert any("db-0 is not replaced" in each for each in found.steps[1].remarks)
    assert [each.kind for each in found.steps[2].events] == ["up", "lost", "placed"]
    assert found.verdict == "yes", "what came back is no harm"
    assert state(found.steps[2], "db").ready == 3


def test_ordinals_come_back_in_order() -> None:
    objects = [node("a1", "a", cpu="3"), node("b1", "b", cpu="1"), workload("StatefulSet", "db", 3)]
    found = told(objects, Fail(at("node=a1")), Recover(at("node=a1")))
    placed = [[pod.name for pod in each.pods] for each in found.steps[2].events if each.kind == "placed"]
    assert placed == [[each] for each in sorted(each for names in placed for each in names)]


def test_pods_of_daemon_sets_stay_on_silent_nodes() -> None:
    found = told([*nodes("a", "b"), workload("DaemonSet", "log")], Fail(at("node=a1"))).steps[1]
    assert "evicted" not in {each.kind for each in found.events}
    assert any("DaemonSet pods tolerate" in each for each in found.remarks)


def test_a_job_replaces_its_pod_at_once_or_when_it_is_gone() -> None:
    objects = [*nodes("a", "b"), workload("Job", "sum", 2), workload("Job", "mean", 2, podReplacementPolicy="Failed")]
    found = told(objects, Fail(at("node=a1")), Recover(at("node=a1")))
    assert state(found.steps[1], "sum").ready == 2
    assert state(found.steps[1], "mean").ready == 1
    assert state(found.steps[2], "mean").ready == 2


def test_volumes_keep_pods_in_a_dead_zone() -> None:
    selector = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
    one, other = node("a1", "a"), node("b1", "b")
    one["metadata"]["labels"]["zone"], other["metadata"]["labels"]["zone"] = "a", "b"
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": "shop", "name": "data"},
            "nodeAffinity": {"required": selector},
        },
        "status": {"phase": "Bound"},
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pv", "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"},
    }
    mounts = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    found = told([one, other, volume, claim, workload("Deployment", replicas=1, spec=mounts)], Fail(at("zone=a")))
    assert [len(each.pods) for each in found.pending] == [1]
    assert any("volumes are bound to a zone or node that does not take it" in each for each in found.steps[1].remarks)


def test_nothing_moves_back_after_an_uncordon() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=4)]
    found = told(objects, Drain(at("node=a1")), Uncordon(at("zone=a")), Uncordon(at("node=b1")))
    assert [each.nodes for each in found.steps[2].events] == [("a1",)]
    assert not found.steps[3].events
    assert [each.kind for each in found.steps[2].events] == ["uncordoned"]


def test_a_cordoned_node_takes_nothing() -> None:
    found = told([*nodes("a", "b"), workload("Deployment", replicas=2)], Cordon(at("node=a1")), Scale("deploy/web", 5))
    assert {pod.node for each in found.steps[2].events for pod in each.pods} == {"b1"}


def test_a_drill_begins_with_nodes_that_are_silent_already() -> None:
    silent = node("a1", "a", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}])
    found = told(
        [silent, node("b1", "b"), workload("Deployment", replicas=2)], Recover(at("node=a1")), Scale("deploy/web", 4)
    )
    assert [each.kind for each in found.steps[1].events] == ["up"]
    assert "a1" in {pod.node for each in found.steps[2].events for pod in each.pods}


def test_the_same_drill_gives_the_same_answer() -> None:
    objects = [*nodes("a", "b", "c"), workload("Deployment", replicas=9, spec=SPREAD), workload("StatefulSet", "db", 3)]
    steps = [Fail(at("zone=a")), Scale("deploy/web", 12), Recover(at("zone=a")), Drain(at("node=b1"))]
    first, second = told(objects, *steps), told(objects, *steps)
    assert first.to_json() == second.to_json()
    assert replace(first) == first


def test_which_of_equal_pods_is_removed_is_drawn() -> None:
    there = [node("a1", "a"), workload("Deployment", "web", 6)]
    left = set()
    for number in range(8):
        play = DrillRun(inventory(*there), SimulationOptions(seed=number, draws=bool(number)), {}, number)
        play.play([Scale("deploy/web", 2)])
        left.add(tuple(sorted(each.name for each in play.state.pods.by_key.values())))
    assert len(left) > 1


def test_who_is_evicted_first_by_a_drain_or_a_failure_is_drawn() -> None:
    """Of two workloads on one node one pod finds room elsewhere: that of whichever is asked to go first."""
    soon = {"tolerations": [{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 1}]}
    there = [
        node("a1", "a"),
        node("b1", "b", cpu="1", unschedulable=True),
        *(workload("Deployment", name, 1, soon) for name in ("api", "web")),
    ]
    for step in (Drain(at("node=a1")), Fail(at("node=a1"))):
        placed = []
        for number in range(8):
            play = DrillRun(inventory(*there), SimulationOptions(seed=number, draws=bool(number)), {}, number)
            play.play([Uncordon(at("node=b1")), step])
            placed += [each.labels["app"] for each in play.state.pods.on(["b1"])]
        assert (len(placed), placed[0], set(placed)) == (8, "api", {"api", "web"})


@pytest.mark.parametrize(
    ("steps", "skews"),
    [
        ((Cordon(at("node=c1")), Uncordon(at("node=c1"))), [1, 0, 1]),
        ((Fail(at("node=c1")), Recover(at("node=c1"))), [1, 0, 1]),
        ((Drain(at("node=c1")),), [1, 0]),
    ],
)
def test_a_step_lists_a_workload_whose_counted_nodes_it_changes_although_it_moves_no_pod(
    steps: tuple[Step, ...], skews: list[int]
) -> None:
    objects = running(True, True)
    for each in objects:
        spec = each["spec"].get("template", each)["spec"]
        spec |= HONOR
    found = told([*nodes("a", "b", "c"), *objects], *steps)
    assert [one.skew for step in found.steps for one in state(step).spread] == skews
    assert "shop/web" in found.answer().text()
