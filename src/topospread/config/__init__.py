"""Scheduling profiles from a KubeSchedulerConfiguration of any version, or from a version's defaults."""
