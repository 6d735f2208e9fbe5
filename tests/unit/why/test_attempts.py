"""What the events of a pod that waits tell of its attempts, in both groups' words."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.event import StoredEvent
from topospread.why.attempts import Attempts, tries_of

CREATED = "2026-01-01T10:00:00Z"


def event(**fields: Any) -> StoredEvent:
    return msgspec.convert({"reason": "FailedScheduling"} | fields, StoredEvent)


def test_a_single_event_is_one_attempt() -> None:
    told = event(eventTime="2026-01-01T10:00:01.250000Z", note="0/3 nodes are available")
    assert tries_of(CREATED, [told]) == Attempts(CREATED, 1, "2026-01-01T10:00:01Z", "0/3 nodes are available")


def test_series_count_and_the_latest_speaks() -> None:
    series = {"count": 14, "lastObservedTime": "2026-01-01T10:30:00.000000Z"}
    first = event(eventTime="2026-01-01T10:00:01.000000Z", series=series, note="0/3 nodes")
    second = event(eventTime="2026-01-01T10:31:00.000000Z", note="0/4 nodes")
    assert tries_of(CREATED, [second, first]) == Attempts(CREATED, 15, "2026-01-01T10:31:00Z", "0/4 nodes")


def test_the_core_group_counts_with_other_fields() -> None:
    told = event(count=6, firstTimestamp=CREATED, lastTimestamp="2026-01-01T11:00:00Z", message="0/3 nodes")
    assert tries_of(CREATED, [told]) == Attempts(CREATED, 6, "2026-01-01T11:00:00Z", "0/3 nodes")
    old = event(deprecatedCount=3, deprecatedLastTimestamp="2026-01-01T11:00:00Z", note="0/3 nodes", eventTime=None)
    assert tries_of(CREATED, [old]).at_least == 3


def test_events_of_other_reasons_are_no_attempts() -> None:
    assert tries_of(CREATED, [event(reason="Scheduled", count=9)]) == Attempts(CREATED, 0, "", "")
