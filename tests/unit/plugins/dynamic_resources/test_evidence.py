"""Explanations, device by device, of why claims have no devices."""

from __future__ import annotations

from typing import Any

from tests.unit.plugins.device_builders import allocated, claim, device, devices_of, named, request, with_devices
from topospread.plugins.dynamic_resources import DynamicResources
from topospread.scheduling.cycle import Scheduler

FULL = "0/1 nodes are available: 1 cannot allocate all claims."


def evidence(scheduler: Scheduler, waiting: Any) -> list[str]:
    devices = DynamicResources()
    found = devices.filter_of(scheduler.cluster.shared_class(waiting), scheduler.cluster)
    assert found is not None
    return found.evidence(0)


def test_what_is_against_each_device_is_told() -> None:
    big = "device.attributes['gpu.example.com'].model == 'big'"
    sick = [{"key": "sick", "effect": "NoSchedule"}]
    scheduler = with_devices(claim("a", request()), claim("b", request(selectors=[big]), request("s", count=2)))
    several = [
        device("d0", attributes={"model": "big"}),
        device("d1", attributes={"model": "small"}),
        device("d2", attributes={"model": "big"}, taints=sick),
    ]
    scheduler.cluster.objects.put(devices_of("n0", *several, nodeName="n0"))
    assert scheduler.schedule(named("p", resourceClaimName="a")).node == "n0"
    waiting = named("q", resourceClaimName="b")
    assert scheduler.schedule(waiting).message == FULL
    of = "3 devices of class gpu"
    assert evidence(scheduler, waiting) == [
        f"request r wants 1: {of}; 1 allocated to default/a, 1 not matching {big}, 1 tainted sick:NoSchedule",
        f"request s wants 2: {of}; 1 allocated to default/a, 1 tainted sick:NoSchedule, 1 usable",
    ]


def test_shares_pools_and_claims_elsewhere_are_told() -> None:
    wanted = claim("a", request(capacity={"requests": {"memory": "30Gi"}}))
    held = allocated(claim("b", request()), ("gone", "d0"))
    held.status.allocation.node_selector.node_selector_terms[0].match_fields[0].values = ["gone"]
    scheduler = with_devices(wanted, held)
    small = device("d0", allowMultipleAllocations=True, capacity={"memory": "20Gi"})
    partial = devices_of("more", nodeName="n0", counts={"resourceSliceCount": 2})
    scheduler.cluster.objects.add([devices_of("n0", small, nodeName="n0"), partial])
    assert evidence(scheduler, named("p", resourceClaimName="a")) == [
        "pool gpu.example.com/more is being updated: slices of it are missing",
        "request r wants 1: 1 device of class gpu; 1 short of capacity",
    ]
    told = evidence(scheduler, named("q", resourceClaimName="b"))
    assert told[0] == "claim b is allocated on other nodes"
