"""Drills: nodes fail, are drained or come back, and workloads are scaled, step by step."""
