"""Every case of kube-scheduler's own allocator tests comes to what its allocator makes of it.

``recorded_allocations.jsonl.gz`` has the input and the result of each case of structured/internal/allocatortesting
(Kubernetes 1.37.2, experimental allocator), one a line. Two cases that are cancelled are left out, and two with
values that Go does not print as they are.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from topospread.api.device_claims import ResourceClaim
from topospread.api.devices import DeviceClass, ResourceSlice
from topospread.api.node import Node
from topospread.cel.values import CannotEvaluateError
from topospread.cluster.device_use import DeviceUse, nanos
from topospread.plugins.dynamic_resources import DynamicResourcesRules
from topospread.plugins.dynamic_resources.allocator import AllocationError, Allocator, InvalidPoolError
from topospread.plugins.dynamic_resources.pools import SliceCatalog

Json = dict[str, Any]
NOT_JUDGED = object()
FEATURES = {
    "DRAAdminAccess": "admin_access",
    "DRAConsumableCapacity": "consumable_capacity",
    "DRADerivedAttributes": "derived_attributes",
    "DRADeviceBindingConditions+DRAResourceClaimDeviceStatus": "binding_conditions",
    "DRADeviceCompatibilityGroups": "compatibility_groups",
    "DRADeviceTaints": "device_taints",
    "DRAFractionalCapacityRange": "fractional_range",
    "DRAListTypeAttributes": "list_attributes",
    "DRAOptionalNodeOperations": "optional_node_operations",
    "DRAPartitionableDevices": "partitionable_devices",
    "DRAPrioritizedList": "prioritized_list",
}
with gzip.open(Path(__file__).parent / "recorded_allocations.jsonl.gz", "rt") as lines:
    CASES = [json.loads(line) for line in lines]


def use_of(case: Json) -> DeviceUse:
    use = DeviceUse()
    for each in case["allocated"]:
        use.dedicated[_device(each)] += 1
    for each in case["shared"]:
        use.shares[_device(each)] += 1
    for each, amounts in case["capacity"].items():
        use.consumed.setdefault(_device(each), type(use.shares)()).update({k: nanos(v) for k, v in amounts.items()})
    return use


def _device(text: str) -> tuple[str, str, str]:
    driver, pool, name = text.split("/")[:3]
    return driver, pool, name


def answer(case: Json) -> Any:
    """Return the allocations as plain data, or the error."""
    rules = DynamicResourcesRules(**{name: gate in case["features"] for gate, name in FEATURES.items()})
    classes = {each["metadata"]["name"]: msgspec.convert(each, DeviceClass) for each in case["classes"] or ()}
    slices = [msgspec.convert(each, ResourceSlice) for each in case["slices"] or ()]
    claims = [msgspec.convert(each, ResourceClaim) for each in case["claims"] or ()]
    node = msgspec.convert(case["node"], Node)
    use = use_of(case)
    catalog = SliceCatalog(slices, (), rules, use)
    try:
        found = Allocator(use, classes, rules).allocate(node, catalog.pools(node), claims)
    except AllocationError as error:
        return str(error)
    except InvalidPoolError:
        return "invalid resource pools were encountered"
    except CannotEvaluateError:
        return NOT_JUDGED
    return None if found is None else [_plain(msgspec.to_builtins(each)) for each in found]


def _plain(allocation: Json) -> Json:
    """Without the ids of shares, and what stands for nothing."""
    devices = allocation.get("devices", {})
    results = [{**each, **({"shareID": ""} if each.get("shareID") else {})} for each in devices.get("results") or ()]
    return {"results": results, "nodeSelector": allocation.get("nodeSelector")}


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_allocator_answers_as_kube_schedulers(number: int) -> None:
    case = CASES[number]
    expected = case["error"] or (case["results"] and [_plain(each) for each in case["results"]]) or None
    found = answer(case)
    if not case["claims"]:
        assert not expected
    elif "CEL compile error" in case["error"]:
        assert found is NOT_JUDGED, "the API server lets no such expression in"
    elif '"not found"' in case["error"]:
        assert found == case["error"].replace(' "not found"', f'deviceclass.resource.k8s.io "{_class_named(case)}"')
    else:
        assert found == expected


def _class_named(case: Json) -> str:
    name: str = case["error"].partition("device class ")[2].partition(":")[0]
    return name
