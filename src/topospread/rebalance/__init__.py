"""Find the fewest evictions after which constraints hold again: `topospread.rebalance`."""
