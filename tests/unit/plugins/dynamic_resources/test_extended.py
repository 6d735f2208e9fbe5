"""Extended resources that devices provide."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case
from tests.unit.plugins.device_builders import devices_in_use, with_devices
from tests.unit.plugins.storage_builders import cluster, pod, zonal
from topospread.api.devices import DeviceClass, DeviceClassSpec
from topospread.api.meta import ObjectMeta
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework


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
    [("example.com/gpu", [{}]), ("example.com/gpu", [{}, HAS]), ("deviceclass.resource.kubernetes.io/gpus", [HAS])],
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


FULL = "0/1 nodes are available: 1 cannot allocate all claims."


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
