"""ResourceSlices as pools of devices that a node reaches, in kube-scheduler's order.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental/pools_experimental.go, and
resourceslice/tracker/tracker.go for the taints of rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final
from weakref import WeakKeyDictionary

import msgspec

from topospread.api.devices import Device, DeviceTaint, DeviceTaintRule, ResourceSlice
from topospread.api.node import Node
from topospread.api.node_selection import NodeSelector
from topospread.cluster.device_use import DeviceID, DeviceUse, PoolID, nanos
from topospread.cluster.objects import ClusterObjects
from topospread.plugins.node_matching import matches_node

from .rules import DynamicResourcesRules

Counters = dict[tuple[str, str], int]
"""(counter set, counter) → amount in billionths."""


class PoolDevice(msgspec.Struct, gc=False):
    """A device of a slice.

    Attributes:
        id: driver, pool and name.
        device: the device in its slice.
        taints: taints of the device, and taints from DeviceTaintRules.
        counters: counters that the device consumes.
        capacity: capacity → amount in billionths.
        matched: cache: expression → value or error.
        use: step limit for evaluating expressions.
    """

    id: DeviceID
    device: Device
    slice: ResourceSlice
    taints: Sequence[DeviceTaint]
    counters: Counters
    capacity: dict[str, int]
    matched: dict[str, object] = {}
    use: DeviceUse = msgspec.field(default_factory=DeviceUse)


class DevicePool(msgspec.Struct):
    """A pool, with its devices divided into those that a node reaches and the others.

    Attributes:
        id: driver and name.
        slices: devices of each slice that the node reaches, in the order of the slices' names.
        others: devices of slices that the node does not reach.
        counter_sets: shared counters of the pool.
        is_incomplete: whether slices of the pool are missing.
        invalid: why no device of the pool can be allocated; "" if the pool is valid.
    """

    id: PoolID
    slices: list[list[PoolDevice]] = []
    others: list[PoolDevice] = []
    counter_sets: Counters = {}
    is_incomplete: bool = False
    invalid: str = ""


def reaches(node: Node, name: str | None, all_nodes: bool | None, selector: NodeSelector | None) -> bool:
    """Return whether a node reaches a slice or device with this node name, allNodes or selector (``NodeMatches``)."""
    if name:
        return node.name == name
    if all_nodes:
        return True
    return selector is not None and matches_node(selector, node)


class SliceCatalog:
    """The slices of a cluster by pool and node.

    Args:
        use: step limit, which grows with the number of devices.
        before: an earlier catalog; cached expression values of unchanged slices are reused.
    """

    def __init__(
        self,
        slices: Collection[ResourceSlice],
        taint_rules: Sequence[DeviceTaintRule],
        rules: DynamicResourcesRules,
        use: DeviceUse,
        before: SliceCatalog | None = None,
    ) -> None:
        self._use = use
        self._rules = rules
        self._taint_rules = taint_rules if rules.device_taints and rules.taint_rules else ()
        self._on_node: dict[str, list[ResourceSlice]] = defaultdict(list)
        self._shared: list[ResourceSlice] = []
        self._by_pool: dict[PoolID, list[ResourceSlice]] = defaultdict(list)
        self._devices: dict[int, list[PoolDevice]] = {}
        self._pools: dict[str, tuple[Node, list[DevicePool]]] = {}
        for each in slices:
            (self._on_node[each.spec.node_name] if each.spec.node_name else self._shared).append(each)
            self._by_pool[_pool_id(each)].append(each)
        if before is not None and before._taint_rules == self._taint_rules:
            known = before._devices
            self._devices = {id(each): known[id(each)] for each in slices if id(each) in known}
        devices = (device for each in slices for device in each.spec.devices or ())
        use.allow_for(sum(1 + len(each.attributes or ()) + len(each.capacity or ()) for each in devices))

    def pools(self, node: Node) -> list[DevicePool]:
        """Return the pools that a node reaches, in search order (``GatherPools``)."""
        known = self._pools.get(node.name)
        if known is not None and known[0] is node:
            return known[1]
        found = self._gathered(node)
        self._pools[node.name] = (node, found)
        return found

    def has_slices_for(self, node: str) -> bool:
        """Return whether any slice names the node."""
        return node in self._on_node

    def devices(self, item: ResourceSlice) -> list[PoolDevice]:
        """Return the devices of a slice."""
        known = self._devices.get(id(item))
        if known is None:
            known = self._devices[id(item)] = [self._device(item, each) for each in item.spec.devices or ()]
        return known

    def _device(self, item: ResourceSlice, device: Device) -> PoolDevice:
        spec = item.spec
        added = [
            rule.spec.taint
            for rule in self._taint_rules
            if (selector := rule.spec.device_selector) is not None
            and selector.driver in (None, spec.driver)
            and selector.pool in (None, spec.pool.name)
            and selector.device in (None, device.name)
        ]
        return PoolDevice(
            id=(spec.driver, spec.pool.name, device.name),
            device=device,
            slice=item,
            taints=[*(device.taints or ()), *added],
            counters={
                (consumed.counter_set, name): nanos(counter.value)
                for consumed in device.consumes_counters or ()
                for name, counter in (consumed.counters or {}).items()
            },
            capacity={name: nanos(each.value) for name, each in (device.capacity or {}).items()},
            matched={},
            use=self._use,
        )

    def _gathered(self, node: Node) -> list[DevicePool]:
        there = (*self._on_node.get(node.name, ()), *self._shared)
        relevant = newest_by_pool(each for each in there if self._is_usable(each) and self._is_relevant(each, node))
        plain: list[DevicePool] = []
        binding: list[DevicePool] = []
        for pool_id, slices in relevant.items():
            pool = self._pool(pool_id, slices)
            if pool is not None:
                (binding if _has_conditions(pool) else plain).append(pool)
        # kube-scheduler's order: pools with binding conditions last, otherwise by driver and name.
        return sorted(plain, key=lambda pool: pool.id) + sorted(binding, key=lambda pool: pool.id)

    def _is_usable(self, item: ResourceSlice) -> bool:
        spec, rules = item.spec, self._rules
        if not rules.partitionable_devices and (spec.per_device_node_selection is not None or spec.shared_counters):
            return False
        return rules.compatibility_groups or not _has_groups(item)

    def _is_relevant(self, item: ResourceSlice, node: Node) -> bool:
        spec = item.spec
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            return reaches(node, spec.node_name, spec.all_nodes, spec.node_selector)
        if not spec.per_device_node_selection:
            return False
        return any(reaches(node, each.node_name, each.all_nodes, each.node_selector) for each in spec.devices or ())

    def _pool(self, pool_id: PoolID, slices: list[ResourceSlice]) -> DevicePool | None:
        """Return the pool; ``None`` if slices for other nodes have a newer generation of it."""
        wanted, generation = slices[0].spec.pool.resource_slice_count, slices[0].spec.pool.generation
        every = slices
        if len(slices) != wanted:
            if any(each.spec.pool.generation > generation for each in self._by_pool[pool_id]):
                return None
            every = [each for each in self._by_pool[pool_id] if each.spec.pool.generation == generation]
            if not self._rules.compatibility_groups:
                every = [each for each in every if not _has_groups(each)]
            if len(every) != wanted:
                return DevicePool(pool_id, is_incomplete=True)
        return self._built(pool_id, sorted(slices, key=lambda each: each.name), every)

    def _built(self, pool_id: PoolID, slices: list[ResourceSlice], every: list[ResourceSlice]) -> DevicePool:
        shares = self._rules.partitionable_devices
        names = {each.name for each in slices}
        others = [each for each in every if each.name not in names] if len(slices) < len(every) else []
        holding = [each for each in (*slices, *others) if shares and each.spec.shared_counters]
        reached = [self.devices(each) for each in slices if not (shares and each.spec.shared_counters)]
        elsewhere = [
            device for each in others if not (shares and each.spec.shared_counters) for device in self.devices(each)
        ]
        seen: set[str] = set()
        for device in (device for devices in reached for device in devices):
            if device.device.name in seen:
                return DevicePool(pool_id, invalid=f"duplicate device name {device.device.name}")
            seen.add(device.device.name)
        if not shares:
            return DevicePool(pool_id, reached)
        counters: Counters = {}
        sets: set[str] = set()
        for counter_set in (counter_set for each in holding for counter_set in each.spec.shared_counters or ()):
            if counter_set.name in sets:
                return DevicePool(pool_id, invalid=f"duplicate counter set name {counter_set.name}")
            sets.add(counter_set.name)
            for name, counter in (counter_set.counters or {}).items():
                counters[counter_set.name, name] = nanos(counter.value)
        for device in (*(device for devices in reached for device in devices), *elsewhere):
            for consumed in device.device.consumes_counters or ():
                if consumed.counter_set not in sets:
                    return DevicePool(pool_id, invalid=f"counter set {consumed.counter_set} not found")
            for counter_set_name, name in device.counters:
                if (counter_set_name, name) not in counters:
                    words = f"counter {name} not found in counter set {counter_set_name}"
                    return DevicePool(pool_id, invalid=words)
        return DevicePool(pool_id, reached, elsewhere, counters)


def _pool_id(item: ResourceSlice) -> PoolID:
    return item.spec.driver, item.spec.pool.name


def newest_by_pool(slices: Iterable[ResourceSlice]) -> dict[PoolID, list[ResourceSlice]]:
    """Return each pool's slices of the newest generation."""
    pools: dict[PoolID, list[ResourceSlice]] = {}
    for item in slices:
        pool_id, generation = _pool_id(item), item.spec.pool.generation
        known = pools.get(pool_id)
        if known is None or generation > known[0].spec.pool.generation:
            pools[pool_id] = [item]
        elif generation == known[0].spec.pool.generation:
            known.append(item)
    return pools


def _has_groups(item: ResourceSlice) -> bool:
    return any(
        consumed.compatibility_groups for each in item.spec.devices or () for consumed in each.consumes_counters or ()
    )


def _has_conditions(pool: DevicePool) -> bool:
    return any(each.device.binding_conditions is not None for devices in pool.slices for each in devices)


_CATALOGS: Final[WeakKeyDictionary[ClusterObjects, dict[object, tuple[object, SliceCatalog]]]] = WeakKeyDictionary()


def catalog_of(objects: ClusterObjects, rules: DynamicResourcesRules) -> SliceCatalog:
    """Return the up-to-date catalog of a cluster's slices."""
    now = (objects.changed.get((ResourceSlice, ""), 0), objects.changed.get((DeviceTaintRule, ""), 0))
    known: Mapping[object, tuple[object, SliceCatalog]] = _CATALOGS.setdefault(objects, {})
    found = known.get(rules)
    if found is not None and found[0] == now:
        return found[1]
    slices, taint_rules = objects.resource_slices.values(), list(objects.device_taint_rules.values())
    made = SliceCatalog(slices, taint_rules, rules, objects.devices, None if found is None else found[1])
    _CATALOGS[objects][rules] = (now, made)
    return made
