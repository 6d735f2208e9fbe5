"""The device capacity that a share consumes, and whether it is available. Amounts are integers in billionths.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental/consumable_capacity.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from topospread.api.device_claims import CapacityRequirements
from topospread.api.devices import CapacityRange, Device, DeviceCapacity
from topospread.api.meta import RawQuantity
from topospread.api.quantity import Quantity, parse_quantity
from topospread.cluster.device_use import nanos

_ONE = 10**9
_MILLI = 10**6
_MOST = 2**63 - 1


class CapacityError(Exception):
    """A capacity request that is negative or cannot be rounded; kube-scheduler fails the allocation with an error."""


def consumed_capacity(
    device: Device, wanted: CapacityRequirements | None, *, fractional: bool
) -> dict[str, Quantity] | None:
    """Return the amount of each capacity that a share consumes; ``None`` if the device lacks a requested capacity.

    Raises:
        CapacityError: if an amount is negative or cannot be rounded.
    """
    capacity, requests = device.capacity or {}, (wanted.requests if wanted is not None else None) or {}
    if any(name not in capacity for name in requests):
        return None
    consumed: dict[str, Quantity] = {}
    for name, each in capacity.items():
        request = requests.get(name)
        try:
            amount = _consumed(None if request is None else parse_quantity(request), each, fractional)
        except CapacityError as error:
            raise CapacityError(f'capacity "{name}": {error}') from None
        if amount.sign < 0:
            raise CapacityError(f'capacity "{name}": capacity value is negative')
        consumed[name] = amount
    return consumed


def is_left(
    device: Device, consumed: Mapping[str, Quantity], used: Mapping[str, int], here: Mapping[str, int], fractional: bool
) -> bool:
    """Return whether a device has capacity left for another share.

    Args:
        consumed: capacity that the share consumes.
        used: capacity that allocated claims consume.
        here: capacity that the pod's other claims consume.
        fractional: gate DRAFractionalCapacityRange.
    """
    for name, each in (device.capacity or {}).items():
        amount = consumed[name]
        if _violates(amount, each, fractional):
            return False
        if used.get(name, 0) + here.get(name, 0) + _nanos(amount) > nanos(each.value):
            return False
    return True


def _nanos(amount: Quantity) -> int:
    return int(amount.unscaled * 10 ** (amount.exponent + 9))


def _consumed(request: Quantity | None, capacity: DeviceCapacity, fractional: bool) -> Quantity:
    """Return the amount of a capacity that a share consumes, by its request policy (``calculateConsumedCapacity``)."""
    policy = capacity.request_policy
    if request is None:
        default = policy.default if policy is not None else None
        return parse_quantity(capacity.value if default is None else default)
    if policy is None:
        return request
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_up(request, policy.valid_range, policy.valid_range.min, fractional)
    for each in policy.valid_values or ():
        if request.compare(parse_quantity(each)) <= 0:
            return parse_quantity(each)
    return request


def _rounded_up(request: Quantity, valid: CapacityRange, least: RawQuantity, fractional: bool) -> Quantity:
    """Return a request rounded up to ``least`` or to the next step of the valid range (``roundUpRange``)."""
    minimum = parse_quantity(least)
    if request.compare(minimum) < 0:
        return minimum
    if valid.step is None:
        return request
    step = parse_quantity(valid.step)
    if _by_milli(valid, fractional):
        if _nanos(request) % _MILLI:
            raise CapacityError(f"{_UNREPRESENTABLE}: request {request} is not a representable milli value")
        unit, exponent = _MILLI, -3
        words = f"{_UNREPRESENTABLE}: rounding request {request} up to the next step passes the milli-value range"
    else:
        if _nanos(request) > _MOST * _ONE:
            raise CapacityError(f"{_UNREPRESENTABLE}: request {request} exceeds MaxInt64")
        unit, exponent = _ONE, 0
        words = f"{_UNREPRESENTABLE}: rounding request {request} up to the next step passes MaxInt64"
    first, each = _units(minimum, unit), _units(step, unit)
    steps = -(-(_units(request, unit) - first) // each)
    if steps > (_MOST - first) // each:
        raise CapacityError(words)
    total = first + each * steps
    if exponent and total % 1000 == 0:
        total, exponent = total // 1000, 0
    return Quantity(total, exponent, step.format)


_UNREPRESENTABLE = "capacity request cannot be represented in the device's range arithmetic"


def _units(amount: Quantity, unit: int) -> int:
    """Return an amount in units of ``unit`` billionths, rounded up."""
    return -(-_nanos(amount) // unit)


def _by_milli(valid: CapacityRange, fractional: bool) -> bool:
    """Return whether the range is computed in thousandths instead of whole numbers (``useMilli``)."""
    given = [_nanos(parse_quantity(each)) for each in (valid.min, valid.max, valid.step) if each is not None]
    if not fractional or any(each % _MILLI or abs(each) > _MOST * _MILLI for each in given):
        return False
    return valid.step is None or nanos(valid.step) >= _MILLI


def _violates(amount: Quantity, capacity: DeviceCapacity, fractional: bool) -> bool:
    """Return whether the capacity's request policy does not allow an amount (``violatesPolicy``)."""
    policy = capacity.request_policy
    if policy is None or (policy.default is not None and amount == parse_quantity(policy.default)):
        return False
    if policy.valid_range is not None:
        return _is_outside(amount, policy.valid_range, fractional)
    values = policy.valid_values or ()
    return bool(values) and all(amount.compare(parse_quantity(each)) != 0 for each in values)


def _is_outside(amount: Quantity, valid: CapacityRange, fractional: bool) -> bool:
    """Return whether an amount is above the maximum of a range or between its steps (``violateValidRange``)."""
    if valid.max is not None and amount.compare(parse_quantity(valid.max)) > 0:
        return True
    if valid.step is None or valid.min is None:
        return False
    unit = _MILLI if _by_milli(valid, fractional) else _ONE
    if unit == _MILLI and _nanos(amount) % _MILLI:
        return True
    first, step = _units(parse_quantity(valid.min), unit), _units(parse_quantity(valid.step), unit)
    return bool((_units(amount, unit) - first) % step)
