"""A scheduler that also keeps the full verdict of selected pods at the time of each attempt."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.cluster.cluster import pod_key

from .cycle import Placement, Scheduler
from .framework import Framework
from .verdict import Verdict


class WatchingScheduler(Scheduler):
    """A `Scheduler` that places the same pods and keeps verdicts.

    Args:
        cluster, frameworks, seed, sampled: as in `Scheduler`.
        watched: ``namespace/name`` of pods whose last verdict is kept.
    """

    def __init__(
        self,
        cluster: Cluster,
        frameworks: Mapping[str, Framework],
        seed: int | None = None,
        *,
        sampled: bool = False,
        watched: Collection[str],
    ) -> None:
        super().__init__(cluster, frameworks, seed, sampled=sampled)
        self.watched = frozenset(watched)
        self.verdicts: dict[str, Verdict] = {}

    def schedule(self, pod: Pod, name: str | None = None, nominated: str = "", *, binds: bool = True) -> Placement:
        """Choose a node for a pod and bind it there."""
        key = pod_key(pod.namespace, pod.name if name is None else name)
        if key in self.watched:
            self.verdicts[key] = self.verdict(pod, name)
        return super().schedule(pod, name, nominated, binds=binds)
