"""DynamicResources: claims are allocated where the slices are known; elsewhere pods with claims are not judged."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case
from tests.forks import fork
from tests.unit.plugins.device_builders import GPUS, allocated, claim, device, devices_of, either, request, template
from tests.unit.plugins.storage_builders import cluster, node, pod, prepare, zonal
from topospread.api.devices import DeviceClass, DeviceClassSpec
from topospread.api.inventory import ABSENT
from topospread.api.meta import ObjectMeta
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.plugins.dynamic_resources import DynamicResources
from topospread.plugins.interface import NotJudgedError
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

CLAIMS = [{"name": "gpu", "resourceClaimName": "gpu"}]


def scheduler_of(framework: Framework) -> Scheduler:
    with_room = Cluster()
    with_room.add_node(node("n0", {}, allocatable={"pods": "9"}))
    return Scheduler(with_room, {"default-scheduler": framework})


def test_a_pod_with_resource_claims_is_not_judged() -> None:
    with pytest.raises(NotJudgedError, match="not judged: resource claims"):
        prepare(DynamicResources(), pod(resourceClaims=CLAIMS), cluster(zonal(n0="a")))


def test_other_pods_are() -> None:
    assert prepare(DynamicResources(), pod(), cluster(zonal(n0="a"))).filter is None


def test_it_stays_pending_and_says_why() -> None:
    scheduler = scheduler_of(Framework(default_profile(), gates_for()))
    message = "not judged: resource claims need ResourceSlices, which the input lacks"
    assert scheduler.schedule(pod(resourceClaims=CLAIMS)).message == message
    verdict = scheduler.verdict(pod(resourceClaims=CLAIMS))
    assert verdict.error == message
    assert [each.what for each in verdict.unjudged] == ["resourceClaims"]


def test_a_claim_cannot_help_a_pod_that_other_filters_reject_on_every_node() -> None:
    scheduler = scheduler_of(Framework(default_profile(), gates_for()))
    verdict = scheduler.verdict(pod(resourceClaims=CLAIMS, nodeSelector={"disk": "ssd"}))
    assert not verdict.error
    assert verdict.message == "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    assert [each.what for each in verdict.unjudged] == ["resourceClaims"]


def test_an_assumed_claim_lets_the_pod_in() -> None:
    framework = Framework(default_profile(), gates_for(), assumes_unjudged=True)
    scheduler = scheduler_of(framework)
    assert scheduler.schedule(pod(resourceClaims=CLAIMS)).node == "n0"


def test_a_pod_of_a_group_is_not_judged_where_groups_are_on() -> None:
    grouped = pod(schedulingGroup={"podGroupName": "training"})
    for on, message in ((True, "not judged: pod groups in this command"), (False, "")):
        gates = gates_for(overrides={"GenericWorkload": on})
        scheduler = scheduler_of(Framework(default_profile(), gates))
        assert scheduler.schedule(grouped).message == message


def judged(version: str, nodes: list[dict[str, Any]], resource: str = "example.com/gpu") -> dict[str, Any]:
    device_class = {"metadata": {"name": "gpus"}, "spec": {"extendedResourceName": "example.com/gpu"}}
    limits = {resource: "1"}
    container = {"name": "c", "resources": {"requests": limits, "limits": limits}}
    incoming = {"metadata": {"name": "p", "namespace": "d"}, "spec": {"containers": [container]}}
    listed = [
        {"metadata": {"name": f"n{i}"}, "status": {"allocatable": {"pods": "9", **amounts}}}
        for i, amounts in enumerate(nodes)
    ]
    case = {"nodes": listed, "pods": [], "incoming": [incoming], "deviceClasses": [device_class]}
    verdict: dict[str, Any] = judge_case(case | {"kubeVersion": version})["verdicts"][0]
    return verdict


HAS = {"example.com/gpu": "1"}


@pytest.mark.parametrize(
    ("resource", "nodes"),
    [
        ("example.com/gpu", [{}]),
        ("example.com/gpu", [{}, HAS]),
        ("deviceclass.resource.kubernetes.io/gpus", [HAS]),
    ],
)
def test_resources_that_stand_for_devices_are_not_judged(resource: str, nodes: list[dict[str, str]]) -> None:
    error = judged("1.37", nodes, resource)["error"]
    assert error == f"not judged: {resource} is provided by devices of DeviceClass gpus"


def test_nodes_that_have_the_resource_themselves_are_judged_as_ever() -> None:
    assert judged("1.37", [HAS, HAS])["feasible"] == ["n0", "n1"]


def test_other_resources_stand_for_no_devices() -> None:
    assert judged("1.37", [{}], "example.com/tpu")["message"].endswith("1 Insufficient example.com/tpu.")


def test_before_1_36_no_resource_stands_for_devices() -> None:
    assert judged("1.35", [{}])["message"].endswith("1 Insufficient example.com/gpu.")


def test_a_device_class_that_comes_later_is_heard_of() -> None:
    made = cluster(zonal(n0="a"))
    scheduler = Scheduler(made, {"default-scheduler": Framework(default_profile(), gates_for())})
    resources = {"requests": {"example.com/gpu": "1"}}
    incoming = pod(containers=[{"name": "c", "resources": resources}])
    before = scheduler.verdict(incoming)
    made.objects.add([DeviceClass(metadata=ObjectMeta(name="g"), spec=DeviceClassSpec("example.com/gpu"))])
    assert (before.error, "not judged" in scheduler.verdict(incoming).error) == ("", True)


# With slices, claims are allocated.


def with_devices(*objects: Any, nodes: tuple[str, ...] = ("n0",), devices: int = 1) -> Scheduler:
    """A scheduler whose nodes have a number of devices each."""
    made = Cluster()
    slices = [devices_of(name, *(device(f"d{i}") for i in range(devices)), nodeName=name) for name in nodes]
    for name in nodes:
        made.add_node(node(name, {}, allocatable={"pods": "9"}))
    made.objects.add([GPUS, *slices, *objects])
    return Scheduler(made, {"default-scheduler": Framework(default_profile(), gates_for())})


def named(name: str, **entry: str) -> Any:
    made = pod(resourceClaims=[{"name": "g", **entry}])
    made.metadata.name, made.metadata.namespace, made.metadata.uid = name, "default", f"uid-{name}"
    return made


def devices_in_use(scheduler: Scheduler) -> list[str]:
    return sorted("/".join(each[1:]) for each in scheduler.cluster.objects.devices.dedicated)


FULL = "0/1 nodes are available: 1 cannot allocate all claims."


def test_a_device_that_one_pod_has_is_not_free_for_the_next() -> None:
    scheduler = with_devices(claim("a", request()), claim("b", request()))
    assert scheduler.schedule(named("p", resourceClaimName="a")).node == "n0"
    assert scheduler.schedule(named("q", resourceClaimName="b")).message == FULL
    held = scheduler.cluster.objects.resource_claims["default", "a"]
    assert [each.name for each in held.status.reserved_for or ()] == ["p"]
    assert devices_in_use(scheduler) == ["n0/d0"]


def test_a_savepoint_gives_devices_back_and_a_fork_keeps_its_own() -> None:
    scheduler = with_devices(template("t", request()), devices=2)
    pods = [named(name, resourceClaimTemplateName="t") for name in "pqr"]
    assert scheduler.schedule(pods[0], "p").node == "n0"
    with scheduler.cluster.savepoint() as savepoint:
        assert scheduler.schedule(pods[1], "q").node == "n0"
        assert scheduler.schedule(pods[2], "r").message == FULL
        savepoint.rollback()
        assert devices_in_use(scheduler) == ["n0/d0"]
        assert scheduler.schedule(pods[2], "r").node == "n0"
    assert devices_in_use(scheduler) == ["n0/d0"]
    forked = Scheduler(fork(scheduler.cluster), scheduler.frameworks)
    assert forked.schedule(pods[1], "q").node == "n0"
    assert (devices_in_use(forked), devices_in_use(scheduler)) == (["n0/d0", "n0/d1"], ["n0/d0"])


def test_a_pod_that_is_gone_gives_back_what_nobody_else_uses() -> None:
    scheduler = with_devices(claim("shared", request()), template("t", request()), devices=2)
    for name in "pq":
        assert scheduler.schedule(named(name, resourceClaimName="shared")).node == "n0"
    assert scheduler.schedule(named("r", resourceClaimTemplateName="t")).node == "n0"
    claims = scheduler.cluster.objects.resource_claims
    assert set(claims) == {("default", "shared"), ("default", "r-g")}
    for name, left in (("p", ["n0/d0", "n0/d1"]), ("r", ["n0/d0"]), ("q", [])):
        scheduler.cluster.delete_pod(f"default/{name}")
        assert devices_in_use(scheduler) == left
    assert set(claims) == {("default", "shared")}, "a claim of a template goes with its pod"


def test_a_claim_that_is_allocated_keeps_its_pods_where_it_is() -> None:
    held = allocated(claim("a", request()), ("n0", "d0"))
    scheduler = with_devices(held, nodes=("n0", "n1"))
    verdict = scheduler.verdict(named("p", resourceClaimName="a"))
    assert verdict.feasible == ("n0",)
    assert verdict.rejected["n1"].reasons == ("resourceclaim not available on the node",)


def test_a_claim_that_nobody_uses_is_released_where_its_node_is_full() -> None:
    held = allocated(claim("a", request()), ("gone", "d0"))
    held.status.allocation.node_selector.node_selector_terms[0].match_fields[0].values = ["gone"]
    scheduler = with_devices(held)
    waiting = named("p", resourceClaimName="a")
    verdict = scheduler.verdict(waiting)
    assert scheduler.release_claim(waiting, "p", verdict) == "deallocation of ResourceClaim completed"
    assert scheduler.schedule(waiting).node == "n0"


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ((), 'could not find ResourceClaim "default/a"'),
        ((claim("a", request(deviceClassName="none")),), "request r: device class none does not exist"),
        (
            (claim("a", either("r", request("s"), request("t", deviceClassName="none"))),),
            "request r/t: device class none does not exist",
        ),
    ],
)
def test_a_claim_that_cannot_be_allocated_anywhere_rejects_the_pod(objects: tuple[Any, ...], message: str) -> None:
    scheduler = with_devices(*objects)
    assert scheduler.schedule(named("p", resourceClaimName="a")).message == f"0/1 nodes are available: {message}."


def test_a_template_that_is_missing_rejects_the_pod() -> None:
    found = with_devices().schedule(named("p", resourceClaimTemplateName="t")).message
    assert found == '0/1 nodes are available: pod "default/p": ResourceClaim not created yet.'


def test_nodes_are_scored_by_the_alternatives_that_they_have() -> None:
    wanted = claim("a", either("r", request("two", count=2), request("one")))
    scheduler = with_devices(wanted, nodes=("n0", "n1"))
    pair = devices_of("n1", device("d0"), device("d1"), nodeName="n1")
    scheduler.cluster.objects.put(pair)
    verdict = scheduler.verdict(named("p", resourceClaimName="a"))
    assert {name: points["DynamicResources"] for name, points in verdict.scores.items()} == {"n0": 174, "n1": 200}
    assert scheduler.schedule(named("p", resourceClaimName="a")).node == "n1"


def test_an_extended_resource_takes_devices_where_a_node_has_none_of_it() -> None:
    standing = DeviceClass(metadata=ObjectMeta(name="gpu"), spec=DeviceClassSpec("example.com/gpu"))
    scheduler = with_devices(standing, devices=2)
    amounts = {"requests": {"example.com/gpu": "1"}}
    asking = pod(containers=[{"name": "c", "resources": amounts}])
    for name in "pq":
        asking.metadata.namespace = "default"
        assert scheduler.schedule(asking, name).node == "n0"
    assert devices_in_use(scheduler) == ["n0/d0", "n0/d1"]
    assert scheduler.schedule(asking, "r").message == FULL
    names = sorted(name for _, name in scheduler.cluster.objects.resource_claims)
    assert names == ["p-extended-resources-0", "q-extended-resources-0"]


def test_an_expression_that_cannot_be_evaluated_is_not_judged() -> None:
    scheduler = with_devices(claim("a", request(selectors=["unheard(device.driver)"])))
    waiting = named("p", resourceClaimName="a")
    message = scheduler.schedule(waiting).message
    assert message.startswith("not judged: a device selector of the pod's ResourceClaims: ")
    assert "unheard" in message


def test_before_1_34_claims_are_not_judged() -> None:
    made = with_devices(claim("a", request())).cluster
    gates = gates_for("1.33", {"DynamicResourceAllocation": True})
    scheduler = Scheduler(made, {"default-scheduler": Framework(default_profile("1.33", gates), gates)})
    message = "not judged: topospread does not model resource claims before Kubernetes 1.34"
    assert scheduler.schedule(named("p", resourceClaimName="a")).message == message


@pytest.mark.parametrize(
    ("kind", "plural", "objects", "entry"),
    [
        ("DeviceClass", "es", [claim("a", request(deviceClassName="tpu"))], {"resourceClaimName": "a"}),
        ("ResourceClaim", "s", [], {"resourceClaimName": "a"}),
        ("ResourceClaimTemplate", "s", [], {"resourceClaimTemplateName": "a"}),
    ],
)
def test_an_object_of_a_kind_that_the_input_lacks_is_not_called_missing(
    kind: str, plural: str, objects: list[Any], entry: dict[str, str]
) -> None:
    scheduler = with_devices(*objects)
    devices, waiting = DynamicResources(), named("p", **entry)
    assert "not judged" not in scheduler.schedule(waiting).message
    assert devices.lets_in(waiting, scheduler.cluster) == (kind == "DeviceClass")
    scheduler = with_devices(*objects)
    scheduler.cluster.objects.unread = {kind: ABSENT}
    message = f"not judged: resource claims need {kind}{plural}, which the input lacks"
    assert scheduler.schedule(waiting).message == message
    assert devices.lets_in(waiting, scheduler.cluster)


def test_devices_that_unknown_claims_hold_are_not_free() -> None:
    scheduler = with_devices(template("t", request()))
    cluster = scheduler.cluster
    cluster.objects.unread = {"ResourceClaim": ABSENT}
    scheduler.bind("default/p", cluster.shared_class(named("p", resourceClaimName="unknown")), 0)
    message = "not judged: resource claims need ResourceClaims, which the input lacks"
    assert scheduler.schedule(named("q", resourceClaimTemplateName="t")).message == message


def evidence(scheduler: Scheduler, waiting: Any) -> list[str]:
    devices = DynamicResources()
    found = devices.filter_of(scheduler.cluster.shared_class(waiting), scheduler.cluster)
    assert found is not None
    return found.evidence(0)


def test_what_is_against_each_device_is_told() -> None:
    big = "device.attributes['gpu.example.com'].model == 'big'"
    sick = [{"key": "sick", "effect": "NoSchedule"}]
    scheduler = with_devices(claim("a", request()), claim("b", request(selectors=[big]), request("s", count=2)))
    several = [
        device("d0", attributes={"model": "big"}),
        device("d1", attributes={"model": "small"}),
        device("d2", attributes={"model": "big"}, taints=sick),
    ]
    scheduler.cluster.objects.put(devices_of("n0", *several, nodeName="n0"))
    assert scheduler.schedule(named("p", resourceClaimName="a")).node == "n0"
    waiting = named("q", resourceClaimName="b")
    assert scheduler.schedule(waiting).message == FULL
    of = "3 devices of class gpu"
    assert evidence(scheduler, waiting) == [
        f"request r wants 1: {of}; 1 allocated to default/a, 1 not matching {big}, 1 tainted sick:NoSchedule",
        f"request s wants 2: {of}; 1 allocated to default/a, 1 tainted sick:NoSchedule, 1 usable",
    ]


def test_shares_pools_and_claims_elsewhere_are_told() -> None:
    wanted = claim("a", request(capacity={"requests": {"memory": "30Gi"}}))
    held = allocated(claim("b", request()), ("gone", "d0"))
    held.status.allocation.node_selector.node_selector_terms[0].match_fields[0].values = ["gone"]
    scheduler = with_devices(wanted, held)
    small = device("d0", allowMultipleAllocations=True, capacity={"memory": "20Gi"})
    partial = devices_of("more", nodeName="n0", counts={"resourceSliceCount": 2})
    scheduler.cluster.objects.add([devices_of("n0", small, nodeName="n0"), partial])
    assert evidence(scheduler, named("p", resourceClaimName="a")) == [
        "pool gpu.example.com/more is being updated: slices of it are missing",
        "request r wants 1: 1 device of class gpu; 1 short of capacity",
    ]
    told = evidence(scheduler, named("q", resourceClaimName="b"))
    assert told[0] == "claim b is allocated on other nodes"


def test_a_pod_that_is_bound_takes_its_devices() -> None:
    scheduler = with_devices(template("t", request()))
    made = scheduler.cluster.shared_class(named("p", resourceClaimTemplateName="t"))
    with scheduler.cluster.savepoint():
        scheduler.bind("default/p", made, 0)
        assert devices_in_use(scheduler) == ["n0/d0"]
        scheduler.bind("default/q", made, 0)
        assert devices_in_use(scheduler) == ["n0/d0"], "there is none for it, whoever bound it there"
    assert devices_in_use(scheduler) == []
