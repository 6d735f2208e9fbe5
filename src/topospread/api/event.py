"""An Event of the API server, in ``events.k8s.io/v1`` or in the core group."""

from __future__ import annotations

import msgspec

from .meta import KubeStruct, ObjectMeta


class SeriesOfEvent(KubeStruct):
    """The number of repetitions (``EventSeries``)."""

    count: int = 0
    last_observed_time: str | None = None


class StoredEvent(KubeStruct):
    """An event with the fields of both API groups. Of two fields with the same meaning, one is unset."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    reason: str = ""
    note: str = ""
    message: str = ""
    event_time: str | None = None
    series: SeriesOfEvent | None = None
    deprecated_count: int | None = None
    deprecated_last_timestamp: str | None = None
    count: int | None = None
    last_timestamp: str | None = None
