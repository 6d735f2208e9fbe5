"""Parts of pods that say the same, kept once: the pods of a cluster come from few templates, and run on few nodes."""

from __future__ import annotations

from copy import copy
from sys import intern
from typing import Any, Final

import msgspec

from topospread.api.pod import Pod, PodSpec

_ENCODE: Final = msgspec.msgpack.Encoder().encode
_KEPT: Final = 1 << 13


class SharedParts:
    """The parts of the pods so far, a bounded number of them; nobody changes a part in place."""

    def __init__(self) -> None:
        self._specs: dict[bytes, PodSpec] = {}
        self._others: dict[tuple[type, bytes], Any] = {}

    def share(self, pod: Pod) -> None:
        """Let a pod have the parts of an earlier one where they are equal."""
        metadata, spec = pod.metadata, pod.spec
        pod.kind, pod.api_version = intern(pod.kind), intern(pod.api_version)
        metadata.namespace = intern(metadata.namespace or "") or None
        metadata.creation_timestamp = intern(metadata.creation_timestamp or "") or None
        if metadata.labels is not None:
            metadata.labels = self._first(metadata.labels)
        if metadata.owner_references is not None:
            metadata.owner_references = self._first(metadata.owner_references)
        if pod.status is not None:
            pod.status = self._first(pod.status)
        node, spec.node_name = spec.node_name, None
        key = _key(spec)
        if len(self._specs) == _KEPT:
            self._specs.clear()
        first = spec if key is None else self._specs.setdefault(key, spec)
        if first is not spec:
            spec = pod.spec = copy(first)
        spec.node_name = None if node is None else intern(node)

    def _first(self, part: Any) -> Any:
        """Return the first part that is equal to a part."""
        key = _key(part)
        if len(self._others) == _KEPT:
            self._others.clear()
        return part if key is None else self._others.setdefault((type(part), key), part)


def _key(part: Any) -> bytes | None:
    """Return equal bytes for equal parts; None for a part with a number beyond 64 bits."""
    try:
        return _ENCODE(part)
    except OverflowError:
        return None
