"""The spread of pods now: constraints, domains and risks. `spread_status.status` computes it."""

from .result import (
    ConstraintStatus,
    DomainPods,
    DomainRisk,
    LargeLoss,
    Loss,
    RefusedPod,
    SpreadStatus,
    UncountedNodes,
    WorkloadStatus,
)

__all__ = [
    "ConstraintStatus",
    "DomainPods",
    "DomainRisk",
    "LargeLoss",
    "Loss",
    "RefusedPod",
    "SpreadStatus",
    "UncountedNodes",
    "WorkloadStatus",
]
