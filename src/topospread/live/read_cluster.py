"""Read the objects of a cluster once, without keeping a connection."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from topospread.errors import Place
from topospread.sources.load import LiveObjects, no_garbage_collection
from topospread.sources.objects import ReadObject

from .access import Access
from .client import ApiClient
from .cluster_lists import ClusterLists, ListsProgress, WantedLists
from .connection import Connection

QPS, BURST = 400.0, 400
"""Limits on requests per second.

They are high, because reading once is not continuous load and the server can throttle.
"""


class KeptObjects:
    """A receiver that keeps all objects."""

    def __init__(self) -> None:
        self._by_kind: dict[str, list[ReadObject]] = defaultdict(list)

    def take(self, kind: str, objects: Sequence[ReadObject]) -> None:
        """See Receiver."""
        self._by_kind[kind] += objects

    def finished(self, kind: str) -> None:
        """See Receiver."""

    def of(self, kinds: Sequence[str]) -> list[ReadObject]:
        """Return all objects of these kinds, sorted by kind."""
        return [each for kind in kinds for each in self._by_kind[kind]]


def nothing_told(resource: str, done: int, left: int | None) -> None:
    """Ignore progress."""


async def read_objects_of(
    connection: Connection, wanted: WantedLists | None = None, progress: ListsProgress = nothing_told
) -> LiveObjects:
    """Read the current objects of a cluster.

    Args:
        wanted: the lists to read; by default all that affect placement.

    Raises:
        InputError: if it cannot be reached, or denies access to nodes or pods.
        UsageError: if the namespace does not exist.
    """
    chosen, kept = wanted or WantedLists(), KeptObjects()
    async with ApiClient(connection, qps=QPS, burst=BURST) as client:
        facts = await ClusterLists(client, connection, chosen, progress).read(kept)
    facts.live = True
    return LiveObjects(kept.of(chosen.kinds), facts, place_of(connection))


def place_of(connection: Connection) -> Place:
    """Return the cluster's place, for notes and warnings."""
    return Place(source=connection.server)


def live_objects(
    access: Access | None = None, wanted: WantedLists | None = None, progress: ListsProgress = nothing_told
) -> LiveObjects:
    """Connect and run `read_objects_of`, for callers without an event loop.

    Raises:
        InputError: if no cluster is configured, it cannot be reached, or it denies access to nodes or pods.
        UsageError: if the namespace does not exist.
    """

    async def connected() -> LiveObjects:
        return await read_objects_of(await (access or Access()).connect(), wanted, progress)

    with no_garbage_collection():
        return asyncio.run(connected())
