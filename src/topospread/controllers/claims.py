"""Claims that the cluster would create with a pod, and the StorageClass of claims that name none.

Such claims are added to the inventory and marked as assumed. If their StorageClass is not in the input, their volumes
can be provisioned anywhere. Sources: pkg/controller/statefulset/stateful_set_utils.go (``getPersistentVolumeClaims``),
pkg/controller/volume/ephemeral/controller.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from topospread.admission.names import generated_uid
from topospread.api.meta import ObjectMeta, OwnerReference
from topospread.api.pod import PersistentVolumeClaimVolumeSource, Pod, Volume
from topospread.api.storage import PersistentVolumeClaim, PersistentVolumeClaimSpec, StorageClass, default_classes
from topospread.api.timestamps import seconds
from topospread.api.workload import StatefulSet
from topospread.config.versions import KubeVersion
from topospread.errors import InvalidError, Place

from .planned import Plan

# The StorageClass for claims that name none.
# The API server gives a claim the default class when it is created
# (plugin/pkg/admission/storage/storageclass/setdefault), and since 1.26 the volume controller gives it to unbound
# claims without a class (pkg/controller/volume/persistentvolume/pv_controller.go, ``assignDefaultStorageClass``). Of
# several default classes, the youngest is used since 1.26 (pkg/volume/util/storageclass.go, ``GetDefaultClass``).
# Before 1.26, the API server then denies claims that name no class.

_OF_SEVERAL_SINCE = KubeVersion(1, 26)
_RETROACTIVE_SINCE = KubeVersion(1, 26)


class DefaultClass:
    """The default StorageClass of a cluster, chosen by the rules of its version.

    Attributes:
        given: number of claims that got the default class.
    """

    def __init__(self, classes: Iterable[StorageClass], version: KubeVersion) -> None:
        self.given = 0
        self._version = version
        self._defaults = sorted(default_classes(classes), key=_youngest)

    @property
    def chosen(self) -> StorageClass | None:
        """The default class; if there are several, the newest, then the first by name."""
        return self._defaults[0] if self._defaults else None

    def admit(self, claim: PersistentVolumeClaim, place: Place | None = None) -> PersistentVolumeClaim:
        """Return the claim as the API server stores it; the same object if nothing is added.

        Raises:
            InvalidError: if there are several default classes, and the version does not choose.
        """
        if not self._defaults or _names_class(claim) or (claim.spec.volume_name and claim.metadata.is_stored):
            return claim
        if claim.metadata.is_stored and self._version < _RETROACTIVE_SINCE:
            return claim
        if len(self._defaults) > 1 and self._version < _OF_SEVERAL_SINCE:
            words = (
                f'persistentvolumeclaims "{claim.name}" is forbidden: Internal error occurred: '
                f"{len(self._defaults)} default StorageClasses were found"
            )
            where = Place(object=f"PersistentVolumeClaim {claim.namespace}/{claim.name}")
            raise InvalidError([words], place or where)
        self.given += 1
        return replace(claim, spec=replace(claim.spec, storage_class_name=self._defaults[0].name))

    def notes(self, synthetic: str) -> Sequence[str]:
        """Return notes for the user on the claims that got the default class.

        Args:
            synthetic: provisioner that marks StorageClasses of synthetic clusters.
        """
        chosen = self.chosen
        if not self.given or chosen is None:
            return ()
        claims = (
            "1 claim that names no StorageClass gets"
            if self.given == 1
            else (f"{self.given} claims that name no StorageClass get")
        )
        note = f"{claims} the default one, {chosen.name}"
        if chosen.provisioner == synthetic:
            note += (
                ", which the synthetic cluster adds: it creates a volume for the first pod, in the pod's zone "
                "(--on …,storage-class=none leaves it out)"
            )
        return (note,)


def _youngest(each: StorageClass) -> tuple[float, str]:
    return -(seconds(each.metadata.creation_timestamp) or 0.0), each.name


def _names_class(claim: PersistentVolumeClaim) -> bool:
    """Return whether the claim names a class, even the class "" (``PersistentVolumeClaimHasClass``)."""
    annotations = claim.metadata.annotations
    by_annotation = annotations is not None and annotations.storage_class is not None
    return by_annotation or claim.spec.storage_class_name is not None


class VolumeClaims:
    """Adds claims to a plan's inventory, each claim only once."""

    def __init__(self, plan: Plan, default_class: DefaultClass) -> None:
        self._plan = plan
        self._known = {(each.namespace, each.name) for each in plan.inventory.persistent_volume_claims}
        self._default_class = default_class
        given = plan.inventory
        self._classes = None if "StorageClass" in given.unread else {"", *(each.name for each in given.storage_classes)}

    def of_stateful_set(self, item: StatefulSet, pod_name: str) -> tuple[dict[str, str], int]:
        """Return template → claim of one StatefulSet pod, and the number of new claims that may get a volume."""
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
        """Add the claims of a pod's ephemeral volumes to the inventory.

        Return the pod with its name and a uid, and the number of new claims that may get a volume.
        """
        uid = pod.metadata.uid or generated_uid("Pod", pod.namespace, name)
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
        """Add a claim if it does not exist. Return whether it was added and may get a volume.

        A claim with the class "" can only bind an existing volume.
        """
        key = metadata.namespace or "", metadata.name or ""
        if key in self._known:
            return False
        self._known.add(key)
        claim = PersistentVolumeClaim(api_version="v1", kind="PersistentVolumeClaim", metadata=metadata, spec=spec)
        claim = self._default_class.admit(claim)
        self._plan.inventory.persistent_volume_claims.append(claim)
        if claim.spec.storage_class_name != "":
            self._plan.assumed_claims.add(key)
        return self._classes is None or claim.spec.storage_class_name in self._classes


def with_claims(volumes: Iterable[Volume] | None, claims: Mapping[str, str]) -> list[Volume]:
    """Return a pod's volumes, with claims in place of volumes of the same name (``updateStorage``).

    ``claims``: name of the volume → name of the claim.
    """
    made = [
        Volume(name=volume, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=claim))
        for volume, claim in claims.items()
    ]
    return [*made, *(each for each in volumes or () if each.name not in claims)]
