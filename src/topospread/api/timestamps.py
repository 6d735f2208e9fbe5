"""Timestamps of objects, and the time of a snapshot as inferred from them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from topospread.api.node import Node
from topospread.api.pod import Pod

_RFC_3339: Final = re.compile(
    r"(\d{4})(-\d\d-\d\dT)(\d\d?)(:\d\d:\d\d)(?:[.,](\d+))?(?:Z|([+-](?:[01]\d|2[0-4])):([0-5]\d|60))", re.ASCII
)
_CENTURIES: Final = 146_097 * 86_400
"""Seconds of 400 years, after which the calendar repeats."""


@lru_cache(maxsize=65536)
def seconds(text: str | None) -> float | None:
    """Return the seconds since 1970 of an RFC 3339 time; None if it is missing or not valid.

    Like Go, it also accepts year 0, hours of one digit, and offsets of 24 hours or 60 minutes. Source: time.Parse.
    """
    matched = _RFC_3339.fullmatch(text or "")
    if matched is None:
        return None
    year, day, hour, rest, fraction, hours, minutes = matched.groups()
    early = year == "0000"
    try:
        moment = datetime.fromisoformat(f"{'0400' if early else year}{day}{hour:0>2}{rest}.{fraction or 0}+00:00")
    except ValueError:
        return None
    ahead = int(hours or 0) * 3600 + int(f"{(hours or '+')[0]}{minutes or 0}") * 60
    return moment.timestamp() - ahead - (_CENTURIES if early else 0)


@lru_cache(maxsize=1024)
def timestamp(at: float) -> str:
    """Return seconds since 1970 as an RFC 3339 time in whole seconds, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def snapshot_time(nodes: Iterable[Node], pods: Iterable[Pod]) -> float | None:
    """Return the latest timestamp in the objects as the time of the snapshot; None without timestamps.

    Kubelets report at least every few minutes, so the true time is at most a few minutes later.
    """
    times: set[str | None] = set()
    for node in nodes:
        times.update(each.last_heartbeat_time for each in node.status.conditions or ())
    for pod in pods:
        times.add(pod.metadata.creation_timestamp)
        if pod.status is not None:
            times.update(each.last_transition_time for each in pod.status.conditions or ())
    return max((found for found in map(seconds, times) if found is not None), default=None)
