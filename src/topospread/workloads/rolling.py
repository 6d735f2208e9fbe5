"""One step of a Deployment's rolling update: how many pods are created, how many old ones go; which, `removal` says.

Sources: pkg/controller/deployment/rolling.go (``reconcileOldReplicaSets``, ``cleanupUnhealthyReplicas``,
``scaleDownOldReplicaSetsForRollingUpdate``), pkg/controller/deployment/util/deployment_util.go (``NewRSNewReplicas``).
"""

from __future__ import annotations

import msgspec

from topospread.api.rollout import Strategy


class Standing(msgspec.Struct, frozen=True):
    """The state of a rolling update: pods of the new revision and of old ones, available and not."""

    replicas: int
    new_available: int
    new_unavailable: int
    old_available: int
    old_unavailable: int

    @property
    def new(self) -> int:
        """Pods of the new revision."""
        return self.new_available + self.new_unavailable

    @property
    def old(self) -> int:
        """Pods of old revisions."""
        return self.old_available + self.old_unavailable

    @property
    def is_over(self) -> bool:
        """True if the update is complete."""
        return not self.old and self.new_available == self.replicas


def to_create(standing: Standing, strategy: Strategy) -> int:
    """Return how many pods of the new revision are created now."""
    allowed = standing.replicas + strategy.max_surge - standing.new - standing.old
    return max(min(allowed, standing.replicas - standing.new), 0)


def to_remove(standing: Standing, strategy: Strategy) -> tuple[int, int]:
    """Return how many old pods are removed now: of the unavailable ones, and of the others."""
    least = standing.replicas - strategy.max_unavailable
    most = standing.new + standing.old - least - standing.new_unavailable
    if most <= 0:
        return 0, 0
    available = standing.new_available + standing.old_available - least
    return min(most, standing.old_unavailable), min(max(available, 0), standing.old_available)
