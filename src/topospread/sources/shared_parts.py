"""Share equal parts of pods in memory, because a cluster's pods come from few templates and run on few nodes."""

from __future__ import annotations

from copy import copy
from sys import intern
from typing import Any, Final, TypeVar

import msgspec

from topospread.api.pod import Pod, PodSpec

_ENCODE: Final = msgspec.msgpack.Encoder().encode
_KEPT: Final = 1 << 13
T = TypeVar("T")
_Parts = dict[tuple[type, bytes], T]


class SharedParts:
    """A bounded cache of pod parts. Parts must not be modified in place."""

    def __init__(self) -> None:
        self._specs: _Parts[PodSpec] = {}
        self._others: _Parts[Any] = {}

    def share(self, pod: Pod) -> None:
        """Replace a pod's parts by equal parts of earlier pods."""
        metadata, spec = pod.metadata, pod.spec
        pod.kind, pod.api_version = intern(pod.kind), intern(pod.api_version)
        metadata.namespace = intern(metadata.namespace or "") or None
        if metadata.uid:  # the uid alone shows that the pod is stored
            metadata.resource_version = None
        metadata.creation_timestamp = intern(metadata.creation_timestamp or "") or None
        if metadata.labels is not None:
            metadata.labels = _first(self._others, metadata.labels)
        if metadata.owner_references is not None:
            metadata.owner_references = _first(self._others, metadata.owner_references)
        if pod.status is not None:
            pod.status = _first(self._others, pod.status)
        node, spec.node_name = spec.node_name, None
        first = _first(self._specs, spec)
        if first is not spec:
            spec = pod.spec = copy(first)
        spec.node_name = None if node is None else intern(node)


def _first(parts: _Parts[T], part: T) -> T:
    """Return the first equal part. A part with a number beyond 64 bits is returned unchanged."""
    try:
        key = _ENCODE(part)
    except OverflowError:
        return part
    if len(parts) == _KEPT:
        parts.clear()
    return parts.setdefault((type(part), key), part)
