"""A simulation: the run, how its pods are placed, and what came of it as data. `topospread.simulate` starts one."""
