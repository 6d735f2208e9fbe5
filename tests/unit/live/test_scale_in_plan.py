"""Costs for ReplicaSets that opted in, judged by the controller's own ranking: after every removal maxSkew holds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from topospread.api.kinds import KINDS
from topospread.api.workload import KEEP_SPREAD
from topospread.controllers.removal import removal_order
from topospread.live.scale_in_plan import ScaleInPlans

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
ANNOTATION = "topospread.dev/scale-in"
COST = "controller.kubernetes.io/pod-deletion-cost"
RS = ("shop", "web-1")


def constraint(max_skew: int = 1, key: str = ZONE, when: str = "DoNotSchedule", **more: Any) -> Json:
    selector = {"matchLabels": {"app": "web"}}
    return {"maxSkew": max_skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector} | more


class DrillState:
    """What a watch says of a cluster, and what a ReplicaSet's controller would remove there."""

    def __init__(self, zones: str = "abc", wish: str | None = KEEP_SPREAD) -> None:
        self.plans = ScaleInPlans()
        self.pods: dict[str, Json] = {}
        self.known: dict[tuple[str, str], Any] = {}
        for number, zone in enumerate(zones):
            self.put("Node", self.node(f"n{number}", zone))
        self.put("Deployment", self.meta("web", annotations={} if wish is None else {ANNOTATION: wish}))
        self.put("ReplicaSet", self.meta("web-1", uid="rs", ownerReferences=[self.owner("Deployment", "web", "d")]))

    @staticmethod
    def node(name: str, zone: str) -> Json:
        return {"metadata": {"name": name, "labels": {ZONE: zone, "kubernetes.io/hostname": name}}}

    @staticmethod
    def meta(name: str, **more: Any) -> Json:
        return {"metadata": {"name": name, "namespace": "shop"} | more}

    @staticmethod
    def owner(kind: str, name: str, uid: str) -> Json:
        return {"kind": kind, "name": name, "uid": uid, "controller": True, "apiVersion": "apps/v1"}

    def put(self, kind: str, item: Json) -> None:
        made = msgspec.convert(item, KINDS[kind].struct)
        key = kind, made.name
        self.plans.put(kind, made, self.known.get(key))
        self.known[key] = made

    def delete(self, kind: str, name: str) -> None:
        self.plans.delete(kind, self.known.pop((kind, name)))

    def pod(self, name: str, node: str, *constraints: Json, ready: bool = True, **more: Any) -> None:
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
        metadata = {
            "name": name,
            "namespace": "shop",
            "uid": name,
            "labels": {"app": "web"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [self.owner("ReplicaSet", "web-1", "rs")],
        }
        spec = {"nodeName": node, "containers": [], "topologySpreadConstraints": list(constraints or [constraint()])}
        self.pods[name] = {"metadata": metadata | more.pop("metadata", {}), "spec": spec, "status": status | more}
        self.put("Pod", self.pods[name])

    def keep(self) -> int:
        """Write the planned costs, as the keeper does. Return their number."""
        plan = self.plans.plan(RS)
        assert not plan.problem
        for each in plan.costs:
            self.pods[each.pod.name]["metadata"].setdefault("annotations", {})[COST] = str(each.cost)
            self.put("Pod", self.pods[each.pod.name])
        assert self.plans.plan(RS).costs == ()
        return len(plan.costs)

    def removed(self) -> list[str]:
        """Return the pods in the order in which the controller removes them."""
        pods = [item for (kind, _), item in self.known.items() if kind == "Pod"]
        return [each.name for each in removal_order(pods, pods, None)]

    def skews(self, key: str = ZONE) -> list[int]:
        """Return the skew after each removal."""
        nodes = {name: item.labels[key] for (kind, name), item in self.known.items() if kind == "Node"}
        counted = Counter(dict.fromkeys(nodes.values(), 0))
        counted.update(nodes[each["spec"]["nodeName"]] for each in self.pods.values())
        found = []
        for name in self.removed():
            counted[nodes[self.pods[name]["spec"]["nodeName"]]] -= 1
            found.append(max(counted.values()) - min(counted.values()))
        return found


def test_costs_make_the_controller_keep_the_skew() -> None:
    world = DrillState()
    for number, node in enumerate(("n0", "n0", "n0", "n1", "n1", "n1", "n2", "n2")):
        world.pod(f"p{number}", node)
    assert world.keep() == 7
    assert max(world.skews()) <= 1


@drawn(25)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["Running", "Pending"]), st.booleans()), max_size=10),
    st.integers(1, 2),
)
def test_ready_pods_keep_the_skew_once_unready_ones_are_gone(pods: list[tuple[int, str, bool]], limit: int) -> None:
    world = DrillState("aabc")
    for number, (node, phase, ready) in enumerate(pods):
        world.pod(f"p{number}", f"n{node}", constraint(limit), ready=ready, phase=phase)
    world.keep()
    zones = Counter(dict.fromkeys("abc", 0))
    zones.update("aabc"[node] for node, phase, ready in pods if ready and phase == "Running")
    left = sum(zones.values())
    begin = max(zones.values()) - min(zones.values())
    # The fullest domain goes first: the skew falls to maxSkew and stays there.
    skews = world.skews()[len(pods) - left :]
    assert all(after <= max(before, limit) for before, after in zip([begin, *skews], skews, strict=False))


def test_one_pod_more_or_less_is_few_writes() -> None:
    world = DrillState()
    for number in range(6):
        world.pod(f"p{number}", f"n{number % 3}")
    world.keep()
    world.pod("p6", "n0")
    assert world.keep() <= 1
    world.pod("p7", "n1")
    assert world.keep() == 1
    del world.pods["p3"]
    world.delete("Pod", "p3")
    assert world.keep() <= 2
    assert max(world.skews()) <= 1


def test_a_cost_that_was_sent_is_not_sent_again_before_the_watch_shows_it() -> None:
    world = DrillState()
    for number in range(4):
        world.pod(f"p{number}", f"n{number % 3}")
    plan = world.plans.plan(RS)
    for each in plan.costs:
        world.plans.sent(each)
    assert world.plans.plan(RS).costs == ()
    last, before = (each.pod.name for each in plan.costs[:2])
    world.pods[last]["metadata"]["annotations"] = {COST: str(plan.costs[1].cost)}  # somebody else's
    world.put("Pod", world.pods[last])
    assert {each.pod.name for each in world.plans.plan(RS).costs} <= {last, before}
    assert len(world.plans.plan(RS).costs) == 1


def test_only_who_opted_in_is_planned() -> None:
    world = DrillState(wish=None)
    world.pod("p0", "n0")
    assert world.plans.kept == []
    assert not world.plans.changed
    world.put("Deployment", DrillState.meta("web", annotations={ANNOTATION: KEEP_SPREAD}))
    assert world.plans.changed == {RS}
    world.put("Deployment", DrillState.meta("web"))
    assert world.plans.kept == []
    assert not world.plans.changed


def test_a_replica_set_without_a_deployment_opts_in_itself() -> None:
    world = DrillState(wish=None)
    world.put("ReplicaSet", DrillState.meta("alone", annotations={ANNOTATION: KEEP_SPREAD}))
    assert world.plans.kept == [("shop", "alone")]
    world.delete("ReplicaSet", "alone")
    assert world.plans.kept == []


@pytest.mark.parametrize(
    ("act", "changes"),
    [
        (lambda world: world.pod("p0", "n1"), True),
        (lambda world: world.pod("p0", "n0", ready=False), True),
        (lambda world: world.pod("p0", "n0", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), True),
        (lambda world: world.pod("p0", "n0", startTime="2026-01-01T00:00:00Z"), False),
        (lambda world: world.pod("other", "n0", metadata={"ownerReferences": []}), True),
        (lambda world: world.pod("other", "n0", metadata={"ownerReferences": [], "labels": {"app": "x"}}), False),
        (lambda world: world.put("Node", DrillState.node("n3", "d")), True),
        (lambda world: world.put("Node", DrillState.node("n0", "a") | {"status": {"conditions": []}}), False),
        (lambda world: world.delete("Node", "n2"), True),
        (lambda world: world.delete("Pod", "p0"), True),
    ],
)
def test_what_may_change_an_order(act: Any, changes: bool) -> None:
    world = DrillState()
    for number in range(3):
        world.pod(f"p{number}", f"n{number}")
    world.keep()
    world.plans.changed.clear()
    act(world)
    assert (world.plans.changed == {RS}) == changes


def test_pods_of_others_that_a_constraint_counts_fill_domains() -> None:
    world = DrillState("ab")
    for number, node in enumerate(("n0", "n0", "n1", "n1")):
        world.pod(f"p{number}", node)
    world.pod("older", "n1", metadata={"ownerReferences": []})
    world.keep()
    assert world.pods[world.removed()[0]]["spec"]["nodeName"] == "n1"


def test_a_pod_of_an_earlier_replica_set_of_the_same_name_is_not_ranked() -> None:
    world = DrillState()
    for number in range(2):
        world.pod(f"p{number}", f"n{number}")
    world.pod("stray", "n2", metadata={"ownerReferences": [DrillState.owner("ReplicaSet", "web-1", "before")]})
    assert "stray" not in [each.pod.name for each in world.plans.plan(RS).costs]


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ([], "its pods have no topologySpreadConstraints"),
        ([constraint(labelSelector={"matchExpressions": [{"key": "a", "operator": "Near"}]})], "Near"),
    ],
)
def test_no_order_without_constraints_that_can_be_read(made: list[Json], problem: str) -> None:
    world = DrillState()
    for number in range(2):
        world.pod(f"p{number}", "n0")
        world.pods[f"p{number}"]["spec"]["topologySpreadConstraints"] = made
        world.put("Pod", world.pods[f"p{number}"])
    assert problem in world.plans.plan(RS).problem


def test_another_value_of_the_annotation_is_a_problem() -> None:
    world = DrillState(wish="keep-spred")
    assert world.plans.plan(RS).problem == 'its annotation is "keep-spred"; the only value is keep-spread'


def test_an_order_that_must_exceed_max_skew_says_so() -> None:
    world = DrillState("ab")
    for number, node in enumerate(("n0", "n0", "n0", "n0", "n1")):
        world.pod(f"p{number}", node)
    assert world.plans.plan(RS).excess == 1
