"""One step of a rolling update. For a Deployment, the numbers of pods to create and remove; `removal` chooses pods.

Sources: pkg/controller/deployment/rolling.go (``reconcileOldReplicaSets``, ``cleanupUnhealthyReplicas``,
``scaleDownOldReplicaSetsForRollingUpdate``), pkg/controller/deployment/util/deployment_util.go (``NewRSNewReplicas``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from topospread.api.rollout import OrdinalStrategy, Strategy


class RolloutStatus(msgspec.Struct, frozen=True):
    """The state of a rolling update: available and unavailable pods of the new revision and of old revisions."""

    replicas: int
    new_available: int
    new_unavailable: int
    old_available: int
    old_unavailable: int

    @property
    def new(self) -> int:
        """Number of pods of the new revision."""
        return self.new_available + self.new_unavailable

    @property
    def old(self) -> int:
        """Number of pods of old revisions."""
        return self.old_available + self.old_unavailable

    @property
    def is_over(self) -> bool:
        """True if the update is complete."""
        return not self.old and self.new_available == self.replicas


def to_create(status: RolloutStatus, strategy: Strategy) -> int:
    """Return the number of pods of the new revision to create now."""
    allowed = status.replicas + strategy.max_surge - status.new - status.old
    return max(min(allowed, status.replicas - status.new), 0)


def to_remove(status: RolloutStatus, strategy: Strategy) -> tuple[int, int]:
    """Return the numbers of unavailable and of available old pods to remove now."""
    least = status.replicas - strategy.max_unavailable
    most = status.new + status.old - least - status.new_unavailable
    if most <= 0:
        return 0, 0
    available = status.new_available + status.old_available - least
    return min(most, status.old_unavailable), min(max(available, 0), status.old_available)


# One step of a StatefulSet's rolling update: the ordinals whose pods are deleted. The controller recreates them.
# Source: pkg/controller/statefulset/stateful_set_control.go (``updateStatefulSet``, ``processReplica``,
# ``updateStatefulSetAfterInvariantEstablished``) of 1.37; without the gate MaxUnavailableStatefulSet one pod at a time.


@dataclass(frozen=True, slots=True)
class Ordinal:
    """The pod of an ordinal.

    Attributes:
        is_new: whether it has the new revision.
        is_available: whether it is available and not terminating.
    """

    is_new: bool
    is_available: bool
    is_terminating: bool = False


def ordinals_to_replace(
    pods: Sequence[Ordinal | None], strategy: OrdinalStrategy, *, in_order: bool, at_once: bool
) -> list[int]:
    """Return the indexes of the pods to delete now.

    Args:
        pods: the pod of each ordinal in order; ``None`` for a missing pod.
        strategy: partition and maxUnavailable.
        in_order: whether the policy is OrderedReady, which deletes no pod while a pod is missing or not available.
        at_once: whether the gate MaxUnavailableStatefulSet is on, so several pods may be deleted at once.
    """
    if in_order and any(each is None or not each.is_available for each in pods):
        return []
    if not at_once:
        return _one(pods, strategy.partition)
    missing = sum(each is None or not each.is_available for each in pods)
    if in_order:
        old = [place for place in _from_the_last(pods, strategy.partition) if _is_old(pods[place])]
        return old[: max(strategy.max_unavailable - missing, 0)]
    stuck = [
        place
        for place in _from_the_last(pods, strategy.partition)
        if (each := pods[place]) is not None and _is_old(each) and not each.is_available and not each.is_terminating
    ]
    good = [
        place
        for place in _from_the_last(pods, strategy.partition)
        if (each := pods[place]) is not None and _is_old(each) and each.is_available
    ]
    return [*stuck, *good[: max(strategy.max_unavailable - missing, 0)]]


def _one(pods: Sequence[Ordinal | None], partition: int) -> list[int]:
    """Return a list with the last old pod's index; an empty list if a pod after it is missing or not available."""
    for place in _from_the_last(pods, partition):
        each = pods[place]
        if each is not None and _is_old(each) and not each.is_terminating:
            return [place]
        if each is None or not each.is_available:
            return []
    return []


def _from_the_last(pods: Sequence[Ordinal | None], partition: int) -> range:
    return range(len(pods) - 1, partition - 1, -1)


def _is_old(each: Ordinal | None) -> bool:
    return each is not None and not each.is_new


# One step of a DaemonSet's rolling update: the nodes whose old pod is deleted, and the nodes that get a new pod next to
# the old one. Source: pkg/controller/daemon/update.go (``rollingUpdate``), and for surges ``podsShouldBeOnNode`` in
# daemon_controller.go.


@dataclass(frozen=True, slots=True)
class OnNode:
    """A DaemonSet's pods on a node, except terminating pods.

    Attributes:
        new: whether the node's pod of the new revision is available; ``None`` without such a pod.
        old: whether the node's pod of an old revision is available; ``None`` without such a pod.
    """

    new: bool | None = None
    old: bool | None = None


def nodes_to_replace(nodes: Mapping[str, OnNode], strategy: Strategy) -> tuple[list[str], list[str]]:
    """Return the nodes whose old pod is deleted now, and the nodes that get a new pod next to the old one.

    ``nodes``: all nodes that should run a pod, in the order to consider; the controller's order is random.
    """
    return _surging(nodes, strategy.max_surge) if strategy.max_surge else (_going(nodes, strategy.max_unavailable), [])


def _going(nodes: Mapping[str, OnNode], most: int) -> list[str]:
    """Return the nodes whose old pod is deleted.

    These are the nodes of all unavailable old pods, then as many available old pods as maxUnavailable (``most``)
    allows.
    """
    unavailable = 0
    stuck: list[str] = []
    candidates: list[str] = []
    for name, each in nodes.items():
        if (each.new is None) == (each.old is None):  # no pod, or one of each revision
            unavailable += 1
        elif each.new is not None:
            unavailable += not each.new
        elif not each.old:
            stuck.append(name)
            unavailable += 1
        elif unavailable < most:
            candidates.append(name)
    return [*stuck, *candidates[: max(most - unavailable, 0)]]


def _surging(nodes: Mapping[str, OnNode], most: int) -> tuple[list[str], list[str]]:
    """Return (nodes whose old pod is deleted, nodes that get a new pod). ``most``: maxSurge.

    An old pod is deleted if the node has a new pod, and the new pod is available or the old pod is not.
    """
    surging = 0
    going: list[str] = []
    stuck: list[str] = []
    candidates: list[str] = []
    for name, each in nodes.items():
        if each.old is None:
            continue
        if each.new is None:
            if not each.old:
                stuck.append(name)
            elif surging < most:
                candidates.append(name)
        elif each.new or not each.old:
            going.append(name)
        else:
            surging += 1
    return going, [*stuck, *candidates[: max(most - surging, 0)]]
