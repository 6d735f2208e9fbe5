"""The objects of a cluster, read once. No connection is kept."""

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
"""Requests a second: who reads once is no controller, and the server asks to wait where it is too much."""


class KeptObjects:
    """A receiver that keeps everything."""

    def __init__(self) -> None:
        self._by_kind: dict[str, list[ReadObject]] = defaultdict(list)

    def take(self, kind: str, objects: Sequence[ReadObject]) -> None:
        """See Receiver."""
        self._by_kind[kind] += objects

    def finished(self, kind: str) -> None:
        """See Receiver."""

    def of(self, kinds: Sequence[str]) -> list[ReadObject]:
        """All objects, kind after kind."""
        return [each for kind in kinds for each in self._by_kind[kind]]


def nothing_told(resource: str, done: int, left: int | None) -> None:
    """A progress for nobody."""


async def read_objects_of(
    connection: Connection, wanted: WantedLists | None = None, progress: ListsProgress = nothing_told
) -> LiveObjects:
    """Read the present objects of a cluster.

    Args:
        connection: of its API server.
        wanted: which objects; all that decide on placements by default.
        progress: is told after every page.

    Raises:
        InputError: it cannot be reached, or refuses nodes or pods.
        UsageError: there is no such namespace.
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
    """`read_objects_of` for who has no event loop, connecting first.

    Raises:
        InputError: there is no way to a cluster, it cannot be reached, or it refuses nodes or pods.
        UsageError: there is no such namespace.
    """

    async def connected() -> LiveObjects:
        return await read_objects_of(await (access or Access()).connect(), wanted, progress)

    with no_garbage_collection():
        return asyncio.run(connected())
