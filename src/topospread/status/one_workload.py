"""The status of one workload: its constraints and refused pods. Losses of domains are computed in `risk`."""

from __future__ import annotations

from typing import NamedTuple

from topospread.controllers.planned import Workload
from topospread.simulation.counted import PodOwners

from .constraints import CountedSpreads, constraints_of
from .members import OF_THEIR_NODE, Members
from .refused import Refusals
from .result import WorkloadStatus


class Asked(NamedTuple):
    """The data that all workloads' statuses share: refused pods, and the owners of pods.

    ``owners`` is None if the status needs no owners of counted pods, and no counted or excluded nodes.
    """

    refusals: Refusals
    owners: PodOwners | None


def looked_at(workload: Workload, members: Members, spreads: CountedSpreads, asked: Asked) -> WorkloadStatus:
    """Return the status without losses. The topology keys of losses depend on all workloads."""
    refused = () if workload.kind in OF_THEIR_NODE else asked.refusals.of(members, spreads.prepared)
    return WorkloadStatus(
        kind=workload.kind,
        namespace=workload.namespace,
        name=workload.name,
        replicas=workload.replicas,
        existing=len(members),
        constraints=constraints_of(spreads, workload, asked.owners),
        refused=refused,
        notes=tuple(workload.notes),
        problem=spreads.problem,
    )
