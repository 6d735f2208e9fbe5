"""The spread of pods now: constraints, domains and risks. `spread_status.status` computes it."""
