"""Which few pods to evict so that constraints hold again. `topospread.rebalance` finds out; it evicts nothing."""

from .result import ConstraintChange, MoveHelp, PodMove, Rebalance, UnmetConstraint

__all__ = ["ConstraintChange", "MoveHelp", "PodMove", "Rebalance", "UnmetConstraint"]
