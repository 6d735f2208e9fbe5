"""CSI volumes that VolumeAttachments name on each node, kept up to date with attachments and volumes.

Source: plugins/nodevolumelimits/csi.go (``getNodeVolumeAttachmentInfo``).
"""

from __future__ import annotations

from collections import Counter

from topospread.cluster.objects import ClusterObjects

AttachedAt = tuple[str, str, str]
"""(driver, node, volume as ``DRIVER/HANDLE``)."""


class VolumeAttachments:
    """The attachments by driver and node."""

    def __init__(self, objects: ClusterObjects) -> None:
        self._objects = objects
        self._place: dict[str, AttachedAt] = {}
        self._by_node: dict[str, dict[str, Counter[str]]] = {}
        for name in objects.volume_attachments:
            self.changed(name)

    def of(self, driver: str) -> dict[str, Counter[str]]:
        """Return node → volume of a driver → number of its attachments on the node."""
        return self._by_node.get(driver, {})

    def changed(self, name: str) -> None:
        """Update counts after an attachment, or its volume, was added, changed or deleted."""
        self._forget(name)
        each = self._objects.volume_attachments.get(name)
        if each is None or not each.spec.attacher:
            return
        volume = self._objects.persistent_volumes.get(each.spec.source.persistent_volume_name or "")
        if volume is None or volume.spec.csi is None:
            return
        driver, node = each.spec.attacher, each.spec.node_name
        handle = f"{driver}/{volume.spec.csi.volume_handle}"
        self._place[name] = driver, node, handle
        self._by_node.setdefault(driver, {}).setdefault(node, Counter())[handle] += 1

    def _forget(self, name: str) -> None:
        place = self._place.pop(name, None)
        if place is not None:
            driver, node, handle = place
            there = self._by_node[driver][node]
            there[handle] -= 1
            if not there[handle]:
                del there[handle]
            if not there:
                del self._by_node[driver][node]
