"""The StorageClass for claims that name none.

The API server gives a claim the default class when it is created
(plugin/pkg/admission/storage/storageclass/setdefault), and since 1.26 the volume controller gives it to unbound claims
that have none yet (pkg/controller/volume/persistentvolume/pv_controller.go, ``assignDefaultStorageClass``). Of several
defaults it is the youngest since 1.26 (pkg/volume/util/storageclass.go, ``GetDefaultClass``); before, none can be
created.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from topospread.api.storage import PersistentVolumeClaim, StorageClass, default_classes
from topospread.config.versions import KubeVersion
from topospread.errors import InvalidError, Place

from .timestamps import seconds

_OF_SEVERAL_SINCE = KubeVersion(1, 26)
_RETROACTIVE_SINCE = KubeVersion(1, 26)


class DefaultClass:
    """The default StorageClass of a cluster of some version.

    Attributes:
        given: how many claims got it.
    """

    def __init__(self, classes: Iterable[StorageClass], version: KubeVersion) -> None:
        self.given = 0
        self._version = version
        self._defaults = sorted(default_classes(classes), key=_youngest)

    @property
    def chosen(self) -> StorageClass | None:
        """The default class, of several the youngest, of those of one age the first by name."""
        return self._defaults[0] if self._defaults else None

    def admit(self, claim: PersistentVolumeClaim, place: Place | None = None) -> PersistentVolumeClaim:
        """The claim as it would be stored; the very object when nothing is added.

        Raises:
            InvalidError: there are several default classes, and the version makes no choice.
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

    def notes(self, made_up: str) -> Sequence[str]:
        """Return notes; ``made_up``: provisioners of classes that were made up."""
        chosen = self.chosen
        if not self.given or chosen is None:
            return ()
        claims = (
            "1 claim that names no StorageClass gets"
            if self.given == 1
            else (f"{self.given} claims that name no StorageClass get")
        )
        note = f"{claims} the default one, {chosen.name}"
        if chosen.provisioner == made_up:
            note += (
                ", which is made up with the cluster: volumes are made for the first pod, in its zone "
                "(--on …,storage-class=none: there is none)"
            )
        return (note,)


def _youngest(each: StorageClass) -> tuple[float, str]:
    return -(seconds(each.metadata.creation_timestamp) or 0.0), each.name


def _names_class(claim: PersistentVolumeClaim) -> bool:
    """Return whether the claim says which class it wants, be it none at all (``PersistentVolumeClaimHasClass``)."""
    annotations = claim.metadata.annotations
    by_annotation = annotations is not None and annotations.storage_class is not None
    return by_annotation or claim.spec.storage_class_name is not None
