"""kube-scheduler's attempts at a pod that waits in a live cluster, from its events.

Source: client-go/tools/events/event_broadcaster.go (``recordToSink``, ``refreshExistingEventSeries``): the second event
of a sort makes a series of two, further ones are written down every half hour or when none has come for six minutes, so
that the number is at least what stands there. Events are forgotten after an hour (``--event-ttl``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from topospread.api.event import StoredEvent

FAILED: Final = "FailedScheduling"


class Tries(msgspec.Struct, frozen=True):
    """Attempts that found no node.

    Attributes:
        since: when the pod was created, RFC 3339.
        at_least: how many of them events tell; 0 where none is left or none may be read.
        last: when the last one was that is told, "" where none is.
        message: what kube-scheduler said then.
    """

    since: str
    at_least: int = 0
    last: str = ""
    message: str = ""


def tries_of(since: str, events: Iterable[StoredEvent]) -> Tries:
    """Return the attempts that a pod's events report.

    Args:
        since: when it was created.
        events: all of the pod, of any reason.
    """
    failed = sorted((each for each in events if each.reason == FAILED), key=_last)
    if not failed:
        return Tries(since)
    latest = failed[-1]
    return Tries(since, sum(map(_count, failed)), _last(latest), latest.note or latest.message)


def _count(event: StoredEvent) -> int:
    series = event.series.count if event.series is not None else 0
    return max(1, series, event.deprecated_count or 0, event.count or 0)


def _last(event: StoredEvent) -> str:
    """Return when the event was last reported; times with and without fractions compare as text up to the second."""
    told = [
        event.series.last_observed_time if event.series is not None else None,
        event.deprecated_last_timestamp,
        event.last_timestamp,
        event.event_time,
    ]
    return max((f"{each[:19]}Z" for each in told if each), default=event.metadata.creation_timestamp or "")
