"""Find the constraints that keep pending pods off nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from topospread.controllers.planned import QueuedPod
from topospread.live.spread_figures import ConstraintOf
from topospread.plugins.interface import PluginError
from topospread.plugins.pod_topology_spread import HardConstraints, PodTopologySpread
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.verdict import Verdict

from .planned_cluster import PlannedCluster

MOST_ASKED = 200
"""Maximum number of classes of pending pods that are examined. Other pods are only counted."""
_SPREAD = PodTopologySpread.name


@dataclass(frozen=True, slots=True)
class BlockedPods:
    """The pending pods.

    Attributes:
        by: constraint → number of pods that it keeps off nodes. Several constraints may count the same pod.
        waiting: number of pending pods of the profiles, without gated pods.
        not_asked: number of pending pods that were not examined.
        unjudged: part that topospread does not model, such as ``resourceClaims`` → number of pods that may be pending
            only because of it.
    """

    by: Mapping[ConstraintOf, int] = field(default_factory=dict)
    waiting: int = 0
    not_asked: int = 0
    unjudged: Mapping[str, int] = field(default_factory=dict)


def blocked_by(planned_cluster: PlannedCluster) -> BlockedPods:
    """Return the constraints that keep pods pending now.

    A constraint keeps a pod off a node if it is the first filter to reject the node
    (pkg/scheduler/framework/runtime, ``RunFilterPlugins``: only the first rejection is reported).
    """
    planned_cluster.cluster.objects.devices.refill()
    alike: dict[tuple[tuple[int, str], str], list[QueuedPod]] = {}
    for queued in planned_cluster.pending():
        key = planned_cluster.cluster.shared_class(queued.pod).key
        alike.setdefault((key, f"{queued.workload.kind}/{queued.workload.name}"), []).append(queued)
    found: Counter[ConstraintOf] = Counter()
    unjudged: Counter[str] = Counter()
    not_asked = 0
    for number, ((_, workload), pods) in enumerate(alike.items()):
        if number >= MOST_ASKED:
            not_asked += len(pods)
            continue
        verdict = planned_cluster.scheduler.verdict(pods[0].pod, pods[0].name)
        if verdict.error:
            unjudged.update(dict.fromkeys({each.what for each in verdict.unjudged}, len(pods)))
            continue
        for topology_key in _keys_against(planned_cluster.scheduler, pods[0], verdict):
            found[ConstraintOf(pods[0].namespace, workload, topology_key, "DoNotSchedule")] += len(pods)
    return BlockedPods(dict(found), sum(map(len, alike.values())), not_asked, dict(unjudged))


def _keys_against(scheduler: Scheduler, queued: QueuedPod, verdict: Verdict) -> list[str]:
    """Return the topology keys of constraints that reject a node; empty if a node is feasible."""
    by_spread = [number for number, each in enumerate(verdict.rejections) if each.plugin == _SPREAD]
    if not by_spread or (verdict.blame < 0).any():
        return []
    try:
        prepared = scheduler.view(scheduler.cluster.shared_class(queued.pod)).plugins.prepared[_SPREAD]
    except PluginError:
        return []
    if not isinstance(prepared.filter, HardConstraints):
        return []
    nodes = scheduler.cluster.nodes
    rows = np.flatnonzero(nodes.alive[: nodes.size])[np.isin(verdict.blame, by_spread)]
    return list(dict.fromkeys(each.constraint.topology_key for each in prepared.filter.first_to_reject(rows)))
