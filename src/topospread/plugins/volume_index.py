"""Search for an unbound volume for a claim like the PV controller, independent of nodes.

Source: pkg/controller/volume/persistentvolume/index.go (``findByClaim``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from topospread.api.storage import PersistentVolume, PersistentVolumeClaim
from topospread.cluster.objects import Key

from .pod_volumes import storage_class_of
from .volume_catalog import capacity
from .volume_matching import VolumeMatcher, is_promised, requested, selector_of


class VolumeIndex:
    """Volumes by the claim that they are pre-bound to, or by their class."""

    def __init__(self, volumes: Iterable[PersistentVolume]) -> None:
        self._promised: defaultdict[Key, list[PersistentVolume]] = defaultdict(list)
        self._free: defaultdict[str, dict[str, PersistentVolume]] = defaultdict(dict)
        for volume in sorted(volumes, key=lambda each: each.name):
            reference = volume.spec.claim_ref
            if volume.metadata.deletion_timestamp is not None:
                continue
            if reference is not None:
                self._promised[reference.namespace or "", reference.name or ""].append(volume)
            elif phase_of(volume) == "Available":
                self._free[storage_class_of(volume)][volume.name] = volume

    def take(self, volume: PersistentVolume) -> None:
        """Remove a volume that was bound to a claim."""
        self._free[storage_class_of(volume)].pop(volume.name, None)

    def match(self, claim: PersistentVolumeClaim, *, waits: bool, attributes_classes: bool) -> PersistentVolume | None:
        """Return the volume to bind to a claim: fewest access modes first, then pre-bound, then smallest.

        ``waits``: whether the claim waits for its pod; if so, only a pre-bound volume is returned.

        Raises:
            MatchingError: if the claim's selector is invalid.
        """
        selector, matcher = selector_of(claim), VolumeMatcher(claim, attributes_classes=True)
        promised = [each for each in self._promised.get((claim.namespace, claim.name), ()) if is_promised(each, claim)]
        free = () if waits else self._free.get(storage_class_of(claim), {}).values()
        fitting = [
            (_modes(volume), place >= len(promised), place if place < len(promised) else _size(volume), place, volume)
            for place, volume in enumerate((*promised, *free))
            if capacity(volume).compare(requested(claim)) >= 0
            and matcher.volume(volume)
            and (attributes_classes or not volume.spec.volume_attributes_class_name)
            and (volume.spec.claim_ref is not None or selector is None or selector.matches(volume.labels))
        ]
        return min(fitting, key=lambda each: each[:4])[4] if fitting else None


_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _modes(volume: PersistentVolume) -> tuple[int, str]:
    """Return the sort key of a volume by access modes, fewest first (``byAccessModes``)."""
    modes = [short for mode, short in _MODES.items() if mode in (volume.spec.access_modes or ())]
    return len(modes), ",".join(modes)


def _size(volume: PersistentVolume) -> int:
    return capacity(volume).value()


def phase_of(item: PersistentVolume | PersistentVolumeClaim) -> str:
    """Return the phase of a volume or claim; "" if missing."""
    return (item.status.phase or "") if item.status is not None else ""
