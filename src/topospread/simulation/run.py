"""A simulation in progress: its options, plan, cluster, and the outcome of each pod."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace as with_fields

import msgspec

from topospread.admission.dropped_fields import unused_sentences
from topospread.api.inventory import Inventory
from topospread.api.node import Node
from topospread.api.pools import at_least
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import pod_key
from topospread.config.gates import Gates, gates_known
from topospread.config.load import default_configuration
from topospread.config.profile import Configuration
from topospread.config.request_rules import request_rules
from topospread.controllers.planned import Plan, QueuedPod, Workload
from topospread.controllers.planner import plan
from topospread.plugins.interface import NotJudgedError, PluginError
from topospread.plugins.pod_topology_spread import PodTopologySpread
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, arithmetic_as_counted, spread_arithmetic
from topospread.plugins.spread_counts import Spread
from topospread.plugins.volume_controller import VolumeController
from topospread.scheduling.cycle import Placement, Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.preemption import Preemption
from topospread.scheduling.sampling import nodes_to_find
from topospread.scheduling.topology_labels import GATE, TopologyLabels, selects_by_topology
from topospread.scheduling.verdict import Verdict
from topospread.scheduling.watching import WatchingScheduler
from topospread.text import listed

from .budgets import KeepsBudgets, complete_budgets
from .options import SimulationOptions
from .result import EvictedPod

POD_GROUPS = "GenericWorkload"
"""Gate with which kube-scheduler tries the pods of a PodGroup together."""


class PodOutcome(msgspec.Struct):
    """The result for one queued pod.

    Attributes:
        verdict: last verdict on a pending pod; ``None`` for a pod with a node or before its first attempt.
        preemption: result of preemption, if it ran.
        stamp: journal stamp of the cluster at the last attempt.
        evicted: whether it was placed and then preempted.
        nominated: node on which pods were preempted for it; "" without one.
        preempted: number of preemptions for it.
        unjudged: parts that topospread does not model, if in some attempt all modelled filters accepted a node.
    """

    placement: Placement
    verdict: Verdict | None = None
    preemption: Preemption | None = None
    stamp: int = -1
    evicted: bool = False
    nominated: str = ""
    preempted: int = 0
    unjudged: tuple[NotJudgedError, ...] = ()

    @property
    def pending(self) -> bool:
        """True if the pod has no node."""
        return self.placement.node is None

    def message_of(self, pod: str) -> str:
        """Return the message, with the given pod's name in place of the pod for which the verdict was computed."""
        message = self.placement.message
        return message if self.verdict is None else message.replace(f'pod "{self.verdict.pod}"', f'pod "{pod}"')

    @property
    def is_plain(self) -> bool:
        """True if the pod found no node, was not evicted, and no pod was evicted for it."""
        return self.placement.node is None and not (self.evicted or self.nominated or self.preempted)


class Run(msgspec.Struct):
    """A simulation in progress.

    Attributes:
        queue: pods to place; pods that controllers recreate after an eviction are appended.
        outcomes: outcomes by ``id`` of the queued pod.
        placed_here: pod key → queued pod, for pods that the run placed.
        placements: keys of placed pods in order, including pods that were evicted later.
        before: result of `spreads` before any pod was removed or placed.
        owners: pod key → workload, for pods that existed before the run.
        budgets: PodDisruptionBudgets, updated after evictions and placements; ``None`` before pods are placed.
    """

    plan: Plan
    scheduler: Scheduler
    options: SimulationOptions
    queue: list[QueuedPod] = []
    outcomes: dict[int, PodOutcome] = {}
    evictions: list[EvictedPod] = []
    placed_here: dict[str, QueuedPod] = {}
    placements: list[str] = []
    owners: dict[str, Workload] = {}
    before: dict[int, tuple[ConstraintArithmetic, ...]] = {}
    created_anew: int = 0
    budgets: KeepsBudgets | None = None

    @property
    def cluster(self) -> Cluster:
        """Cluster that the pods are placed on."""
        return self.scheduler.cluster

    def outcome(self, queued: QueuedPod) -> PodOutcome | None:
        """Return the result for a pod; ``None`` before its first attempt."""
        return self.outcomes.get(id(queued))


def note_placed(run: Run, queued: QueuedPod, key: str) -> None:
    """Record that a queued pod has a node."""
    run.placed_here[key] = queued
    run.placements.append(key)


def repeated(last: PodOutcome, run: Run, queued: QueuedPod) -> PodOutcome | None:
    """Return the outcome of a pod that is rejected like ``last``; ``None`` if the pod must be scheduled.

    ``last``: outcome of the last rejected pod of the class. If the pod already has an outcome with the same message,
    update and return that outcome.
    """
    if run.cluster.nominated and run.cluster.nominated_node(pod_key(queued.namespace, queued.name)):
        return None
    before = run.outcome(queued)
    if before is not None and before.is_plain and before.placement.message == last.placement.message:
        before.verdict, before.preemption, before.stamp = last.verdict, last.preemption, last.stamp
        before.unjudged = last.unjudged or before.unjudged
        return before
    placement = Placement(pod_key(queued.namespace, queued.name), None, message=last.placement.message)
    unjudged = last.unjudged or (before.unjudged if before is not None else ())
    return PodOutcome(placement, last.verdict, last.preemption, last.stamp, unjudged=unjudged)


def prepare(inventory: Inventory, options: SimulationOptions, *, with_spreads: bool = True) -> Run:
    """Return a run: the cluster before any placement, after scale-downs, and the pods to place.

    ``with_spreads``: whether to record the workloads' spread before the run.
    """
    configuration = options.config or default_configuration(options.kube_version, options.gates)
    gates, _ = options.in_force
    if options.pools:
        inventory = with_fields(inventory, nodes=at_least(inventory.nodes, options.pools))
    planned = plan(
        inventory,
        scale=options.scale,
        run_cron_jobs=options.run_cron_jobs,
        autoscale=options.autoscale,
        control_plane=options.control_plane(gates),
    )
    planned.warnings += [*configuration.warnings, *unused_sentences(planned.unused, gates.kube_version)]
    if inventory.pod_groups and not gates.enabled(POD_GROUPS):
        names = listed([f"{each.namespace}/{each.name}" for each in inventory.pod_groups], 3)
        on = f"; --feature-gates {POD_GROUPS}=true turns it on" if POD_GROUPS in gates_known(gates.kube_version) else ""
        planned.warnings.append(f"{names}: a PodGroup has no effect, because the gate {POD_GROUPS} is off{on}")
    frameworks = {
        profile.scheduler_name: Framework(
            profile, gates, assumes_unjudged=options.assumes_unjudged, tries_groups=options.tries_groups
        )
        for profile in configuration.profiles
    }
    sampled = options.sampling == "kube"
    cluster = cluster_of(planned, gates)
    scheduler = (
        WatchingScheduler(cluster, frameworks, options.seed, sampled=sampled, watched=options.watch)
        if options.watch
        else Scheduler(cluster, frameworks, options.seed, sampled=sampled, always_draws=options.draws)
    )
    if sampled:
        planned.notes += _sampling_notes(configuration, len(scheduler.cluster.nodes))
    _label_bound_pods(planned, scheduler, options)
    if options.preemption:
        complete_budgets(planned, scheduler.cluster)
    run = Run(planned, scheduler, options, queue=list(planned.queue))
    if with_spreads:
        run.before = spreads(run)
    for pod in planned.removed:
        if pod.spec.node_name:
            run.cluster.delete_pod(pod_key(pod.namespace, pod.name))  # the pod's node may be missing
    for workload in planned.workloads:
        run.owners.update((f"{pod.namespace}/{pod.name}", workload) for pod in workload.existing)
    for queued in run.queue:
        if queued.pod.nominated_node_name:
            key = f"{queued.namespace}/{queued.name}"
            run.cluster.nominate(key, run.cluster.shared_class(queued.pod), queued.pod.nominated_node_name)
    return run


def _label_bound_pods(planned: Plan, scheduler: Scheduler, options: SimulationOptions) -> None:
    """Let binding add zone and region labels to pods, if the API server does so and a selector reads them."""
    cluster = scheduler.cluster
    if options.in_force[1].enabled(GATE):
        distinct = {id(each.pod): each.pod for each in planned.queue}
        templates = [each.template for each in planned.workloads if each.template is not None]
        pods = (*distinct.values(), *templates, *(each.pod for each in cluster.classes.values()))
        if selects_by_topology(pods, cluster.objects):
            scheduler.topology_labels = TopologyLabels(cluster)


def _sampling_notes(configuration: Configuration, nodes: int) -> list[str]:
    """Return notes on sampling: one for each number of feasible nodes at which a profile's search ends."""
    notes: dict[int, list[str]] = {}
    for profile in configuration.profiles:
        wanted = nodes_to_find(nodes, profile.percentage_of_nodes_to_score)
        notes.setdefault(wanted, []).append(profile.scheduler_name)
    several = len(notes) > 1
    return [
        f"sampling: {'all' if wanted == nodes else f'only the first {wanted} feasible nodes'} of {nodes} are scored"
        + (f" for {', '.join(names)}" if several else "")
        for wanted, names in notes.items()
    ]


def spreads(run: Run, of: Iterable[Workload] | None = None) -> dict[int, tuple[ConstraintArithmetic, ...]]:
    """Return ``id`` of a workload → current counts of its constraints. ``of``: the workloads; all by default."""
    result = {}
    for workload in run.plan.workloads if of is None else of:
        if workload.template is None:
            continue
        try:
            result[id(workload)] = spread_of(run.scheduler, run.cluster.shared_class(workload.template))
        except PluginError:
            continue  # invalid selector: the outcomes of the workload's queued pods report it
    return result


def spread_of(scheduler: Scheduler, pod_class: PodClass) -> tuple[ConstraintArithmetic, ...]:
    """Return the current counts of a class's constraints; empty if its profile has no PodTopologySpread.

    Raises:
        PluginError: if a selector is invalid.
    """
    view = scheduler.views.known(scheduler.framework_of(pod_class), pod_class)
    if view is not None and (prepared := view.plugins.prepared.get("PodTopologySpread")) is not None:
        return arithmetic_as_counted(prepared.watcher) if isinstance(prepared.watcher, Spread) else ()
    plugin = scheduler.framework_of(pod_class).plugins.get("PodTopologySpread")
    return spread_arithmetic(plugin, pod_class, scheduler.cluster) if isinstance(plugin, PodTopologySpread) else ()


def cluster_of(planned: Plan, gates: Gates) -> Cluster:
    """Return the cluster of a plan: nodes, pods (also those that a scale-down removes) and other objects."""
    cluster = Cluster(request_rules(gates))
    inventory = planned.inventory
    for node in inventory.nodes:
        cluster.add_node(as_served(node))
    cluster.objects.add(inventory.objects())
    cluster.objects.unread = inventory.unread
    cluster.objects.assume_claims(planned.assumed_claims)
    VolumeController(cluster, attributes_classes=gates.enabled("VolumeAttributesClass")).begin()
    for pod in (*planned.bound, *planned.removed):
        cluster.add_pod(pod)
    return cluster


def as_served(node: Node) -> Node:
    """Return the node as the API server stores it: a missing allocatable is capacity (``SetDefaults_NodeStatus``)."""
    if node.status.allocatable is not None or node.status.capacity is None:
        return node
    return msgspec.structs.replace(node, status=msgspec.structs.replace(node.status, allocatable=node.status.capacity))
