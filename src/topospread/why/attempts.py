"""kube-scheduler's failed attempts to schedule a pending pod of a live cluster, from its events.

The second equal event starts a series. Later events update it every half hour, or after six minutes without an event.
The true number is therefore at least the reported one. Events are deleted after an hour (``--event-ttl``). Source:
client-go/tools/events/event_broadcaster.go (``recordToSink``, ``refreshExistingEventSeries``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from msgspec import Meta

from topospread.api.event import StoredEvent
from topospread.base import Base

FAILED: Final = "FailedScheduling"


class Attempts(Base, frozen=True):
    """Attempts of a live cluster's kube-scheduler that found no node."""

    since: Annotated[str, Meta(description="When the pod was created, RFC 3339.")]
    at_least: Annotated[int, Meta(description="Attempts that events report; 0 if no event is left.")]
    last: Annotated[str, Meta(description="Time of the last attempt; empty if unknown.")]
    message: Annotated[str, Meta(description="kube-scheduler's message at the last attempt.")]


def tries_of(since: str, events: Iterable[StoredEvent]) -> Attempts:
    """Return the attempts that a pod's events report.

    Args:
        since: creation time of the pod.
        events: all events of the pod, with any reason.
    """
    failed = sorted((each for each in events if each.reason == FAILED), key=_last)
    if not failed:
        return Attempts(since, 0, "", "")
    latest = failed[-1]
    return Attempts(since, sum(map(_count, failed)), _last(latest), latest.note or latest.message)


def _count(event: StoredEvent) -> int:
    series = event.series.count if event.series is not None else 0
    return max(1, series, event.deprecated_count or 0, event.count or 0)


def _last(event: StoredEvent) -> str:
    """Return the time of the last report, without fractions of a second, so that times compare as text."""
    told = [
        event.series.last_observed_time if event.series is not None else None,
        event.deprecated_last_timestamp,
        event.last_timestamp,
        event.event_time,
    ]
    return max((f"{each[:19]}Z" for each in told if each), default=event.metadata.creation_timestamp or "")
