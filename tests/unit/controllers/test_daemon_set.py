"""DaemonSets; which nodes are picked is in the recorded cases."""

from __future__ import annotations

import pytest

from tests.unit.controllers.manifests import Json, inventory, node, pod, queued, row, workload
from topospread.controllers.planner import plan
from topospread.errors import UsageError

NODES = [node("n1", disk="ssd"), node("n2"), node("n3", disk="ssd")]


def agent(name: str, node_name: str = "", **fields: object) -> Json:
    labels = {"app": "agent", "controller-revision-hash": "1"}
    return pod(name, "DaemonSet/agent", node_name, labels=labels, **fields)


def waiting_for(name: str, node_name: str) -> Json:
    field = {"key": "metadata.name", "operator": "In", "values": [node_name]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return agent(name, affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})


def targets(result) -> list[str]:
    found = []
    for each in queued(result, "agent"):
        required = each.pod.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
        (term,) = required.node_selector_terms
        assert (term.match_expressions, term.match_fields[0].key) == (None, "metadata.name")
        found += term.match_fields[0].values
    return found


def test_a_pod_for_each_node():
    result = plan(inventory(*NODES, workload("DaemonSet", "agent")))
    assert targets(result) == ["n1", "n2", "n3"]
    assert row(result, "agent").replicas == 3
    first = result.queue[0].pod
    assert set(first.labels) == {"app", "controller-revision-hash", "pod-template-generation"}
    assert {each.key.removeprefix("node.kubernetes.io/") for each in first.spec.tolerations} == {
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
    }
    assert all(each.toleration_seconds is None for each in first.spec.tolerations)


def test_selected_nodes_only():
    result = plan(inventory(*NODES, workload("DaemonSet", "agent", pod={"nodeSelector": {"disk": "ssd"}})))
    assert targets(result) == ["n1", "n3"]


def test_cordoned_nodes_too_and_tainted_ones_not():
    unschedulable = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    nodes = [
        node("n1") | {"spec": {"unschedulable": True, "taints": [unschedulable]}},
        node("n2") | {"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}},
    ]
    assert targets(plan(inventory(*nodes, workload("DaemonSet", "agent")))) == ["n1"]


def test_nodes_that_have_one_need_none():
    there = [agent("a", "n1"), waiting_for("b", "n2")]
    leaving = agent("c", "n3", deletionTimestamp="2026-01-01T00:00:00Z")
    result = plan(inventory(*NODES, workload("DaemonSet", "agent"), *there, leaving))
    assert [each.name for each in result.queue] == ["b"]
    assert [each.name for each in row(result, "agent").existing] == ["a"]


def test_failed_pod_is_replaced():
    result = plan(inventory(node("n1"), workload("DaemonSet", "agent"), agent("a", "n1", phase="Failed")))
    assert targets(result) == ["n1"]


def test_pods_leave_nodes_that_may_not_keep_them():
    taints = {"n2": "NoSchedule", "n3": "NoExecute"}
    nodes = [node("n1"), *(node(n) | {"spec": {"taints": [{"key": "k", "effect": e}]}} for n, e in taints.items())]
    there = [agent("a", "n1"), agent("b", "n2"), agent("c", "n3"), waiting_for("d", "gone")]
    result = plan(inventory(*nodes, workload("DaemonSet", "agent"), *there))
    assert [each.name for each in result.removed] == ["c", "d"]
    assert (result.queue, row(result, "agent").replicas) == ([], 1)


def test_new_pods_are_of_the_revision_that_their_like_have():
    result = plan(inventory(*NODES, workload("DaemonSet", "agent"), agent("a", "n1")))
    assert {each.pod.labels["controller-revision-hash"] for each in result.queue} == {"1"}


def test_changed_template_is_said():
    changed = workload("DaemonSet", "agent", pod={"hostNetwork": True})
    result = plan(inventory(*NODES, changed, agent("a", "n1"), agent("b", "n2")))
    assert {each.pod.labels["controller-revision-hash"] for each in result.queue}.isdisjoint({"1"})
    assert row(result, "agent").notes == [
        "the template changed: 2 existing pods stay of the old revision; the rollout itself is not simulated"
    ]


def test_generation_of_the_template():
    item = workload("DaemonSet", "agent")
    item["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": "7"}
    assert plan(inventory(node("n1"), item)).queue[0].pod.labels["pod-template-generation"] == "7"


def test_cannot_be_scaled():
    with pytest.raises(UsageError, match="a DaemonSet has a pod on each node"):
        plan(inventory(*NODES, workload("DaemonSet", "agent")), scale={"ds/agent": 1})
