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
