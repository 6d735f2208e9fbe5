"""Scheduling plugins, one per module, with Kubernetes' names; `registry` lists them. No I/O."""
