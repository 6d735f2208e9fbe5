"""Explanations, device by device, of why claims cannot be allocated on a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from topospread.api.device_claims import ExactDeviceRequest, ResourceClaim
from topospread.api.devices import DeviceClass, DeviceSelector
from topospread.api.node import Node
from topospread.cel.values import CannotEvaluateError
from topospread.cluster.device_use import DeviceID
from topospread.cluster.objects import ClusterObjects
from topospread.text import listed

from .allocator import device_value, is_repelled
from .capacity import CapacityError, consumed_capacity, is_left
from .pools import DevicePool, PoolDevice, SliceCatalog, newest_by_pool, reaches
from .rules import DynamicResourcesRules

_USABLE = ""
_MOST_COUNTED = 10_000
"""Maximum number of devices that `shortage_of` counts."""


class DeviceEvidence:
    """The reasons why claims cannot use the devices that a node reaches.

    Args:
        pools: the node's device pools.
        holders: result of `holders_of`.
    """

    def __init__(
        self,
        objects: ClusterObjects,
        node: Node,
        pools: Sequence[DevicePool],
        rules: DynamicResourcesRules,
        holders: Mapping[DeviceID, str],
    ) -> None:
        self._objects = objects
        self._node = node
        self._pools = pools
        self._rules = rules
        self._holders = holders

    def of(self, claims: Sequence[ResourceClaim]) -> Iterator[str]:
        """Yield a phrase for each request of claims that have no devices yet."""
        for pool in self._pools:
            if pool.is_incomplete or pool.invalid:
                yield f"pool {'/'.join(pool.id)} is {pool.invalid or 'being updated: slices of it are missing'}"
        for claim in claims:
            if claim.status.allocation is None:
                for request in claim.spec.devices.requests or ():
                    if request.exactly is not None:
                        yield self._phrase(request.name, request.exactly)
                    for each in request.first_available or ():
                        yield self._phrase(f"{request.name}/{each.name}", each)

    def _phrase(self, name: str, request: ExactDeviceRequest) -> str:
        device_class = self._objects.device_classes.get(request.device_class_name)
        found = [
            self._against(device, device_class, request)
            for pool in self._pools
            for devices in pool.slices
            for device in devices
            if device_class is not None and _matches(device_class.spec.selectors or (), device) is None
        ]
        against = Counter(each for each in found if each != _USABLE)
        usable = len(found) - against.total()
        wanted = "all" if request.allocation_mode == "All" else str(request.devices)
        devices = f"{len(found)} device{'s' if len(found) != 1 else ''} of class {request.device_class_name}"
        parts = [f"{count} {words}" for words, count in against.most_common()]
        parts += [f"{usable} usable"] if usable else []
        return f"request {name} wants {wanted}: {devices}" + (f"; {', '.join(parts)}" if parts else "")

    def _against(self, device: PoolDevice, device_class: DeviceClass | None, request: ExactDeviceRequest) -> str:
        """Return why the request cannot use a device of its class; "" if the device alone is no obstacle."""
        by = device.slice.spec.per_device_node_selection
        of = device.device
        failed = _matches(request.selectors or (), device)
        if by and not reaches(self._node, of.node_name, of.all_nodes, of.node_selector):
            return "for other nodes"
        if failed is not None:
            return f"not matching {failed}"
        holder = self._holders.get(device.id)
        if holder is not None and not request.admin_access:
            return f"allocated to {holder}"
        if self._rules.device_taints and is_repelled(device.taints, request.tolerations or ()):
            return f"tainted {', '.join(f'{each.key}:{each.effect}' for each in device.taints)}"
        return self._too_small(device, request)

    def _too_small(self, device: PoolDevice, request: ExactDeviceRequest) -> str:
        fractional, used = self._rules.fractional_range, self._objects.devices.consumed.get(device.id)
        try:
            consumed = consumed_capacity(device.device, request.capacity, fractional=fractional)
        except CapacityError as error:
            return str(error)
        none: Mapping[str, int] = {}
        if consumed is None or not is_left(device.device, consumed, used or none, none, fractional):
            return "short of capacity"
        return _USABLE


def holders_of(objects: ClusterObjects) -> dict[DeviceID, str]:
    """Return device → claim that uses the whole device."""
    return {
        (each.driver, each.pool, each.device): f"{claim.namespace}/{claim.name}"
        for claim in objects.resource_claims.values()
        if claim.status.allocation is not None
        for each in claim.status.allocation.devices.results or ()
        if each.share_id is None and not each.admin_access
    }


def shortage_of(objects: ClusterObjects, catalog: SliceCatalog, claims: Sequence[ResourceClaim]) -> str:
    """Return a text with the number of the cluster's devices that match each request, and the claims that use them.

    Return "" if a request has alternatives, if no such device is in use, or if there are too many devices to count.
    """
    slices = list(objects.resource_slices.values())
    if not objects.devices.steps or sum(len(each.spec.devices or ()) for each in slices) > _MOST_COUNTED:
        return ""
    newest = [each for pool in newest_by_pool(slices).values() for each in pool]
    holders, parts = holders_of(objects), []
    for name, request in ((one.name, one.exactly) for claim in claims for one in claim.spec.devices.requests or ()):
        device_class = None if request is None else objects.device_classes.get(request.device_class_name)
        if request is None or device_class is None:
            return ""
        selectors = [*(device_class.spec.selectors or ()), *(request.selectors or ())]
        devices = [one for each in newest for one in catalog.devices(each) if _matches(selectors, one) is None]
        held = [holders[each.id] for each in devices if each.id in holders]
        of = f"device{'s' if len(devices) != 1 else ''} of class {request.device_class_name}"
        of += " that it selects" if request.selectors else ""
        if not devices:
            parts.append(f"request {name}: the cluster has no {of}")
        elif len(held) == len(devices):
            all_of = "the only" if len(devices) == 1 else f"all {len(devices)}"
            are = "is" if len(devices) == 1 else "are"
            parts.append(f"request {name}: {all_of} {of} {are} allocated to {listed(dict.fromkeys(held), 2)}")
        elif held:
            parts.append(f"request {name} wants {request.devices}: {len(held)} of {len(devices)} {of} are allocated")
    return "; ".join(parts)


def _matches(selectors: Sequence[DeviceSelector], device: PoolDevice) -> str | None:
    """Return the first expression that does not select a device; ``None`` if all select it."""
    for each in selectors:
        expression = each.cel.expression if each.cel is not None else ""
        try:
            if device_value(expression, device) is not True:
                return expression
        except CannotEvaluateError:
            return expression
    return None
