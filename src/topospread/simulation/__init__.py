"""A simulation: the run, how its pods are placed, and what came of it as data. `topospread.simulate` starts one."""

from .result import (
    DomainOutcome,
    DomainSpread,
    DomainSpreads,
    EvictedPod,
    PendingGroup,
    Placement,
    PoolUse,
    Simulation,
    WorkloadResult,
    WorkloadSpread,
)

__all__ = [
    "DomainOutcome",
    "DomainSpread",
    "DomainSpreads",
    "EvictedPod",
    "PendingGroup",
    "Placement",
    "PoolUse",
    "Simulation",
    "WorkloadResult",
    "WorkloadSpread",
]
