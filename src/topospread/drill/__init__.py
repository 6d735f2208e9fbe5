"""Drills: simulate node failures, drains, recoveries, scaling and rollouts step by step."""
