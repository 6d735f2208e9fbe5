"""The total requests and limits of a pod's containers, on decoded data; `api.requests` does node accounting.

Source: AggregateContainerRequests and AggregateContainerLimits in k8s.io/component-helpers/resource/helpers.go.
Quantities are added one by one in Kubernetes' order, as the order decides how the sum is written in a message.
"""

from __future__ import annotations

from typing import Any

from topospread.api.quantity import Quantity

Amounts = dict[str, Quantity]


def aggregated_requests(spec: dict[str, Any]) -> Amounts:
    """Requests of all containers, or of the initialisation if that needs more."""
    return _aggregated(spec, "requests")


def aggregated_limits(spec: dict[str, Any]) -> Amounts:
    """Limits of all containers, or of the initialisation if that may use more."""
    return _aggregated(spec, "limits")


def _aggregated(spec: dict[str, Any], field: str) -> Amounts:
    total: Amounts = {}
    sidecars: Amounts = {}
    initialising: Amounts = {}
    for container in spec.get("containers", ()):
        _add(total, container.get("resources", {}).get(field, {}))
    for container in spec.get("initContainers", ()):
        amounts = container.get("resources", {}).get(field, {})
        if container.get("restartPolicy") == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            amounts = sidecars
        else:
            amounts = dict(amounts)
            _add(amounts, sidecars)
        _raise(initialising, amounts)
    _raise(total, initialising)
    return total


def _add(total: Amounts, more: Amounts) -> None:
    for name, quantity in more.items():
        total[name] = total[name].add(quantity) if name in total else quantity


def _raise(total: Amounts, least: Amounts) -> None:
    for name, quantity in least.items():
        if name not in total or total[name] < quantity:
            total[name] = quantity
