"""VolumeBinding rejects nodes that cannot reach the volumes of the pod's claims (plugins/volumebinding).

`volume_matching` chooses the volume of a claim; `claim_binding` binds the claims of a placed pod (Reserve, PreBind).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from topospread.api.pod import Pod
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim
from topospread.api.well_known_labels import HOSTNAME
from topospread.cluster import Cluster, PodClass
from topospread.cluster.objects import ClusterObjects
from topospread.config.gates import Gates

from .claim_binding import ReservedVolumes, reserve
from .cluster_event import Registration
from .interface import UNRESOLVABLE, PluginError, Prepared, Status
from .pod_volumes import (
    WAIT_FOR_FIRST_CONSUMER,
    PodClaim,
    is_assumed,
    is_bound,
    is_owned,
    missing_class,
    not_found,
    not_owner,
    pod_claims,
    storage_class_of,
)
from .volume_catalog import catalog_of
from .volume_finding import FindVolumes, PodVolumeClaims, VolumeBindingRules, VolumeScore
from .volume_requeueing import VOLUME_REGISTRATIONS

REASON_UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


def scores_storage(gates: Gates) -> bool:
    """Return whether the gates let VolumeBinding score the utilisation of storage."""
    return gates.enabled("StorageCapacityScoring") or gates.enabled("VolumeCapacityPriority")


class VolumeBinding:
    """Filter: node affinity of bound volumes; for unbound claims, matching volumes or topologies that the class allows.
    Score: utilisation of the matching volumes.

    For an assumed claim (`ClusterObjects.assumed_claims`), a volume can be provisioned in the topologies that its class
    allows, or anywhere if the class is missing and the input has no StorageClasses.
    """

    name = "VolumeBinding"

    def __init__(self, rules: VolumeBindingRules | None = None) -> None:
        self._rules = rules or VolumeBindingRules()

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter and Score for pods with claims. An unusable claim rejects the pod on all nodes.

        Raises:
            PluginError: if a claim's StorageClass has no volumeBindingMode, or if a claim has no namespace.
        """
        if not pod_class.volumes:
            return Prepared()
        found = list(pod_claims(pod_class.pod, cluster.objects))
        if not found:
            return Prepared()
        refused = next(filter(None, (self._refusal(each, pod_class.pod) for each in found)), "")
        if refused:
            return Prepared(rejected=Status(UNRESOLVABLE, (refused,)))
        claims, unbound = sorted_claims(found, cluster.objects)
        if unbound:
            lacking = missing_class((each.claim for each in found if each.claim is not None), cluster.objects)
            return Prepared(rejected=Status(UNRESOLVABLE, (REASON_UNBOUND,), lacking))
        finder = FindVolumes(claims, catalog_of(cluster), self._rules)
        return Prepared(
            filter=finder,
            score=VolumeScore(finder, self._rules.shape) if self._rules.shape and finder.may_score else None,
            score_needs_filter=True,
            narrowed=_named_nodes(claims.bound, cluster.objects) if self._rules.names_nodes else None,
        )

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for events that may give the pod's claims a reachable volume (`volume_requeueing`)."""
        return VOLUME_REGISTRATIONS

    def reserve(self, pod_class: PodClass, cluster: Cluster, row: int) -> ReservedVolumes:
        """Reserve the volumes that Filter found for the pod's claims on the node."""
        return reserve(cluster, pod_class, row, attributes_classes=self._rules.attributes_classes)

    def _refusal(self, each: PodClaim, pod: Pod) -> str:
        rules, claim, words = self._rules, each.claim, ""
        if claim is None:
            words = not_found("persistentvolumeclaim", each.name)
            if each.ephemeral and rules.ephemeral_words:
                words = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{each.name}"'
        elif rules.lost_claims and claim.status is not None and claim.status.phase == "Lost":
            volume = claim.spec.volume_name or ""
            words = f'persistentvolumeclaim "{claim.name}" bound to non-existent persistentvolume "{volume}"'
        elif claim.metadata.deletion_timestamp is not None:
            words = f'persistentvolumeclaim "{claim.name}" is being deleted'
        elif each.ephemeral and not is_owned(claim, pod.metadata.uid or ""):
            words = f'persistentvolumeclaim "{claim.name}" was not created for the pod'
            if rules.ephemeral_words:
                words = not_owner(pod.namespace, claim.name, pod.name)
        return words


def sorted_claims(found: Iterable[PodClaim], objects: ClusterObjects) -> tuple[PodVolumeClaims, bool]:
    """Return a pod's claims by state, and whether any is unbound with immediate binding (``GetPodVolumeClaims``).

    Raises:
        PluginError: if a claim's StorageClass has no volumeBindingMode, or if a claim has no namespace. In the latter
            case kube-scheduler does not find the claim in its cache.
    """
    claims = PodVolumeClaims()
    unbound = False
    for each in found:
        if each.claim is None:
            continue
        if not each.claim.metadata.namespace:
            words = f'error getting PVC "/{each.name}": persistentvolumeclaims "/{each.name}" not found'
            raise PluginError(f'running PreFilter plugin "VolumeBinding": {words}')
        if is_bound(each.claim):
            claims.bound.append(each.claim)
        elif _waits(each.claim, objects):
            claims.waiting.append(each.claim)
        else:
            unbound = True
    return claims, unbound


def _waits(claim: PersistentVolumeClaim, objects: ClusterObjects) -> bool:
    """Return whether an unbound claim waits for its first pod (WaitForFirstConsumer)."""
    if is_assumed(claim, objects):
        return True
    storage_class = objects.storage_classes.get(storage_class_of(claim))
    if storage_class is None:
        return False
    if storage_class.volume_binding_mode is None:
        words = f'VolumeBindingMode not set for StorageClass "{storage_class.name}"'
        raise PluginError(f'running PreFilter plugin "VolumeBinding": {words}')
    return storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER and not claim.spec.volume_name


def _named_nodes(claims: Iterable[PersistentVolumeClaim], objects: ClusterObjects) -> frozenset[str] | None:
    """Return the nodes common to all local volumes; ``None`` without local volumes (``GetEligibleNodes``)."""
    eligible: frozenset[str] | None = None
    for claim in claims:
        volume = objects.persistent_volumes.get(claim.spec.volume_name or "")
        if volume is None:
            return None
        names = _local_nodes(volume)
        if names:
            eligible = names if eligible is None else eligible & names
    return eligible


def _local_nodes(volume: PersistentVolume) -> frozenset[str]:
    """Return the hostnames in a volume's node affinity (``GetLocalPersistentVolumeNodeNames``)."""
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    names: frozenset[str] = frozenset()
    for term in (required.node_selector_terms or ()) if required is not None else ():
        of_term: frozenset[str] | None = None
        for each in term.match_expressions or ():
            if each.key == HOSTNAME and each.operator == "In":
                values = frozenset(each.values or ())
                of_term = values if of_term is None else of_term & values
        names |= of_term or frozenset()
    return names
