"""SchedulingGates: a pod with gates does not enter the scheduling queue (plugins/schedulinggates, KEP-3521)."""

from __future__ import annotations

from collections.abc import Sequence

from topospread.api.pod import Pod
from topospread.cluster import Cluster

from .cluster_event import POD_GATES_ELIMINATED, ClusterEvent, Registration


class SchedulingGates:
    """Keeps pods with ``spec.schedulingGates`` out of the queue until all gates are removed."""

    name = "SchedulingGates"

    def pre_enqueue(self, pod: Pod) -> bool:
        """Return whether the pod may enter the queue."""
        return not pod.spec.scheduling_gates

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for the removal of the pod's last gate."""
        return (Registration(ClusterEvent("TargetPod", POD_GATES_ELIMINATED)),)
