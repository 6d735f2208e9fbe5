"""The state of a cluster in columns: nodes, pod classes, counts, and the journal of changes. No I/O."""

from .cluster import Cluster
from .journal import NO_ROW, Journal, PodChange
from .nodes import NodeTable
from .pod_class import PodClass
from .savepoint import Savepoint

__all__ = ["NO_ROW", "Cluster", "Journal", "NodeTable", "PodChange", "PodClass", "Savepoint"]
