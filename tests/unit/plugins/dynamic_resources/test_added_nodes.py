"""Devices of nodes that a command adds are not known: whether such a node helps is unknown, never no."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import topospread
from tests.unit.plugins.device_builders import GPUS, device, devices_of, request, template
from topospread.drill.steps import AddNodes

Json = dict[str, Any]
CAUSE = "devices of a node that a command adds are not known"


def named(kind: str, api_version: str, made: msgspec.Struct) -> Json:
    found: Json = msgspec.to_builtins(made)
    return found | {"apiVersion": api_version, "kind": kind}


def node(name: str) -> Json:
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "a"}
    status = {"allocatable": {"cpu": "4", "pods": "9"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def session(replicas: int) -> topospread.Session:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    spec = {"containers": [{"name": "c", "image": "i"}], "resourceClaims": claims}
    labels = {"app": "infer"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "infer", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    v1 = "resource.k8s.io/v1"
    devices = named("ResourceSlice", v1, devices_of("g0", device("a"), device("b"), nodeName="g0"))
    claim = named("ResourceClaimTemplate", v1, template("gpu", request()))
    return topospread.Session([node("g0"), node("c0"), deployment, devices, claim, named("DeviceClass", v1, GPUS)])


@pytest.mark.parametrize("shapes", [(), ("cpu=8",)])
def test_whether_more_nodes_would_be_enough_is_unknown(shapes: tuple[str, ...]) -> None:
    found = session(3).capacity("deploy/infer", shapes=shapes)
    assert (found.verdict, found.sizing and found.sizing.verdict) == ("no", "unknown")
    assert found.says.endswith("it is undecided whether such nodes are enough")
    assert [(each.because, each.to_know) for each in found.unjudged] == [
        (CAUSE, "-f FILE with the new nodes and their ResourceSlices")
    ]


def test_a_drill_that_adds_a_node_is_open_while_pods_with_claims_are_pending() -> None:
    found = session(3).drill(AddNodes(1, "g0"))
    assert (found.verdict, [each.because for each in found.unjudged]) == ("unknown", [CAUSE])
    assert session(2).drill(AddNodes(1, "g0")).verdict == "yes"


def test_nodes_nearest_to_fitting_are_grouped_by_the_reasons_that_are_shown() -> None:
    found = session(3).why("deploy/infer")
    shown = [(each.node, each.alike, each.obstacles[0].details[0].partition(";")[0]) for each in found.nearest]
    assert shown == [
        ("c0", 0, "request r wants 1: 0 devices of class gpu"),
        ("g0", 0, "request r wants 1: 2 devices of class gpu"),
    ]
