"""The total requests of a pod: containers, init containers, sidecars, pod level and overhead, as integers.

Source: k8s.io/component-helpers/resource/helpers.go (``PodRequests``), pkg/scheduler/framework/types.go
(``CalculateResource``, ``SetMaxResource``). Units of the results: cpu in millicores, all else in units
(bytes, pieces), rounded up as Kubernetes rounds them. ``config/request_rules.py`` has the rules of each version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .meta import ResourceList
from .pod import Container, Pod
from .quantity import Quantity, parse_quantity
from .running_resources import (
    Requests,
    RequestsReader,
    StatusRule,
    add,
    integers,
    maximum,
    quantities,
    readers,
    resize_infeasible,
    rounded,
    spec_requests,
)

DEFAULT_MILLI_CPU = 100
"""Millicores that scoring assumes for a container without a cpu request (pkg/scheduler/util/pod_resources.go)."""
DEFAULT_MEMORY = 200 * 1024 * 1024
"""Bytes that scoring assumes for a container without a memory request."""

_NON_MISSING: Requests = {"cpu": parse_quantity(f"{DEFAULT_MILLI_CPU}m"), "memory": parse_quantity(str(DEFAULT_MEMORY))}


@dataclass(frozen=True, slots=True)
class RequestRules:
    """The rules for summing a pod's requests. The defaults are the rules of Kubernetes 1.37.

    Attributes:
        sidecars: whether requests of sidecars (restartable init containers) are added to the containers' requests.
        sidecar_ports: whether host ports of sidecars count.
        overhead: whether ``spec.overhead`` counts.
        local_storage: whether ephemeral storage counts.
        pod_level: whether ``spec.resources`` counts.
        pod_level_huge_pages: whether huge pages in ``spec.resources`` count.
        pod_level_status: whether allocated and running pod-level resources of a resized pod count.
        status: rule for the containers' resources in the pod's status.
        fit_scores_containers_alone: whether NodeResourcesFit's score ignores pod-level resources and status.
        fit_scores_overhead: whether NodeResourcesFit's score includes overhead.
        non_zero_of_sum: whether scoring defaults for missing requests apply to each container, including sidecars. If
            not, the larger of the containers' sum and the init containers' maximum counts.
        rounds_the_sum: whether fractions are rounded up once for the pod. If not, once for each container.
        scoring_overhead_in_units: whether scorers add cpu overhead in cores to millicores, a bug of some versions.
    """

    sidecars: bool = True
    sidecar_ports: bool = True
    overhead: bool = True
    local_storage: bool = True
    pod_level: bool = True
    pod_level_huge_pages: bool = True
    pod_level_status: bool = True
    status: StatusRule = "whole pod"
    fit_scores_containers_alone: bool = True
    fit_scores_overhead: bool = True
    non_zero_of_sum: bool = True
    rounds_the_sum: bool = True
    scoring_overhead_in_units: bool = False


CURRENT_RULES = RequestRules()


def requested_quantities(pod: Pod, rules: RequestRules = CURRENT_RULES) -> Requests:
    """Return the quantities from which `pod_requests` is computed, before fractions are rounded up."""
    return _requests(pod, rules)


def pod_requests(pod: Pod, rules: RequestRules = CURRENT_RULES) -> dict[str, int]:
    """Return the pod's usage on its node (``UseStatusResources``)."""
    return integers(_requests(pod, rules))


def incoming_requests(pod: Pod, rules: RequestRules = CURRENT_RULES) -> dict[str, int]:
    """Return an incoming pod's requests: those of its spec, without its status."""
    return integers(_requests(pod, replace(rules, status="ignored")))


def scoring_requests(pod: Pod, rules: RequestRules = CURRENT_RULES, *, missing_count: bool = True) -> dict[str, int]:
    """Return the pod's requests as a scorer of node resources counts them.

    ``missing_count``: containers without cpu or memory requests count as 100m and 200Mi, as for NodeResourcesFit.
    """
    requests = _requests(pod, replace(rules, overhead=False), _NON_MISSING if missing_count else None)
    overhead = quantities(pod.spec.overhead) if rules.overhead else {}
    if not rules.scoring_overhead_in_units:
        add(requests, overhead)
        return integers(requests)
    counted = integers(requests)
    for name, quantity in overhead.items():
        counted[name] = counted.get(name, 0) + quantity.value()
    return counted


def fit_scoring_requests(pod: Pod, rules: RequestRules = CURRENT_RULES) -> dict[str, int]:
    """Return the pod's requests for NodeResourcesFit's scorers.

    Depending on the version, these ignore overhead, or pod-level resources and the status, which the filter counts.
    Source: noderesources/fit.go, ``nodeResourceStrategyTypeMap``.
    """
    if rules.fit_scores_containers_alone:
        rules = replace(rules, pod_level=False, status="ignored")
    if not rules.fit_scores_overhead:
        rules = replace(rules, overhead=False)
    return scoring_requests(pod, rules)


def non_zero_requests(pod: Pod, rules: RequestRules = CURRENT_RULES) -> tuple[int, int]:
    """Return millicores and bytes that the pod adds to its node's non-zero requests.

    With pod-level requests, the defaults apply only to resources that neither the pod nor a container requests.
    """
    if not rules.non_zero_of_sum:
        return _non_zero_by_container(pod, rules)
    non_missing = _NON_MISSING
    if rules.pod_level and _pod_level_requests(pod, rules):
        requests = _requests(pod, rules)
        non_missing = {name: quantity for name, quantity in _NON_MISSING.items() if name not in requests}
    counted = integers(_requests(pod, rules, non_missing))
    return counted.get("cpu", 0), counted.get("memory", 0)


def _non_zero_by_container(pod: Pod, rules: RequestRules) -> tuple[int, int]:
    """Return the non-zero requests until 1.31: sidecars count with init containers, not with the containers."""
    read = readers(pod, rules.status)[0]
    running: Requests = {}
    for container in pod.spec.containers or ():
        add(running, rounded({**_NON_MISSING, **read(container)}))
    initialising = [rounded({**_NON_MISSING, **needed}) for needed in _initialising(pod, rules, read)]
    total = maximum([running, *initialising])
    if rules.overhead:
        add(total, rounded(quantities(pod.spec.overhead)))
    counted = integers(total)
    return counted.get("cpu", 0), counted.get("memory", 0)


def resource_amounts(resources: ResourceList | None) -> dict[str, int]:
    """Return a resource list (allocatable, overhead) as integers in the units of this module."""
    return integers(quantities(resources))


def is_counted(name: str) -> bool:
    """Return whether Filter compares a pod's request of the resource with the node."""
    return name in ("cpu", "memory", "ephemeral-storage") or is_scalar_resource(name)


def is_scalar_resource(name: str) -> bool:
    """Return whether kube-scheduler counts the resource in addition to cpu, memory, ephemeral-storage and pods.

    These are extended resources, huge pages, attachable volumes and native resources with a prefix. Source:
    pkg/scheduler/util/utils.go.
    """
    return (
        is_extended_resource(name) or name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name
    )


def is_extended_resource(name: str) -> bool:
    """Return whether a resource has a prefix that is neither Kubernetes' nor a quota's (``IsExtendedResourceName``)."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def _requests(pod: Pod, rules: RequestRules, non_missing: Mapping[str, Quantity] | None = None) -> Requests:
    status = pod.status
    if (
        rules.status == "whole pod"
        and rules.pod_level_status
        and status is not None
        and status.allocated_resources is not None
        and status.resources is not None
        and status.resources.requests is not None
    ):
        sums = [quantities(status.allocated_resources), quantities(status.resources.requests)]
        reading: list[RequestsReader] = [] if resize_infeasible(pod) else [spec_requests]
    else:
        sums, reading = [], readers(pod, rules.status)
    total = maximum([*sums, *(_aggregate(pod, rules, read, non_missing) for read in reading)])
    if rules.pod_level and _pod_level_requests(pod, rules):
        total.update(_effective_pod_level(pod, rules))
    if rules.overhead:
        add(total, quantities(pod.spec.overhead))
    if not rules.local_storage:
        total.pop("ephemeral-storage", None)
    return total


def _aggregate(
    pod: Pod, rules: RequestRules, read: RequestsReader, non_missing: Mapping[str, Quantity] | None
) -> Requests:
    """Return for each resource the containers' sum, or an init container's request if larger (sidecars: KEP-753)."""

    def requests_of(container: Container) -> Requests:
        requests = {**(non_missing or {}), **read(container)}
        return requests if rules.rounds_the_sum else rounded(requests)

    total: Requests = {}
    for container in pod.spec.containers or ():
        add(total, requests_of(container))
    for container in (pod.spec.init_containers or ()) if rules.sidecars else ():
        if container.restart_policy == "Always":
            add(total, requests_of(container))
    return maximum([total, *_initialising(pod, rules, requests_of)])


def _initialising(pod: Pod, rules: RequestRules, read: RequestsReader) -> list[Requests]:
    """Return the requests at each step of initialisation: of an init container and the sidecars before it."""
    sidecars: Requests = {}
    steps = []
    for container in pod.spec.init_containers or ():
        needed = dict(read(container))
        if rules.sidecars and container.restart_policy == "Always":
            add(sidecars, needed)
            needed = dict(sidecars)
        else:
            add(needed, sidecars)
        steps.append(needed)
    return steps


def _pod_level_requests(pod: Pod, rules: RequestRules) -> Requests:
    """Return supported resources in ``spec.resources.requests``; empty if it is not set."""
    resources = pod.spec.resources
    if resources is None or not resources.requests:
        return {}
    return {n: q for n, q in quantities(resources.requests).items() if _is_pod_level_resource(n, rules)}


def _is_pod_level_resource(name: str, rules: RequestRules) -> bool:
    return name in ("cpu", "memory") or (rules.pod_level_huge_pages and name.startswith("hugepages-"))


def _effective_pod_level(pod: Pod, rules: RequestRules) -> Requests:
    requests = _pod_level_requests(pod, rules)
    status = pod.status
    if rules.status == "ignored" or not rules.pod_level_status or status is None or status.resources is None:
        return requests
    spec = {} if resize_infeasible(pod) else requests
    running = [quantities(status.resources.requests), quantities(status.allocated_resources)]
    effective = {n: q for n, q in maximum([spec, *running]).items() if _is_pod_level_resource(n, rules)}
    if rules.status == "whole pod":
        return effective
    return {name: effective.get(name, _NOTHING) for name in requests}


_NOTHING = parse_quantity(0)
