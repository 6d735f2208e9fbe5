"""One pod's explanation as a whole: which pod, which state, which sentences."""

from __future__ import annotations

import time
from typing import Any

import pytest

from topospread.errors import UsageError

from .builders import GPU, SPREAD, constraint, explained, node, pod, spec, workload, zones

OF = spec(constraint())
TAINTED = [*zones("a"), node("b", "zone-b", taints=[GPU])]


def test_a_pending_pod_has_the_event_with_preemptions_sentence() -> None:
    found = explained("web", *TAINTED, pod("there", "a", OF), pod("web", of=OF), suggest=False)
    assert (found.state, found.placed, found.node) == ("pending", False, None)
    assert found.message == (
        "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, "
        "1 node(s) had untolerated taint(s)."
    )
    assert found.preemption == (
        "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling."
    )
    assert [each.plugin for each in found.plugins] == ["TaintToleration", SPREAD]


def test_of_a_workload_a_pending_pod_is_explained_before_a_placed_one() -> None:
    found = explained("deploy/web", *TAINTED, workload("Deployment", 3, OF), suggest=False)
    assert (found.state, found.pending, found.wanted, found.exists) == ("pending", 2, 3, False)


def test_of_many_pending_pods_one_is_explained_at_once() -> None:
    begin = time.process_time()
    found = explained("deploy/web", *zones(), workload("Deployment", 20_000, spec(cpu="1")), suggest=False)
    assert (found.state, found.wanted) == ("pending", 20_000)
    assert time.process_time() - begin < 10


def test_of_a_workload_without_pending_pods_a_placed_one() -> None:
    found = explained("deploy/web", *zones(), workload("Deployment", 3, OF))
    assert (found.state, found.node) == ("placed", "a")
    assert found.verdict is not None


def test_a_pod_on_a_node_is_looked_at_as_if_it_were_taken_off() -> None:
    there = [pod(name, name, OF) for name in "abc"]
    found = explained("b", *zones(), *there)
    assert (found.state, found.node, found.exists) == ("bound", "b", True)
    assert found.scores is not None
    assert found.scores.best == ("b",)
    (table,) = found.constraints
    assert [row.matching for row in table.domains] == [1, 0, 1]


def test_a_pod_that_its_node_would_refuse_says_what_the_node_has_against_it() -> None:
    there = [pod("one", "a", OF), pod("two", "a", OF), pod("three", "b", OF)]
    found = explained("one", *zones(), *there)
    (own,) = found.nearest
    assert own.node == "a"
    assert [each.plugin for each in own.obstacles] == [SPREAD]


def test_a_pod_on_a_node_that_was_not_given() -> None:
    found = explained("one", *zones("a"), pod("one", "gone", OF))
    assert (found.state, found.node, found.nearest) == ("bound", "gone", ())
    assert found.scores is not None
    assert found.scores.best == ("a",)


def test_a_pod_that_waits_for_gates_is_not_judged() -> None:
    of = OF | {"schedulingGates": [{"name": "example.com/quota"}]}
    found = explained("web", *zones(), pod("web", of=of))
    assert (found.state, found.message) == ("waiting", "waits for its scheduling gates: example.com/quota")
    assert found.verdict is None


def test_a_pod_of_another_scheduler_is_not_judged() -> None:
    found = explained("web", *zones(), pod("web", of=OF | {"schedulerName": "other"}))
    assert [(each.what, each.field, each.to_know) for each in found.unjudged] == [
        (
            'schedulerName "other"',
            "spec.schedulerName",
            "--config FILE, its own KubeSchedulerConfiguration, if it is a kube-scheduler",
        )
    ]


def test_the_second_pod_of_a_stateful_set_waits_for_the_first() -> None:
    objects: list[Any] = [node("a", "zone-a", cpu="1"), workload("StatefulSet", 2, spec(cpu="2"), "db")]
    assert explained("sts/db", *objects, suggest=False).name == "db-0"
    second = explained("db-1", *objects)
    assert second.state == "waiting"
    assert "db-0" in second.message


def test_who_evicts_for_a_place_is_told() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}
    important = pod("important", of=spec(cpu="1", priorityClassName="high", priority=10))
    objects = [high, node("a", cpu="1"), pod("there", "a", spec(cpu="1")), important]
    found = explained("important", *objects)
    assert (found.state, found.node, found.evictions) == ("placed", "a", ("shop/there",))
    assert explained("important", *objects, preemption=False, suggest=False).state == "pending"


def test_another_is_one_more_than_there_are_to_be() -> None:
    there = pod("web-0", "a", OF, owner=("ReplicaSet", "web"))
    objects = [*zones("ab"), workload("ReplicaSet", 1, OF), there]
    assert explained("rs/web", *objects).state == "bound"
    found = explained("rs/web", *objects, another=True)
    assert (found.name, found.state, found.node, found.exists) == ("web-another", "placed", "b", False)


def test_a_workload_that_is_scaled() -> None:
    found = explained("deploy/web", *TAINTED, workload("Deployment", 1, OF), scale={"deploy/web": 3}, suggest=False)
    assert (found.state, found.wanted) == ("pending", 3)


def test_who_is_not_there_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="did you mean shop/web"):
        explained("wab", *zones(), pod("web"))


def test_an_old_condition_may_say_something_else_of_preemption() -> None:
    waiting = pod("web", of=spec(cpu="9"))
    assert not [each for each in explained("web", *zones(), waiting).notes if "condition" in each]
    waiting["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}
    (note,) = [each for each in explained("web", *zones(), waiting).notes if "condition" in each]
    assert "its part about preemption may be outdated" in note
