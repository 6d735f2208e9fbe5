"""An inventory written as a snapshot, such as the cluster that a simulation leaves; `snapshot_take` asks a cluster."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS

from .snapshot_facts import FORMAT, SnapshotFacts
from .snapshot_file import check_path, writing
from .snapshot_lists import ORDER


def save(inventory: Inventory, path: str, *, kube_version: str = "", hashed: bool = False) -> SnapshotFacts:
    """Write the objects of an inventory to a snapshot, in the format of `topospread dump`.

    Args:
        inventory: the cluster that `topospread.simulate` leaves with ``keep_after``, or one that was read.
        path: file that ends in ``.json.gz`` or ``.json``; ``-`` is standard output.
        kube_version: Kubernetes version of the cluster, such as ``1.37``.
        hashed: the inventory comes from `topospread.sources.anonymous`.

    Raises:
        InputError: if the file cannot be written.
        UsageError: if the path has another ending.
    """
    facts = SnapshotFacts(
        format=FORMAT,
        taken=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        kube_version=f"v{kube_version}" if kube_version else "",
        simulated=True,
        hashed=hashed,
    )
    write_snapshot(inventory, path, facts)
    return facts


def write_snapshot(inventory: Inventory, path: str, facts: SnapshotFacts) -> None:
    """Write the objects of an inventory and the given facts, in which the objects are counted.

    Raises:
        InputError: if the file cannot be written.
        UsageError: if the path has another ending.
    """
    check_path(path)
    facts.counts = {}
    with writing(path, sys.stdout.buffer) as writer:
        for kind in ORDER:
            items = getattr(inventory, KINDS[kind].attribute)
            facts.counts[kind] = len(items)
            for item in items:
                writer.add(item)
        writer.end(facts)
