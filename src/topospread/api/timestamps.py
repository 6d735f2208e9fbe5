"""Timestamps of objects, and the time of a snapshot, without a clock."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache

from topospread.api.node import Node
from topospread.api.pod import Pod


@lru_cache(maxsize=65536)
def seconds(text: str | None) -> float | None:
    """Return the seconds since 1970 of an RFC 3339 time; None if it is missing or not valid."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def snapshot_time(nodes: Iterable[Node], pods: Iterable[Pod]) -> float | None:
    """Return the latest timestamp in the objects, which controllers of a snapshot take as the present.

    Nodes report every few minutes at least, which bounds the error.
    """
    times: set[str | None] = set()
    for node in nodes:
        times.update(each.last_heartbeat_time for each in node.status.conditions or ())
    for pod in pods:
        times.add(pod.metadata.creation_timestamp)
        if pod.status is not None:
            times.update(each.last_transition_time for each in pod.status.conditions or ())
    return max((found for found in map(seconds, times) if found is not None), default=None)
