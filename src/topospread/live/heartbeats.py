"""Tells heartbeats of nodes from changes before they are decoded: nearly all that is heard of nodes is no news.

The fields that scheduling reads (`topospread.cluster.scheduling_fields`) are compared as bytes. The API server writes
equal states as equal bytes. If it does not, a heartbeat counts as a change, which costs time only.
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
    """The bytes of what scheduling reads of a node."""

    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: msgspec.Raw = _NOTHING
    status: _HeardStatus = msgspec.field(default_factory=_HeardStatus)


class Heartbeats:
    """Remembers of each node a hash, of 64 bits and keyed at random, of what was handed on last."""

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(_Glance)
        self._last: dict[str, int] = {}

    def forget(self) -> None:
        """All nodes come anew."""
        self._last.clear()

    def version(self, kind: str, raw: Json) -> str:
        """The resource version of a state that says nothing new, "" for one that is to be handed on.

        ``kind``: of the event, ``MODIFIED``.
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
