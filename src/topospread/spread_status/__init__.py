"""The current spread of pods: constraints, domains and risks. `spread_status.status` computes it."""
