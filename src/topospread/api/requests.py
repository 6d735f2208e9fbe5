"""What a pod requests in all: containers, init containers, sidecars, pod level and overhead, as integers.

Source: k8s.io/component-helpers/resource/helpers.go (``PodRequests``), pkg/scheduler/framework/types.go
(``CalculateResource``, ``SetMaxResource``). Units of the results: cpu in millicores, all else in units
(bytes, pieces), both rounded up from the exact sum as Kubernetes rounds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from .meta import ResourceList
from .pod import Container, ContainerStatus, Pod
from .quantity import Quantity, parse_quantity

Requests = dict[str, Quantity]

DEFAULT_MILLI_CPU = 100
"""What a container without a cpu request counts as in scoring (pkg/scheduler/util/pod_resources.go)."""
DEFAULT_MEMORY = 200 * 1024 * 1024
"""What a container without a memory request counts as in scoring, in bytes."""

_NON_MISSING: Requests = {
    "cpu": parse_quantity(f"{DEFAULT_MILLI_CPU}m"),
    "memory": parse_quantity(str(DEFAULT_MEMORY)),
}


@dataclass(frozen=True, slots=True)
class RequestRules:
    """Which rules of counting are in force; the defaults are those of Kubernetes 1.37.

    Attributes:
        sidecars: restartable init containers count beside the containers (SidecarContainers, 1.28).
        pod_level: ``spec.resources`` counts (PodLevelResources, 1.34).
        status: what the kubelet allocated and runs counts too (InPlacePodVerticalScaling, 1.33).
        pod_level_status: likewise at pod level (InPlacePodLevelResourcesVerticalScaling, 1.36).
    """

    sidecars: bool = True
    pod_level: bool = True
    status: bool = True
    pod_level_status: bool = True


CURRENT_RULES = RequestRules()

_Reader = Callable[[Container, "ContainerStatus | None", bool], "ResourceList | None"]


def pod_requests(pod: Pod, rules: RequestRules = CURRENT_RULES) -> dict[str, int]:
    """What the pod takes from a node it runs on (``UseStatusResources``)."""
    return _integers(_requests(pod, rules, use_status=rules.status))


def incoming_requests(pod: Pod, rules: RequestRules = CURRENT_RULES) -> dict[str, int]:
    """What the pod needs of a node it is tried on: its spec, whatever its status says."""
    return _integers(_requests(pod, rules, use_status=False))


def scoring_requests(pod: Pod, rules: RequestRules = CURRENT_RULES) -> dict[str, int]:
    """The same for NodeResourcesFit's score: containers without cpu or memory requests count as 100m and 200Mi.

    Neither requests at pod level nor the status count here: kube-scheduler's scorers of this plugin are made without
    those features (noderesources/fit.go, ``nodeResourceStrategyTypeMap``; so since 1.33), although its filter and
    the sums of its nodes know them.
    """
    return _integers(_requests(pod, replace(rules, pod_level=False), use_status=False, non_missing=_NON_MISSING))


def non_zero_requests(pod: Pod, rules: RequestRules = CURRENT_RULES) -> tuple[int, int]:
    """Millicores and bytes that the pod adds to its node's non-zero requests.

    With requests at pod level, the defaults stand in only for a resource that nothing in the pod requests.
    """
    requests = _requests(pod, rules, use_status=rules.status)
    non_missing = _NON_MISSING
    if rules.pod_level and _pod_level_requests(pod):
        non_missing = {name: quantity for name, quantity in _NON_MISSING.items() if name not in requests}
    if non_missing:
        requests = _requests(pod, rules, use_status=rules.status, non_missing=non_missing)
    counted = _integers(requests)
    return counted.get("cpu", 0), counted.get("memory", 0)


def resource_amounts(resources: ResourceList | None) -> dict[str, int]:
    """A resource list (allocatable, overhead) as integers in the units of this module."""
    return _integers(_quantities(resources))


def is_scalar_resource(name: str) -> bool:
    """Whether kube-scheduler counts the resource beside cpu, memory, ephemeral-storage and pods.

    Extended resources, huge pages, attachable volumes and prefixed native ones (pkg/scheduler/util/utils.go).
    """
    return (
        is_extended_resource(name) or name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name
    )


def is_extended_resource(name: str) -> bool:
    """A resource with a domain that is not Kubernetes' own, nor a quota's (``IsExtendedResourceName``)."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def _requests(
    pod: Pod, rules: RequestRules, *, use_status: bool, non_missing: Mapping[str, Quantity] | None = None
) -> Requests:
    if use_status and pod.status is not None:
        total = _with_status(pod, rules, non_missing)
    else:
        total = _aggregate(pod, rules, _spec_requests, non_missing)
    if rules.pod_level and _pod_level_requests(pod):
        total.update(_effective_pod_level(pod, use_status=use_status and rules.pod_level_status))
    _add(total, _quantities(pod.spec.overhead))
    return total


def _with_status(pod: Pod, rules: RequestRules, non_missing: Mapping[str, Quantity] | None) -> Requests:
    status = pod.status
    infeasible = _resize_infeasible(pod)
    if (
        rules.pod_level_status
        and status is not None
        and status.allocated_resources is not None
        and status.resources is not None
        and status.resources.requests is not None
    ):
        running = [_quantities(status.allocated_resources), _quantities(status.resources.requests)]
    elif status is not None and (status.container_statuses or status.init_container_statuses or infeasible):
        running = [_aggregate(pod, rules, read, non_missing) for read in (_allocated_requests, _actuated_requests)]
    else:
        running = []
    if infeasible:
        return _maximum(running)
    return _maximum([_aggregate(pod, rules, _spec_requests, non_missing), *running])


def _aggregate(pod: Pod, rules: RequestRules, read: _Reader, non_missing: Mapping[str, Quantity] | None) -> Requests:
    """Sum of the containers, or what initialising takes if that is more (KEP-753 for the order of sidecars)."""
    infeasible = read is not _spec_requests and _resize_infeasible(pod)

    def requests_of(container: Container) -> Requests:
        status = None if read is _spec_requests else _status_of(pod, container.name)
        requests = _quantities(read(container, status, infeasible))
        for name, quantity in (non_missing or {}).items():
            requests.setdefault(name, quantity)
        return requests

    total: Requests = {}
    for container in pod.spec.containers or ():
        _add(total, requests_of(container))
    sidecars: Requests = {}
    initialising: Requests = {}
    for container in pod.spec.init_containers or ():
        needed = requests_of(container)
        if rules.sidecars and container.restart_policy == "Always":
            _add(total, needed)
            _add(sidecars, needed)
            needed = sidecars
        else:
            _add(needed, sidecars)
        initialising = _maximum([initialising, needed])
    return _maximum([total, initialising])


def _spec_requests(container: Container, _status: ContainerStatus | None, _infeasible: bool) -> ResourceList | None:
    return container.resources.requests if container.resources else None


def _allocated_requests(container: Container, status: ContainerStatus | None, infeasible: bool) -> ResourceList | None:
    if status is not None and status.allocated_resources is not None:
        return status.allocated_resources
    return None if infeasible else _spec_requests(container, status, infeasible)


def _actuated_requests(container: Container, status: ContainerStatus | None, infeasible: bool) -> ResourceList | None:
    if status is not None and status.resources is not None and status.resources.requests is not None:
        return status.resources.requests
    return _allocated_requests(container, status, infeasible)


def _status_of(pod: Pod, name: str) -> ContainerStatus | None:
    if pod.status is None:
        return None
    for statuses in (pod.status.container_statuses, pod.status.init_container_statuses):
        for status in statuses or ():
            if status.name == name:
                return status
    return None


def _resize_infeasible(pod: Pod) -> bool:
    for condition in (pod.status.conditions or ()) if pod.status else ():
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _is_pod_level_resource(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def _pod_level_requests(pod: Pod) -> Requests:
    """``spec.resources.requests`` as far as pod level supports the resource; empty when it is not set."""
    resources = pod.spec.resources
    if resources is None or not resources.requests:
        return {}
    return {n: q for n, q in _quantities(resources.requests).items() if _is_pod_level_resource(n)}


def _effective_pod_level(pod: Pod, *, use_status: bool) -> Requests:
    requests = _pod_level_requests(pod)
    status = pod.status
    if not use_status or status is None or status.resources is None:
        return requests
    spec = {} if _resize_infeasible(pod) else requests
    running = [_quantities(status.resources.requests), _quantities(status.allocated_resources)]
    return {n: q for n, q in _maximum([spec, *running]).items() if _is_pod_level_resource(n)}


def _quantities(resources: ResourceList | None) -> Requests:
    return {name: parse_quantity(0 if text is None else text) for name, text in (resources or {}).items()}


def _add(total: Requests, more: Mapping[str, Quantity]) -> None:
    for name, quantity in more.items():
        total[name] = total[name].add(quantity) if name in total else quantity


def _maximum(lists: Iterable[Mapping[str, Quantity]]) -> Requests:
    result: Requests = {}
    for each in lists:
        for name, quantity in each.items():
            if name not in result or result[name] < quantity:
                result[name] = quantity
    return result


def _integers(requests: Mapping[str, Quantity]) -> dict[str, int]:
    return {name: q.milli_value() if name == "cpu" else q.value() for name, q in requests.items()}
