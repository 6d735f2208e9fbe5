"""Take a snapshot of a cluster: read its lists, and write objects as they arrive."""

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
