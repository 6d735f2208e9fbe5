"""NodePorts: on each node, only one pod may use a host port, IP and protocol (plugins/nodeports)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.pod_class import HostPort, host_ports
from topospread.config.version_rules import by_version

from .cluster_event import ADD, ASSIGNED_POD_DELETE, ClusterEvent, Registration, takes_room
from .interface import UNSCHEDULABLE, Prepared, Scope, Status, length

REASON = "node(s) didn't have free ports for the requested pod ports"
ALL_ADDRESSES = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class NodePortsRules:
    """The differences between Kubernetes versions. `NodeResourcesFitRules` describes them."""

    nominated_pods_take_room: bool = by_version({"1.18": False, "1.33": True}, {})


class NodePorts:
    """Rejects nodes where a host port of the pod is in use; 0.0.0.0 matches every IP."""

    name = "NodePorts"

    def __init__(self, rules: NodePortsRules = NodePortsRules()) -> None:
        self._rules = rules

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter; skip pods without host ports."""
        if not pod_class.host_ports:
            return Prepared()
        return Prepared(filter=_FreePorts(pod_class.host_ports, cluster))

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for added nodes, and for deleted pods that used a requested port."""

        def after_assigned_pod_deleted(pod: Pod, old: Pod, new: object) -> bool:
            if not takes_room(old, counts_nominated=self._rules.nominated_pods_take_room):
                return False
            freed = host_ports(old, cluster.rules)
            wanted = host_ports(pod, cluster.rules)
            return any(_conflict(mine, theirs) for mine in wanted for theirs in freed)

        return (Registration(ASSIGNED_POD_DELETE, after_assigned_pod_deleted), Registration(ClusterEvent("Node", ADD)))


def _conflict(wanted: HostPort, taken: HostPort) -> bool:
    """Return whether two host ports exclude each other (``HostPortInfo.CheckConflict``)."""
    return wanted[1:] == taken[1:] and (wanted[0] == taken[0] or ALL_ADDRESSES in (wanted[0], taken[0]))


class _FreePorts:
    scope = Scope.PODS

    def __init__(self, wanted: tuple[HostPort, ...], cluster: Cluster) -> None:
        self._wanted = wanted
        self._cluster = cluster

    def filter(self, rows: Rows) -> Ints:
        if not isinstance(rows, slice):
            return np.array([self._conflicts(int(row)) for row in rows], dtype=np.int64)
        codes = np.zeros(length(rows), dtype=np.int64)
        candidates = {row for _, protocol, port in self._wanted for row in self._cluster.ports.users(protocol, port)}
        for row in candidates:
            codes[row] = self._conflicts(row)
        return codes

    def _conflicts(self, row: int) -> bool:
        for ip, protocol, port in self._wanted:
            users = self._cluster.ports.users(protocol, port).get(row)
            if users and (ip == ALL_ADDRESSES or ip in users or ALL_ADDRESSES in users):
                return True
        return False

    def status(self, code: int) -> Status:
        return Status(UNSCHEDULABLE, (REASON,))
