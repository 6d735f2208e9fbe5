"""Detect node heartbeats before decoding: nearly all node events change nothing for scheduling.

The fields that scheduling reads (`topospread.cluster.scheduling_fields`) are compared as bytes. Equal states normally
have equal bytes. Otherwise a heartbeat counts as a change, which only costs time.
"""

from __future__ import annotations

import msgspec

from topospread.api.meta import KubeStruct

from .watch_events import Json

_NOTHING = msgspec.Raw(b"")


class _Meta(KubeStruct):
    name: str = ""
    resource_version: str = ""
    labels: msgspec.Raw = _NOTHING


class _HeardStatus(KubeStruct):
    allocatable: msgspec.Raw = _NOTHING
    images: msgspec.Raw = _NOTHING
    declared_features: msgspec.Raw = _NOTHING


class _Glance(KubeStruct):
    """The bytes of a node's scheduling fields."""

    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: msgspec.Raw = _NOTHING
    status: _HeardStatus = msgspec.field(default_factory=_HeardStatus)


class Heartbeats:
    """Stores for each node a randomly keyed 64-bit hash of the last forwarded state."""

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(_Glance)
        self._last: dict[str, int] = {}

    def forget(self) -> None:
        """Forget all nodes, before they are listed again."""
        self._last.clear()

    def version(self, kind: str, raw: Json) -> str:
        """Return the node's resource version if the event is only a heartbeat; "" if it must be forwarded.

        ``kind`` is the type of the event, ``MODIFIED``.
        """
        try:
            glance = self._decoder.decode(raw)
        except msgspec.DecodeError:
            return ""
        metadata, status = glance.metadata, glance.status
        name = metadata.name
        if kind != "MODIFIED":
            self._last.pop(name, None)
            return ""
        read = (metadata.labels, glance.spec, status.allocatable, status.images, status.declared_features)
        seen = hash(b"\n".join(read))
        if self._last.get(name) == seen:
            return metadata.resource_version
        self._last[name] = seen
        return ""
