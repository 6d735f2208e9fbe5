"""A snapshot taken of a cluster: its lists read, and written as they come. Where the file goes others say."""

from __future__ import annotations

from topospread.sources.snapshot_facts import SnapshotFacts
from topospread.sources.snapshot_file import SnapshotTaking

from .access import Access
from .client import ApiClient
from .cluster_lists import ClusterLists, ListsProgress, WantedLists
from .read_cluster import BURST, QPS
from .run_or_terminate import run_or_terminate


def take_snapshot(
    access: Access, wanted: WantedLists, taking: SnapshotTaking, progress: ListsProgress
) -> SnapshotFacts:
    """Read everything and write it; what the snapshot says of itself.

    Raises:
        InputError: there is no way to a cluster, it cannot be reached, or it refuses nodes or pods.
        UsageError: there is no such namespace.
        KeyboardInterrupt: SIGINT or SIGTERM came.
    """

    async def taken() -> SnapshotFacts:
        connection = await access.connect()
        async with ApiClient(connection, qps=QPS, burst=BURST) as client:
            return await ClusterLists(client, connection, wanted, progress, "snapshot").read(taking)

    return run_or_terminate(taken)
