"""The device claims of a pod, and the requests for extended resources."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.device_claims import ResourceClaim, ResourceClaimTemplate
from topospread.api.devices import DeviceClass
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.pod_groups import PodGroup
from topospread.cluster import Cluster
from topospread.cluster.objects import ObjectKey
from topospread.plugins.dynamic_resources.claims import (
    ClaimMissingError,
    claim_reads,
    class_behind,
    is_device_resource,
    pod_device_claims,
    requests_of,
)

Json = dict[str, Any]
GPU = "example.com/gpu"


def pod(*entries: Json, statuses: list[Json] | None = None, **spec: Any) -> Pod:
    status = {} if statuses is None else {"resourceClaimStatuses": statuses}
    metadata = {"name": "p", "namespace": "ns", "uid": "uid-p"}
    return msgspec.convert(
        {"metadata": metadata, "spec": {"resourceClaims": list(entries), **spec}, "status": status}, Pod
    )


def claim(name: str, owner: str = "", **metadata: Any) -> ResourceClaim:
    owners = [{"kind": "Pod", "name": "p", "uid": owner, "controller": True}] if owner else []
    described = {"name": name, "namespace": "ns", "ownerReferences": owners, **metadata}
    return msgspec.convert({"metadata": described, "spec": {}}, ResourceClaim)


def template(name: str) -> ResourceClaimTemplate:
    return msgspec.convert({"metadata": {"name": name, "namespace": "ns"}, "spec": {"spec": {}}}, ResourceClaimTemplate)


def device_class(name: str, resource: str = "", created: str = "") -> DeviceClass:
    metadata = {"name": name, **({"creationTimestamp": created} if created else {})}
    return msgspec.convert({"metadata": metadata, "spec": {"extendedResourceName": resource or None}}, DeviceClass)


def found(made: Pod, *objects: KubeObject) -> list[tuple[str, str, bool]]:
    cluster = Cluster()
    cluster.objects.add(objects)
    return [(each.claim.name, each.entry, each.is_new) for each in pod_device_claims(made, cluster.objects)]


NAMED = {"name": "a", "resourceClaimName": "mine"}
GENERATED = {"name": "b", "resourceClaimTemplateName": "t"}


def test_a_claim_is_the_named_one_or_new_from_its_template() -> None:
    assert found(pod(NAMED, GENERATED), claim("mine"), template("t")) == [("mine", "a", False), ("p-b", "b", True)]


def test_a_generated_claim_is_named_in_the_status_or_not_needed() -> None:
    there = pod(GENERATED, statuses=[{"name": "b", "resourceClaimName": "p-b-x"}])
    assert found(there, claim("p-b-x", "uid-p")) == [("p-b-x", "b", False)]
    assert found(pod(GENERATED, statuses=[{"name": "b"}])) == []


@pytest.mark.parametrize(
    ("made", "objects", "words"),
    [
        (pod(GENERATED), [], "ResourceClaim not created yet"),
        (pod(NAMED), [], 'could not find ResourceClaim "ns/mine"'),
        (
            pod(NAMED),
            [claim("mine", deletionTimestamp="2026-01-01T00:00:00Z")],
            'resourceclaim "mine" is being deleted',
        ),
        (
            pod(GENERATED, statuses=[{"name": "b", "resourceClaimName": "x"}]),
            [claim("x", "uid-other")],
            "ResourceClaim ns/x was not created for Pod ns/p",
        ),
    ],
)
def test_a_missing_claim_is_an_error_in_kube_schedulers_words(made: Pod, objects: list[KubeObject], words: str) -> None:
    with pytest.raises(ClaimMissingError, match=words):
        found(made, *objects)


def test_a_claim_of_the_pods_group_is_owned_by_the_group() -> None:
    made = pod(GENERATED, statuses=[{"name": "b", "resourceClaimName": "x"}], schedulingGroup={"podGroupName": "g"})
    spec = {"resourceClaims": [GENERATED]}
    group = msgspec.convert({"metadata": {"name": "g", "namespace": "ns", "uid": "u"}, "spec": spec}, PodGroup)
    cluster = Cluster()
    cluster.objects.add([group, claim("x", "uid-other")])
    with pytest.raises(ClaimMissingError, match=r"\(neither Pod nor PodGroup g is the owner\)"):
        pod_device_claims(made, cluster.objects, of_groups=True)
    owner = [{"kind": "PodGroup", "name": "g", "uid": "u", "controller": True}]
    cluster.objects.put(
        msgspec.convert({"metadata": {"name": "x", "namespace": "ns", "ownerReferences": owner}}, ResourceClaim)
    )
    [found] = pod_device_claims(made, cluster.objects, of_groups=True)
    assert found.group is group
    with pytest.raises(ClaimMissingError, match="Pod is not owner"):
        pod_device_claims(made, cluster.objects)


def test_a_pod_reads_its_claims_and_the_templates_of_those_not_yet_made() -> None:
    assert list(claim_reads(pod(NAMED, GENERATED))) == [
        ObjectKey(ResourceClaim, ("ns", "mine")),
        ObjectKey(ResourceClaimTemplate, ("ns", "t")),
    ]


def test_of_several_classes_the_youngest_stands_for_a_resource() -> None:
    old = device_class("old", GPU, "2026-01-01T00:00:00Z")
    young = device_class("young", GPU, "2026-02-01T00:00:00Z")
    unknown = device_class("a-unknown", GPU)
    assert class_behind(GPU, [old, young, unknown]) is young
    assert class_behind(GPU, [device_class("b", GPU), unknown]) is unknown
    assert class_behind("example.com/other", [old]) is None
    assert class_behind("cpu", [device_class("x", "cpu")]) is None


def test_an_implicit_resource_names_its_class() -> None:
    made = device_class("gpu")
    name = "deviceclass.resource.kubernetes.io/gpu"
    assert class_behind(name, [made]) is made
    assert class_behind(name, [device_class("other")]) is None
    assert is_device_resource(name)
    assert is_device_resource(GPU)
    assert not is_device_resource("cpu")


def container(count: int, *, restarts: bool = False) -> Json:
    resources = {"requests": {GPU: str(count)}} if count else {}
    return {"name": "c", "resources": resources, **({"restartPolicy": "Always"} if restarts else {})}


@pytest.mark.parametrize(
    ("initial", "lasting", "requests"),
    [
        ([], [2, 0, 1], {"container-0-request-0": 2, "container-2-request-0": 1}),
        ([3], [2], {"container-0-request-0": 1, "container-1-request-0": 2}),
        ([2], [2], {"container-1-request-0": 2}),
        ([1, 4], [2], {"container-1-request-0": 2, "container-2-request-0": 2}),
    ],
)
def test_init_containers_reuse_the_devices_of_later_containers(
    initial: list[int], lasting: list[int], requests: dict[str, int]
) -> None:
    made = pod(initContainers=[container(each) for each in initial], containers=[container(each) for each in lasting])
    asked = requests_of(made, {GPU: device_class("gpu", GPU)})
    assert {each.name: each.exactly.count for each in asked if each.exactly is not None} == requests


def test_a_sidecar_keeps_its_devices() -> None:
    made = pod(initContainers=[container(1, restarts=True), container(2)], containers=[container(1)])
    asked = requests_of(made, {GPU: device_class("gpu", GPU)})
    assert [(each.name, each.exactly.count) for each in asked if each.exactly is not None] == [
        ("container-0-request-0", 1),
        ("container-1-request-0", 1),
        ("container-2-request-0", 1),
    ]
