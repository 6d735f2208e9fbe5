"""How the pods that are there are spread now: constraints, domains, what is at risk. `topospread.status` finds out."""

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
