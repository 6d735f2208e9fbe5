"""From what is wanted of a workload to the constraints that promise it on a cluster: `topospread.promise_design`."""

from .result import Design, ReasonedLine

__all__ = ["Design", "ReasonedLine"]
