"""Pods of a PodGroup take their nodes together, and what is said of a group that takes none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import topospread
from topospread.answers.causes import causes_of
from topospread.answers.pending_pods import fixes_of
from topospread.answers.why import why_answer
from topospread.api.pools import NodePool
from topospread.config.gates import gates_for
from topospread.simulation.options import SimulationOptions
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate
from topospread.why.explain import explain
from topospread.why.result import Explanation

Json = dict[str, Any]


def node(name: str, cpu: str = "4", **labels: str) -> Json:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": amounts}}


def group(name: str, minimum: int = 0, **spec: Any) -> Json:
    policy: Json = {"gang": {"minCount": minimum}} if minimum else {"basic": {}}
    kind = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup"}
    return {**kind, "metadata": {"name": name}, "spec": {"schedulingPolicy": policy, **spec}}


def pod(name: str, of: str = "", cpu: str = "1", **spec: Any) -> Json:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    member = {"schedulingGroup": {"podGroupName": of}} if of else {}
    whole = {"containers": [container], **member, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "uid": name}, "spec": whole}


def pods(of: str, count: int, **spec: Any) -> list[Json]:
    return [pod(f"{of}-{i}", of, **spec) for i in range(count)]


def simulated(
    folder: Path, *items: Json, keep_after: bool = False, pools: Sequence[NodePool] = (), **gates: bool
) -> Simulation:
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    values = {"GenericWorkload": True, **gates}
    both = gates_for("1.37", values), gates_for("1.37", values, component="apiserver")
    options = SimulationOptions(gates=both[0], apiserver_gates=both[1], pools=pools)
    return simulate(topospread.load(str(file)), options, keep_after=keep_after)


def placed(result: Simulation) -> dict[str, bool]:
    return {each.name: each.node is not None for each in result.placements}


def test_a_gang_takes_no_node_where_too_few_of_its_pods_find_one(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), node("n2"), group("g", 9), *pods("g", 10), pod("after"))
    assert placed(result) == {**{f"g-{i}": False for i in range(10)}, "after": True}
    says = [cause.says for each in result.pending for cause in causes_of(each) if cause.code == "pod-group"]
    assert says == ["PodGroup default/g needs 9 pods at once (minCount): 7 find nodes"] * len(says)
    assert says


def test_a_pod_that_was_created_before_a_group_is_tried_before_it(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), pod("first", cpu="4"), group("g", 2), *pods("g", 2), pod("last", cpu="1"))
    assert placed(result) == {"first": True, "g-0": False, "g-1": False, "last": False}


@pytest.mark.parametrize(("rack", "expected"), [("a", [True, True]), ("b", [False, False])])
def test_a_pool_grows_for_a_group_only_where_the_group_takes_its_nodes(
    rack: str, expected: list[bool], tmp_path: Path
) -> None:
    racks = {"schedulingConstraints": {"topology": [{"key": "rack"}]}}
    items = [node("n1", "1", rack="a"), group("g", **racks), pod("there", "g", nodeName="n1"), *pods("g", 2)]
    pools = [NodePool("p", {"rack": rack}, {"cpu": "1", "memory": "8Gi", "pods": "9"})]
    result = simulated(tmp_path, *items, pools=pools, **ON)
    assert [each.node is not None for each in result.placements] == expected
    assert [len(each.added) for each in result.pools] == [2 * all(expected)]


def test_pods_above_min_count_may_stay_pending(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), node("n2"), group("g", 7), *pods("g", 10))
    assert sum(placed(result).values()) == 8


@pytest.mark.parametrize(("minimum", "expected"), [(0, 4), (5, 0)])
def test_a_basic_policy_asks_for_a_single_pod(minimum: int, expected: int, tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), group("g", minimum), *pods("g", 6))
    assert sum(placed(result).values()) == expected


def test_a_group_has_the_priority_of_its_class(tmp_path: Path) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    named = {"priorityClassName": "high"}
    result = simulated(tmp_path, high, node("n1"), group("g", 2, **named), *pods("g", 2, **named))
    assert all(placed(result).values())


@pytest.mark.parametrize("policy", ["Never", "PreemptLowerPriority"])
def test_with_the_gate_the_group_s_preemption_policy_counts(policy: str, tmp_path: Path) -> None:
    urgent = pods("g", 2, priority=9, preemptionPolicy="Never")
    items = [node("n1"), pod("low", cpu="4", nodeName="n1"), group("g", 2, priority=9, preemptionPolicy=policy)]
    result = simulated(tmp_path, *items, *urgent, PodGroupPreemptionPolicy=True)
    mine = "all pods in a single pod group should have the same preemption policy as the pod group's preemption policy"
    wrong = f"{mine}, got Never and {policy}"
    assert (wrong in {each.message for each in result.placements}) == (policy != "Never")


def test_groups_without_a_parent_are_judged_beside_composite_groups(tmp_path: Path) -> None:
    items = [node("n1"), group("g", 2), *pods("g", 2)]
    assert all(placed(simulated(tmp_path, *items, **ON, CompositePodGroup=True)).values())
    child = group("child", parentCompositePodGroupName="all")
    result = simulated(tmp_path, *items, child, **ON, CompositePodGroup=True)
    assert [each.because for each in result.unjudged] == ["topospread does not model composite pod groups"]


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


RACES = {
    "another pod waits": ([pod("big", cpu="9")], {"g-0": True, "g-1": True, "big": False}),
    "the pods evict another": ([pod("low", cpu="4", nodeName="n1", priority=0)], {"g-0": True, "g-1": True}),
}


@pytest.mark.parametrize(("more", "nodes"), RACES.values(), ids=RACES.keys())
def test_the_first_pod_binds_a_claim_and_the_other_is_tried_again(
    more: list[Json], nodes: dict[str, bool], tmp_path: Path
) -> None:
    waiting = [claim("c"), volume("v", "n1"), *pods("g", 2, volumes=mounts("c"), priority=9)]
    result = simulated(tmp_path, node("n1"), group("g", 2, priority=9), LOCAL, *waiting, *more)
    assert not result.unjudged
    assert placed(result) == nodes


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


ON = {"TopologyAwareWorkloadScheduling": True}


def in_one(key: str) -> Json:
    return {"schedulingConstraints": {"topology": [{"key": key}]}}


def racks(result: Simulation) -> set[str | None]:
    """First letters of the nodes that were taken."""
    return {each.node and each.node[0] for each in result.placements}


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


def test_a_gang_is_tried_again_when_others_found_nodes_that_it_wants_to_be_near(tmp_path: Path) -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "base"}}}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    base = pod("base")
    base["metadata"]["labels"] = {"app": "base"}
    result = simulated(tmp_path, node("n1"), node("n2"), group("g", 2), *pods("g", 2, affinity=near), base)
    assert all(placed(result).values())


def test_a_gang_waits_until_all_its_pods_exist(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), group("g", 3), *pods("g", 2))
    assert not any(placed(result).values())
    (pending, _) = result.pending
    assert pending.message == "waiting for minCount pods from a gang to appear in scheduling queue"
    assert [each.says for each in causes_of(pending)] == ["PodGroup default/g needs 3 pods (minCount): 2 exist"]


def test_bound_pods_count_for_min_count(tmp_path: Path) -> None:
    there = [pod(f"there-{i}", "g", nodeName="n1") for i in range(2)]
    result = simulated(tmp_path, node("n1"), group("g", 3), *there, *pods("g", 1))
    assert placed(result) == {"g-0": True}


def test_pods_of_unlike_priority_are_no_group(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), group("g", 2), pod("g-0", "g"), pod("g-1", "g", priority=5))
    assert not any(placed(result).values())
    words = "all pods in a single pod group should have the same priority as the pod group's priority, got 5 and 0"
    assert {each.message for each in result.placements} == {words}


def test_without_the_gate_pods_are_placed_one_by_one(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), group("g", 9), *pods("g", 5), GenericWorkload=False)
    assert sum(placed(result).values()) == 4


LOCAL: Json = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "local"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


MADE = {**LOCAL, "metadata": {"name": "made"}, "provisioner": "disk.example.com"}


def claim(name: str, of: str = "local") -> Json:
    storage = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": storage, "storageClassName": of}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def volume(name: str, of: str, **spec: Any) -> Json:
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [of]}]}
    whole = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "local": {"path": "/mnt"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": whole | spec}


def mounts(name: str) -> list[Json]:
    return [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]


@pytest.mark.parametrize(("volumes", "expected"), [(["n1", "n2"], 2), (["n1"], 0)])
def test_pods_of_a_gang_take_a_volume_each(volumes: list[str], expected: int, tmp_path: Path) -> None:
    there = [volume(f"v-{each}", each) for each in volumes]
    members = [pod(f"g-{i}", "g", volumes=mounts(f"c-{i}")) for i in range(2)]
    claims = [claim(f"c-{i}") for i in range(2)]
    result = simulated(tmp_path, node("n1"), node("n2"), LOCAL, *there, *claims, group("g", 2), *members)
    assert result.unjudged == ()
    assert len({each.node for each in result.placements} - {None}) == expected


@pytest.mark.parametrize(("cpu", "expected"), [("2", [True, True]), ("3", [False, False])])
def test_pods_that_wait_for_one_claim_are_judged_where_chance_decides_nothing(
    cpu: str, expected: list[bool], tmp_path: Path
) -> None:
    members = pods("g", 2, cpu=cpu, volumes=mounts("c"))
    result = simulated(tmp_path, node("n1"), node("n2"), LOCAL, volume("v", "n1"), claim("c"), group("g", 2), *members)
    assert result.unjudged == ()
    assert [each.node == "n1" for each in result.placements] == expected


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


def owned(by: str) -> Json:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": by, "uid": by, "controller": True}
    return {"ownerReferences": [owner]}


def stateful_set(name: str, replicas: int, of: str, **spec: Any) -> Json:
    template = {"metadata": {"labels": {"app": name}}, "spec": pod("", of, **spec)["spec"]}
    whole = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "uid": name}, "spec": whole}


def gated(name: str, of: str = "") -> Json:
    return pod(name, of, schedulingGates=[{"name": "wait"}])


def test_a_group_waits_for_the_gates_of_each_of_its_pods(tmp_path: Path) -> None:
    members = [*pods("g", 2), *(gated(f"gated-{i}", "g") for i in range(4))]
    result = simulated(tmp_path, node("n1"), group("g"), *members, pod("other"))
    assert [each.name for each in result.placements if each.node] == ["other"]
    says = "PodGroup default/g waits for pods with scheduling gates: gated-0, gated-1, gated-2 and 1 more"
    assert [each.message for each in result.placements if each.name == "g-1"] == [says]
    assert {cause.says for each in result.pending for cause in causes_of(each)} == {
        says,
        "waits for its scheduling gates: wait",
    }
    assert result.unjudged == ()


@pytest.mark.parametrize(("minimum", "exist"), [(4, 3), (9, 4)])
def test_gated_pods_count_for_min_count_if_they_exist(minimum: int, exist: int, tmp_path: Path) -> None:
    set_of_gated = stateful_set("web", 2, "g", schedulingGates=[{"name": "wait"}])
    more = [set_of_gated] if exist == 4 else []
    result = simulated(tmp_path, node("n1"), group("g", minimum), *pods("g", 2), gated("gated", "g"), *more)
    says = f"PodGroup default/g needs {minimum} pods (minCount): {exist} exist"
    assert says in [cause.says for each in result.pending for cause in causes_of(each)]


def test_a_group_waits_for_a_pod_whose_claim_does_not_exist(tmp_path: Path) -> None:
    kind = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    devices = {**kind, "spec": {"driver": "d", "nodeName": "n1", "pool": pool, "devices": [{"name": "d0"}]}}
    without = pod("without", "g", resourceClaims=[{"name": "c", "resourceClaimName": "missing"}])
    other = {**kind, "kind": "ResourceClaim", "metadata": {"name": "other"}, "spec": {"devices": {"requests": []}}}
    result = simulated(tmp_path, node("n1"), devices, other, group("g", 2), *pods("g", 2), without)
    assert {each.message for each in result.placements} == {
        "PodGroup default/g waits for pods whose resource claims do not exist: without"
    }


NOT_WHOLE: dict[str, tuple[list[Json], str]] = {
    "a PodGroup that nobody gave": (pods("g", 2), "the PodGroup g, which is not in the input"),
    "pods in two domains": (
        [
            node("n2"),
            *(pod(f"there-{i}", "g", nodeName=f"n{i}") for i in (1, 2)),
            group("g", 3, **in_one("kubernetes.io/hostname")),
            *pods("g", 2),
        ],
        "a PodGroup whose pods share no kubernetes.io/hostname",
    ),
    "gates of a pod that its StatefulSet creates later": (
        [
            group("g", 2),
            *pods("g", 2),
            stateful_set("web", 2, "g", schedulingGates=[{"name": "wait"}]),
            {**pod("web-0", "g"), "metadata": {"name": "web-0", "uid": "w", "labels": {"app": "web"}, **owned("web")}},
        ],
        "new pods with gates in a StatefulSet",
    ),
    "a claim of two pods with different volumes": (
        [
            *(group("g", 2), LOCAL, claim("c"), claim("own"), volume("v", "n1"), volume("own", "n1")),
            pod("g-0", "g", volumes=mounts("c")),
            pod("g-1", "g", volumes=[*mounts("c"), mounts("own")[0] | {"name": "own"}]),
        ],
        "the claim c, which several pods of a PodGroup wait for",
    ),
    "a claim that the PV controller does not bind": (
        [
            group("g", 2),
            LOCAL,
            claim("c"),
            volume("v", "n1", accessModes=["ReadOnlyMany"], claimRef={"namespace": "default", "name": "c"}),
            pod("g-0", "g", volumes=mounts("c")),
            pod("g-1", "g"),
        ],
        "pods of a PodGroup whose claims cannot be bound",
    ),
}


@pytest.mark.parametrize(("items", "words"), NOT_WHOLE.values(), ids=NOT_WHOLE.keys())
def test_what_is_not_modelled_leaves_the_group_s_pods_not_judged(items: list[Json], words: str, tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), *items, **ON)
    assert [each.because for each in result.unjudged] == [f"topospread does not model {words}"]
    assert {"default/g-0", "default/g-1"} <= {*result.open_pods}


@pytest.mark.parametrize(
    ("items", "command"), [(pods("g", 2), "kubectl get podgroups"), (NOT_WHOLE["pods in two domains"][0], "")]
)
def test_only_a_missing_pod_group_has_a_command_that_provides_it(
    items: list[Json], command: str, tmp_path: Path
) -> None:
    [part] = simulated(tmp_path, node("n1"), *items, **ON).unjudged
    assert part.to_know.startswith(command)
    assert bool(part.to_know) == bool(command)


def low(name: str, of: str = "", cpu: str = "1") -> Json:
    """A pod of priority 0 on the only node."""
    return pod(name, of, cpu=cpu, nodeName="n1", priority=0)


@pytest.mark.parametrize(
    ("items", "evicted"),
    [
        ([low("a"), low("b"), low("c"), low("d")], 2),
        ([low("a", "old"), low("b", "old"), low("c"), low("d"), group("old")], 2),
        ([*(low(each, "old") for each in "abc"), low("d"), group("old", disruptionMode={"all": {}})], 3),
        ([low("a", cpu="2"), low("b", cpu="500m"), low("c", cpu="500m")], 2),
    ],
    ids=["pods alone", "pods of a group, which are more important", "a group that goes as a whole", "small ones"],
)
def test_a_group_evicts_as_few_as_it_can(items: list[Json], evicted: int, tmp_path: Path) -> None:
    made = [node("n1"), *items, group("g", 2, priority=9), *pods("g", 2, priority=9)]
    result = simulated(tmp_path, *made)
    assert placed(result) == {"g-0": True, "g-1": True}
    assert len(result.evictions) == evicted
    assert {each.preemptor for each in result.evictions} == {"default/g-0"}


def test_a_pod_evicts_a_group_as_a_whole(tmp_path: Path) -> None:
    there = [pod(f"there-{i}", "g", cpu="3", nodeName=f"n{i}") for i in range(2)]
    whole = group("g", 2, disruptionMode={"all": {}})
    result = simulated(tmp_path, node("n0"), node("n1"), whole, *there, pod("high", priority=9, cpu="3"))
    assert placed(result)["high"]
    assert {each.name for each in result.evictions} == {"there-0", "there-1"}


def test_a_pod_of_a_group_is_more_important_than_a_pod_alone(tmp_path: Path) -> None:
    there = [low("a", cpu="2"), low("b", "g", "2")]
    result = simulated(tmp_path, node("n1"), *there, group("g", 1), pod("high", priority=9))
    assert [each.name for each in result.evictions] == ["a"]


def explained(folder: Path, target: str, *items: Json) -> Explanation:
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    values = {"GenericWorkload": True}
    both = gates_for("1.37", values), gates_for("1.37", values, component="apiserver")
    return explain(topospread.load(str(file)), target, SimulationOptions(gates=both[0], apiserver_gates=both[1]))


def test_why_names_the_group_and_how_many_of_its_pods_fit(tmp_path: Path) -> None:
    found = explained(tmp_path, "g-0", node("n1"), group("g", 6), *pods("g", 6))
    assert why_answer(found).verdict == "no"
    assert [each.says for each in why_answer(found).causes] == [
        "PodGroup default/g needs 6 pods at once (minCount): 4 find nodes"
    ]


def test_why_of_a_member_that_finds_a_node_with_its_group(tmp_path: Path) -> None:
    answer = why_answer(explained(tmp_path, "g-3", node("n1"), group("g", 4), *pods("g", 4)))
    assert (answer.verdict, answer.node) == ("yes", "n1")


def test_why_of_a_member_that_has_a_node_is_a_fact(tmp_path: Path) -> None:
    there = pod("there", "g", nodeName="n1")
    answer = why_answer(explained(tmp_path, "there", node("n1"), group("g", 4), there))
    assert (answer.verdict, answer.node) == ("yes", "n1")


@pytest.mark.parametrize("member", ["g-0", "g-4", "g-5"])
def test_why_says_the_same_of_every_member_of_a_group_that_waits(member: str, tmp_path: Path) -> None:
    found = explained(tmp_path, member, node("n1"), group("g", 6), *pods("g", 7))
    assert {each.code for each in why_answer(found).causes} == {"pod-group"}


def test_what_is_said_of_fixes_is_not_that_a_budget_ended(tmp_path: Path) -> None:
    result = simulated(tmp_path, node("n1"), group("g", 6), *pods("g", 6))
    assert fixes_of(result, None)[1] == 0


def test_a_change_with_which_the_whole_group_finds_nodes_is_a_fix(tmp_path: Path) -> None:
    closed = node("n2") | {"spec": {"unschedulable": True}}
    objects = [node("n1"), closed, group("g", 6), *pods("g", 6)]
    (remedy,) = fixes_of(simulated(tmp_path, *objects), None)[0]
    assert (remedy.says, remedy.tried.verdict) == ("uncordon n2", "yes")
    found = explained(tmp_path, "g-0", *objects)
    assert {each.code for each in why_answer(found).causes} == {"pod-group"}
    assert [each.kind for each in found.suggestions] == ["uncordon", "newNode"]


def test_without_the_gate_a_group_plays_no_part_and_a_warning_says_so(tmp_path: Path) -> None:
    objects = [node("n1"), group("g", 6), *pods("g", 6)]
    result = simulated(tmp_path, *objects, GenericWorkload=False)
    assert sum(placed(result).values()) == 4
    says = "default/g: a PodGroup has no effect, because the gate GenericWorkload is off"
    assert f"{says}; --feature-gates GenericWorkload=true turns it on" in result.warnings
    assert not [each for each in simulated(tmp_path, *objects).warnings if "PodGroup has no effect" in each]
    older = topospread.Session(str(tmp_path / "cluster.json"), kube_version="1.33").simulate()
    assert says in older.warnings


def test_situations_that_say_the_same_are_one(tmp_path: Path) -> None:
    template = {"metadata": {"labels": {"app": "g"}}, "spec": pod("x", "g")["spec"] | {"restartPolicy": "Never"}}
    spec = {"parallelism": 8, "completions": 8, "template": template}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "g", "uid": "g"}, "spec": spec}
    says = [each.says for each in why_answer(explained(tmp_path, "job/g", node("n1"), group("g", 8), job)).situations]
    assert len(says) == len({*says}) == 2


def test_pods_that_the_job_controller_puts_into_a_group_are_not_judged(tmp_path: Path) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": pod("x")["spec"]["containers"]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}}
    assert not simulated(tmp_path, node("n1"), job).unjudged
    result = simulated(tmp_path, node("n1"), job, WorkloadWithJob=True)
    assert [each.because for each in result.unjudged] == [
        "PodGroup of the Job j cannot be evaluated: it may change the pod"
    ]
    in_group = {**template, "spec": {**template["spec"], "schedulingGroup": {"podGroupName": "g"}}}
    own = {**job, "spec": {"template": in_group}}
    assert not simulated(tmp_path, node("n1"), group("g"), own, WorkloadWithJob=True).unjudged
