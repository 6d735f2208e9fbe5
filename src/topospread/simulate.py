"""Where the pods of an inventory land: controllers' pods are queued and placed one by one, as kube-scheduler would.

This is the way through, not the rules: pods come from `workloads`, decisions from `scheduling`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.requests import RequestRules
from topospread.cluster import Cluster
from topospread.config.gates import Gates, gates_for
from topospread.config.load import default_configuration
from topospread.config.profile import Configuration
from topospread.pending import MatchingBinds, pending_group
from topospread.plugins.pod_topology_spread import PodTopologySpread
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, spread_arithmetic
from topospread.scheduling.cycle import Placement, Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.verdict import Verdict
from topospread.simulation import (
    DomainSpread,
    PendingGroup,
    PodPlacement,
    Simulation,
    WorkloadResult,
    WorkloadSpread,
)
from topospread.workloads.plan import plan
from topospread.workloads.planned import Plan, QueuedPod, Workload

Progress = Callable[[int, int], None]
"""Told how many pods of how many were tried."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a simulation is run; the fields are `simulate`'s arguments."""

    config: Configuration | None = None
    scale: Mapping[str, int] | None = None
    seed: int | None = None
    kube_version: str = "1.37"
    gates: Gates | None = None
    run_cron_jobs: Collection[str] = ()


@dataclass(slots=True)
class _Outcome:
    """What became of one queued pod; ``verdict`` is there while it is pending and was judged."""

    placement: Placement
    verdict: Verdict | None = None
    position: int = -1


@dataclass(slots=True)
class Run:
    """A simulation under way: the plan, the cluster it is carried out on, and what became of each pod."""

    plan: Plan
    scheduler: Scheduler
    outcomes: dict[int, _Outcome] = field(default_factory=dict)

    @property
    def cluster(self) -> Cluster:
        """The state the pods are placed on."""
        return self.scheduler.cluster


def simulate(  # noqa: PLR0913 - keyword arguments of the public API
    inventory: Inventory,
    *,
    config: Configuration | None = None,
    scale: Mapping[str, int] | None = None,
    seed: int | None = None,
    kube_version: str = "1.37",
    gates: Gates | None = None,
    run_cron_jobs: Collection[str] = (),
    progress: Progress | None = None,
) -> Simulation:
    """Place every pod that the inventory's workloads still want, and say where each landed or why it could not.

    Args:
        inventory: what was read (`topospread.load`); it is not changed.
        config: kube-scheduler's configuration; by default that of a kube-scheduler without a file.
        scale: ``deploy/web`` → replicas, in place of what the manifest says.
        seed: draw among equally good nodes; by default the first by name is taken.
        kube_version: the Kubernetes version to act as.
        gates: kube-scheduler's feature gates; by default the version's.
        run_cron_jobs: names of CronJobs of which one run is simulated.

    Raises:
        InputError: an object that the API server would refuse.
        UsageError: ``scale`` or ``run_cron_jobs`` names what is not there.
    """
    run = prepare(inventory, Options(config, scale, seed, kube_version, gates, run_cron_jobs))
    before = spreads(run)
    place_all(run, progress)
    return _result(run, before)


def prepare(inventory: Inventory, options: Options) -> Run:
    """The cluster as it is before anything is placed, and the pods to place."""
    configuration = options.config or default_configuration(options.kube_version, options.gates)
    gates = options.gates or gates_for(options.kube_version)
    planned = plan(
        inventory,
        scale=options.scale,
        run_cron_jobs=options.run_cron_jobs,
        kube_version=options.kube_version,
        scheduler_names=[profile.scheduler_name for profile in configuration.profiles],
    )
    planned.warnings += configuration.warnings
    frameworks = {profile.scheduler_name: Framework(profile, gates) for profile in configuration.profiles}
    return Run(planned, Scheduler(cluster_of(planned, gates), frameworks, options.seed))


def cluster_of(planned: Plan, gates: Gates) -> Cluster:
    """The columnar state of what is there: nodes, pods on them, and the objects that plugins look up."""
    cluster = Cluster(request_rules(gates))
    inventory = planned.inventory
    for node in inventory.nodes:
        cluster.add_node(as_served(node))
    cluster.objects.add(inventory.objects())
    cluster.objects.assumed_claims |= planned.assumed_claims
    for pod in planned.bound:
        cluster.add_pod(pod)
    return cluster


def as_served(node: Node) -> Node:
    """The node as the API server would have it: without allocatable, its capacity is (``SetDefaults_NodeStatus``)."""
    if node.status.allocatable is not None or node.status.capacity is None:
        return node
    return msgspec.structs.replace(node, status=msgspec.structs.replace(node.status, allocatable=node.status.capacity))


def request_rules(gates: Gates) -> RequestRules:
    """How requests are counted under these gates."""
    return RequestRules(
        sidecars=gates.enabled("SidecarContainers"),
        pod_level=gates.enabled("PodLevelResources"),
        status=gates.enabled("InPlacePodVerticalScaling"),
        pod_level_status=gates.enabled("InPlacePodLevelResourcesVerticalScaling"),
    )


def place_all(run: Run, progress: Progress | None = None) -> None:
    """Try every pod of the queue in its order, then again those that a pod placed since might help.

    kube-scheduler tries a pending pod again when something happens that a plugin which rejected it waits for.
    """
    queue = run.plan.queue
    for i, queued in enumerate(queue):
        _try(run, queued)
        if progress is not None:
            progress(i + 1, len(queue))
    binds = MatchingBinds(run.scheduler)
    again = True
    while again:
        again = False
        for queued in queue:
            outcome = run.outcomes[id(queued)]
            if outcome.placement.node is not None:
                continue
            waits = queued.after is not None and outcome.verdict is None
            if waits or binds.may_help(queued.pod, outcome.verdict, outcome.position):
                _try(run, queued)
                again = again or run.outcomes[id(queued)].placement.node is not None


def _try(run: Run, queued: QueuedPod) -> None:
    before = run.outcomes.get(id(queued.after)) if queued.after is not None else None
    if queued.after is not None and (before is None or before.placement.node is None):
        message = f"not created: its StatefulSet waits for {queued.after.name}, which is pending"
        run.outcomes[id(queued)] = _Outcome(Placement(f"{queued.namespace}/{queued.name}", None, message=message))
        return
    placement = run.scheduler.schedule(queued.pod, queued.name)
    verdict = None
    if placement.node is None:
        verdict = run.scheduler.pending_verdict(queued.pod, queued.name)
    run.outcomes[id(queued)] = _Outcome(placement, verdict, run.cluster.journal.position)


def spreads(run: Run) -> dict[int, tuple[ConstraintArithmetic, ...]]:
    """The arithmetic of each workload's constraints as the cluster now is, by the workload's ``id``."""
    result = {}
    for workload in run.plan.workloads:
        if workload.template is None:
            continue
        pod_class = run.cluster.shared_class(workload.template)
        plugin = run.scheduler.framework_of(pod_class).plugins.get("PodTopologySpread")
        if isinstance(plugin, PodTopologySpread):
            result[id(workload)] = spread_arithmetic(plugin, pod_class, run.cluster)
    return result


def _result(run: Run, before: Mapping[int, tuple[ConstraintArithmetic, ...]]) -> Simulation:
    after = spreads(run)
    planned = run.plan
    placements = [_placement(queued, run.outcomes[id(queued)].placement) for queued in planned.queue]
    placements += [_placement(queued, _gated(queued)) for queued in planned.gated]
    missing = Counter(
        id(queued.workload) for queued in planned.queue if run.outcomes[id(queued)].placement.node is None
    )
    missing.update(id(queued.workload) for queued in planned.gated)
    new = Counter(id(queued.workload) for queued in planned.queue)
    workloads = [
        _workload(each, new[id(each)], missing[id(each)], _spread(before.get(id(each), ()), after.get(id(each), ())))
        for each in planned.workloads
    ]
    return Simulation(
        placements=tuple(placements),
        workloads=tuple(workloads),
        pending=tuple(_pending(run)),
        nodes=len(run.cluster.nodes),
        skipped=planned.inventory.skipped,
        foreign=planned.foreign,
        removed={f"{pod.namespace}/{pod.name}": pod.spec.node_name or "" for pod in planned.removed},
        warnings=(*planned.inventory.warnings, *planned.warnings),
        notes=(*planned.inventory.notes, *planned.notes),
    )


def _placement(queued: QueuedPod, placement: Placement) -> PodPlacement:
    return PodPlacement(
        namespace=queued.namespace,
        name=queued.name,
        workload=f"{queued.workload.kind}/{queued.workload.name}",
        node=placement.node,
        message=placement.message,
        score=placement.score,
    )


def _gated(queued: QueuedPod) -> Placement:
    gates = ", ".join(gate.name for gate in queued.pod.spec.scheduling_gates or ())
    return Placement(f"{queued.namespace}/{queued.name}", None, message=f"waits for its scheduling gates: {gates}")


def _workload(workload: Workload, new: int, missing: int, spread: tuple[WorkloadSpread, ...]) -> WorkloadResult:
    existing = len(workload.existing)
    return WorkloadResult(
        kind=workload.kind,
        namespace=workload.namespace,
        name=workload.name,
        replicas=workload.replicas,
        existing=existing,
        placed=existing + new - min(missing, new),
        pending=missing,
        spread=spread,
        notes=tuple(workload.notes),
    )


def _spread(
    before: Iterable[ConstraintArithmetic], after: Iterable[ConstraintArithmetic]
) -> tuple[WorkloadSpread, ...]:
    result = []
    for was, now in zip(before, after, strict=True):
        earlier = {domain.name: domain.matching for domain in was.domains}
        result.append(
            WorkloadSpread(
                topology_key=now.topology_key,
                when_unsatisfiable=now.when_unsatisfiable,
                max_skew=now.max_skew,
                origin=now.origin,
                skew=now.skew,
                domains=tuple(
                    DomainSpread(each.name, earlier.get(each.name, 0), each.matching, each.nodes)
                    for each in now.domains
                ),
                arithmetic=now,
            )
        )
    return tuple(result)


def _pending(run: Run) -> list[PendingGroup]:
    """Pending pods of one workload with one message, together, in queue order."""
    groups: dict[tuple[int, str], tuple[Workload, list[str], Verdict | None, Pod]] = {}
    for queued in run.plan.queue:
        outcome = run.outcomes[id(queued)]
        if outcome.placement.node is None:
            key = (id(queued.workload), outcome.placement.message)
            groups.setdefault(key, (queued.workload, [], outcome.verdict, queued.pod))[1].append(queued.name)
    for queued in run.plan.gated:
        key = (id(queued.workload), _gated(queued).message)
        groups.setdefault(key, (queued.workload, [], None, queued.pod))[1].append(queued.name)
    return [
        pending_group(workload, tuple(names), message, verdict, run.cluster)
        for (_, message), (workload, names, verdict, _pod) in groups.items()
    ]
