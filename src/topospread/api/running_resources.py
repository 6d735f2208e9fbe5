"""The requests of a running pod's containers, including resources that the kubelet allocated, for each version.

Pods may be resized in place (KEP-1287), so that spec and status differ for a while. Source: ``PodRequests`` in
k8s.io/component-helpers/resource/helpers.go, until 1.31 in pkg/api/v1/resource/helpers.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from .meta import ResourceList
from .pod import Container, ContainerStatus, Pod
from .quantity import Quantity, parse_quantity

# Exact arithmetic on resource lists. Source: k8s.io/component-helpers/resource/helpers.go.

Requests = dict[str, Quantity]


def quantities(resources: ResourceList | None) -> Requests:
    """Return a resource list with parsed quantities; null is 0."""
    return {name: parse_quantity(0 if text is None else text) for name, text in (resources or {}).items()}


def add(total: Requests, more: Mapping[str, Quantity]) -> None:
    """Add a list to another, in place."""
    for name, quantity in more.items():
        total[name] = total[name].add(quantity) if name in total else quantity


def maximum(lists: Iterable[Mapping[str, Quantity]]) -> Requests:
    """Return the larger quantity of each resource."""
    result: Requests = {}
    for each in lists:
        for name, quantity in each.items():
            if name not in result or result[name] < quantity:
                result[name] = quantity
    return result


def rounded(requests: Requests) -> Requests:
    """Return quantities rounded up to kube-scheduler's units: millicores, and whole units of other resources."""
    return {
        name: parse_quantity(f"{quantity.milli_value()}m" if name == "cpu" else str(quantity.value()))
        for name, quantity in requests.items()
    }


def integers(requests: Mapping[str, Quantity]) -> dict[str, int]:
    """Return millicores, and whole units of other resources, rounded up."""
    return {name: q.milli_value() if name == "cpu" else q.value() for name, q in requests.items()}


StatusRule = Literal["ignored", "allocated", "running", "running or allocated", "whole pod"]
"""The requests that count for a pod with resources in its status.

    ignored            the spec
    allocated          of each container, the larger of spec and status.allocatedResources (1.27 to 1.31)
    running            of each container, the larger of spec and status.resources (1.32)
    running or ...     of each container or sidecar, the largest of these three (1.33 to 1.36)
    whole pod          the largest of three sums over the pod: spec, allocatedResources, resources (1.37)
"""

RequestsReader = Callable[[Container], Requests]
"""Function that returns the counted requests of one container."""


def spec_requests(container: Container) -> Requests:
    """Return the requests in the container's spec."""
    return quantities(_spec(container))


def readers(pod: Pod, rule: StatusRule) -> list[RequestsReader]:
    """Return functions that read a container's requests. The largest of their sums over the pod counts."""
    status = pod.status
    told = status is not None and (status.container_statuses or status.init_container_statuses)
    if rule == "whole pod":
        if not told and not resize_infeasible(pod):
            return [spec_requests]
        running = [_by_sum(pod, _allocated), _by_sum(pod, _actuated)]
        return running if resize_infeasible(pod) else [spec_requests, *running]
    return [_largest(pod, rule)] if told and rule != "ignored" else [spec_requests]


def resize_infeasible(pod: Pod) -> bool:
    """Return whether the kubelet reports that the requested resize is impossible."""
    for condition in (pod.status.conditions or ()) if pod.status else ():
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _largest(pod: Pod, rule: StatusRule) -> RequestsReader:
    old = rule != "running or allocated"
    infeasible = pod.status is not None and pod.status.resize == "Infeasible" if old else resize_infeasible(pod)
    sidecars = () if old else [c.name for c in pod.spec.init_containers or () if c.restart_policy == "Always"]
    told = {*(container.name for container in pod.spec.containers or ()), *sidecars}

    def read(container: Container) -> Requests:
        status = _status_of(pod, container.name) if container.name in told else None
        running = None if status is None else _counted(status, rule)
        if running is None:
            return spec_requests(container)
        return maximum(running if infeasible else [spec_requests(container), *running])

    return read


def _counted(status: ContainerStatus, rule: StatusRule) -> list[Mapping[str, Quantity]] | None:
    """Return the resource lists of a status that a rule counts; ``None`` if the status has none of them."""
    if rule == "allocated":
        return [quantities(status.allocated_resources)]
    if status.resources is None:
        return None
    running = quantities(status.resources.requests)
    return [running] if rule == "running" else [running, quantities(status.allocated_resources)]


def _by_sum(pod: Pod, read: Callable[[Container, ContainerStatus | None, bool], ResourceList | None]) -> RequestsReader:
    infeasible = resize_infeasible(pod)
    return lambda container: quantities(read(container, _status_of(pod, container.name), infeasible))


def _spec(container: Container) -> ResourceList | None:
    return container.resources.requests if container.resources else None


def _allocated(container: Container, status: ContainerStatus | None, infeasible: bool) -> ResourceList | None:
    if status is not None and status.allocated_resources is not None:
        return status.allocated_resources
    return None if infeasible else _spec(container)


def _actuated(container: Container, status: ContainerStatus | None, infeasible: bool) -> ResourceList | None:
    if status is not None and status.resources is not None and status.resources.requests is not None:
        return status.resources.requests
    return _allocated(container, status, infeasible)


def _status_of(pod: Pod, name: str) -> ContainerStatus | None:
    if pod.status is None:
        return None
    for statuses in (pod.status.container_statuses, pod.status.init_container_statuses):
        for status in statuses or ():
            if status.name == name:
                return status
    return None
