"""Pools of devices: order, generations, missing slices, and the slices that a node reaches."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.plugins.device_builders import allocate, claim, device, devices_of, request
from topospread.api.node import Node
from topospread.cluster.device_use import DeviceUse
from topospread.plugins.dynamic_resources import DynamicResourcesRules
from topospread.plugins.dynamic_resources.allocator import AllocationError, InvalidPoolError, device_value
from topospread.plugins.dynamic_resources.pools import SliceCatalog


def test_pools_are_looked_at_by_driver_and_name_and_slices_by_name() -> None:
    later, first = devices_of("a", device("d0"), pool="q"), devices_of("b", device("d0"), pool="p")
    assert allocate([later, first], claim("c", request())) == ["c r p/d0"]
    two = {"counts": {"resourceSliceCount": 2}}
    slices = [devices_of(name, device(name), pool="p", **two) for name in ("z", "y")]
    assert allocate(slices, claim("c", request(count=2))) == ["c r p/y", "c r p/z"]


def partitions(*amounts: str) -> list[Any]:
    counts = {"counts": {"resourceSliceCount": 2}}
    shared = [{"name": "cs", "counters": {"mem": {"value": "30Gi"}}}]
    consumed = [[{"counterSet": "cs", "counters": {"mem": {"value": amount}}}] for amount in amounts]
    parts = [device(f"d{i}", consumesCounters=each) for i, each in enumerate(consumed)]
    return [devices_of("c", pool="p", sharedCounters=shared, **counts), devices_of("s", *parts, pool="p", **counts)]


def test_a_pool_that_lacks_a_counter_is_not_valid() -> None:
    (_, slices) = partitions("20Gi")
    slices.spec.pool.resource_slice_count = 1
    with pytest.raises(InvalidPoolError):
        allocate([slices], claim("c", request()))


def test_a_pool_that_lacks_slices_is_passed_over() -> None:
    partial = devices_of("s", device("d0"), counts={"resourceSliceCount": 2})
    assert allocate([partial], claim("c", request())) is None
    with pytest.raises(AllocationError, match=r"resource pool gpu\.example\.com/s is currently being updated"):
        allocate([partial], claim("c", request(allocationMode="All")))


def test_an_older_generation_is_passed_over() -> None:
    old = devices_of("old", device("d0"), pool="p")
    new = devices_of("new", device("d1"), pool="p", counts={"generation": 2})
    assert allocate([old, new], claim("c", request())) == ["c r p/d1"]


def test_a_node_reaches_slices_by_name_labels_or_device() -> None:
    def selecting(zone: str) -> dict[str, Any]:
        each = {"key": "zone", "operator": "In", "values": [zone]}
        return {"nodeSelectorTerms": [{"matchExpressions": [each]}]}

    assert allocate([devices_of("s", device("d"), nodeName="n1")], claim("c", request())) is None
    assert allocate([devices_of("s", device("d"), allNodes=True)], claim("c", request())) == ["c r s/d"]
    assert allocate([devices_of("s", device("d"), nodeSelector=selecting("a"))], claim("c", request())) == ["c r s/d"]
    assert allocate([devices_of("s", device("d"), nodeSelector=selecting("b"))], claim("c", request())) is None
    each = devices_of("s", device("d", nodeName="n1"), device("e", nodeName="n0"), perDeviceNodeSelection=True)
    assert allocate([each], claim("c", request())) == ["c r s/e"]


NODE = msgspec.convert({"metadata": {"name": "n0"}}, Node)


def test_a_later_catalog_keeps_the_values_of_the_same_slices() -> None:
    rules, use = DynamicResourcesRules(), DeviceUse()
    slices = [devices_of("a", device("d0")), devices_of("b", device("d0"))]
    first = SliceCatalog(slices, (), rules, use)
    for pool in first.pools(NODE):
        assert device_value("true", pool.slices[0][0]) is True
    given, most = use.steps, use.most_steps
    second = SliceCatalog(slices[1:], (), rules, use, first)
    assert device_value("true", second.pools(NODE)[0].slices[0][0]) is True
    assert (use.steps, use.most_steps) == (given, most), "nothing is evaluated again, and no device counts twice"
