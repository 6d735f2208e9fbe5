"""DynamicResources: devices for a pod's claims and for extended resources of DeviceClasses.

Pods are judged if the input has ResourceSlices and the extra ``dra`` is installed, for Kubernetes 1.34 and later.
Source: plugins/dynamicresources/dynamicresources.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from topospread.api.device_claims import ResourceClaim
from topospread.api.devices import DeviceClass, DeviceTaintRule, ResourceSlice
from topospread.api.inventory import ABSENT
from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.objects import ClusterObjects, ObjectKey, Subject
from topospread.plugins.cluster_event import (
    ADD,
    DELETE,
    NODE_ALLOCATABLE,
    NODE_LABEL,
    POD_CLAIM,
    UPDATE,
    ClusterEvent,
    Registration,
)
from topospread.plugins.interface import UNRESOLVABLE, NotJudgedError, PluginError, Prepared, Status

from .claims import (
    EXTENDED,
    NAME,
    WHAT,
    ClaimMissingError,
    ClaimsWanted,
    PodDeviceClaim,
    claim_reads,
    class_behind,
    is_device_resource,
    pod_device_claims,
)
from .rules import DynamicResourcesRules

if TYPE_CHECKING:
    from .filtering import DeviceFilter

_OLDEST: Final = 34


class DynamicResources:
    """Filter: nodes where the pod's claims are or can be allocated. Score: earlier alternatives score higher."""

    name = NAME

    def __init__(self, rules: DynamicResourcesRules | None = None) -> None:
        self.rules = rules or DynamicResourcesRules()

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter and Score; skip pods without devices. A missing claim or class rejects the pod on all nodes.

        Raises:
            NotJudgedError: if the pod claims devices and the input lacks a kind of objects that their allocation needs.
            PluginError: if kube-scheduler fails on the pod.
        """
        spec, objects = pod_class.pod.spec, cluster.objects
        unjudged = why_unjudged(objects, self.rules)
        if spec.resource_claims and unjudged:
            raise NotJudgedError(WHAT, "spec.resourceClaims", "resource claims", unjudged)
        extended = {} if unjudged else self.extended(pod_class, objects)
        if not spec.resource_claims and not extended:
            return Prepared()
        if self.rules.node_allocatable:
            raise NotJudgedError(WHAT, "spec.resourceClaims", "resource claims under an alpha feature gate")
        kinds: list[Subject | ObjectKey] = [(DeviceClass, ""), (ResourceSlice, ""), (DeviceTaintRule, "")]
        reads = [*kinds, *claim_reads(pod_class.pod)]
        try:
            wanted = self.wanted(pod_class, objects)
        except ClaimMissingError as error:
            _check_known(error.kind, objects)
            return Prepared(rejected=Status(UNRESOLVABLE, (str(error),), error.because), reads=reads)
        if not wanted.claims:
            return Prepared(reads=reads)
        problem = self._problem(wanted, objects)
        if problem:
            return Prepared(rejected=Status(UNRESOLVABLE, (problem,)), reads=reads)
        if "ResourceClaim" in objects.unread:
            self._check_held(cluster)
        from .filtering import DeviceFilter, DeviceScore, has_alternatives

        found = DeviceFilter(cluster, wanted, self.rules)
        scores = self.rules.prioritized_list and has_alternatives(wanted)
        return Prepared(filter=found, score=DeviceScore(found) if scores else None, watcher=found, reads=reads)

    def filter_of(self, pod_class: PodClass, cluster: Cluster) -> DeviceFilter | None:
        """Return the filter of a class; ``None`` if its pods need no devices, or their claims are missing."""
        objects = cluster.objects
        if not is_judged(objects, self.rules):
            return None
        from .filtering import DeviceFilter

        try:
            wanted = self.wanted(pod_class, objects)
        except ClaimMissingError:
            return None
        return DeviceFilter(cluster, wanted, self.rules) if wanted.claims else None

    def extended(self, pod_class: PodClass, objects: ClusterObjects) -> dict[str, DeviceClass]:
        """Return the requested resources that a DeviceClass provides."""
        if not self.rules.extended_resources or not objects.device_classes:
            return {}
        classes = list(objects.device_classes.values())
        found = {
            name: class_behind(name, classes)
            for name, amount in pod_class.request.items()
            if amount and is_device_resource(name)
        }
        return {name: each for name, each in found.items() if each is not None}

    def wanted(self, pod_class: PodClass, objects: ClusterObjects) -> ClaimsWanted:
        """Return the claims of a pod class.

        Raises:
            ClaimMissingError: if a claim is missing or is not the pod's.
        """
        pod, extended = pod_class.pod, self.extended(pod_class, objects)
        claims = pod_device_claims(pod, objects, of_groups=self.rules.workload_claims)
        if extended:
            claims.append(_special(pod))
        others = tuple(
            name
            for name, amount in pod_class.request.items()
            if amount and is_device_resource(name) and name not in extended
        )
        return ClaimsWanted(pod, tuple(claims), extended, others)

    def _problem(self, wanted: ClaimsWanted, objects: ClusterObjects) -> str:
        """Return why the claims cannot be allocated anywhere (``PreFilter``).

        Raises:
            NotJudgedError: if the input lacks DeviceClasses.
            PluginError: if a request names no class.
        """
        for each in wanted.claims:
            claim = each.claim
            if claim.status.allocation is not None or not each.entry:
                continue
            where = f"resource claim {claim.namespace}/{claim.name}, request"
            for request in claim.spec.devices.requests or ():
                alternatives = request.first_available or ()
                if alternatives and not self.rules.prioritized_list:
                    return f"{where} {request.name}: has subrequests, but the DRAPrioritizedList feature is disabled"
                if request.exactly is None and not alternatives:
                    return f"{where} {request.name}: unknown request type"
                named = [(request.name, request.exactly)] if request.exactly is not None else []
                named += [(f"{request.name}/{alternative.name}", alternative) for alternative in alternatives]
                for name, wants in named:
                    if not wants.device_class_name:
                        words = f'running PreFilter plugin "{NAME}": request {name}: unsupported request type'
                        raise PluginError(words)
                    if wants.device_class_name not in objects.device_classes:
                        _check_known("DeviceClass", objects)
                        return f"request {name}: device class {wants.device_class_name} does not exist"
        return ""

    def _check_held(self, cluster: Cluster) -> None:
        """Raise NotJudgedError if a pod on a node uses devices of a claim that is not in the input."""
        for each in cluster.classes.values():
            if each.occupancy and each.pod.spec.resource_claims:
                try:
                    pod_device_claims(each.pod, cluster.objects, of_groups=self.rules.workload_claims)
                except ClaimMissingError as error:
                    _check_known(error.kind, cluster.objects)

    def lets_in(self, pod: Pod, cluster: Cluster) -> bool:
        """Return whether PreEnqueue admits the pod: each claim exists, or is created when the pod gets a node."""
        if not pod.spec.resource_claims or not is_judged(cluster.objects, self.rules):
            return True
        try:
            pod_device_claims(pod, cluster.objects, of_groups=self.rules.workload_claims)
        except ClaimMissingError as error:
            return error.kind in cluster.objects.unread
        return True

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for changes of nodes' labels and allocatable, of claims, DeviceClasses and ResourceSlices."""
        return (
            Registration(ClusterEvent("Node", ADD | NODE_LABEL | NODE_ALLOCATABLE)),
            Registration(
                ClusterEvent("ResourceClaim", ADD | UPDATE | DELETE),
                lambda pod, old, new: self._may_help(pod, old, new, cluster.objects),
            ),
            Registration(ClusterEvent("TargetPod", POD_CLAIM), lambda pod, old, new: self.lets_in(new, cluster)),
            Registration(ClusterEvent("DeviceClass", ADD | UPDATE)),
            Registration(ClusterEvent("ResourceSlice", ADD | UPDATE)),
        )

    def _may_help(
        self, pod: Pod, old: ResourceClaim | None, new: ResourceClaim | None, objects: ClusterObjects
    ) -> bool:
        """Return whether a change of a claim may make the pod schedulable (``isSchedulableAfterClaimChange``)."""
        had = old is not None and old.status.allocation is not None
        if new is None:
            return had
        try:
            claims = pod_device_claims(pod, objects, of_groups=self.rules.workload_claims)
        except ClaimMissingError:
            return False
        if had and new.status.allocation is None:
            return True
        key = (new.namespace, new.name)
        if not any((each.claim.namespace, each.claim.name) == key for each in claims):
            return False
        return old is None or old.status != new.status


def is_judged(objects: ClusterObjects, rules: DynamicResourcesRules) -> bool:
    """Return whether the devices are known."""
    return not why_unjudged(objects, rules)


def why_unjudged(objects: ClusterObjects, rules: DynamicResourcesRules) -> str:
    """Return why resource claims cannot be judged, in a sentence; "" if they can."""
    if rules.minor < _OLDEST:
        return f"topospread does not model resource claims before Kubernetes 1.{_OLDEST}"
    known = objects.devices_known or objects.resource_slices
    return "" if known else _lacking("ResourceSlice", objects.unread.get("ResourceSlice", ABSENT))


def _check_known(kind: str, objects: ClusterObjects) -> None:
    """Raise NotJudgedError if the objects of a kind are not known."""
    why = objects.unread.get(kind)
    if why is not None:
        raise NotJudgedError(WHAT, "spec.resourceClaims", "resource claims", _lacking(kind, why))


def _lacking(kind: str, why: str) -> str:
    kinds = f"{kind}es" if kind.endswith("s") else f"{kind}s"
    reason = "" if why == ABSENT else f" ({why})"
    return f"resource claims need {kinds}, which the input lacks{reason}"


def _special(pod: Pod) -> PodDeviceClaim:
    """Return the claim for a pod's extended resources; its requests are computed for each node.

    A claim that remains from a failed binding is ignored.
    """
    metadata = ObjectMeta(name=EXTENDED, namespace=pod.namespace)
    return PodDeviceClaim(ResourceClaim(metadata=metadata), "", is_new=True)
