"""Benchmarks: our engine and whole commands beside kube-scheduler's own cycle, in one run."""
