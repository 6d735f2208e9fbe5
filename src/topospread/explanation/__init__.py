"""Explanations why a pod is pending, or where it is, as data. `explanation.explain` makes one.

Nothing is printed here, and no rule of scheduling is decided here.
"""

from .result import (
    ChoiceWithout,
    ConstraintTable,
    CoreObstacle,
    DomainRow,
    Explanation,
    Further,
    NearestNode,
    NodeObstacle,
    NodeScores,
    PluginVerdict,
    PodState,
    ScoredNode,
    SpreadNodeScore,
    SpreadPoints,
    Suggestion,
)

__all__ = [
    "ChoiceWithout",
    "ConstraintTable",
    "CoreObstacle",
    "DomainRow",
    "Explanation",
    "Further",
    "NearestNode",
    "NodeObstacle",
    "NodeScores",
    "PluginVerdict",
    "PodState",
    "ScoredNode",
    "SpreadNodeScore",
    "SpreadPoints",
    "Suggestion",
]
