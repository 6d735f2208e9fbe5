"""Simulations: the run, the placement of its pods, and the result as data. `topospread.simulate` starts one."""
