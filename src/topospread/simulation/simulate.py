"""Simulation of an inventory: pods of controllers are queued and placed one by one, as kube-scheduler would.

This is the way through, not the rules: pods come from `workloads`, decisions from `scheduling`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from topospread.api.inventory import Inventory
from topospread.api.pools import NodePool
from topospread.config.gates import Gates
from topospread.config.profile import Configuration
from topospread.errors import UsageError
from topospread.simulation import Simulation
from topospread.simulation.aftermath import inventory_after
from topospread.simulation.outcome import result_of
from topospread.simulation.placing import Progress, place_all
from topospread.simulation.run import Run, Sampling, SimulationOptions, prepare
from topospread.simulation.scaling import scaled_up
from topospread.simulation.unknown import bracketed, has_open_pods
from topospread.sources.inputs import Input, inventory_of
from topospread.workloads.autoscaling import AutoscaleChoice


def simulate(  # noqa: PLR0913 - keyword arguments of the public API
    inputs: Input,
    *,
    cluster: str | None = None,
    config: Configuration | str | os.PathLike[str] | None = None,
    scale: Mapping[str, int] | None = None,
    seed: int | None = None,
    kube_version: str = "1.37",
    gates: Gates | None = None,
    apiserver_gates: Gates | None = None,
    run_cron_jobs: Collection[str] = (),
    preemption: bool = True,
    sampling: Sampling = "all",
    autoscale: AutoscaleChoice = "keep",
    watch: Collection[str] = (),
    keep_after: bool = False,
    pools: Sequence[NodePool] = (),
    progress: Progress | None = None,
) -> Simulation:
    """Place every pod that the inventory's workloads still want, and say where each landed or why it could not.

    Args:
        inputs: what was read (`topospread.load`), which is not changed, or the paths to read.
        cluster: beside paths: a made-up cluster, ``zones=3,nodes=12,cpu=8,memory=32Gi``, or a file that holds one.
        config: kube-scheduler's configuration, or its file; by default that of a kube-scheduler without a file.
        scale: ``deploy/web`` → replicas, in place of what the manifest says.
        seed: draw among equals where the version's kube-scheduler does; by default the first by name is taken.
        kube_version: the Kubernetes version to act as.
        gates: kube-scheduler's feature gates; by default the version's.
        apiserver_gates: the API server's, which decide what fields its objects keep; by default the version's.
        run_cron_jobs: names of CronJobs of which one run is simulated.
        preemption: evict less important pods for a pod that fits nowhere else.
        sampling: ``kube`` compares the pods on as many nodes as kube-scheduler is content with, in its order, as it
            does from 100 nodes up; by default on all of them.
        autoscale: replicas of what a HorizontalPodAutoscaler scales: brought within its bounds, or at either of them.
        watch: ``namespace/name`` of pods on which the whole verdicts are kept, as things stood when each was tried.
        keep_after: give the cluster as it is then, too (`Simulation.after`).
        pools: pools of nodes that an autoscaler grows for pods that find no node.
        progress: told how many pods of how many were tried.

    Raises:
        InputError: an object that the API server would refuse, or a path that cannot be read.
        UsageError: ``scale`` or ``run_cron_jobs`` names what is not there, or ``sampling`` or ``autoscale`` is
            none of what it may be.
    """
    if sampling not in get_args(Sampling):
        raise UsageError(f"sampling {sampling!r}: use 'all' or 'kube'")
    if autoscale not in get_args(AutoscaleChoice):
        raise UsageError(f"autoscale {autoscale!r}: use 'keep', 'min' or 'max'")
    options = replace(
        SimulationOptions.of_version(kube_version, config, gates, apiserver_gates),
        scale=scale,
        seed=seed,
        run_cron_jobs=run_cron_jobs,
        preemption=preemption,
        sampling=sampling,
        autoscale=autoscale,
        watch=watch,
        pools=pools,
    )
    inventory = inventory_of(inputs, cluster, options.apiserver_gates)
    run = prepare(inventory, options)
    result = _result(run, progress)
    result = judged(result, inventory, options, progress)
    result = replace(result, begun=None if pools else (inventory, options))
    return replace(result, after=inventory_after(run)) if keep_after else result


def judged(
    result: Simulation, inventory: Inventory, options: SimulationOptions, progress: Progress | None = None
) -> Simulation:
    """Return a simulation with what it cannot know, if it has pods that topospread does not judge."""
    if not has_open_pods(result):
        return result
    return bracketed(result, _result(prepare(inventory, replace(options, assumes_unjudged=True)), progress))


def _result(run: Run, progress: Progress | None) -> Simulation:
    """Place the pods of a run, on more nodes if it has pools."""
    if run.options.pools:
        return scaled_up(run, progress)
    place_all(run, progress)
    return result_of(run)
