"""Pods that are not judged and cannot change a drain are a note, not its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.rebalance.builders import standing
from topospread.drill.steps import Drain, Fail, Scale, Step, Uncordon

from .builders import Json, at, budget, node, nodes, spread, told


def pending_on_devices(pods: int, cpu: int, where: Sequence[str | None] = (), **more: Any) -> list[Json]:
    """A ReplicaSet whose pods need devices of which the input says nothing; kube-scheduler found no node for them.

    ``where``: nodes of its pods; None for a pending pod. ``more``: of its pods' spec.
    """
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    made = standing({"": pods}, name="infer", cpu=str(cpu), resourceClaims=claims, **more)
    for number, pod in enumerate(made[1:]):
        there = where[number] if where else None
        if there is not None:
            pod["spec"] = {**pod["spec"], "nodeName": there}
            continue
        pod["spec"] = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        rejected = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        pod["status"] = {"phase": "Pending", "conditions": [rejected]}
    return made


def as_stateful_set(objects: list[Json], policy: str) -> list[Json]:
    """Return a ReplicaSet and its pods as a StatefulSet."""
    item, *pods = objects
    spec = item["spec"] | {"serviceName": "s", "podManagementPolicy": policy}
    name, uid = item["metadata"]["name"], item["metadata"]["uid"]
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name, "uid": uid, "controller": True}
    made = [each | {"metadata": each["metadata"] | {"ownerReferences": [owner]}} for each in pods]
    return [item | {"kind": "StatefulSet", "spec": spec}, *made]


WEB = standing({"a1": 1, "b1": 1, "c1": 1}, spread())


def test_a_drain_that_leaves_room_for_pods_that_are_not_judged_is_judged() -> None:
    found = told([*nodes("a", "a", "b", "c"), *WEB, *pending_on_devices(2, 1)], Drain(at("node=a1")))
    assert (found.verdict, found.unaffected) == ("yes", True)
    answer = found.answer()
    assert answer.says == "3 pods are ready after 1 step, and no pod is newly pending"
    says = "not judged: 2 pods of shop/infer; the verdict is the same whether they find nodes or not (-o wide)"
    assert says in " ".join(answer.text().split())
    assert "kubectl get resourceslices" not in answer.text()
    assert "to judge it: kubectl get resourceslices" in answer.text(wide=True)
    assert [each.what for each in answer.unjudged] == ["resourceClaims"]


def test_a_drain_that_a_budget_blocks_anyway_is_no() -> None:
    objects = [*nodes("a", "a", "b", "c"), *WEB, *pending_on_devices(2, 1), budget(maxUnavailable=0)]
    found = told(objects, Drain(at("node=a1")))
    assert (found.verdict, found.answer().says) == ("no", "1 pod not evicted")


ANY_APP = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
COUNTING = standing({"a1": 1, "b1": 1, "c1": 1}, spread(labelSelector=ANY_APP))
SMALL = [node("a1", "a"), node("a2", "a", cpu="2"), *nodes("b", "c")]


@pytest.mark.parametrize(
    ("objects", "steps"),
    [
        ([*SMALL, *WEB, *pending_on_devices(2, 1)], [Drain(at("node=a1"))]),  # they may fill a2
        ([*nodes("a", "a", "b", "c"), *COUNTING, *pending_on_devices(2, 1)], [Drain(at("node=a1"))]),
        (
            [*nodes("a", "a", "b", "c"), *WEB, *pending_on_devices(3, 1, ["a1", None, None])],
            [Drain(at("node=a1"))],  # its workload has a pod on the drained node
        ),
        ([*SMALL, *WEB, *pending_on_devices(2, 1)], [Fail(at("node=a1"))]),
        (
            [*nodes("a", "a", "a", "b", "c"), *WEB, *pending_on_devices(2, 1)],
            [Drain(at("node=a2")), Drain(at("node=a1"))],  # pods of the first node may be on the second one
        ),
        ([*nodes("a", "a", "b", "c"), *WEB, *pending_on_devices(2, 1)], [Scale("shop/rs/web", 4)]),
        (
            [*nodes("a", "a", "b", "c"), *WEB, *pending_on_devices(2, 1)],
            [Drain(at("node=a1")), Uncordon(at("node=a1"))],
        ),
    ],
)
def test_pods_that_may_change_a_drain_leave_it_unknown(objects: list[Json], steps: list[Step]) -> None:
    assert told(objects, *steps).verdict == "unknown"


def test_a_pod_that_kube_scheduler_has_not_tried_may_be_on_the_drained_node() -> None:
    infer = pending_on_devices(2, 1)
    for pod in infer[1:]:
        pod["status"] = {"phase": "Pending"}
    assert told([*nodes("a", "a", "b", "c"), *WEB, *infer], Drain(at("node=a1"))).verdict == "unknown"


def test_a_pending_pod_with_a_budget_may_be_on_the_drained_node_and_block_it() -> None:
    """It gets a2, but a1 if a pod that is not judged has made a2 fuller."""
    web = standing({"b1": 1, "": 1}, name="web")
    web[-1]["spec"] = {key: value for key, value in web[-1]["spec"].items() if key != "nodeName"}
    web[-1]["status"] = {"phase": "Pending"}
    other = standing({"a1": 1, "b1": 1, "c1": 1}, name="api")
    objects = [*nodes("a", "a", "b", "c"), *other, *web, budget(maxUnavailable=0)]
    fuller = pending_on_devices(2, 3, ["a2", "c1"])
    assert told([*objects, *pending_on_devices(2, 3)], Drain(at("node=a1"))).verdict == "unknown"
    assert told([*objects, *fuller], Drain(at("node=a1"))).verdict == "no"
    assert told(objects, Drain(at("node=a1"))).verdict == "yes"


def test_a_pending_pod_of_a_stateful_set_may_be_on_the_lost_node_and_is_not_replaced_then() -> None:
    db = as_stateful_set(standing({"": 1}, name="db"), "OrderedReady")
    db[-1]["spec"] = {key: value for key, value in db[-1]["spec"].items() if key != "nodeName"}
    db[-1]["status"] = {"phase": "Pending"}
    objects = [*nodes("a", "b", "c"), *db]
    assert told([*objects, *pending_on_devices(1, 1)], Fail(at("node=a1"))).verdict == "unknown"
    assert told([*objects, *pending_on_devices(1, 1, ["b1"])], Fail(at("node=a1"))).verdict == "no"
    assert told([*objects, *pending_on_devices(1, 1, ["c1"])], Fail(at("node=b1"))).verdict == "yes"


def test_a_loss_that_leaves_room_for_pods_that_are_not_judged_is_judged() -> None:
    found = told([*nodes("a", "a", "b", "c"), *WEB, *pending_on_devices(2, 1)], Fail(at("node=a1")))
    assert (found.verdict, found.unaffected) == ("yes", True)


def test_a_forced_drain_deletes_pods_that_constraints_count() -> None:
    objects = [*nodes("a", "a", "b", "c"), *WEB, *pending_on_devices(2, 1)]
    assert told(objects, Drain(at("node=a1"), forced=True)).verdict == "unknown"


def test_a_pod_that_an_admission_policy_or_another_scheduler_may_change_can_have_other_requests() -> None:
    objects = [*nodes("a", "a", "b", "c"), *WEB, *pending_on_devices(2, 1, schedulerName="volcano")]
    assert told(objects, Drain(at("node=a1"))).verdict == "unknown"


def test_a_more_important_pod_that_is_not_judged_may_evict_others() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}
    infer = pending_on_devices(2, 1, priorityClassName="high", priority=10)
    assert told([high, *nodes("a", "a", "b", "c"), *WEB, *infer], Drain(at("node=a1"))).verdict == "unknown"


def test_pods_that_tolerate_everything_may_be_on_a_node_that_is_not_ready() -> None:
    lost = node("d1", "b", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}])
    tolerant = standing({"a1": 1, "b1": 1}, name="web", tolerations=[{"operator": "Exists"}])
    objects = [*nodes("a", "a", "b", "c"), *tolerant, *pending_on_devices(2, 1)]
    assert told(objects, Drain(at("node=a1"))).verdict == "yes"
    assert told([lost, *objects], Drain(at("node=a1"))).verdict == "unknown"
