"""Past events of a cluster, rebuilt from a snapshot and an audit log: `topospread.incidents.replay`."""

from .result import Incident, NodeChange, PodRefusal

__all__ = ["Incident", "NodeChange", "PodRefusal"]
