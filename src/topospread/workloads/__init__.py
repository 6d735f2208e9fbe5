"""From what was read to what kube-scheduler is given: pods as the controllers and the API server make them."""

from .planned import Plan, QueuedPod, Workload
from .planner import plan

__all__ = ["Plan", "QueuedPod", "Workload", "plan"]
