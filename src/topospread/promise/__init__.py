"""Availability of workloads in every order of pods, whatever the scores, and designs that guarantee it."""
