"""Work that kubelets have not done yet in a drill: pods to start and deleted pods to end.

`drill_state` applies the effects.
"""

from __future__ import annotations

from collections.abc import Callable

from topospread.cluster.cluster import PodKey

from .pods import FollowedPod
from .random_choices import RandomChoices


class Kubelets:
    """Kubelets, which act only when controllers and kube-scheduler are idle.

    Attributes:
        starting: pods with a node that are not ready yet.
        ending: deleted pods that still use their resources.
    """

    def __init__(self, draws: RandomChoices) -> None:
        self.starting: dict[PodKey, FollowedPod] = {}
        self.ending: list[FollowedPod] = []
        self._draws = draws

    def act(self, ended: Callable[[FollowedPod], None], started: Callable[[FollowedPod], None]) -> bool:
        """End deleted pods and start new ones, in some runs only a few new ones. Return whether any changed."""
        ending, self.ending = self.ending, []
        for pod in ending:
            ended(pod)
        starting = self._draws.started(self.starting.values())
        for pod in starting:
            del self.starting[pod.key]
            started(pod)
        return bool(starting or ending)
