"""The current spread of pods: constraints, domains and risks. `status.status` computes it."""
