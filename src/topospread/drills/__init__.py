"""Drills: nodes fail, are drained or come back, and workloads are scaled, step by step."""

from .result import (
    BrokenBudget,
    Drill,
    DrillAutoscaler,
    DrillEvent,
    DrillPod,
    DrillRollout,
    StepBounds,
    StepOutcome,
    UnevictedPod,
    WorkloadState,
)

__all__ = [
    "BrokenBudget",
    "Drill",
    "DrillAutoscaler",
    "DrillEvent",
    "DrillPod",
    "DrillRollout",
    "StepBounds",
    "StepOutcome",
    "UnevictedPod",
    "WorkloadState",
]
