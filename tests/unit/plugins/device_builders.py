"""Slices, claims and classes for tests, as short as their meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from tests.unit.plugins.storage_builders import node, pod
from topospread.api.device_claims import AllocationResult, ResourceClaim, ResourceClaimTemplate
from topospread.api.devices import DeviceClass, ResourceSlice
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.cluster.device_use import DeviceUse
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.plugins.dynamic_resources import DynamicResourcesRules
from topospread.plugins.dynamic_resources.allocator import Allocator
from topospread.plugins.dynamic_resources.pools import SliceCatalog
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

Json = dict[str, Any]
DRIVER = "gpu.example.com"
GPUS = msgspec.convert({"metadata": {"name": "gpu"}}, DeviceClass)


def device(name: str, **more: Any) -> Json:
    """A device; attributes by name: a number, a text or a truth value."""
    kinds = {bool: "bool", int: "int", str: "string"}
    attributes = {key: {kinds[type(value)]: value} for key, value in more.pop("attributes", {}).items()}
    capacity = {
        key: value if isinstance(value, dict) else {"value": value} for key, value in more.pop("capacity", {}).items()
    }
    return {"name": name, "attributes": attributes, "capacity": capacity, **more}


def devices_of(name: str, *devices: Json, pool: str = "", **spec: Any) -> ResourceSlice:
    """A slice of a pool of its own; on node n0 unless the spec says otherwise."""
    where = {} if {"allNodes", "nodeSelector", "perDeviceNodeSelection", "nodeName"} & set(spec) else {"nodeName": "n0"}
    count = {"name": pool or name, "generation": 1, "resourceSliceCount": 1} | spec.pop("counts", {})
    whole = {"driver": DRIVER, "pool": count, "devices": list(devices), **where, **spec}
    return msgspec.convert({"metadata": {"name": name}, "spec": whole}, ResourceSlice)


def request(name: str = "r", **exactly: Any) -> Json:
    """A request for one device of the class gpu unless told otherwise."""
    selectors = exactly.pop("selectors", ())
    given = {"deviceClassName": "gpu", "selectors": [{"cel": {"expression": each}} for each in selectors], **exactly}
    return {"name": name, "exactly": given}


def either(name: str, *alternatives: Json) -> Json:
    """A request for the first of some alternatives that can be had."""
    return {"name": name, "firstAvailable": [{"name": each["name"], **each["exactly"]} for each in alternatives]}


def claim(name: str, *requests: Json, **devices: Any) -> ResourceClaim:
    """A claim in namespace default."""
    spec = {"devices": {"requests": list(requests), **devices}}
    return msgspec.convert({"metadata": {"name": name, "namespace": "default"}, "spec": spec}, ResourceClaim)


def template(name: str, *requests: Json) -> ResourceClaimTemplate:
    """A template in namespace default."""
    spec = {"spec": {"devices": {"requests": list(requests)}}}
    return msgspec.convert({"metadata": {"name": name, "namespace": "default"}, "spec": spec}, ResourceClaimTemplate)


def allocated(made: ResourceClaim, *devices: tuple[str, str]) -> ResourceClaim:
    """The claim with devices (pool, name) on node n0."""
    results = [{"request": "r", "driver": DRIVER, "pool": pool, "device": name} for pool, name in devices]
    only = [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]
    given = {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": [{"matchFields": only}]}}
    made.status.allocation = msgspec.convert(given, AllocationResult)
    return made


def allocate(
    slices: Iterable[ResourceSlice],
    *claims: ResourceClaim,
    held: Iterable[ResourceClaim] = (),
    classes: Iterable[DeviceClass] = (GPUS,),
    rules: DynamicResourcesRules | None = None,
) -> list[str] | None:
    """Return the devices of claims on node n0: ``c r pool/device``; ``None`` if there are not enough."""
    by = rules or DynamicResourcesRules()
    use = DeviceUse()
    for each in held:
        use.replaced(None, each)
    there = msgspec.convert({"metadata": {"name": "n0", "labels": {"zone": "a"}}}, Node)
    catalog = SliceCatalog([*slices], (), by, use)
    allocator = Allocator(use, {each.name: each for each in classes}, by)
    found = allocator.allocate(there, catalog.pools(there), claims)
    if found is None:
        return None
    return [
        f"{each.name} {result.request} {result.pool}/{result.device}"
        for each, allocation in zip(claims, found, strict=True)
        for result in allocation.devices.results or ()
    ]


def with_devices(*objects: Any, nodes: tuple[str, ...] = ("n0",), devices: int = 1) -> Scheduler:
    """A scheduler whose nodes have a number of devices each."""
    made = Cluster()
    slices = [devices_of(name, *(device(f"d{i}") for i in range(devices)), nodeName=name) for name in nodes]
    for name in nodes:
        made.add_node(node(name, {}, allocatable={"pods": "9"}))
    made.objects.add([GPUS, *slices, *objects])
    return Scheduler(made, {"default-scheduler": Framework(default_profile(), gates_for())})


def named(name: str, **entry: str) -> Pod:
    """A pod in namespace default with one claim, given by name or by template."""
    made = pod(resourceClaims=[{"name": "g", **entry}])
    made.metadata.name, made.metadata.namespace, made.metadata.uid = name, "default", f"uid-{name}"
    return made


def devices_in_use(scheduler: Scheduler) -> list[str]:
    """Devices that claims use as a whole, `pool/name`."""
    return sorted("/".join(each[1:]) for each in scheduler.cluster.objects.devices.dedicated)
