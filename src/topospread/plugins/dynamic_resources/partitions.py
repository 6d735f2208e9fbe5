"""Counters that the devices of a pool share, and compatibility groups of devices that may share a counter set.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental (``checkAvailableCounters``,
compatibility_groups.go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from topospread.cluster.device_use import DeviceID, DeviceUse, PoolID

from .pools import Counters, DevicePool, PoolDevice

_Groups = tuple[bool, frozenset[str]]
"""(whether no device that uses a counter set declares groups, groups that all these devices have in common)."""


class Partitions:
    """The amounts taken from the counters of pools while devices are chosen.

    Args:
        pools: the node's device pools.
        use: devices that allocated claims hold.
        groups: gate DRADeviceCompatibilityGroups.
    """

    def __init__(self, pools: Sequence[DevicePool], use: DeviceUse, *, groups: bool) -> None:
        self._pools = {pool.id: pool for pool in pools}
        self._use = use
        self._checks_groups = groups
        self._drawn: dict[PoolID, Counters] = {}
        self._left: dict[PoolID, Counters] = {}
        self._groups: dict[tuple[PoolID, str], _Groups] = {}
        self._allocated_groups: dict[PoolID, dict[str, _Groups]] = {}

    def counters(self, device: PoolDevice) -> int:
        """Return the number of counters in a device's pool."""
        return len(self._pools[device.id[:2]].counter_sets)

    def draw(self, device: PoolDevice, undo: list[Callable[[], None]]) -> bool:
        """Consume a device's counters. Return False if its groups are incompatible or a counter is too low."""
        if self._checks_groups and not self._join_groups(device, undo):
            return False
        pool = self._pools[device.id[:2]]
        left = self._left.get(pool.id)
        if left is None:
            left = self._left[pool.id] = self._undrawn(pool)
        drawn = self._drawn.setdefault(pool.id, {})
        for name, amount in device.counters.items():
            drawn[name] = drawn.get(name, 0) + amount

        def give_back() -> None:
            for name, amount in device.counters.items():
                drawn[name] -= amount

        # If allocated devices overdraw a counter, it is below zero and rejects every device of the set.
        if any(amount < drawn.get(name, 0) for name, amount in left.items()):
            give_back()
            return False
        undo.append(give_back)
        return True

    def _allocated(self, pool: DevicePool) -> Iterator[PoolDevice]:
        use = self._use

        def is_allocated(device: DeviceID) -> bool:
            return device in use.dedicated or device in use.shares or device in use.consumed

        every = (*(device for devices in pool.slices for device in devices), *pool.others)
        return (each for each in every if each.device.consumes_counters and is_allocated(each.id))

    def _undrawn(self, pool: DevicePool) -> Counters:
        left = dict(pool.counter_sets)
        for device in self._allocated(pool):
            for name, amount in device.counters.items():
                if name in left:
                    left[name] -= amount
        return left

    def _groups_of(self, pool: DevicePool) -> dict[str, _Groups]:
        """Return the groups that allocated devices have in common, by counter set."""
        found = self._allocated_groups.get(pool.id)
        if found is None:
            found = self._allocated_groups[pool.id] = {}
            for device in self._allocated(pool):
                for drawn in device.device.consumes_counters or ():
                    groups = frozenset(drawn.compatibility_groups or ())
                    found[drawn.counter_set] = _joined(found.get(drawn.counter_set), groups)
        return found

    def _join_groups(self, device: PoolDevice, undo: list[Callable[[], None]]) -> bool:
        pool, groups = self._pools[device.id[:2]], self._groups
        allocated = self._groups_of(pool)
        saved: list[tuple[tuple[PoolID, str], _Groups | None]] = []

        def leave() -> None:
            for key, before in reversed(saved):
                if before is None:
                    del groups[key]
                else:
                    groups[key] = before

        for drawn in device.device.consumes_counters or ():
            key = (pool.id, drawn.counter_set)
            before = groups.get(key)
            current = before if before is not None else allocated.get(drawn.counter_set)
            own = frozenset(drawn.compatibility_groups or ())
            if current is not None and not _admits(current, own):
                leave()
                return False
            saved.append((key, before))
            groups[key] = _joined(current, own)
        undo.append(leave)
        return True


def _admits(current: _Groups, groups: frozenset[str]) -> bool:
    """Return whether a device with these groups may join. Devices with and without groups do not mix."""
    without, common = current
    return without if not groups else not without and bool(common & groups)


def _joined(before: _Groups | None, groups: frozenset[str]) -> _Groups:
    if before is None:
        return not groups, groups
    if before[0] or not groups:
        return before
    return False, before[1] & groups
