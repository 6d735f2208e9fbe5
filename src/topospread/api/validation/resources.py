"""Resources of containers, of the pod and of its overhead as the API server checks them: names, amounts and sums.

Source: validateResourceRequirements, validatePodResources and what they call in
pkg/apis/core/validation/validation.go (Kubernetes 1.37). Quantities are parsed and rounded to thousandths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from topospread.api.pod_defaults import is_huge_page, is_pod_level
from topospread.api.quantity import Quantity, QuantityError, parse_quantity

from . import names
from .field import FieldError, Named, all_invalid, duplicate, forbidden, invalid, not_found, not_supported, required

# Resource names and their kinds.
# Source: pkg/apis/core/helper/helpers.go, k8s.io/component-helpers/resource/helpers.go.

HUGE_PAGES: Final = "hugepages-"
POD_LEVEL: Final = ("cpu", HUGE_PAGES, "memory")
"""Resources allowed in ``spec.resources``, in the API server's order."""

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
    """Return whether limits of the resource may exceed its requests."""
    return is_native(name) and not is_huge_page(name)


@lru_cache(maxsize=1024)
def is_extended(name: str) -> bool:
    """Return whether the resource is an extended resource: its prefix is not one of Kubernetes."""
    return not is_native(name) and not name.startswith("requests.") and not names.label_key(f"requests.{name}")


def is_counted(name: str) -> bool:
    """Return whether the resource has whole numbers only."""
    return name in _COUNTED or is_extended(name)


def is_multiple_of_page(name: str, quantity: Quantity) -> bool:
    """Return whether an amount of huge pages is a multiple of the page size in the resource's name."""
    try:
        page = parse_quantity(name.removeprefix(HUGE_PAGES))
    except QuantityError:
        return False
    if page.sign <= 0 or page.milli_value() % 1000:
        return False
    size = page.value()
    # The size is 0 only if it overflows int64; Go then panics at the division.
    return size != 0 and quantity.value() % size == 0


def check_container_resource(path: str, name: str) -> Iterator[FieldError]:
    """Check a resource of a container, or of the pod's overhead (ValidateContainerResourceName)."""
    yield from _check_resource_name(path, name)
    if "/" not in name:
        if name not in _CONTAINER_RESOURCES and not is_huge_page(name):
            yield invalid(path, Named(name), "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield invalid(path, Named(name), "doesn't follow extended resource name standard")


def check_pod_resource(path: str, name: str) -> Iterator[FieldError]:
    """Check a resource at pod level (validatePodResourceName)."""
    refused = list(_check_resource_name(path, name))
    yield from refused
    if not refused and not is_pod_level(name):
        yield not_supported(path, Named(name), POD_LEVEL)


def _check_resource_name(path: str, name: str) -> Iterator[FieldError]:
    reasons = names.label_key(name)
    yield from all_invalid(path, Named(name), reasons)
    if not reasons and "/" not in name and not _is_standard(name):
        yield invalid(path, Named(name), "must be a standard resource type or fully qualified")


def _is_standard(name: str) -> bool:
    return name in _STANDARD_RESOURCES or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))


# The total requests and limits of a pod's containers, from decoded data. `api.requests` has the scheduler's sums.
# Source: AggregateContainerRequests and AggregateContainerLimits in k8s.io/component-helpers/resource/helpers.go.
# Quantities are added one by one in Kubernetes' order, as the order decides how the sum is written in a message.

Amounts = dict[str, Quantity]


def aggregated_requests(spec: dict[str, Any]) -> Amounts:
    """Return the requests of all containers, or of init containers if those are larger."""
    return _aggregated(spec, "requests")


def aggregated_limits(spec: dict[str, Any]) -> Amounts:
    """Return the limits of all containers, or of init containers if those are larger."""
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


Json = dict[str, Any]
NameCheck = Callable[[str, str], Iterator[FieldError]]


def check_resources(path: str, spec: Json) -> Iterator[FieldError]:
    """Yield the errors in the resources of a pod's containers and of the pod as a whole; claims are not checked."""
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind, ())):
            resources = container.get("resources", {})
            yield from _check_requirements(f"{path}.{kind}[{index}].resources", resources, check_container_resource)
    if "resources" in spec:
        yield from _check_requirements(f"{path}.resources", spec["resources"], check_pod_resource)
        yield from _check_consistency(f"{path}.resources", spec)


def check_container_resources(path: str, resources: Json, claims: Sequence[str]) -> Iterator[FieldError]:
    """Check ``resources`` of a container; ``claims`` are the names in the pod's resourceClaims."""
    yield from _check_requirements(path, resources, check_container_resource)
    yield from _check_claims(f"{path}.claims", resources.get("claims", ()), claims)


def check_overhead(path: str, overhead: Mapping[str, Quantity]) -> Iterator[FieldError]:
    """Check ``spec.overhead`` like limits of a container, also in the error's path."""
    yield from _check_requirements(path, {"limits": overhead}, check_container_resource)


def check_pod_resources(path: str, spec: Json, claims: Sequence[str]) -> Iterator[FieldError]:
    """Check ``spec.resources``, also against the containers' resources."""
    resources = spec["resources"]
    if spec.get("os", {}).get("name") == "windows":
        yield forbidden(path, "may not be set for a windows pod")
        return
    if "claims" in resources:
        yield forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
    yield from _check_requirements(path, resources, check_pod_resource)
    yield from _check_claims(f"{path}.claims", resources.get("claims", ()), claims)
    yield from _check_consistency(path, spec)


def _check_requirements(path: str, resources: Json, check_name: NameCheck) -> Iterator[FieldError]:
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, quantity in amounts.items():
            inner = f"{path}.{field}[{name}]"
            yield from check_name(inner, name)
            yield from check_amount(inner, name, quantity)
            if is_huge_page(name):
                yield from _check_pages(inner, name, quantity, limits.get(name, quantity))
    for name, request in requests.items():
        limit = limits.get(name)
        if limit is None:
            if not is_overcommit_allowed(name):
                yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        elif request != limit and not is_overcommit_allowed(name):
            yield invalid(f"{path}.requests", str(request), f"must be equal to {name} limit of {limit}")
        elif request > limit:
            yield invalid(f"{path}.requests", str(request), f"must be less than or equal to {name} limit of {limit}")
    together = limits.keys() | requests.keys()
    if any(map(is_huge_page, together)) and together.isdisjoint(("cpu", "memory")):
        yield forbidden(path, "HugePages require cpu or memory")


def check_amount(path: str, name: str, quantity: Quantity) -> Iterator[FieldError]:
    """Check that an amount is not negative, and whole if the resource requires it (ValidateResourceQuantityValue)."""
    if quantity.sign < 0:
        yield invalid(path, str(quantity), "must be greater than or equal to 0")
    if is_counted(name) and quantity.milli_value() % 1000:
        yield invalid(path, quantity, "must be an integer")


def _check_pages(path: str, name: str, quantity: Quantity, limit: Quantity) -> Iterator[FieldError]:
    # Go compares the request with its limit first. A comparison with a wide quantity makes the request wide, too.
    if not is_multiple_of_page(name, quantity.widened() if limit.wide else quantity):
        yield invalid(path, str(quantity), f"{quantity} is not positive integer multiple of {name}")


def _check_claims(path: str, claims: Sequence[Json], known: Sequence[str]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        inner = f"{path}[{index}]"
        name, request = claim.get("name", ""), claim.get("request", "")
        if not name:
            yield required(inner)
            continue
        if name in seen:
            yield duplicate(inner, name)
        else:
            if request:
                yield from all_invalid(f"{inner}.request", request, names.dns_label(request))
            entry = f"{name}/{request}" if request else name
            if entry in seen or (not request and any(each.startswith(f"{name}/") for each in seen)):
                yield duplicate(inner, entry)
            seen.add(entry)
        if name not in known:
            there = ": " + ", ".join(sorted(set(known))) if known else " which is empty"
            yield not_found(inner, name, f"must be one of the names in pod.spec.resourceClaims{there}")


def _check_consistency(path: str, spec: Json) -> Iterator[FieldError]:
    """Check that the pod's requests and limits cover those of its containers (validatePodResourceConsistency)."""
    resources = spec["resources"]
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    for name, total in aggregated_requests(spec).items():
        if name in requests and total > requests[name]:
            detail = f"must be greater than or equal to aggregate container requests of {total}"
            yield invalid(f"{path}.requests[{name}]", str(requests[name]), detail)
    for name, total in aggregated_limits(spec).items():
        if is_huge_page(name) and name in limits and total > limits[name]:
            detail = f"must be greater than or equal to aggregate container limits of {total}"
            yield invalid(f"{path}.limits[{name}]", str(limits[name]), detail)
    for index, container in enumerate(spec.get("containers", ())):
        for name, limit in container.get("resources", {}).get("limits", {}).items():
            if name in limits and limit > limits[name]:
                detail = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f"{path}.containers[{index}][{name}].limits", str(limit), detail)
