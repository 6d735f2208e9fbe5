"""DynamicResources: pods that claim devices are not judged."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case
from tests.unit.plugins.storage_builders import cluster, node, pod, prepare, zonal
from topospread.api.devices import DeviceClass, DeviceClassSpec
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
    assert scheduler.schedule(pod(resourceClaims=CLAIMS)).message == "not judged: resource claims"
    verdict = scheduler.verdict(pod(resourceClaims=CLAIMS))
    assert verdict.error == "not judged: resource claims"
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
    for on, message in ((True, "not judged: pod groups"), (False, "")):
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
    assert error == f"not judged: {resource} stands for devices of DeviceClass gpus"


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
