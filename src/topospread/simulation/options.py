"""The options of a simulation. Readers of the command line and files import them without the engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from topospread.api.pools import NodePool
from topospread.config.gates import Gates, gates_for
from topospread.config.profile import Configuration
from topospread.config.versions import NEWEST
from topospread.controllers.autoscaling import AutoscaleChoice
from topospread.controllers.control_plane import ControlPlane

Sampling = Literal["all", "kube"]
"""Nodes to consider for a pod: all nodes, or the sample that kube-scheduler considers."""


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """The options of a simulation: the control plane, and how pods are placed.

    Attributes:
        config: kube-scheduler's configuration; its defaults if ``None``.
        scale: ``deploy/web`` → replicas that replace those of the manifest.
        seed: seed of draws among nodes with equal scores in versions that draw; ``None`` takes the first by name.
        kube_version: Kubernetes version to simulate.
        gates, apiserver_gates: feature gates of kube-scheduler and of the API server; the version's by default.
        run_cron_jobs: names of CronJobs to run once.
        preemption: whether pods may evict less important pods.
        sampling: ``kube`` considers as many nodes as kube-scheduler does, in its order.
        autoscale: replicas of workloads with a HorizontalPodAutoscaler: clamped to its bounds, or at one bound.
        watch: ``namespace/name`` of pods whose full verdict at their last attempt is kept.
        draws: whether to draw among nodes with equal scores, with ``seed``, even in versions that do not.
        one_of_many: whether the caller also simulates other orders of pods, so the result needs no note on order.
        pools: node pools that grow for pending pods (`scaling`).
        assumes_unjudged: whether filters that topospread does not model accept every node.
        refuses: whether to leave out new pods that the API server denies. If False, as in drills, they are not judged.
        retries: whether controllers create pods that exceed a quota once other pods are deleted, as in a drill.
        tries_groups: whether to schedule the pods of a PodGroup together. If False, such pods are not judged.
    """

    config: Configuration | None = None
    scale: Mapping[str, int] | None = None
    seed: int | None = None
    kube_version: str = str(NEWEST)
    gates: Gates | None = None
    run_cron_jobs: Collection[str] = ()
    preemption: bool = True
    sampling: Sampling = "all"
    apiserver_gates: Gates | None = None
    autoscale: AutoscaleChoice = "keep"
    watch: Collection[str] = ()
    draws: bool = False
    one_of_many: bool = False
    pools: Sequence[NodePool] = ()
    assumes_unjudged: bool = False
    tries_groups: bool = False
    refuses: bool = True
    retries: bool = False

    @property
    def in_force(self) -> tuple[Gates, Gates]:
        """Gates of kube-scheduler and of the API server."""
        apiserver = self.apiserver_gates or gates_for(self.kube_version, component="apiserver")
        return self.gates or gates_for(self.kube_version), apiserver

    @property
    def lets_compare(self) -> bool:
        """True if the API server allows the operators Lt and Gt in tolerations."""
        return self.in_force[1].enabled("TaintTolerationComparisonOperators")

    @property
    def answered_by(self) -> SimulationOptions:
        """Options for a follow-up question: the same configuration, version and gates, and defaults elsewhere."""
        return SimulationOptions(
            self.config, kube_version=self.kube_version, gates=self.gates, apiserver_gates=self.apiserver_gates
        )

    def control_plane(self, scheduler: Gates) -> ControlPlane:
        """Return the API server and the schedulers that handle the pods."""
        return ControlPlane(self.in_force[1], scheduler, self.refuses, self.retries)


PLAIN = SimulationOptions()
"""Defaults of the newest version."""
