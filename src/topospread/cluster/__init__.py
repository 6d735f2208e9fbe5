"""The state of a cluster in columns: nodes, pod classes, counts, and the journal of what changed. No I/O."""

from .cluster import Cluster
from .journal import NODE_CHANGED, Change, Journal
from .nodes import NodeTable
from .pod_class import PodClass

__all__ = ["NODE_CHANGED", "Change", "Cluster", "Journal", "NodeTable", "PodClass"]
