"""Constraints between a claim's devices: equal or distinct attributes, checked while devices are chosen.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental (``matchAttributeConstraint``,
constraint.go).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from topospread.api.device_claims import DeviceConstraint
from topospread.api.devices import DeviceAttribute

from .pools import PoolDevice

Values = tuple[str, frozenset[object]]
"""(type of an attribute, its values)."""
Lookup = Callable[[PoolDevice, str], DeviceAttribute | None]
"""Function of (device, attribute name) that returns the attribute, even one that the request derives."""

_TYPES: Final = (
    ("int", "int_values", "int_value"),
    ("bool", "bool_values", "bool_value"),
    ("string", "string_values", "string_value"),
    ("version", "version_values", "version_value"),
)


def attribute_of(device: PoolDevice, name: str) -> DeviceAttribute | None:
    """Return a device's attribute by its full name. A slice may omit the domain if it is the driver's."""
    attributes = device.device.attributes or {}
    if name in attributes:
        return attributes[name]
    domain, _, identifier = name.partition("/")
    return attributes.get(identifier) if domain == device.id[0] else None


class AttributeConstraint:
    """A constraint of a claim, with the values of the devices chosen so far.

    Args:
        constraint: ``matchAttribute`` or ``distinctAttribute``.
        lists: whether attributes are compared as sets (gate DRAListTypeAttributes).
    """

    def __init__(self, constraint: DeviceConstraint, *, lists: bool) -> None:
        self._requests = frozenset(constraint.requests or ())
        self._matches = constraint.match_attribute is not None
        self.name = constraint.match_attribute or constraint.distinct_attribute or ""
        self._lists = lists
        self._chosen: list[Values] = []

    def concerns(self, request: str, parent: str) -> bool:
        """Return whether the constraint applies to a request. ``parent``: for an alternative, its request; else ""."""
        if not self._requests:
            return True
        if not parent:
            return request in self._requests
        return parent in self._requests or f"{parent}/{request}" in self._requests

    def add(self, device: PoolDevice, lookup: Lookup) -> bool:
        """Add a device if the constraint still holds with it. Return whether it was added."""
        attribute = lookup(device, self.name)
        values = None if attribute is None else self._values(attribute)
        if values is None:
            return False
        if self._matches:
            if self._chosen:
                kind, common = self._chosen[-1]
                if kind != values[0] or not (common & values[1]):
                    return False
                # Keep only the values that all devices have in common.
                values = (kind, common & values[1])
        elif any(kind == values[0] and each & values[1] for kind, each in self._chosen):
            return False
        self._chosen.append(values)
        return True

    def remove(self) -> None:
        """Remove the device that was added last."""
        self._chosen.pop()

    def _values(self, attribute: DeviceAttribute) -> Values | None:
        for kind, many, _ in _TYPES if self._lists else ():
            values = getattr(attribute, many)
            if values:
                return kind, frozenset(values)
        for kind, _, one in _TYPES:
            value = getattr(attribute, one)
            if value is not None:
                return kind, frozenset((value,))
        return None
