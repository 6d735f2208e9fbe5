"""A drill tries the pods of a PodGroup together, and `capacity` adds pods to groups."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plain_inventory import inventory
from topospread.answers.capacity import capacity_answer
from topospread.answers.causes import causes_of
from topospread.capacity.capacity import capacity
from topospread.config.gates import gates_for
from topospread.drill.drill import drill
from topospread.drill.result import Drill
from topospread.drill.steps import AddNodes, Drain, Fail, NodeChoice, Scale, Step
from topospread.plugins.interface import NotJudgedError
from topospread.simulation import group_attempts
from topospread.simulation.options import SimulationOptions

from .builders import ZONE, node, workload

Json = dict[str, Any]
GATES = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
OPTIONS = SimulationOptions(
    gates=gates_for("1.37", GATES), apiserver_gates=gates_for("1.37", GATES, component="apiserver")
)


def group(name: str, minimum: int = 0, **spec: Any) -> Json:
    policy: Json = {"gang": {"minCount": minimum}} if minimum else {"basic": {}}
    kind = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup"}
    return {**kind, "metadata": {"name": name, "namespace": "shop"}, "spec": {"schedulingPolicy": policy, **spec}}


def member(kind: str = "Deployment", name: str = "web", replicas: int = 4, cpu: str = "1", of: str = "g") -> Json:
    made = workload(kind, name, replicas, {"schedulingGroup": {"podGroupName": of}})
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return made


def played(objects: list[Json], *steps: Step) -> Drill:
    return drill(inventory(*objects), steps, OPTIONS, runs=1)


def pending(found: Drill) -> dict[str, int]:
    groups = found.steps[-1].pending
    return {name: sum(len(each.pods) for each in groups if each.workload.endswith(name)) for name in ("web", "big")}


@pytest.mark.parametrize(("minimum", "waiting"), [(3, 1), (4, 2)])
def test_the_replaced_pods_of_a_gang_find_nodes_together(minimum: int, waiting: int) -> None:
    two = [node("a1", "a", cpu="3"), node("b1", "b", cpu="3")]
    found = played([*two, group("g", minimum), member()], Drain(NodeChoice("node", "a1")))
    assert not found.unjudged
    assert pending(found)["web"] == waiting


def test_terminating_pods_of_a_lost_zone_count_for_their_gang() -> None:
    """The pods stay bound to their nodes, so one of the two new pods is enough for minCount."""
    two = [node("a1", "a", cpu="3"), node("b1", "b", cpu="3")]
    found = played([*two, group("g", 4), member()], Fail(NodeChoice(ZONE, "a")))
    assert found.verdict == "no"
    assert pending(found)["web"] == 1


def test_a_pod_that_joins_a_group_in_backoff_is_tried() -> None:
    objects = [node("a1"), node("b1"), group("g"), member("StatefulSet"), member(name="big", replicas=1, cpu="20")]
    found = played(objects, Drain(NodeChoice("node", "a1")))
    assert pending(found) == {"web": 0, "big": 1}


def test_new_nodes_complete_a_gang() -> None:
    objects = [node("a1", cpu="3"), group("g", 4), member()]
    assert pending(played(objects, AddNodes(1, "a1")))["web"] == 0
    assert pending(played(objects))["web"] == 4


def test_pods_that_wait_for_min_count_say_how_many_exist() -> None:
    found = played([node("a1"), group("g", 3), member()], Scale("deploy/web", 2), Drain(NodeChoice("node", "a1")))
    says = {cause.says for each in found.steps[-1].pending for cause in causes_of(each)}
    assert says == {"PodGroup shop/g needs 3 pods (minCount): 2 exist"}


def test_a_group_that_was_given_up_is_not_judged_after_later_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, times = group_attempts.try_group, []

    def once(*given: Any) -> Any:
        times.append(1)
        if len(times) == 1:
            raise NotJudgedError("podGroups", "spec.schedulingGroup", "this group")
        return tried(*given)

    monkeypatch.setattr(group_attempts, "try_group", once)
    found = played([node("a1"), group("g", 4), member()], AddNodes(1, "a1"))
    assert [each.because for each in found.unjudged] == ["topospread does not model this group"]


def fitting(objects: list[Json], target: str = "deploy/web", **besides: Any) -> tuple[str, int, int]:
    found = capacity(inventory(*objects), target, options=OPTIONS, namespace="shop", **besides)
    return capacity_answer(found).verdict, found.capacity.rounds, found.capacity.targets[0].missing


def test_more_pods_of_a_complete_gang_fit_one_by_one() -> None:
    assert fitting([node("a1", cpu="6"), group("g", 4), member()]) == ("yes", 2, 0)


def test_more_pods_of_a_group_fit_only_in_its_domain() -> None:
    racks = {"schedulingConstraints": {"topology": [{"key": ZONE}]}}
    objects = [node("a1", "a", cpu="6"), node("b1", "b", cpu="9"), group("g", 4, **racks), member(replicas=7)]
    assert fitting(objects) == ("yes", 2, 0)
    assert fitting(objects, more=3, seconds=0)[0] == "no"


def test_the_missing_pods_of_a_gang_are_tried_together() -> None:
    objects = [node("a1", cpu="3"), group("g", 4), member()]
    assert fitting(objects, seconds=0) == ("no", 0, 4)


def test_the_first_pods_of_a_gang_are_not_judged_one_by_one() -> None:
    assert fitting([node("a1"), group("g", 4), member(replicas=0)])[0] == "unknown"


def test_capacity_of_another_workload_places_the_groups_first() -> None:
    objects = [node("a1", cpu="6"), group("g", 4), member(), workload("Deployment", "alone", 1)]
    assert fitting(objects, "deploy/alone") == ("yes", 1, 0)


def test_a_terminating_pod_of_a_lost_zone_keeps_its_devices() -> None:
    version, requests = "resource.k8s.io/v1", [{"name": "r", "exactly": {"deviceClassName": "any"}}]
    objects: list[Json] = [node("a1", "a"), node("b1", "b"), member(replicas=1), group("g")]
    objects.append({"apiVersion": version, "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}})
    for name in ("a1", "b1"):
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": "d", "nodeName": name, "pool": pool, "devices": [{"name": "x"}]}
        objects.append({"apiVersion": version, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec})
    claim = {"metadata": {"name": "one", "namespace": "shop"}, "spec": {"devices": {"requests": requests}}}
    objects.append({"apiVersion": version, "kind": "ResourceClaim", **claim})
    objects[2]["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimName": "one"}]
    found = played(objects, Fail(NodeChoice(ZONE, "a")))
    assert pending(found)["web"] == 1
