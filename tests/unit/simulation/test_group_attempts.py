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


ON = {"TopologyAwareWorkloadScheduling": True}


def in_one(key: str) -> Json:
    return {"schedulingConstraints": {"topology": [{"key": key}]}}


def racks(result: Simulation) -> set[str | None]:
    """First letters of the nodes that were taken."""
    return {each.node and each.node[0] for each in result.placements}


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


@pytest.mark.parametrize(("cpu", "expected"), [("2", [True, True]), ("3", [False, False])])
def test_pods_that_wait_for_one_claim_are_judged_where_chance_decides_nothing(
    cpu: str, expected: list[bool], tmp_path: Path
) -> None:
    members = pods("g", 2, cpu=cpu, volumes=mounts("c"))
    result = simulated(tmp_path, node("n1"), node("n2"), LOCAL, volume("v", "n1"), claim("c"), group("g", 2), *members)
    assert result.unjudged == ()
    assert [each.node == "n1" for each in result.placements] == expected


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
