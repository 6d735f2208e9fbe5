"""Defaults that the API server sets when it decodes a pod, before admission plugins run.

Source: pkg/apis/core/v1/defaults.go (``SetDefaults_Pod``, ``SetDefaults_PodSpec``, ``SetDefaults_ResourceList``) and
pkg/api/pod/util.go (``DefaultPodLevelResources``). Only fields that scheduling reads are set. A function returns the
same object if nothing changes.
"""

from __future__ import annotations

from msgspec.structs import replace

from topospread.api.meta import ResourceList
from topospread.api.pod import Container, ContainerPort, Pod, PodSpec, ResourceRequirements
from topospread.api.pod_defaults import complete_pod_level, complete_requests, is_pod_level
from topospread.api.quantity import parse_quantity
from topospread.api.requests import RequestRules, incoming_requests
from topospread.config.gates import Gates

DEFAULT_SCHEDULER_NAME = "default-scheduler"

_AFTER_ADMISSION = "PodLevelResourcesFixDefaulting"
"""The gate, on since 1.37, with which the API server sets pod-level resources only after admission."""
_CONTAINERS_ONLY = RequestRules(pod_level=False)


def with_defaults(spec: PodSpec, gates: Gates) -> PodSpec:
    """Return the spec with default restartPolicy, schedulerName, requests (limits) and hostNetwork's host ports."""
    containers = _each(spec.containers, spec.host_network)
    init_containers = _each(spec.init_containers, spec.host_network)
    overhead = rounded(spec.overhead)
    changed = (
        containers is not spec.containers
        or init_containers is not spec.init_containers
        or overhead is not spec.overhead
    )
    if changed or not spec.restart_policy or not spec.scheduler_name:
        spec = replace(
            spec,
            containers=containers,
            init_containers=init_containers,
            overhead=overhead,
            restart_policy=spec.restart_policy or "Always",
            scheduler_name=spec.scheduler_name or DEFAULT_SCHEDULER_NAME,
        )
    return spec if gates.enabled(_AFTER_ADMISSION) else _with_pod_level_requests(spec, gates)


def with_defaults_after_admission(spec: PodSpec, gates: Gates) -> PodSpec:
    """Return the spec with the defaults that the API server sets after admission."""
    return _with_pod_level_requests(spec, gates) if gates.enabled(_AFTER_ADMISSION) else spec


def _each(containers: list[Container] | None, host_network: bool | None) -> list[Container] | None:
    if not containers:
        return containers
    made = [_container(each, host_network) for each in containers]
    return made if any(new is not old for new, old in zip(made, containers, strict=True)) else containers


def _container(container: Container, host_network: bool | None) -> Container:
    resources = _resources(container.resources)
    ports = _host_ports(container.ports) if host_network else container.ports
    if resources is container.resources and ports is container.ports:
        return container
    return replace(container, resources=resources, ports=ports)


def _resources(resources: ResourceRequirements | None) -> ResourceRequirements | None:
    """Return resources with missing requests set to the limits, rounded up to thousandths."""
    if resources is None:
        return None
    requests, limits = rounded(resources.requests), rounded(resources.limits)
    if limits and (requests is None or not limits.keys() <= requests.keys()):
        requests = dict(requests or {})
        complete_requests(requests, limits)
    if requests is resources.requests and limits is resources.limits:
        return resources
    return replace(resources, requests=requests, limits=limits)


def rounded(resources: ResourceList | None) -> ResourceList | None:
    """Return the list with amounts rounded up to thousandths (``SetDefaults_ResourceList``)."""
    if not resources:
        return resources
    finer: ResourceList = {}
    for name, text in resources.items():
        if text is not None:
            quantity = parse_quantity(text)
            coarser = quantity.rounded_to_milli()
            if coarser is not quantity:
                finer[name] = str(coarser)
    return {**resources, **finer} if finer else resources


def _host_ports(ports: list[ContainerPort] | None) -> list[ContainerPort] | None:
    if not ports or all(port.host_port for port in ports):
        return ports
    return [port if port.host_port else replace(port, host_port=port.container_port) for port in ports]


def _with_pod_level_requests(spec: PodSpec, gates: Gates) -> PodSpec:
    """Return the spec with pod-level requests, if only limits or some requests are set; since 1.37 also limits.

    If every container limits a resource, the pod's limit is the sum of these limits, or its request if that is higher.
    """
    resources = spec.resources
    if resources is None or not (resources.requests or resources.limits) or not gates.enabled("PodLevelResources"):
        return spec
    requests, limits = dict(resources.requests or {}), dict(resources.limits or {})
    of_containers, limits_of_containers = _sum(spec, of_limits=False), _sum(spec, of_limits=True)
    needs_limits = not gates.enabled(_AFTER_ADMISSION)
    complete_pod_level(requests, limits, of_containers, limits_of_containers, needs_limits=needs_limits)
    containers = [*(spec.containers or ()), *(spec.init_containers or ())]
    given = [each.resources.limits or {} if each.resources else {} for each in containers]
    for name in () if needs_limits else requests.keys() & limits_of_containers.keys() - limits.keys():
        if is_pod_level(name) and all(name in each for each in given):
            limits[name] = max(requests[name] or 0, limits_of_containers[name] or 0, key=parse_quantity)
    if requests == (resources.requests or {}) and limits == (resources.limits or {}):
        return spec
    return replace(spec, resources=replace(resources, requests=requests or None, limits=limits or None))


def _sum(spec: PodSpec, *, of_limits: bool) -> ResourceList:
    """Return resource → sum of all containers' requests, or limits, as a quantity's text."""
    containers, init_containers = spec.containers, spec.init_containers
    if of_limits:
        containers, init_containers = limits_as_requests(containers), limits_as_requests(init_containers)
    pod = Pod(spec=PodSpec(containers=containers, init_containers=init_containers))
    amounts = incoming_requests(pod, _CONTAINERS_ONLY)
    return {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in amounts.items()}


def limits_as_requests(containers: list[Container] | None) -> list[Container]:
    """Return containers whose requests are replaced by their limits, so functions that sum requests sum limits."""
    return [
        replace(each, resources=ResourceRequirements(requests=each.resources.limits if each.resources else None))
        for each in containers or ()
    ]
