"""Explanations why a pod is pending, or where it is, as data. `explanation.explain` makes one.

Nothing is printed here, and no rule of scheduling is decided here.
"""

from .result import (
    ConstraintTable,
    CoreObstacle,
    DomainRow,
    Explanation,
    Further,
    NearNode,
    NodeScore,
    Obstacle,
    PluginRejections,
    PodState,
    ScoreTable,
    SpreadPart,
    SpreadScore,
    Suggestion,
    Without,
)

__all__ = [
    "ConstraintTable",
    "CoreObstacle",
    "DomainRow",
    "Explanation",
    "Further",
    "NearNode",
    "NodeScore",
    "Obstacle",
    "PluginRejections",
    "PodState",
    "ScoreTable",
    "SpreadPart",
    "SpreadScore",
    "Suggestion",
    "Without",
]
