"""Which pods may preempt at all."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case


def pod(name: str, priority: int, node: str = "", **metadata: Any) -> dict[str, Any]:
    requests = {"requests": {"cpu": "3"}}
    spec = {"nodeName": node, "priority": priority, "containers": [{"name": "c", "resources": requests}]}
    return {"metadata": {"name": name, "namespace": "default", **metadata}, "spec": spec}


def sentence(
    *pods: dict[str, Any], policy: str = "", nominated: str = "", version: str = "1.37", cordoned: bool = False
) -> str:
    """What preemption says of a pod of priority 9 that does not fit beside others on a node with four CPUs."""
    incoming = pod("new", 9)
    incoming["spec"] |= {"preemptionPolicy": policy} if policy else {}
    incoming["status"] = {"nominatedNodeName": nominated} if nominated else {}
    allocatable = {"cpu": "4", "pods": "10"}
    node = {"metadata": {"name": "a"}, "spec": {"unschedulable": cordoned}, "status": {"allocatable": allocatable}}
    case = {"nodes": [node], "pods": list(pods), "incoming": [incoming], "preempt": True, "kubeVersion": version}
    found = judge_case(case)["verdicts"][0]["preemption"]
    return str(found.get("ineligible", ""))


@pytest.mark.parametrize(("policy", "heeded"), [("Never", True), ("PreemptLowerPriority", False), ("", False)])
def test_a_pod_whose_policy_is_never_evicts_nobody(policy: str, heeded: bool) -> None:
    assert sentence(pod("low", 0, "a"), policy=policy) == (
        "not eligible due to preemptionPolicy=Never." if heeded else ""
    )


DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
EVICTED = {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}
WAITS = "not eligible due to a terminating pod on the nominated node."


@pytest.mark.parametrize(
    ("nominated", "priority", "evicted", "version", "says"),
    [
        ("a", 0, True, "1.37", WAITS),
        ("a", 0, False, "1.37", ""),
        ("a", 0, False, "1.26", WAITS),
        ("a", 9, True, "1.37", ""),
        ("", 0, True, "1.37", ""),
        ("gone", 0, True, "1.37", ""),
    ],
)
def test_a_pod_waits_for_what_was_evicted_for_it_on_its_nominated_node(
    nominated: str, priority: int, evicted: bool, version: str, says: str
) -> None:
    leaving = pod("leaving", priority, "a", **DELETED) | ({"status": EVICTED} if evicted else {})
    assert sentence(leaving, pod("stays", 1, "a"), nominated=nominated, version=version) == says


def test_a_pod_whose_nominated_node_is_out_of_the_question_does_not_wait_there() -> None:
    leaving = pod("leaving", 0, "a", **DELETED) | {"status": EVICTED}
    assert sentence(leaving, nominated="a", cordoned=True) == ""
