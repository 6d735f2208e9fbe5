"""What comes of the steps of a drill."""

from __future__ import annotations

from dataclasses import replace

import pytest

from topospread.answers.drill import drill_answer
from topospread.drill.drill_run import DrillRun
from topospread.drill.result import StepOutcome, WorkloadState
from topospread.drill.steps import (
    AddNodes,
    Cordon,
    Drain,
    Fail,
    NodeChoice,
    Recover,
    Rollout,
    Scale,
    Step,
    Uncordon,
    Wait,
)
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

from .builders import at, budget, happened, inventory, node, nodes, running, spread, told, workload

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
        "metadata": {
            "name": "data",
            "namespace": "shop",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pv", "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"},
    }
    mounts = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    found = told([one, other, volume, claim, workload("Deployment", replicas=1, spec=mounts)], Fail(at("zone=a")))
    assert [len(each.pods) for each in found.pending] == [1]
    assert any("volumes are bound to a zone or node that does not take it" in each for each in found.steps[1].remarks)


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


def test_nothing_moves_back_after_an_uncordon() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=4)]
    found = told(objects, Drain(at("node=a1")), Uncordon(at("zone=a")), Uncordon(at("node=b1")))
    assert [each.nodes for each in found.steps[2].events] == [("a1",)]
    assert not found.steps[3].events
    assert [each.kind for each in found.steps[2].events] == ["uncordoned"]


def test_a_cordoned_node_takes_nothing() -> None:
    found = told([*nodes("a", "b"), workload("Deployment", replicas=2)], Cordon(at("node=a1")), Scale("deploy/web", 5))
    assert {pod.node for each in found.steps[2].events for pod in each.pods} == {"b1"}


def test_a_scale_down_takes_pods_that_wait_first() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=25)]
    found = told(objects, Scale("deploy/web", 18), Scale("deploy/web", 2))
    first = next(each for each in found.steps[1].events if each.kind == "evicted")
    assert [pod.node for pod in first.pods[:5]] == [""] * 5
    assert state(found.steps[2]).ready == 2
    assert found.verdict == "yes"


def test_scaling_down_to_no_fewer_is_an_error() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=5)]
    found = told(objects, Scale("deploy/web", 4, down=True), Scale("deploy/web", 2, down=True))
    assert state(found.steps[2]).ready == 2
    with pytest.raises(UsageError, match="scale-down deploy/web=5: it already has 5; use --scale to add replicas"):
        told(objects, Scale("deploy/web", 5, down=True))


def test_a_stateful_set_loses_its_highest_ordinals() -> None:
    objects = [*nodes("a", "b"), workload("StatefulSet", "db", 4)]
    found = told(objects, Scale("sts/db", 2))
    assert [pod.name for each in found.steps[1].events for pod in each.pods] == ["db-3", "db-2"]


def test_a_terminating_pod_stays_where_controllers_are_asked_anew() -> None:
    objects = [*nodes("a", "b", "c"), workload("StatefulSet", "db", 3), workload("Deployment")]
    found = told(objects, Fail(at("node=a1")), Scale("deploy/web", 6), Recover(at("node=a1")))
    assert "db" not in {each.name for each in found.steps[2].changed}
    assert state(found.steps[3], "db").ready == 3


def test_new_nodes_get_daemon_pods_and_what_waited() -> None:
    objects = [
        node("a1", "a", cpu="2"),
        workload("Deployment", replicas=5),
        workload("DaemonSet", "log", spec={"containers": [{"name": "c", "image": "i"}]}),
    ]
    found = told(objects, AddNodes(2, "a1", "b"))
    placed = {pod.workload: pod.node for each in found.steps[1].events for pod in each.pods}
    assert found.steps[1].events[0].nodes == ("a1-new-1", "a1-new-2")
    assert set(placed) == {"Deployment/web", "DaemonSet/log"}
    waited = [len(each.pods) for each in found.steps[0].pending]
    assert drill_answer(found).says.endswith(f"; {sum(waited)} of {sum(waited)} pods that were pending now have a node")


def test_a_drill_begins_with_nodes_that_are_silent_already() -> None:
    silent = node("a1", "a", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}])
    found = told(
        [silent, node("b1", "b"), workload("Deployment", replicas=2)], Recover(at("node=a1")), Scale("deploy/web", 4)
    )
    assert [each.kind for each in found.steps[1].events] == ["up"]
    assert "a1" in {pod.node for each in found.steps[2].events for pod in each.pods}


def test_preemption_counts_as_an_eviction() -> None:
    important = {"priorityClassName": "system-cluster-critical"}
    objects = [
        node("a1", "a", cpu="2"),
        node("b1", "b", cpu="2"),
        workload("Deployment", "web", 2),
        workload("Deployment", "dns", 2, important),
    ]
    found = told(objects, Fail(at("node=b1"))).steps[1]
    assert [each.detail.partition(" by ")[0] for each in found.events if each.kind == "evicted"] == [
        "unreachable",
        "preempted",
    ]
    assert state(found, "dns").ready == 2
    assert state(found).pending == 2


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (NodeChoice("zone", "q"), "no node has topology.kubernetes.io/zone=q; the cluster has a, b"),
        (NodeChoice("node", "a11"), "no node has the name a11; did you mean a1?"),
        (
            NodeChoice("kubernetes.io/hostnam", "a1"),
            "no node has the label kubernetes.io/hostnam; did you mean kubernetes.io/hostname?",
        ),
    ],
)
def test_a_step_that_means_no_node_is_an_error(choice: NodeChoice, words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        told(nodes("a", "b"), Fail(choice))


def test_the_same_drill_gives_the_same_answer() -> None:
    objects = [*nodes("a", "b", "c"), workload("Deployment", replicas=9, spec=SPREAD), workload("StatefulSet", "db", 3)]
    steps = [Fail(at("zone=a")), Scale("deploy/web", 12), Recover(at("zone=a")), Drain(at("node=b1"))]
    first, second = told(objects, *steps), told(objects, *steps)
    assert first.to_json() == second.to_json()
    assert replace(first) == first


def test_a_place_that_gets_free_goes_to_who_waits_for_it_unless_controllers_are_faster() -> None:
    there = [node("a1", "a", cpu="2"), workload("DaemonSet", "log"), workload("Deployment", "web", 1)]
    ends = []
    for number in (0, 5):
        play = DrillRun(inventory(*there), SimulationOptions(seed=number, draws=bool(number)), {}, number)
        play.play([Scale("deploy/web", 2), Rollout("ds/log")])
        ends.append(sorted(each.labels["app"] for each in play.state.pods.on(["a1"])))
    assert ends == [["web", "web"], ["log", "web"]]


def test_an_ordinal_that_waits_for_its_predecessor_is_not_there_yet() -> None:
    there = [node("a1", "a", cpu="1"), workload("StatefulSet", "db", 3)]
    play = DrillRun(inventory(*there), SimulationOptions(), {})
    play.play([Cordon(at("node=a1"))])
    assert [each.name for each in play.state.inventory().pods] == ["db-0", "db-1"]


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


def test_one_pod_that_is_terminating_is_said_of_one() -> None:
    found = told([*nodes("a", "b"), workload("Deployment", "web", 1)], Fail(at("node=a1")))
    said = "1 pod is terminating on a NotReady node: it keeps its resources there, but no constraint counts it"
    assert said in found.steps[-1].remarks


def test_a_rollout_that_is_left_to_people_does_not_count_to_nought() -> None:
    left = workload("StatefulSet", "db", 2, updateStrategy={"type": "OnDelete"})
    assert "rollout: shop/db: replaces no pod\n" in told([*nodes("a"), left], Rollout("sts/db")).answer().text()


def test_a_pod_of_an_ordered_set_stays_when_the_one_before_it_waits() -> None:
    ordered = workload("StatefulSet", "db", 3, podManagementPolicy="OrderedReady")
    play = DrillRun(inventory(node("n0", "a", cpu="1"), node("n1", "b", cpu="1"), ordered), SimulationOptions(), {})
    play.play([Fail(at("zone=a")), Recover(at("zone=a"))])
    assert {each.name: each.spec.node_name for each in play.state.inventory().pods} == {
        "db-0": None,
        "db-1": "n1",
        "db-2": "n0",
    }
    assert [each.node for each in simulate(play.state.inventory()).placements] == [None]


def test_pool_means_the_label_pool_where_nodes_have_it() -> None:
    """Without it, ``pool`` stands for the labels of clouds."""
    for label, key in (("pool", "pool"), ("karpenter.sh/nodepool", "pool"), ("pool", "")):
        objects = nodes("a", "b")
        objects[0]["metadata"]["labels"] |= {label: "general"}
        found = told([*objects, workload("Deployment")], Cordon(NodeChoice(key, "general")))
        assert [each.nodes for each in found.steps[1].events] == [("a1",)]
    objects[1]["metadata"]["labels"] |= {"karpenter.sh/nodepool": "web"}
    found = told([*objects, workload("Deployment")], Cordon(NodeChoice("karpenter.sh/nodepool", "web")))
    assert [each.nodes for each in found.steps[1].events] == [("b1",)]


def test_a_unique_short_name_means_its_node_and_an_ambiguous_one_is_an_error() -> None:
    objects = [node("n1.ec2.internal", "a"), node("n2.ec2.internal", "b"), node("n2.eu.internal", "b")]
    for key in ("node", ""):
        found = told([*objects, workload("Deployment")], Cordon(NodeChoice(key, "n1")))
        assert [each.nodes for each in found.steps[1].events] == [("n1.ec2.internal",)]
        short = r"n2 is short for n2\.ec2\.internal, n2\.eu\.internal: write the full name"
        with pytest.raises(UsageError, match=short):
            told([*objects, workload("Deployment")], Cordon(NodeChoice(key, "n2")))
    added = told([*objects, workload("Deployment")], AddNodes(1, "n1")).steps[1].events
    assert [each.nodes for each in added if each.kind == "added"] == [("n1.ec2.internal-new-1",)]


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


def test_a_remark_on_skew_says_how_large_it_is_and_comes_again_when_it_grows() -> None:
    objects = running(True, True)
    for each in objects:
        spec = each["spec"].get("template", each)["spec"]
        spec |= HONOR | ({"nodeName": "a1"} if each["kind"] == "Pod" else {})
    found = told([*nodes("a", "b"), *objects], Cordon(at("node=b1")), Uncordon(at("node=b1")))
    skewed = "shop/web (skew 2, maxSkew 1) stays skewed: nothing moves pods that are placed"
    assert [skewed in each.remarks for each in found.steps] == [False, False, True]
