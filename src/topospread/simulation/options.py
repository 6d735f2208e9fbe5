"""The options of a question; what only reads the command line and files needs nothing of the engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from topospread.api.pools import NodePool
from topospread.config.gates import Gates, gates_for
from topospread.config.profile import Configuration
from topospread.config.versions import NEWEST
from topospread.workloads.autoscaling import AutoscaleChoice
from topospread.workloads.control_plane import ControlPlane

Sampling = Literal["all", "kube"]
"""How many nodes a pod is compared on: all of them, or as many as kube-scheduler is content with."""


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """The options of a question: the control plane, and how pods are placed.

    Attributes:
        config: kube-scheduler's configuration; by default that of a kube-scheduler without a file.
        scale: ``deploy/web`` → replicas, in place of what the manifest says.
        seed: draw among equals where the version's kube-scheduler does; by default the first by name is taken.
        kube_version: the Kubernetes version to act as.
        gates, apiserver_gates: feature gates of kube-scheduler and of the API server; by default the version's.
        run_cron_jobs: names of CronJobs of which one run is simulated.
        preemption: evict less important pods for a pod that fits nowhere else.
        sampling: ``kube`` compares pods on as many nodes as kube-scheduler is content with, in its order.
        autoscale: replicas of what a HorizontalPodAutoscaler scales: brought within its bounds, or at either of them.
        watch: ``namespace/name`` of pods on which the whole verdicts are kept, as things stood when each was tried.
        draws: draw among equal nodes, with ``seed``, also where the version's kube-scheduler does not.
        one_of_many: other orders of the pods are tried as well, so that nobody has to be told that they may matter.
        pools: pools of nodes that grow for pods that find no node (`scaling`).
        assumes_unjudged: place pods as if filters that topospread does not model let every node pass.
        tries_groups: try the pods of a PodGroup together; without it they are not judged.
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

    @property
    def in_force(self) -> tuple[Gates, Gates]:
        """Gates of kube-scheduler and of the API server."""
        apiserver = self.apiserver_gates or gates_for(self.kube_version, component="apiserver")
        return self.gates or gates_for(self.kube_version), apiserver

    @property
    def lets_compare(self) -> bool:
        """True if the API server lets tolerations use the operators Lt and Gt."""
        return self.in_force[1].enabled("TaintTolerationComparisonOperators")

    @property
    def answered_by(self) -> SimulationOptions:
        """For a further question that is to be answered by the same configuration, version and gates."""
        return SimulationOptions(
            self.config, kube_version=self.kube_version, gates=self.gates, apiserver_gates=self.apiserver_gates
        )

    def control_plane(self, scheduler: Gates, scheduler_names: Collection[str]) -> ControlPlane:
        """The API server and the schedulers that the pods go through."""
        return ControlPlane(self.in_force[1], scheduler, scheduler_names)


PLAIN = SimulationOptions()
"""The newest version as it is by default."""
