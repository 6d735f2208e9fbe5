"""Read the objects of a cluster once, without keeping a connection, to use them or to write a snapshot."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from topospread.errors import Place
from topospread.sources.load import LiveObjects, no_garbage_collection
from topospread.sources.objects import ReadObject
from topospread.sources.snapshot_facts import SnapshotFacts
from topospread.sources.snapshot_file import SnapshotTaking

from .access import Access
from .client import ApiClient
from .cluster_lists import ClusterLists, ListsProgress, WantedLists
from .connection import Connection
from .run_or_terminate import run_or_terminate

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


def place_of(connection: Connection) -> Place:
    """Return the cluster's place, for notes and warnings."""
    return Place(source=connection.server)


def live_objects(
    access: Access, wanted: WantedLists | None = None, progress: ListsProgress = lambda resource, done, left: None
) -> LiveObjects:
    """Return the current objects of a cluster, by default all that affect placement.

    Raises:
        InputError: if no cluster is configured, it cannot be reached, or it denies access to nodes or pods.
        UsageError: if the namespace does not exist.
    """
    chosen, kept = wanted or WantedLists(), KeptObjects()

    async def connected() -> LiveObjects:
        connection = await access.connect()
        async with ApiClient(connection, qps=QPS, burst=BURST) as client:
            facts = await ClusterLists(client, connection, chosen, progress).read(kept)
        facts.live = True
        return LiveObjects(kept.of(chosen.kinds), facts, place_of(connection))

    with no_garbage_collection():
        return asyncio.run(connected())


def take_snapshot(
    access: Access, wanted: WantedLists, taking: SnapshotTaking, progress: ListsProgress
) -> SnapshotFacts:
    """Read and write all objects. Return the snapshot's facts.

    Raises:
        InputError: if no cluster is configured, it cannot be reached, or it denies access to nodes or pods.
        UsageError: if the namespace does not exist.
        KeyboardInterrupt: after SIGINT or SIGTERM.
    """

    async def taken() -> SnapshotFacts:
        connection = await access.connect()
        async with ApiClient(connection, qps=QPS, burst=BURST) as client:
            return await ClusterLists(client, connection, wanted, progress, "snapshot").read(taking)

    return run_or_terminate(taken)
