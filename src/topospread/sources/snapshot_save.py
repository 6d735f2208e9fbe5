"""An inventory written as a snapshot, such as the cluster that a simulation leaves; `snapshot_take` asks a cluster."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS

from .snapshot_facts import FORMAT, SnapshotFacts
from .snapshot_file import check_path, writing
from .snapshot_lists import ORDER


def save(inventory: Inventory, path: str, *, kube_version: str = "") -> SnapshotFacts:
    """Write the objects of an inventory to a file, as `topospread dump` writes those of a cluster.

    Args:
        inventory: what `topospread.simulate` left with ``keep_after``, or what was read.
        path: ends in ``.json.gz`` or ``.json``; ``-`` is standard output.
        kube_version: ``1.37``, of the cluster that it stands for.

    Raises:
        InputError: it cannot be written.
        UsageError: the path has another ending.
    """
    check_path(path)
    facts = SnapshotFacts(
        format=FORMAT,
        taken=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        kube_version=f"v{kube_version}" if kube_version else "",
        simulated=True,
    )
    with writing(path, sys.stdout.buffer) as writer:
        for kind in ORDER:
            items = getattr(inventory, KINDS[kind].attribute)
            facts.counts[kind] = len(items)
            for item in items:
                writer.add(item)
        writer.end(facts)
    return facts
