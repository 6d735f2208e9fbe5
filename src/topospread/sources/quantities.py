"""Validate the quantities of objects that were decoded directly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from topospread.api.device_claims import ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from topospread.api.devices import ResourceSlice
from topospread.api.meta import KubeObject, RawQuantity, ResourceList
from topospread.api.node import Node
from topospread.api.pod import Pod, PodSpec, ResourceRequirements
from topospread.api.policy import LimitRange, ResourceQuota, RuntimeClass
from topospread.api.quantity import QuantityError, parse_quantity
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim
from topospread.api.workload import CronJob, StatefulSet


class KnownQuantities:
    """A cache of valid quantities. A cluster has few different ones."""

    def __init__(self) -> None:
        self.known: set[RawQuantity | None] = {None}

    def all_valid(self, item: KubeObject) -> bool:
        """Return whether every quantity in the object is valid."""
        known = self.known
        for resources in _pod_lists(item) if type(item) is Pod else _resource_lists(item):
            if resources:
                for quantity in resources.values():
                    if quantity not in known and not self._is_valid(quantity):
                        return False
        return True

    def _is_valid(self, quantity: RawQuantity | None) -> bool:
        try:
            parse_quantity("" if quantity is None else quantity)
        except QuantityError:
            return False
        self.known.add(quantity)
        return True


def _pod_lists(pod: Pod) -> list[ResourceList | None]:
    """Return all resource lists in a pod. A plain loop, because there are many pods."""
    found: list[ResourceList | None] = []
    spec, status = pod.spec, pod.status
    for container in spec.containers or ():
        if container.resources is not None:
            found.append(container.resources.requests)
            found.append(container.resources.limits)
    if spec.init_containers or spec.overhead or spec.resources:
        found += _of_spec(spec)
    if status is not None:
        found.append(status.allocated_resources)
        found += _of_requirements(status.resources)
        for containers in (status.container_statuses, status.init_container_statuses):
            for each in containers or ():
                if each.allocated_resources or each.resources:
                    found.append(each.allocated_resources)
                    found += _of_requirements(each.resources)
    return found


def _resource_lists(item: KubeObject) -> Iterator[ResourceList | None]:
    """Yield all resource lists in an object that is not a pod."""
    if isinstance(item, Node):
        yield item.status.allocatable
        yield item.status.capacity
    elif isinstance(item, PersistentVolume):
        yield item.spec.capacity
    elif isinstance(item, PersistentVolumeClaim):
        yield from _of_claims([item])
    elif isinstance(item, LimitRange):
        for limit in item.spec.limits or ():
            yield from (limit.default, limit.default_request, limit.max, limit.min, limit.max_limit_request_ratio)
    elif isinstance(item, ResourceQuota):
        yield item.spec.hard
    elif isinstance(item, RuntimeClass):
        yield item.overhead.pod_fixed if item.overhead else None
    elif isinstance(item, ResourceSlice):
        yield from _of_slice(item)
    elif isinstance(item, ResourceClaim):
        yield from _of_device_claim(item.spec)
    elif isinstance(item, ResourceClaimTemplate):
        yield from _of_device_claim(item.spec.spec)
    else:
        yield from _of_workload(item)


def _of_slice(item: ResourceSlice) -> Iterator[ResourceList | None]:
    for device in item.spec.devices or ():
        for capacity in (device.capacity or {}).values():
            policy = capacity.request_policy
            amounts: list[RawQuantity | None] = [capacity.value]
            if policy is not None:
                amounts += [policy.default, *(policy.valid_values or ())]
                if policy.valid_range is not None:
                    amounts += [policy.valid_range.min, policy.valid_range.max, policy.valid_range.step]
            yield {str(index): amount for index, amount in enumerate(amounts)}
        for consumed in device.consumes_counters or ():
            yield {name: counter.value for name, counter in (consumed.counters or {}).items()}
    for shared in item.spec.shared_counters or ():
        yield {name: counter.value for name, counter in (shared.counters or {}).items()}


def _of_device_claim(spec: ResourceClaimSpec) -> Iterator[ResourceList | None]:
    for request in spec.devices.requests or ():
        for each in (request.exactly, *(request.first_available or ())):
            if each is not None and each.capacity is not None and each.capacity.requests:
                yield {**each.capacity.requests}


def _of_workload(item: KubeObject) -> Iterator[ResourceList | None]:
    spec = getattr(item, "spec", None)
    if isinstance(item, CronJob):
        spec = item.spec.job_template.spec
    template = getattr(spec, "template", None)
    if template is not None:
        yield from _of_spec(template.spec)
    if isinstance(item, StatefulSet):
        yield from _of_claims(item.spec.volume_claim_templates or ())


def _of_spec(spec: PodSpec) -> Iterator[ResourceList | None]:
    for containers in (spec.containers, spec.init_containers):
        for container in containers or ():
            yield from _of_requirements(container.resources)
    yield spec.overhead
    yield from _of_requirements(spec.resources)


def _of_claims(claims: Iterable[PersistentVolumeClaim]) -> Iterator[ResourceList | None]:
    for claim in claims:
        yield claim.spec.resources.requests if claim.spec.resources else None


def _of_requirements(requirements: ResourceRequirements | None) -> Iterator[ResourceList | None]:
    if requirements is not None:
        yield requirements.requests
        yield requirements.limits
