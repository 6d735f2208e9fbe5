"""Pending work of kubelets in a drill: pods to start and deleted pods to end. `world` applies the effects."""

from __future__ import annotations

from collections.abc import Callable

from topospread.cluster.cluster import PodKey

from .draws import Draws
from .pods import FollowedPod


class Kubelets:
    """Kubelets act when controllers and kube-scheduler, who are faster, have nothing else to do.

    Attributes:
        starting: pods that have a node and are not ready yet.
        ending: deleted pods that hold what they have until then.
    """

    def __init__(self, draws: Draws) -> None:
        self.starting: dict[PodKey, FollowedPod] = {}
        self.ending: list[FollowedPod] = []
        self._draws = draws

    def act(self, ended: Callable[[FollowedPod], None], started: Callable[[FollowedPod], None]) -> bool:
        """Let pods end, and start: all, or, in some of the drills alike, some; whether there were any."""
        ending, self.ending = self.ending, []
        for pod in ending:
            ended(pod)
        starting = self._draws.started(self.starting.values())
        for pod in starting:
            del self.starting[pod.key]
            started(pod)
        return bool(starting or ending)
