"""Scheduling profiles: what a KubeSchedulerConfiguration of any version says, and what a version does without one."""
