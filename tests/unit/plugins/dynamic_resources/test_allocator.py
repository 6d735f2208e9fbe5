"""Devices for claims: which ones, in which order, and why there are none (allocator_testing.go has the same cases)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from tests.unit.plugins.device_builders import GPUS, allocate, allocated, claim, device, devices_of, either, request
from topospread.api.device_claims import ResourceClaim
from topospread.api.devices import DeviceClass, ResourceSlice
from topospread.api.node import Node
from topospread.cel.values import CannotEvaluateError
from topospread.cluster.device_use import DeviceUse
from topospread.plugins.dynamic_resources import DynamicResourcesRules
from topospread.plugins.dynamic_resources.allocator import AllocationError, Allocator, SearchTooLongError, device_value
from topospread.plugins.dynamic_resources.pools import PoolDevice, SliceCatalog

ONE, TWO = devices_of("s", device("d0")), devices_of("s", device("d0"), device("d1"))
BIG = "device.attributes['gpu.example.com'].model == 'big'"


def test_the_first_free_device_is_taken() -> None:
    assert allocate([TWO], claim("c", request())) == ["c r s/d0"]
    assert allocate([TWO], claim("c", request()), held=[allocated(claim("x"), ("s", "d0"))]) == ["c r s/d1"]
    assert allocate([ONE], claim("c", request()), held=[allocated(claim("x"), ("s", "d0"))]) is None


def test_an_earlier_choice_is_taken_back_where_a_later_request_needs_the_device() -> None:
    slices = [devices_of("s", device("d0", attributes={"model": "big"}), device("d1", attributes={"model": "small"}))]
    assert allocate(slices, claim("c", request("any"), request("big", selectors=[BIG]))) == ["c any s/d1", "c big s/d0"]
    assert allocate(slices, claim("a", request()), claim("b", request(selectors=[BIG]))) == ["a r s/d1", "b r s/d0"]


def test_the_first_alternative_that_can_be_had_is_taken() -> None:
    wanted = either("r", request("two", count=2), request("one"))
    assert allocate([TWO], claim("c", wanted)) == ["c r/two s/d0", "c r/two s/d1"]
    assert allocate([ONE], claim("c", wanted)) == ["c r/one s/d0"]


def test_all_devices_of_a_class_are_all_or_none() -> None:
    every = request(allocationMode="All")
    assert allocate([TWO], claim("c", every)) == ["c r s/d0", "c r s/d1"]
    assert allocate([TWO], claim("c", every), held=[allocated(claim("x"), ("s", "d1"))]) is None
    assert allocate([], claim("c", every)) is None


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ({"matchAttribute": "gpu.example.com/numa"}, ["c r s/d0", "c r s/d2"]),
        ({"distinctAttribute": "gpu.example.com/numa"}, ["c r s/d0", "c r s/d1"]),
        ({"matchAttribute": "gpu.example.com/none"}, None),
        ({"matchAttribute": "other.example.com/numa"}, None),
    ],
)
def test_devices_share_an_attribute_or_differ_in_it(constraint: dict[str, str], expected: list[str] | None) -> None:
    slices = [devices_of("s", *(device(f"d{i}", attributes={"numa": i % 2}) for i in range(3)))]
    assert allocate(slices, claim("c", request(count=2), constraints=[constraint])) == expected


def test_a_constraint_that_keeps_one_of_all_devices_out_is_an_error() -> None:
    slices = [devices_of("s", *(device(f"d{i}", attributes={"numa": i}) for i in range(2)))]
    wanted = claim("c", request(allocationMode="All"), constraints=[{"matchAttribute": "gpu.example.com/numa"}])
    words = r"claim default/c, request r: cannot add device gpu\.example\.com/s/d1 because a claim constraint"
    with pytest.raises(AllocationError, match=words):
        allocate(slices, wanted)


def test_a_taint_needs_a_toleration() -> None:
    sick = devices_of("s", device("d0", taints=[{"key": "sick", "value": "y", "effect": "NoSchedule"}]))
    assert allocate([sick], claim("c", request())) is None
    for toleration in ({"key": "sick", "operator": "Exists"}, {"key": "sick", "value": "y"}, {"operator": "Exists"}):
        assert allocate([sick], claim("c", request(tolerations=[toleration]))) == ["c r s/d0"]
    assert allocate([sick], claim("c", request(tolerations=[{"key": "sick", "value": "n"}]))) is None
    harmless = devices_of("s", device("d0", taints=[{"key": "sick", "effect": "None"}]))
    assert allocate([harmless], claim("c", request())) == ["c r s/d0"]


def test_admin_access_takes_a_device_that_is_in_use() -> None:
    held = [allocated(claim("x"), ("s", "d0"))]
    assert allocate([ONE], claim("c", request(adminAccess=True)), held=held) == ["c r s/d0"]
    assert allocate([ONE], claim("c", request("a", adminAccess=True), request("b", adminAccess=True))) is None


def partitions(*amounts: str) -> list[Any]:
    counts = {"counts": {"resourceSliceCount": 2}}
    shared = [{"name": "cs", "counters": {"mem": {"value": "30Gi"}}}]
    consumed = [[{"counterSet": "cs", "counters": {"mem": {"value": amount}}}] for amount in amounts]
    parts = [device(f"d{i}", consumesCounters=each) for i, each in enumerate(consumed)]
    return [devices_of("c", pool="p", sharedCounters=shared, **counts), devices_of("s", *parts, pool="p", **counts)]


def test_counters_of_a_pool_are_shared() -> None:
    assert allocate(partitions("20Gi", "20Gi", "10Gi"), claim("c", request(count=2))) == ["c r p/d0", "c r p/d2"]
    assert allocate(partitions("20Gi", "20Gi"), claim("c", request(count=2))) is None
    held = [allocated(claim("x"), ("p", "d0"))]
    assert allocate(partitions("20Gi", "20Gi", "10Gi"), claim("c", request()), held=held) == ["c r p/d2"]


SHARED = {"allowMultipleAllocations": True, "capacity": {"memory": "40Gi"}}


def test_shares_consume_a_devices_capacity() -> None:
    slices = [devices_of("s", device("d0", **SHARED))]
    wanted = request(count=1, capacity={"requests": {"memory": "15Gi"}})
    claims = [claim(f"c{i}", wanted) for i in range(3)]
    assert allocate(slices, *claims[:2]) == ["c0 r s/d0", "c1 r s/d0"]
    assert allocate(slices, *claims) is None
    assert allocate(slices, claim("all", request()), claim("c", wanted)) is None, "a share takes all by default"


def test_capacity_is_not_requested_while_its_gate_is_off() -> None:
    rules = DynamicResourcesRules(consumable_capacity=False)
    wanted = request(capacity={"requests": {"memory": "15Gi"}})
    with pytest.raises(
        AllocationError, match="has capacity requests, but the DRAConsumableCapacity feature is disabled"
    ):
        allocate([ONE], claim("c", wanted), rules=rules)


def test_a_claim_holds_32_devices_at_most() -> None:
    many = devices_of("s", *(device(f"d{i:02}") for i in range(40)))
    assert len(allocate([many], claim("c", request(count=32))) or ()) == 32
    with pytest.raises(AllocationError, match="adding 33 devices exceeds the claim limit of 32, with 0 already"):
        allocate([many], claim("c", request(count=33)))
    # An alternative that is small enough is taken.
    wanted = claim("c", request("a", count=30), either("b", request("x", count=3), request("y", count=2)))
    assert len(allocate([many], wanted) or ()) == 32


def test_a_selector_that_fails_is_an_error_of_the_class_or_claim() -> None:
    bad = "device.attributes['gpu.example.com'].nosuch == 'x'"
    picky = msgspec.convert(
        {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": bad}}]}}, DeviceClass
    )
    words = (
        r"^class gpu: selector #0 on device gpu\.example\.com/s/d0: CEL runtime error: no such key: nosuch\. consider"
    )
    with pytest.raises(AllocationError, match=words):
        allocate([ONE], claim("c", request()), classes=[picky])
    with pytest.raises(AllocationError, match=r"^claim default/c: selector #0 on device"):
        allocate([ONE], claim("c", request(selectors=[bad])))
    assert allocate([ONE], claim("c", request(selectors=["false", bad])), classes=[GPUS]) is None, "not looked at"


def _ways(devices: int) -> tuple[ResourceSlice, ResourceClaim]:
    """Groups of seven devices, of which a claim wants eight."""
    found = devices_of("s", *(device(f"d{n}", attributes={"numa": n // 7}) for n in range(devices)))
    wanted = claim("c", *(request(f"r{n}") for n in range(8)), constraints=[{"matchAttribute": "gpu.example.com/numa"}])
    return found, wanted


def test_a_search_ends_after_so_many_devices() -> None:
    few, wanted = _ways(5)
    assert allocate([few], wanted) is None
    many, wanted = _ways(21)
    with pytest.raises(SearchTooLongError):
        allocate([many], wanted)


NODE = msgspec.convert({"metadata": {"name": "n0"}}, Node)


def test_searches_on_all_nodes_share_their_steps() -> None:
    slices, wanted = _ways(21)
    rules, use = DynamicResourcesRules(), DeviceUse()
    catalog = SliceCatalog([slices], (), rules, use)
    given = use.steps
    for done in range(1, 31):
        with pytest.raises(SearchTooLongError):
            Allocator(use, {GPUS.name: GPUS}, rules).allocate(NODE, catalog.pools(NODE), [wanted])
        assert use.steps == max(given - done * 100_000, 0)


def test_searches_for_devices_that_all_nodes_reach_share_their_steps() -> None:
    rules, use = DynamicResourcesRules(), DeviceUse()
    catalog = SliceCatalog([devices_of("s", *(device(f"d{n}") for n in range(1000)), allNodes=True)], (), rules, use)
    wanted = claim("c", request(selectors=["false"]))
    searched = 0
    for number in range(1000):
        node = msgspec.convert({"metadata": {"name": f"n{number}"}}, Node)
        with suppress(SearchTooLongError):
            assert Allocator(use, {GPUS.name: GPUS}, rules).allocate(node, catalog.pools(node), [wanted]) is None
            searched += 1
    assert 100 < searched < 400


def test_tries_of_devices_with_many_taints_and_capacities_take_more_steps() -> None:
    rules, use = DynamicResourcesRules(), DeviceUse()
    taints = [{"key": f"k{n}", "effect": "NoSchedule"} for n in range(100)]
    plain, tainted = (
        devices_of("s", *(device(f"d{n}", **more) for n in range(10)), allNodes=True)
        for more in ({}, {"taints": taints})
    )
    wanted = claim("c", request(selectors=["false"], tolerations=[{"key": f"k{n}"} for n in range(100)]))
    spent = []
    for slices in (plain, tainted):
        use.refill()
        Allocator(use, {GPUS.name: GPUS}, rules).allocate(
            NODE, SliceCatalog([slices], (), rules, use).pools(NODE), [wanted]
        )
        spent.append(use.most_steps - use.steps)
    assert spent[1] > 100 * spent[0]


EXPENSIVE = "[{0}].all(x, [{0}].all(y, x != y * 100 + {1}))"


def _judged(devices: Sequence[PoolDevice], *expressions: str) -> int:
    found = 0
    for each in devices:
        for expression in expressions:
            with suppress(CannotEvaluateError):
                found += isinstance(device_value(expression, each), bool)
    return found


def _many(use: DeviceUse, **more: Any) -> Sequence[PoolDevice]:
    slices = [devices_of("s", *(device(f"d{n}", **more) for n in range(128)))]
    return SliceCatalog(slices, (), DynamicResourcesRules(), use).pools(NODE)[0].slices[0]


def test_expressions_for_all_devices_share_their_steps() -> None:
    use = DeviceUse()
    devices = _many(use)
    several = [EXPENSIVE.format("1, 2, 3, 4, 5, 6", number) for number in range(64)]
    judged = _judged(devices, *several)
    assert 500 < judged < 3000, "each is far below any limit of its own"
    assert use.steps < 1000
    assert _judged(devices, several[0]) > 0, "values are kept"
    with pytest.raises(CannotEvaluateError, match="the limit of steps for the devices of a cluster is reached"):
        device_value(several[-1], devices[-1])
    use.refill()
    assert device_value(several[-1], devices[-1]) is True, "another attempt has steps of its own"


def test_usual_selectors_are_judged_on_every_device() -> None:
    attributes = {f"a{n}": "NVIDIA-A100-SXM4-80GB" for n in range(8)}
    selectors = [f"device.attributes['gpu.example.com'].a{n} == 'NVIDIA-A100-SXM4-80GB'" for n in range(8)]
    use = DeviceUse()
    use.spend(use.most_steps)  # steps beyond those for the devices
    devices = _many(use, attributes=attributes, capacity={"memory": "80Gi"})
    matches = "device.attributes['gpu.example.com'].a0.lowerAscii().matches('^.*a100.*$')"
    assert _judged(devices, *selectors, matches) == 9 * len(devices)


def test_a_search_that_is_too_deep_is_not_judged() -> None:
    every = [devices_of(f"s{pool}", *(device(f"d{n}") for n in range(128))) for pool in range(64)]
    claims = [claim(f"c{n}", request(count=32)) for n in range(256)]
    with pytest.raises(SearchTooLongError):
        allocate(every, *claims)
    selecting = [
        claim(f"c{n}", request(count=32, selectors=["device.driver == 'gpu.example.com'"])) for n in range(256)
    ]
    with pytest.raises((SearchTooLongError, CannotEvaluateError)):
        allocate(every, *selecting)
