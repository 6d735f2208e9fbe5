"""Resource names and their kinds; amounts are checked elsewhere.

Source: pkg/apis/core/helper/helpers.go, k8s.io/component-helpers/resource/helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from topospread.api.pod_defaults import is_huge_page, is_pod_level
from topospread.api.quantity import Quantity, QuantityError, parse_quantity

from . import names
from .field import FieldError, Named, all_invalid, invalid, not_supported

HUGE_PAGES: Final = "hugepages-"
POD_LEVEL: Final = ("cpu", HUGE_PAGES, "memory")
"""What ``spec.resources`` may hold, as the API server lists it."""

_CONTAINER_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED: Final = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_STANDARD_RESOURCES: Final = (
    _CONTAINER_RESOURCES
    | _COUNTED
    | {f"{kind}.{name}" for kind in ("requests", "limits") for name in _CONTAINER_RESOURCES}
    | {"storage", "requests.storage"}
)


def is_native(name: str) -> bool:
    """Return whether the resource is Kubernetes' own: without a prefix, or with one of kubernetes.io."""
    return "/" not in name or "kubernetes.io/" in name


def is_overcommit_allowed(name: str) -> bool:
    """Return whether limits may exceed requests."""
    return is_native(name) and not is_huge_page(name)


@lru_cache(maxsize=1024)
def is_extended(name: str) -> bool:
    """Return whether the resource is somebody's own, with a prefix that is not Kubernetes'."""
    return not is_native(name) and not name.startswith("requests.") and not names.label_key(f"requests.{name}")


def is_counted(name: str) -> bool:
    """Return whether the resource comes in whole numbers."""
    return name in _COUNTED or is_extended(name)


def is_multiple_of_page(name: str, quantity: Quantity) -> bool:
    """Return whether an amount of huge pages is a whole number of pages of the size in their name."""
    try:
        page = parse_quantity(name.removeprefix(HUGE_PAGES))
    except QuantityError:
        return False
    if page.sign <= 0 or page.milli_value() % 1000:
        return False
    size = page.value()
    # Only a size beyond int64 is 0 here, and Go stops at the division.
    return size != 0 and quantity.value() % size == 0


def check_container_resource(path: str, name: str) -> Iterator[FieldError]:
    """A resource of a container, or of the pod's overhead (ValidateContainerResourceName)."""
    yield from _check_resource(path, name)
    if "/" not in name:
        if name not in _CONTAINER_RESOURCES and not is_huge_page(name):
            yield invalid(path, Named(name), "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield invalid(path, Named(name), "doesn't follow extended resource name standard")


def check_pod_resource(path: str, name: str) -> Iterator[FieldError]:
    """A resource at pod level (validatePodResourceName)."""
    refused = list(_check_resource(path, name))
    yield from refused
    if not refused and not is_pod_level(name):
        yield not_supported(path, Named(name), POD_LEVEL)


def _check_resource(path: str, name: str) -> Iterator[FieldError]:
    reasons = names.label_key(name)
    yield from all_invalid(path, Named(name), reasons)
    if not reasons and "/" not in name and not _is_standard(name):
        yield invalid(path, Named(name), "must be a standard resource type or fully qualified")


def _is_standard(name: str) -> bool:
    return name in _STANDARD_RESOURCES or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))
