"""The quantities of typed objects that were decoded without a closer look; nothing is computed with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from topospread.api.meta import KubeObject, Quantity, ResourceList
from topospread.api.node import Node
from topospread.api.pod import Pod, PodSpec, ResourceRequirements
from topospread.api.policy import LimitRange, RuntimeClass
from topospread.api.quantity import QuantityError, parse_quantity
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim
from topospread.api.workload import CronJob, StatefulSet


class KnownQuantities:
    """Remembers which quantities were found to be ones: a cluster has few different ones."""

    def __init__(self) -> None:
        self.known: set[Quantity | None] = {None}

    def all_valid(self, item: KubeObject) -> bool:
        """Whether every quantity of the object is one."""
        known = self.known
        for resources in _resource_lists(item):
            for quantity in resources.values():
                if quantity not in known:
                    try:
                        parse_quantity(quantity)  # type: ignore[arg-type]  # None is known
                    except QuantityError:
                        return False
                    known.add(quantity)
        return True


def _resource_lists(item: KubeObject) -> Iterator[ResourceList]:
    """Everything in an object that maps resources to quantities."""
    if isinstance(item, Pod):
        yield from _of_spec(item.spec)
        status = item.status
        if status is not None:
            yield from _given(status.allocated_resources)
            yield from _of_requirements(status.resources)
            for statuses in (status.container_statuses, status.init_container_statuses):
                for container in statuses or ():
                    if container.allocated_resources or container.resources:
                        yield from _given(container.allocated_resources)
                        yield from _of_requirements(container.resources)
    elif isinstance(item, Node):
        yield from _given(item.status.allocatable, item.status.capacity)
    elif isinstance(item, PersistentVolume):
        yield from _given(item.spec.capacity)
    elif isinstance(item, PersistentVolumeClaim):
        yield from _of_claims([item])
    elif isinstance(item, LimitRange):
        for limit in item.spec.limits or ():
            yield from _given(limit.default, limit.default_request, limit.max, limit.min)
    elif isinstance(item, RuntimeClass):
        yield from _given(item.overhead.pod_fixed if item.overhead else None)
    else:
        yield from _of_workload(item)


def _of_workload(item: KubeObject) -> Iterator[ResourceList]:
    spec = getattr(item, "spec", None)
    if isinstance(item, CronJob):
        spec = item.spec.job_template.spec
    template = getattr(spec, "template", None)
    if template is not None:
        yield from _of_spec(template.spec)
    if isinstance(item, StatefulSet):
        yield from _of_claims(item.spec.volume_claim_templates or ())


def _of_spec(spec: PodSpec) -> Iterator[ResourceList]:
    for containers in (spec.containers, spec.init_containers):
        for container in containers or ():
            yield from _of_requirements(container.resources)
    if spec.overhead:
        yield spec.overhead
    if spec.resources:
        yield from _of_requirements(spec.resources)


def _of_claims(claims: Iterable[PersistentVolumeClaim]) -> Iterator[ResourceList]:
    for claim in claims:
        yield from _given(claim.spec.resources.requests if claim.spec.resources else None)


def _of_requirements(requirements: ResourceRequirements | None) -> Iterator[ResourceList]:
    if requirements is not None:
        yield from _given(requirements.requests, requirements.limits)


def _given(*lists: ResourceList | None) -> Iterator[ResourceList]:
    for each in lists:
        if each:
            yield each
