"""What the node and volume controllers write into objects that were just created: a cordon's taint, a volume's phase.

What an API server has stored is left as it is: its controllers have seen it. Not here: the claims that volumes are
bound to, and taints that a node's conditions bring.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim, VolumeStatus
from topospread.api.taints import with_taint_of_cordon


def marked_nodes(nodes: Iterable[Node]) -> list[Node]:
    """Cordoned nodes with the taint that says so (pkg/controller/nodelifecycle, ``doNoScheduleTaintingPass``).

    Every version from 1.17 on does it: TaintNodesByCondition cannot be turned off any more.
    """
    return [each if _is_stored(each) else with_taint_of_cordon(each) for each in nodes]


def marked_volumes(
    volumes: Iterable[PersistentVolume], claims: Iterable[PersistentVolumeClaim]
) -> list[PersistentVolume]:
    """Volumes that say no phase, with the one that they would have (pv_controller.go, ``syncVolume``).

    One that is bound to nothing, or only reserved for a claim, is Available; one whose claim is gone is Released.
    """
    uids = {(each.namespace, each.name): each.metadata.uid for each in claims}
    return [
        each if _has_phase(each) else replace(each, status=VolumeStatus(phase=_phase(each, uids))) for each in volumes
    ]


def _phase(volume: PersistentVolume, uids: dict[tuple[str, str], str | None]) -> str:
    reference = volume.spec.claim_ref
    if reference is None or not reference.uid:
        return "Available"
    key = reference.namespace or "", reference.name or ""
    return "Bound" if key in uids and uids[key] in (None, "", reference.uid) else "Released"


def _has_phase(volume: PersistentVolume) -> bool:
    return volume.status is not None and bool(volume.status.phase)


def _is_stored(item: KubeObject) -> bool:
    return bool(item.metadata.uid or item.metadata.resource_version)
