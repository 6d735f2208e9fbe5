"""Evaluation of CEL expressions on devices.

Source: k8s.io/dynamic-resource-allocation/cel/compile.go.
"""

from __future__ import annotations

from typing import Any, Final

from topospread.api.devices import Device, DeviceAttribute
from topospread.api.quantity import parse_quantity
from topospread.cel.evaluation import Budget, evaluate
from topospread.cel.functions import semantic_version
from topospread.cel.values import CannotEvaluateError, CelError, Defaulting, Value

_LONGEST: Final = 10 * 1024
"""Maximum bytes of an expression (``CELSelectorExpressionMaxLength``)."""


def evaluated(expression: str, driver: str, device: Device, budget: Budget) -> Value:
    """Return the value of an expression for a device.

    Raises:
        CannotEvaluateError: if the expression cannot be evaluated here.
        CelError: if kube-scheduler cannot evaluate it either, for example because of a missing key.
    """
    if len(expression.encode()) > _LONGEST:
        raise CannotEvaluateError("the expression is too long")
    attributes = (device.attributes or {}).values()
    budget.spend((len(device.capacity or ()) + sum(map(_length, attributes))) // 2)
    return evaluate(expression, {"device": _variable(driver, device)}, budget)


def qualified(name: str, driver: str) -> tuple[str, str]:
    """Return (domain, identifier) of an attribute's or capacity's name; the domain is the driver by default."""
    domain, separator, identifier = name.partition("/")
    return (domain, identifier) if separator else (driver, name)


def _variable(driver: str, device: Device) -> dict[str, Any]:
    attributes, capacity = Defaulting(), Defaulting()
    for name, attribute in (device.attributes or {}).items():
        domain, identifier = qualified(name, driver)
        attributes.setdefault(domain, {})[identifier] = _attribute_value(name, attribute)
    for name, each in (device.capacity or {}).items():
        domain, identifier = qualified(name, driver)
        capacity.setdefault(domain, {})[identifier] = parse_quantity(each.value)
    return {
        "driver": driver,
        "allowMultipleAllocations": bool(device.allow_multiple_allocations),
        "attributes": attributes,
        "capacity": capacity,
    }


def _length(value: DeviceAttribute) -> int:
    lists = (value.int_values, value.bool_values, value.string_values, value.version_values)
    return 1 + sum(len(each) for each in lists if each)


def _attribute_value(name: str, attribute: DeviceAttribute) -> Value:
    for values in (attribute.int_values, attribute.bool_values, attribute.string_values):
        if values is not None:
            return list(values)
    if attribute.version_values is not None:
        return [semantic_version(each) for each in attribute.version_values]
    for value in (attribute.int_value, attribute.bool_value, attribute.string_value):
        if value is not None:
            return value
    if attribute.version_value is not None:
        return semantic_version(attribute.version_value)
    raise CelError(f"attribute {name}: unsupported attribute value")
