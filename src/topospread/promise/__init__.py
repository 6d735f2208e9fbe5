"""Guarantees on the availability of workloads: they hold in every order of pods, whatever the scores."""
