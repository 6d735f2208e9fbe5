"""Remarks of a drill."""

from __future__ import annotations

from topospread.drill.steps import Cordon, Fail, Rollout, Uncordon

from .builders import at, nodes, running, spread, told, workload

HONOR = {"topologySpreadConstraints": [spread(nodeTaintsPolicy="Honor")]}


def test_one_pod_that_is_terminating_is_said_of_one() -> None:
    found = told([*nodes("a", "b"), workload("Deployment", "web", 1)], Fail(at("node=a1")))
    said = "1 pod is terminating on a NotReady node: it keeps its resources there, but no constraint counts it"
    assert said in found.steps[-1].remarks


def test_a_rollout_that_is_left_to_people_does_not_count_to_nought() -> None:
    left = workload("StatefulSet", "db", 2, updateStrategy={"type": "OnDelete"})
    assert "rollout: shop/db: replaces no pod\n" in told([*nodes("a"), left], Rollout("sts/db")).answer().text()


def test_a_remark_on_skew_says_how_large_it_is_and_comes_again_when_it_grows() -> None:
    objects = running(True, True)
    for each in objects:
        spec = each["spec"].get("template", each)["spec"]
        spec |= HONOR | ({"nodeName": "a1"} if each["kind"] == "Pod" else {})
    found = told([*nodes("a", "b"), *objects], Cordon(at("node=b1")), Uncordon(at("node=b1")))
    skewed = "shop/web (skew 2, maxSkew 1) stays skewed: nothing moves pods that are placed"
    assert [skewed in each.remarks for each in found.steps] == [False, False, True]
