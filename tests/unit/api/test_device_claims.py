"""Claims for devices as structs."""

from __future__ import annotations

import json

import msgspec
import pytest

from tests.unit.api.test_devices import Json, read
from topospread.api.device_claims import ResourceClaim, ResourceClaimTemplate

REQUEST: Json = {"deviceClassName": "gpu", "count": 2, "selectors": [{"cel": {"expression": "true"}}]}


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
