"""NodeDeclaredFeatures: a pod that needs a kubelet feature must go to a node that declares it.

Source: plugins/nodedeclaredfeatures, k8s.io/component-helpers/nodedeclaredfeatures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from topospread.api.node import Node
from topospread.api.pod import Pod, PodSpec
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Ints, Rows

from .cluster_event import ADD, NODE_DECLARED_FEATURE, UPDATE, ClusterEvent, Registration
from .interface import UNRESOLVABLE, Prepared, Scope, Status, numbers

REASON = "node(s) didn't match Pod's required features"
REASON_1_35 = "node declared features check failed - unsatisfied requirements: "


class DeclaredFeature(msgspec.Struct, frozen=True):
    """A kubelet feature that a node may declare.

    Attributes:
        since: first minor version of kube-scheduler 1 that knows the feature.
        needed_by: function that returns whether a pod needs the feature; ``None`` if only an update of a pod may.
        until: last minor version that knows the feature; 0 if the newest version knows it.
    """

    name: str
    since: int
    needed_by: Callable[[PodSpec], bool] | None = None
    until: int = 0


def _restarts_all_containers(spec: PodSpec) -> bool:
    containers = (*(spec.containers or ()), *(spec.init_containers or ()))
    rules = (rule for container in containers for rule in container.restart_policy_rules or ())
    return any(rule.action == "RestartAllContainers" for rule in rules)


def _shares_network_but_not_users(spec: PodSpec) -> bool:
    return bool(spec.host_network) and spec.host_users is False


def _has_bind_mount_options(spec: PodSpec) -> bool:
    containers = (*(spec.containers or ()), *(spec.init_containers or ()))
    return any(mount.bind_mount_options for container in containers for mount in container.volume_mounts or ())


FEATURES = (
    DeclaredFeature("DRANodeAllocatableResources", 37),
    DeclaredFeature("DRAOptionalNodeOperations", 37),
    DeclaredFeature("ExtendWebSocketsToKubelet", 36),
    DeclaredFeature("GuaranteedQoSPodCPUResize", 35, until=35),
    DeclaredFeature("InPlacePodLevelResourcesVerticalScaling", 35),
    DeclaredFeature("InPlacePodVerticalScalingInitContainers", 36),
    DeclaredFeature("InPlacePodVerticalScalingMemoryBackedVolumes", 37),
    DeclaredFeature("RestartAllContainersOnContainerExits", 35, _restarts_all_containers),
    DeclaredFeature("UserNamespacesHostNetworkSupport", 36, _shares_network_but_not_users),
    DeclaredFeature("VolumeBindMountOptions", 37, _has_bind_mount_options),
)
"""All features, by name."""


class NodeDeclaredFeatures:
    """Rejects nodes that lack a declared feature that the pod needs.

    Args:
        minor: minor version of Kubernetes, which determines the known features and the message.
        enabled: whether the gate NodeDeclaredFeatures is on. If not, the plugin accepts every node.
    """

    name = "NodeDeclaredFeatures"

    def __init__(self, minor: int = 37, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._known = [each for each in FEATURES if each.since <= minor and (not each.until or minor <= each.until)]
        self._as_sets = minor < 36

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter; skip pods that need no declared feature."""
        needed = self.needed_by(pod_class.pod.spec)
        if not needed or not self._enabled:
            return Prepared()
        names = [each.name for each in self._known]
        return Prepared(filter=_Declared(needed, names, cluster.nodes, self._as_sets))

    def needed_by(self, spec: PodSpec) -> list[str]:
        """Return the features that a pod needs, by name."""
        return [each.name for each in self._known if each.needed_by is not None and each.needed_by(spec)]

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for added nodes, changed declared features, and updates of the pod."""
        if not self._enabled:
            return ()
        return (
            Registration(ClusterEvent("Node", ADD | NODE_DECLARED_FEATURE), _after_node_change),
            Registration(ClusterEvent("TargetPod", UPDATE), self._after_target_pod_update),
        )

    def _after_target_pod_update(self, pod: Pod, old: Pod, new: Pod) -> bool:
        return self.needed_by(old.spec) != self.needed_by(new.spec)


def _after_node_change(pod: Pod, old: Node | None, new: Node) -> bool:
    return old is None or (old.status.declared_features or []) != (new.status.declared_features or [])


class _Declared:
    scope = Scope.NODE

    def __init__(self, needed: Sequence[str], known: Sequence[str], nodes: NodeTable, as_sets: bool) -> None:
        self._needed = needed
        self._known = known
        self._nodes = nodes
        self._as_sets = as_sets

    def filter(self, rows: Rows) -> Ints:
        """Return a code with one bit for each missing feature, int64[rows]."""
        nodes = self._nodes.nodes
        return np.array([self._missing(nodes[row]) for row in numbers(rows).tolist()], dtype=np.int64)

    def _missing(self, node: Node | None) -> int:
        listed = (node.status.declared_features or []) if node is not None else []
        declared = set(listed) if self._as_sets else _merged(listed, self._known)
        return sum(1 << position for position, name in enumerate(self._needed) if name not in declared)

    def status(self, code: int) -> Status:
        if not self._as_sets:
            return Status(UNRESOLVABLE, (REASON,))
        missing = [name for position, name in enumerate(self._needed) if code >> position & 1]
        return Status(UNRESOLVABLE, (REASON_1_35 + ", ".join(missing),))


def _merged(listed: Sequence[str], known: Sequence[str]) -> set[str]:
    """Return the known features in ``listed``. Like kube-scheduler, miss entries that are out of order (``TryMap``)."""
    found = set()
    i = j = 0
    while i < len(listed) and j < len(known):
        if listed[i] == known[j]:
            found.add(known[j])
            i += 1
            j += 1
        elif listed[i] < known[j]:
            i += 1
        else:
            j += 1
    return found
