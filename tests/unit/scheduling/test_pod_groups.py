"""Pods of a PodGroup take their nodes together: minCount, placements in one domain, and the words of kube-scheduler."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.simulation.test_group_attempts import (
    LOCAL,
    ON,
    Json,
    claim,
    group,
    in_one,
    mounts,
    node,
    placed,
    pod,
    pods,
    racks,
    simulated,
    volume,
)
from topospread.answers.causes import causes_of
from topospread.api.pod import Pod
from topospread.api.pod_groups import PodGroup
from topospread.scheduling.pod_groups import GroupAttempt, Member, MemberResult, Status


def test_a_gang_takes_no_node_where_too_few_of_its_pods_find_one(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), node("n2"), group("g", 9), *pods("g", 10), pod("after"))
    assert placed(result) == {**{f"g-{i}": False for i in range(10)}, "after": True}
    says = [cause.says for each in result.pending for cause in causes_of(each) if cause.code == "pod-group"]
    assert says == ["PodGroup default/g needs 9 pods at once (minCount): 7 find nodes"] * len(says)
    assert says


def test_pods_above_min_count_may_stay_pending(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), node("n2"), group("g", 7), *pods("g", 10))
    assert sum(placed(result).values()) == 8


@pytest.mark.parametrize(("minimum", "expected"), [(0, 4), (5, 0)])
def test_a_basic_policy_asks_for_a_single_pod(minimum: int, expected: int, tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), group("g", minimum), *pods("g", 6))
    assert sum(placed(result).values()) == expected


SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "d",
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "d0"}, {"name": "d1"}],
    },
}
ONE = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "any"}}]}}
DEVICES: list[Json] = [
    SLICE,
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}},
]


def test_pods_share_a_claim_that_is_allocated_with_the_first(tmp_path: Path) -> None:
    shared = {**SLICE, "kind": "ResourceClaim", "metadata": {"name": "c", "uid": "c"}, "spec": ONE}
    members = pods("g", 2, resourceClaims=[{"name": "x", "resourceClaimName": "c"}])
    result = simulated(tmp_path, node("n0"), node("n1"), *DEVICES, shared, group("g", 2), *members, keep_after=True)
    assert {each.node for each in result.placements} == {"n1"}
    assert not result.unjudged
    assert result.after is not None
    [claim] = result.after.resource_claims
    assert [each.name for each in claim.status.reserved_for or ()] == ["g-0", "g-1"]


def test_a_claim_of_the_group_is_made_once_and_reserved_for_the_group(tmp_path: Path) -> None:
    template = {**SLICE, "kind": "ResourceClaimTemplate", "metadata": {"name": "t"}, "spec": {"spec": ONE}}
    entry = {"name": "x", "resourceClaimTemplateName": "t"}
    of_group = group("g", 4, resourceClaims=[entry])
    items = [node("n0"), node("n1"), *DEVICES, template, of_group, *pods("g", 4, resourceClaims=[entry])]
    result = simulated(tmp_path, *items, keep_after=True, DRAWorkloadResourceClaims=True)
    assert {each.node for each in result.placements} == {"n1"}
    assert result.after is not None
    [claim] = result.after.resource_claims
    assert claim.name == "g-x"
    assert [(each.resource, each.name) for each in claim.status.reserved_for or ()] == [("podgroups", "g")]
    without = simulated(tmp_path, *items)
    assert not any(placed(without).values()), "four claims, two devices"


def test_a_pod_gets_its_own_claim_after_another_pod_allocated_the_shared_one(tmp_path: Path) -> None:
    shared, *own = (
        {**SLICE, "kind": "ResourceClaim", "metadata": {"name": name, "uid": name}, "spec": ONE} for name in "cab"
    )
    three = {**SLICE, "spec": SLICE["spec"] | {"devices": [{"name": each} for each in "xyz"]}}
    members = [
        pod(f"g-{name}", "g", resourceClaims=[{"name": each, "resourceClaimName": each} for each in f"c{name}"])
        for name in "ab"
    ]
    items = [node("n1"), DEVICES[1], three, shared, *own, group("g", 2), *members]
    result = simulated(tmp_path, *items, keep_after=True)
    assert placed(result) == {"g-a": True, "g-b": True}
    assert result.after is not None
    devices = {
        each.name: [one.device for one in each.status.allocation.devices.results or ()]
        for each in result.after.resource_claims
        if each.status.allocation
    }
    assert devices == {"c": ["x"], "a": ["y"], "b": ["z"]}


def test_words_are_kube_scheduler_s(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), group("g", 6), *pods("g", 7))
    said = [each.message for each in result.placements]
    none = "pod group preemption: No preemption victims found for incoming preemptor"
    cannot = "minCount (6) cannot be satisfied: 4 scheduled, 1 remaining"
    assert said == [
        *[f"pod group is unschedulable, {cannot}, {none}"] * 4,
        *["0/1 nodes are available: 1 Insufficient cpu."] * 2,
        cannot,
    ]


def test_with_placements_the_group_says_how_many_were_tried(tmp_path: Path) -> None:
    items = [node("n1"), group("g", 2), *pods("g", 2, cpu="3")]
    result = simulated(tmp_path, *items, TopologyAwareWorkloadScheduling=True)
    first = result.placements[0].message
    assert first.startswith(
        "pod group is unschedulable, pod group is unschedulable, 0/1 placements are available, first placement status: "
        "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
    )


def test_a_group_with_a_topology_constraint_takes_nodes_of_one_domain(tmp_path: Path) -> None:
    nodes = [node(f"{rack}{i}", rack=rack) for rack in "ab" for i in range(2)]
    result = simulated(tmp_path, *nodes, group("g", 8, **in_one("rack")), *pods("g", 8), **ON)
    assert racks(result) == {"a"}
    result = simulated(tmp_path, *nodes, group("g", 8, **in_one("rack")), *pods("g", 8))
    assert racks(result) == {"a", "b"}, "the gate is off"


def test_a_group_without_room_in_one_domain_takes_none(tmp_path: Path) -> None:
    nodes = [node(f"{rack}{i}", rack=rack) for rack in "abcd" for i in range(2)]
    result = simulated(tmp_path, *nodes, group("g", 9, **in_one("rack")), *pods("g", 9), **ON)
    assert racks(result) == {None}
    says = {cause.says for each in result.pending for cause in causes_of(each) if cause.code == "pod-group"}
    needs = "PodGroup default/g needs 9 pods at once (minCount) in one rack"
    assert says == {f"{needs}: 8 in a, 8 in b, 8 in c find nodes, at most as many in 1 more"}


def test_a_domain_that_takes_more_pods_is_better(tmp_path: Path) -> None:
    nodes = [node("a1", rack="a"), node("b1", cpu="5", rack="b")]
    result = simulated(tmp_path, *nodes, group("g", 4, **in_one("rack")), *pods("g", 5), **ON)
    assert racks(result) == {"b"}


def test_with_as_many_pods_the_fuller_domain_is_better(tmp_path: Path) -> None:
    nodes = [node("a1", cpu="8", rack="a"), node("b1", rack="b")]
    result = simulated(tmp_path, *nodes, group("g", 4, **in_one("rack")), *pods("g", 4), **ON)
    assert racks(result) == {"b"}


def test_pods_that_have_nodes_fix_the_domain(tmp_path: Path) -> None:
    nodes = [node("a1", rack="a"), node("b1", cpu="8", rack="b")]
    there = pod("there", "g", nodeName="a1")
    result = simulated(tmp_path, *nodes, group("g", 3, **in_one("rack")), there, *pods("g", 2), **ON)
    assert racks(result) == {"a"}


def test_domains_outside_the_placement_count_for_spread(tmp_path: Path) -> None:
    nodes = [node(f"{zone}1", rack=zone, **{"topology.kubernetes.io/zone": zone}) for zone in "ab"]
    constraint = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    spread = {"topologySpreadConstraints": [constraint | {"labelSelector": {"matchLabels": {"app": "g"}}}]}
    members = pods("g", 3, **spread)
    for each in members:
        each["metadata"]["labels"] = {"app": "g"}
    result = simulated(tmp_path, *nodes, group("g", 3, **in_one("rack")), *members, **ON)
    assert racks(result) == {None}


def test_without_the_label_there_is_no_placement(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("a1"), group("g", 2, **in_one("rack")), *pods("g", 2), **ON)
    assert {each.message for each in result.placements} == {"no feasible placements found"}


def test_bound_pods_count_for_min_count(tmp_path: Path) -> None:
    there = [pod(f"there-{i}", "g", nodeName="n1") for i in range(2)]
    result = simulated(tmp_path, node("n1"), group("g", 3), *there, *pods("g", 1))
    assert placed(result) == {"g-0": True}


def test_pods_of_unlike_priority_are_no_group(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), group("g", 2), pod("g-0", "g"), pod("g-1", "g", priority=5))
    assert not any(placed(result).values())
    words = "all pods in a single pod group should have the same priority as the pod group's priority, got 5 and 0"
    assert {each.message for each in result.placements} == {words}


@pytest.mark.parametrize(("volumes", "expected"), [(["n1", "n2"], 2), (["n1"], 0)])
def test_pods_of_a_gang_take_a_volume_each(volumes: list[str], expected: int, tmp_path: Path) -> None:
    there = [volume(f"v-{each}", each) for each in volumes]
    members = [pod(f"g-{i}", "g", volumes=mounts(f"c-{i}")) for i in range(2)]
    claims = [claim(f"c-{i}") for i in range(2)]
    result = simulated(tmp_path, node("n1"), node("n2"), LOCAL, *there, *claims, group("g", 2), *members)
    assert result.unjudged == ()
    assert len({each.node for each in result.placements} - {None}) == expected


@pytest.mark.parametrize(("devices", "expected"), [(2, 2), (1, 0)])
def test_pods_of_a_gang_take_a_device_each(devices: int, expected: int, tmp_path: Path) -> None:
    version = "resource.k8s.io/v1"
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    asked = {"spec": {"devices": {"requests": [request]}}}
    slices = [
        {
            "apiVersion": version,
            "kind": "ResourceSlice",
            "metadata": {"name": f"s{i}"},
            "spec": {
                "driver": "d",
                "nodeName": f"n{i}",
                "pool": {"name": f"n{i}", "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "d0"}],
            },
        }
        for i in range(devices)
    ]
    items = [
        *(node(f"n{i}") for i in range(3)),
        {"apiVersion": version, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
        {"apiVersion": version, "kind": "ResourceClaimTemplate", "metadata": {"name": "t"}, "spec": asked},
        *slices,
        group("g", 2),
        *pods("g", 2, resourceClaims=[{"name": "c", "resourceClaimTemplateName": "t"}]),
    ]
    result = simulated(tmp_path, *items)
    assert result.unjudged == ()
    assert sum(placed(result).values()) == expected


def test_the_release_of_a_claim_that_a_member_reserves_on_a_full_node_is_not_judged(tmp_path: Path) -> None:
    result = {"request": "r", "driver": "d", "pool": "n1", "device": "d0"}
    only = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    where = {"nodeSelectorTerms": [{"matchFields": only}]}
    reserved = [{"resource": "pods", "name": "g-0", "uid": "g-0"}]
    allocation = {"devices": {"results": [result]}, "nodeSelector": where}
    own = {**SLICE, "kind": "ResourceClaim", "metadata": {"name": "c", "uid": "c"}, "spec": ONE}
    own |= {"status": {"allocation": allocation, "reservedFor": reserved}}
    first = pod("g-0", "g", resourceClaims=[{"name": "c", "resourceClaimName": "c"}])
    items = [node("n1", cpu="0"), node("n2"), *DEVICES, own, group("g", 2), first, pod("g-1", "g")]
    messages = {each.name: each.message for each in simulated(tmp_path, *items).placements}
    assert messages["g-1"] == "not judged: the release of the claim c for a PodGroup"


def test_a_group_that_fails_keeps_no_nomination_and_the_errors_of_its_pods() -> None:
    members = [Member(f"default/{name}", Pod(), name) for name in "ab"]
    own = MemberResult(members[0], message="own", error=True, keeps_promise=True)
    attempt = GroupAttempt(PodGroup(), Status("Success", ()), [own, MemberResult(members[1], 3, keeps_promise=True)])
    attempt.fail("late")
    assert [(each.row, each.message, each.error, each.keeps_promise) for each in attempt.results] == [
        *((-1, "own", True, True), (-1, "late", True, False)),
    ]
    assert (attempt.status.code, attempt.queue_code) == ("Error", "Error")
