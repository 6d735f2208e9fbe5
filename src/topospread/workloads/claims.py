"""Claims that the cluster would create with a pod: of StatefulSet templates and of ephemeral volumes.

They are added to the inventory and remembered as assumed: where their StorageClass is not there either, they are taken
as ones that can be provisioned anywhere. Sources: pkg/controller/statefulset/stateful_set_utils.go
(``getPersistentVolumeClaims``), pkg/controller/volume/ephemeral/controller.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from topospread.api.meta import ObjectMeta, OwnerReference
from topospread.api.pod import PersistentVolumeClaimVolumeSource, Pod, Volume
from topospread.api.storage import PersistentVolumeClaim, PersistentVolumeClaimSpec
from topospread.api.workload import StatefulSet

from .default_class import DefaultClass
from .names import made_up_uid
from .planned import Plan


class VolumeClaims:
    """Adds claims to a plan's inventory, each once."""

    def __init__(self, plan: Plan, default_class: DefaultClass) -> None:
        self._plan = plan
        self._known = {(each.namespace, each.name) for each in plan.inventory.persistent_volume_claims}
        self._default_class = default_class

    def of_stateful_set(self, item: StatefulSet, pod_name: str) -> tuple[dict[str, str], int]:
        """The claims of one of a StatefulSet's pods: template → claim, and how many of them are new."""
        names: dict[str, str] = {}
        new = 0
        required = item.spec.selector.match_labels if item.spec.selector else None
        for template in item.spec.volume_claim_templates or ():
            name = names[template.name] = f"{template.name}-{pod_name}"
            labels = {**template.labels, **(required or {})}
            annotations = template.metadata.annotations
            metadata = ObjectMeta(namespace=item.namespace, name=name, labels=labels or None, annotations=annotations)
            new += self._assume(metadata, template.spec)
        return names, new

    def of_ephemeral_volumes(self, pod: Pod, name: str) -> tuple[Pod, int]:
        """The pod under its name, as its ephemeral volumes' claims know it, and how many of these are new."""
        uid = pod.metadata.uid or made_up_uid("Pod", pod.namespace, name)
        pod = replace(pod, metadata=replace(pod.metadata, name=name, uid=uid))
        owner = OwnerReference(api_version="v1", kind="Pod", name=name, uid=uid, controller=True)
        new = 0
        for volume in pod.spec.volumes or ():
            if volume.ephemeral is not None:
                template = volume.ephemeral.volume_claim_template
                metadata = ObjectMeta(
                    namespace=pod.namespace,
                    name=f"{name}-{volume.name}",
                    labels=template.metadata.labels if template else None,
                    annotations=template.metadata.annotations if template else None,
                    owner_references=[owner],
                )
                new += self._assume(metadata, template.spec if template else PersistentVolumeClaimSpec())
        return pod, new

    def _assume(self, metadata: ObjectMeta, spec: PersistentVolumeClaimSpec) -> bool:
        """Return whether the claim is new. One that names no class, "", can only be bound to a volume there is."""
        key = metadata.namespace or "", metadata.name or ""
        if key in self._known:
            return False
        self._known.add(key)
        claim = PersistentVolumeClaim(api_version="v1", kind="PersistentVolumeClaim", metadata=metadata, spec=spec)
        claim = self._default_class.admit(claim)
        self._plan.inventory.persistent_volume_claims.append(claim)
        if claim.spec.storage_class_name != "":
            self._plan.assumed_claims.add(key)
        return True


def with_claims(volumes: Iterable[Volume] | None, claims: Mapping[str, str]) -> list[Volume]:
    """A pod's volumes with those that claims take the place of (``updateStorage``).

    ``claims``: name of the volume → name of the claim.
    """
    made = [
        Volume(name=volume, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=claim))
        for volume, claim in claims.items()
    ]
    return [*made, *(each for each in volumes or () if each.name not in claims)]
