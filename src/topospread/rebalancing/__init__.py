"""The few evictions after which constraints hold again. `topospread.rebalance` finds them and evicts nothing."""
