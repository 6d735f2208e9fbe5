"""DynamicResources: claims are allocated where the slices are known; elsewhere pods with claims are not judged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.plugins.device_builders import (
    allocated,
    claim,
    device,
    devices_of,
    either,
    named,
    request,
    template,
    with_devices,
)
from tests.unit.plugins.storage_builders import cluster, node, pod, prepare, zonal
from topospread.api.inventory import ABSENT
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


def test_a_claim_that_is_allocated_keeps_its_pods_where_it_is() -> None:
    held = allocated(claim("a", request()), ("n0", "d0"))
    scheduler = with_devices(held, nodes=("n0", "n1"))
    verdict = scheduler.verdict(named("p", resourceClaimName="a"))
    assert verdict.feasible == ("n0",)
    assert verdict.rejected["n1"].reasons == ("resourceclaim not available on the node",)


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
