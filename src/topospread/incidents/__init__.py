"""Past events of a cluster, rebuilt from a snapshot and an audit log: `topospread.incidents.replay`."""

from .result import Incident, NodeAlteration, PodRefusal

__all__ = ["Incident", "NodeAlteration", "PodRefusal"]
