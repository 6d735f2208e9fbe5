"""ResourceSlices, ResourceClaims and their templates are read in every version that was served."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from topospread.api.device_claims import ResourceClaim, ResourceClaimTemplate
from topospread.api.devices import DeviceTaintRule, ResourceSlice
from topospread.api.pod_groups import PodGroup, Workload
from topospread.errors import DecodeError
from topospread.sources.admit import Rules
from topospread.sources.load import read_objects
from topospread.sources.objects import ObjectReader
from topospread.sources.text import Text

Json = dict[str, Any]
DEVICE: Json = {
    "attributes": {"model": {"string": "big"}, "index": {"int": 3}, "ready": {"bool": True}, "v": {"version": "1.0.0"}},
    "capacity": {"memory": {"value": "40Gi"}},
    "taints": [{"key": "sick", "effect": "NoSchedule"}],
}
REQUEST: Json = {"deviceClassName": "gpu", "count": 2, "selectors": [{"cel": {"expression": "true"}}]}


def read(version: str, kind: str, spec: Json) -> Any:
    value = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    reader = ObjectReader(Rules(strict=True))
    (item,) = [each.item for each in read_objects(Text("a", json.dumps(value).encode()), reader, lambda done: None)]
    assert not reader.skipped
    return item


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_a_slice_has_its_devices(version: str) -> None:
    device = {"name": "d", "basic": DEVICE} if version == "v1beta1" else {"name": "d", **DEVICE}
    spec = {"driver": "gpu.example.com", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}
    item = read(f"resource.k8s.io/{version}", "ResourceSlice", {**spec, "nodeName": "n", "devices": [device]})
    assert isinstance(item, ResourceSlice)
    assert item.api_version == "resource.k8s.io/v1"
    (found,) = item.spec.devices or ()
    assert json.loads(msgspec.json.encode(found)) == {"name": "d", **DEVICE}


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_a_claim_has_its_requests(version: str, kind: str) -> None:
    request = {"name": "r", **(REQUEST if version == "v1beta1" else {"exactly": REQUEST})}
    either = {"name": "e", "firstAvailable": [{"name": "s", "deviceClassName": "gpu"}]}
    spec: Json = {"devices": {"requests": [request, either], "constraints": [{"matchAttribute": "a/b"}]}}
    item = read(f"resource.k8s.io/{version}", kind, spec if kind == "ResourceClaim" else {"spec": spec})
    assert isinstance(item, ResourceClaim | ResourceClaimTemplate)
    claim = item.spec if isinstance(item, ResourceClaim) else item.spec.spec
    first, second = claim.devices.requests or ()
    assert first.exactly is not None
    assert (first.exactly.device_class_name, first.exactly.devices) == ("gpu", 2)
    assert [each.devices for each in second.first_available or ()] == [1]


def test_a_claim_keeps_its_allocation() -> None:
    result = {"request": "r", "driver": "d", "pool": "p", "device": "x", "consumedCapacity": {"memory": "5Gi"}}
    status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [{"resource": "pods", "name": "w"}]}
    claim = msgspec.convert({"kind": "ResourceClaim", "status": status}, ResourceClaim)
    assert json.loads(msgspec.json.encode(claim))["status"] == status


def test_a_quantity_that_is_not_one_is_refused() -> None:
    spec = {"devices": [{"name": "d", "capacity": {"memory": {"value": "much"}}}]}
    with pytest.raises(DecodeError, match=r"spec\.devices\[0\]\.capacity\[memory\]\.value"):
        read("resource.k8s.io/v1", "ResourceSlice", spec)


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1alpha3"])
def test_a_taint_rule_has_its_selector(version: str) -> None:
    spec = {"deviceSelector": {"driver": "d", "pool": "p"}, "taint": {"key": "k", "effect": "NoExecute"}}
    item = read(f"resource.k8s.io/{version}", "DeviceTaintRule", spec)
    assert isinstance(item, DeviceTaintRule)
    assert item.spec.device_selector is not None
    assert (item.spec.device_selector.pool, item.spec.taint.effect) == ("p", "NoExecute")


def test_groups_of_pods_are_read() -> None:
    policy: Json = {"schedulingPolicy": {"gang": {"minCount": 4}}}
    group = read("scheduling.k8s.io/v1beta1", "PodGroup", policy)
    assert isinstance(group, PodGroup)
    assert group.namespace == "default"
    assert group.spec.scheduling_policy.gang is not None
    assert group.spec.scheduling_policy.gang.min_count == 4
    workload = read("scheduling.k8s.io/v1alpha3", "Workload", {"podGroupTemplates": [{"name": "t", **policy}]})
    assert isinstance(workload, Workload)
    assert [each.name for each in workload.spec.pod_group_templates or ()] == ["t"]
