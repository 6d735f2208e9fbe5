"""Promises of workloads: what filters force in every order of pods, whatever the scores; designs that keep them."""
