"""Promises of workloads: what filters force, whatever the order of pods and the scores are."""
