"""Devices that allocated claims use, the claims that pods use, and the step limit of device allocation.

A step is a unit of work in the search for devices. The counts are updated with each claim, also when a change of a
claim is undone.
Source: pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from topospread.api.device_claims import ResourceClaim
from topospread.api.quantity import parse_quantity

DeviceID = tuple[str, str, str]
"""Driver, pool and name of a device."""
PoolID = tuple[str, str]
"""Driver and name of a pool."""

_NANO = 9
_STEPS: Final = 250_000
"""Step limit of a cluster without devices. One step takes about two microseconds."""
_STEPS_OF_A_PART: Final = 50
"""Increase of the step limit for each device, attribute and capacity."""


def nanos(amount: str | float) -> int:
    """Return a quantity in billionths, exactly."""
    quantity = parse_quantity(amount)
    return int(quantity.unscaled * 10 ** (quantity.exponent + _NANO))


class DeviceUse:
    """Counts of allocated devices.

    Attributes:
        dedicated: device → number of allocations of the whole device.
        shares: device → number of allocations of a share of the device.
        consumed: device → capacity name → consumption of all shares, in billionths.
        users: (namespace, name) of a pod → keys of the claims reserved for it.
        keeps: whether claims stay allocated when pods are removed from nodes (`kept`).
        version: number that increases with every change.
        changed: pool → `version` of its newest change, newest last.
        steps: remaining steps for device expressions and searches, over all nodes.
        most_steps: the step limit, to which `refill` sets ``steps``.
    """

    def __init__(self) -> None:
        self.dedicated: Counter[DeviceID] = Counter()
        self.shares: Counter[DeviceID] = Counter()
        self.consumed: dict[DeviceID, Counter[str]] = {}
        self.users: dict[tuple[str, str], set[tuple[str, str]]] = {}
        self.keeps = False
        self.version = 0
        self.changed: dict[PoolID, int] = {}
        self.steps = self.most_steps = _STEPS

    def allow_for(self, parts: int) -> None:
        """Raise the step limit if ``parts`` devices, attributes and capacities need more; never lower it."""
        more = max(_STEPS + parts * _STEPS_OF_A_PART - self.most_steps, 0)
        self.steps += more
        self.most_steps += more

    def spend(self, steps: int) -> None:
        """Subtract from the remaining steps, at most down to 0; a negative number gives steps back."""
        self.steps = min(max(self.steps - steps, 0), self.most_steps)

    def refill(self) -> None:
        """Set the remaining steps to the limit, before the next command on the same cluster."""
        self.steps = self.most_steps

    def share(self, other: DeviceUse, parts: int = 1) -> None:
        """Set the remaining steps to 1/``parts`` of those of ``other``, the devices of another copy of the cluster."""
        self.steps, self.most_steps = other.steps // parts, other.most_steps

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep claims allocated within the block when pods are removed, as kube-scheduler does.

        The resourceclaim controller releases them later.
        """
        self.keeps = True
        try:
            yield
        finally:
            self.keeps = False

    def replaced(self, before: ResourceClaim | None, after: ResourceClaim | None) -> None:
        """Update the counts after a claim was created, changed or deleted."""
        if before is not None:
            self._count(before, -1)
        if after is not None:
            self._count(after, 1)

    def changed_since(self, version: int) -> Iterator[PoolID]:
        """Yield the pools with a device that was allocated or released since a version."""
        for pool in reversed(self.changed):
            if self.changed[pool] <= version:
                return
            yield pool

    def _count(self, claim: ResourceClaim, sign: int) -> None:
        key = (claim.namespace, claim.name)
        for each in claim.status.reserved_for or ():
            if each.resource == "podgroups":
                continue
            pod = (claim.namespace, each.name)
            if sign > 0:
                self.users.setdefault(pod, set()).add(key)
            elif pod in self.users:
                self.users[pod].discard(key)
                if not self.users[pod]:
                    del self.users[pod]
        allocation = claim.status.allocation
        for result in (allocation.devices.results or ()) if allocation is not None else ():
            if result.admin_access:
                continue
            self.version += 1
            pool = (result.driver, result.pool)
            self.changed.pop(pool, None)
            self.changed[pool] = self.version
            device = (result.driver, result.pool, result.device)
            held = self.dedicated if result.share_id is None else self.shares
            held[device] += sign
            if not held[device]:
                del held[device]
            if result.share_id is None or not result.consumed_capacity:
                continue
            consumed = self.consumed.setdefault(device, Counter())
            for name, amount in result.consumed_capacity.items():
                consumed[name] += sign * nanos(amount)
            if not any(consumed.values()):
                del self.consumed[device]
