"""ResourceSlices, ResourceClaims and their templates are read in every version that was served."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from topospread.api.devices import DeviceTaintRule, ResourceSlice
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
