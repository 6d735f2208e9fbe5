"""The few evictions after which constraints hold again. `topospread.rebalance` finds them and evicts nothing."""

from .result import ConstraintChange, MoveHelp, PodMove, Rebalance, UnmetConstraint

__all__ = ["ConstraintChange", "MoveHelp", "PodMove", "Rebalance", "UnmetConstraint"]
