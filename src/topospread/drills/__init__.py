"""Drills: nodes fail, are drained or come back, and workloads are scaled, step by step."""

from .result import (
    AutoscalerState,
    BudgetBreach,
    Drill,
    Event,
    NotEvicted,
    PodThere,
    RolloutState,
    StepOutcome,
    StepRange,
    WorkloadState,
)

__all__ = [
    "AutoscalerState",
    "BudgetBreach",
    "Drill",
    "Event",
    "NotEvicted",
    "PodThere",
    "RolloutState",
    "StepOutcome",
    "StepRange",
    "WorkloadState",
]
