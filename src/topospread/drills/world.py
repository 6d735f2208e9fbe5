"""A cluster in time: pods come and go, controllers create them anew, kube-scheduler's queue places them.

What happens to nodes, and why pods have to go, is decided by the modules of the steps; here time passes, and what they
do takes its course. Sources of what controllers do: the planners of `workloads`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace as with_fields

from msgspec.structs import replace

from topospread.api.inventory import Inventory
from topospread.api.node import Node
from topospread.cluster import Cluster
from topospread.cluster.cluster import pod_key
from topospread.simulation.options import SimulationOptions
from topospread.simulation.placing import place_waiting
from topospread.simulation.run import prepare
from topospread.simulation.virtual_queue import VirtualQueue
from topospread.workloads.names import Names
from topospread.workloads.node_lifecycle import is_silent
from topospread.workloads.planned import QueuedPod, Workload

from .agenda import Action, Agenda
from .cluster_inventory import Times, as_they_stand, begin_of, with_budgets_open, without_leaving
from .draws import Draws
from .health import Health
from .kubelets import Kubelets
from .pods import (
    FollowedPod,
    FollowedPods,
    WorkloadKey,
    by_preemptor,
    key_of,
    owner_of,
    planned_pods,
    there_of,
    waiting_pod,
)
from .result import DrillEvent, DrillPod, EventKind
from .successors import Successors

_NANOSECONDS = 1_000_000_000


class World:
    """Everything that a drill changes.

    Attributes:
        began, now: when the drill began, in seconds since 1970, and seconds since then.
        down: nodes whose kubelet is not there.
        run: the simulation under way; another one when controllers have been given other manifests.
        pods: all pods.
        health: how many of them are ready.
        draws: what is left to chance.
        gates: of the API server and the controllers.
        events: what happened so far.
        on_arrival: told of every pod that gets a node.
        kubelets: what they have yet to do.
        rollouts: workload → what goes on as long as pods come and go; says whether it did anything.
        before_round: called before each round of controllers and kube-scheduler; raises an error to end the drill.
    """

    def __init__(self, inventory: Inventory, options: SimulationOptions, number: int = 0) -> None:
        """``number``: of this drill among those that are alike but for what is drawn."""
        self.draws = Draws(number)
        self.kubelets = Kubelets(self.draws)
        self.now = 0.0
        self.down = {each.name for each in inventory.nodes if is_silent(each)}
        self.events: list[DrillEvent] = []
        self.on_arrival: list[Callable[[FollowedPod], None]] = []
        self.rollouts: dict[WorkloadKey, Callable[[], bool]] = {}
        self.before_round: Callable[[], None] = lambda: None
        self.pods = FollowedPods()
        self.warnings: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        _, self.gates = options.in_force
        self._options = options
        self.began = begin_of(inventory)
        self._agenda = Agenda()
        self._begin(without_leaving(inventory, self.down), options)

    @property
    def cluster(self) -> Cluster:
        """The state pods are placed on."""
        return self.run.cluster

    # Manifests change: everything is planned anew.

    def inventory(self) -> Inventory:
        """Everything that is there now, as an API server would have it."""
        there = self.draws.order(each for each in self.pods.by_key.values() if self.is_created(each))
        return as_they_stand(self.run, there, Times(self.began, self.now), self.down)

    def replan(
        self, change: Callable[[Inventory], Inventory] | None = None, scale: Mapping[str, int] | None = None
    ) -> None:
        """Let all controllers look at everything again, after a change of manifests or other replicas.

        Raises:
            InputError: an object that the API server would refuse.
            UsageError: ``scale`` names what is not there.
        """
        inventory = self.inventory()
        self._begin(change(inventory) if change else inventory, with_fields(self._options, scale=scale))

    def _begin(self, inventory: Inventory, options: SimulationOptions) -> None:
        before, removed = self.pods, []
        run = self.run = prepare(with_budgets_open(inventory), options, with_spreads=False)
        self.warnings |= dict.fromkeys((*run.plan.inventory.warnings, *run.plan.warnings))
        self.notes |= dict.fromkeys((*run.plan.inventory.notes, *(() if before.by_key else run.plan.notes)))
        self.queue = VirtualQueue(run)
        self.queue.at(round(self.now * _NANOSECONDS))
        self.pods = FollowedPods()
        self._evictions, self._queued, self._seen_placed = 0, len(run.queue), 0
        self._placed_early: list[str] = []
        for followed in planned_pods(run):
            known = before.by_key.get(followed.key)
            if known is not None:
                followed.created, followed.ready_since = known.created, known.ready_since
                followed.leaves_at = known.leaves_at
            else:
                followed.created = self.now if followed.queued is not None and self.now else followed.created
            self.pods.add(followed)
        self.health = Health(run.cluster, self.pods.by_key.values(), lambda: self.now)
        run.budgets = self.health
        for followed in self.pods.by_key.values():
            if self.is_ready(followed):
                self.health.gained(followed)
        self._workloads = {key_of(each): each for each in run.plan.workloads}
        taken = ((each.namespace, each.name) for each in self.pods.by_key.values())
        self.successors = Successors(run, self.pods, Names(list(taken)), self.is_ready)
        for pod in run.plan.removed:
            gone = before.by_key.get(f"{pod.namespace}/{pod.name}")
            if pod.spec.node_name in self.down and gone is not None:
                self._put_terminating(gone)
            removed.append(DrillPod(pod.namespace, pod.name, owner_of(gone), pod.spec.node_name or ""))
        if removed:
            self.note("evicted", pods=removed, detail="deleted by their controllers")

    # Time passes.

    def at(self, time: float, action: Action) -> None:
        """Let something happen then."""
        self._agenda.add(time, action)

    def settle(self) -> None:
        """Let controllers and kube-scheduler do what they do at once."""
        self._settle(self.now)

    def pass_time(self, seconds: float) -> None:
        """Let so much time pass."""
        until = self.now + seconds
        self._play(until)
        self.now = until
        self.queue.at(round(until * _NANOSECONDS))

    def rest(self) -> None:
        """Let time pass until nothing happens any more."""
        self._play(None)

    def _play(self, until: float | None) -> None:
        while True:
            following = self._agenda.following
            limits = [each for each in (until, following) if each is not None]
            self._settle(min(limits, default=None))
            sooner = self._agenda.following
            if sooner is not None and (following is None or sooner < following):
                continue
            if following is None or (until is not None and following > until):
                return
            self._do_what_is_due(following)

    def _do_what_is_due(self, time: float) -> None:
        """Let happen what is to happen by then; where that is nothing any more, no time has passed."""
        before, happened = self.now, len(self.events)
        self.now = max(self.now, time)
        self._agenda.do_what_is_due(self.now)
        if len(self.events) == happened:
            self.now = before
        else:
            self.queue.at(round(self.now * _NANOSECONDS))

    def _settle(self, until: float | None) -> None:
        limit = None if until is None else round(until * _NANOSECONDS)
        while True:
            self.before_round()
            if self.draws.controllers_first:
                self._create(self.draws.created(self.successors.due()))
            place_waiting(self.run, self.queue, limit)
            changed = self.collect()
            if not self.draws.controllers_first:
                changed |= self._create(self.draws.created(self.successors.due()))
            changed |= any([self._roll_on(goes_on) for goes_on in list(self.rollouts.values())])  # noqa: C419 - all act
            if not changed and not self.kubelets.act(self.ended, self.started):
                return

    def _roll_on(self, goes_on: Callable[[], bool]) -> bool:
        """Let a rollout take a step, or, in some of the drills alike, all that it can before pods are placed."""
        acted = goes_on()
        while acted and self.draws.controller_goes_on() and goes_on():
            pass
        return acted

    # Pods come and go.

    def create(self, workload: Workload, number: int) -> None:
        """Pods of a workload's template are created."""
        self._create(self.successors.replicas(workload, number))

    def create_on(self, workload: Workload, nodes: Iterable[str]) -> None:
        """Pods of a DaemonSet are created for nodes."""
        self._create(self.successors.on_nodes(workload, nodes))

    def delete(self, pods: Iterable[FollowedPod], why: str, *, replaced: bool = True) -> bool:
        """Pods are deleted, at once: what is on a node that is down stays there, terminating; others are gone.

        Each is asked for when those before it are deleted. Whether there were any. ``replaced``: their controllers
        create others in their place.
        """
        gone, there = [], []
        for each in pods:
            there.append(there_of(each))
            self._forget(each)
            gone.append(each)
        if gone:
            self.note("evicted", pods=there, detail=why)
            made = map(self.successors.of, gone if replaced else ())
            self._create(self.draws.created(each for each in made if each is not None))
        return bool(gone)

    def vanish(self, pods: Sequence[FollowedPod]) -> None:
        """Pods that were terminating are gone."""
        for each in pods:
            self.ended(each)
        self.note("lost", pods=[there_of(each) for each in pods])

    def _forget(self, pod: FollowedPod) -> None:
        run = self.run
        run.owners.pop(pod.key, None)
        run.placed_here.pop(pod.key, None)
        if pod.workload is not None:
            pod.workload.existing[:] = [each for each in pod.workload.existing if each is not pod.pod]
        if pod.queued is not None and not pod.node:
            self.queue.withdrawn(pod.queued)
            self.pods.remove(pod)
            return
        if self.is_ready(pod):
            self.health.lost(pod)
        if pod.node not in self.down:
            if not self.draws.ends_slowly:
                self._remove(pod)
                return
            self.kubelets.ending.append(pod)
        self.queue.terminating(self.cluster.on_node[self.cluster.placed[pod.key]][pod.key])
        self._put_terminating(pod)

    def _put_terminating(self, pod: FollowedPod) -> None:
        stored = replace(
            pod.pod,
            metadata=replace(pod.pod.metadata, name=pod.name, deletion_timestamp="1970-01-01T00:00:00Z"),
            spec=replace(pod.pod.spec, node_name=pod.node),
        )
        self.cluster.put_pod(stored)
        pod.terminating, pod.leaves_at = True, None
        if pod.key not in self.pods.by_key:
            self.pods.add(pod)

    def ended(self, pod: FollowedPod) -> None:
        """A deleted pod holds nothing any more."""
        self._remove(pod)
        pod.terminating = False

    def started(self, pod: FollowedPod) -> None:
        """A kubelet says that a pod is ready."""
        pod.ready_since = self.now
        if self.is_ready(pod):
            self.health.gained(pod)

    def _remove(self, pod: FollowedPod) -> None:
        self.kubelets.starting.pop(pod.key, None)
        self.queue.evicted(self.cluster.unbind(pod.key))
        self.pods.remove(pod)

    def _create(self, made: Iterable[QueuedPod]) -> bool:
        """Pods come into the queue; whether there were any."""
        new = list(made)
        self.run.queue += new
        self._enter_new()
        self.queue.created()
        return bool(new)

    def _enter_new(self) -> None:
        """Follow what was put at the end of the queue."""
        for queued in self.run.queue[self._queued :]:
            outcome = self.run.outcome(queued)
            if outcome is None or not outcome.evicted:
                pod = waiting_pod(queued, self.now)
                self.pods.add(pod)
                if outcome is not None and outcome.placement.node is not None:
                    self._placed_early.append(pod.key)
        self._queued = len(self.run.queue)

    def collect(self) -> bool:
        """Take note of what was placed and preempted; whether anything was."""
        run, placed = self.run, list[FollowedPod]()
        for pod in self._newly_placed():
            outcome = run.outcome(pod.queued) if pod.queued is not None else None
            if outcome is None or outcome.placement.node is None:
                continue
            if not placed:  # what found no node took its time, too, and nobody is interested in that
                self.now = max(self.now, float(self.queue.now // _NANOSECONDS))
            self.pods.place(pod, outcome.placement.node)
            pod.ready_since = self.now
            if pod.workload is not None and key_of(pod.workload) in self.rollouts:
                self.kubelets.starting[pod.key] = pod
            if self.is_ready(pod):
                self.health.gained(pod)
            placed.append(pod)
        preempted = self._preempted()
        self._enter_new()
        if placed:
            self.note("placed", pods=map(there_of, placed))
        for pod in placed:
            for told in self.on_arrival:
                told(pod)
        return bool(placed or preempted)

    def _newly_placed(self) -> list[FollowedPod]:
        """Return the waiting pods that were placed since the last call, in the order in which they came."""
        new = self.run.placements[self._seen_placed :]
        if not new:
            return []
        self._seen_placed += len(new)
        keys = {*self._placed_early, *new}
        self._placed_early.clear()
        waiting = self.pods.waiting
        return sorted((waiting[key] for key in keys if key in waiting), key=lambda pod: pod.number)

    def _preempted(self) -> int:
        new = self.run.evictions[self._evictions :]
        for each in new:
            pod = self.pods.by_key.get(f"{each.namespace}/{each.name}")
            if pod is not None:
                if self.is_ready(pod):
                    self.health.lost(pod)
                self.kubelets.starting.pop(pod.key, None)
                self.pods.remove(pod)
        self._evictions = len(self.run.evictions)
        for preemptor, gone in by_preemptor(new).items():
            self.note("evicted", pods=gone, detail=f"preempted by {preemptor}")
        return len(new)

    # Nodes change.

    def change_node(self, new: Node) -> None:
        """A node is in another state."""
        cluster = self.cluster
        old = cluster.nodes.nodes[cluster.nodes.row_of[new.name]]
        if old is not None and cluster.put_node(new):
            self.queue.node_changed(old, new)

    def node(self, name: str) -> Node:
        """A node that is there."""
        found = self.cluster.nodes.nodes[self.cluster.nodes.row_of[name]]
        assert found is not None, "a row that has a name has a node"
        return found

    def go_down(self, names: Iterable[str]) -> None:
        """Kubelets fall silent: what is there is not ready any more."""
        for name in names:
            for each in filter(self.is_ready, self.pods.on([name])):
                self.health.lost(each)
            self.down.add(name)

    def come_up(self, names: Iterable[str]) -> None:
        """Kubelets tell of themselves again: pods that were to go are gone, the others are ready."""
        names = list(names)
        self.down -= set(names)
        there = self.pods.on(names)
        for each in there:
            if not each.terminating and self.is_ready(each):
                each.ready_since = self.now
                self.health.gained(each)
        if leaving := [each for each in there if each.terminating]:
            self.vanish(leaving)

    def note(self, kind: EventKind, nodes: Iterable[str] = (), pods: Iterable[DrillPod] = (), detail: str = "") -> None:
        """Write down what happened."""
        ready, pending = self.health.ready.total(), len(self.pods.waiting)
        self.events.append(DrillEvent(self.now, kind, detail, tuple(nodes), tuple(pods), ready, pending))

    def workload(self, key: WorkloadKey) -> Workload | None:
        """The workload of a key, as it is planned now."""
        return self._workloads.get(key)

    def in_order_of_removal(self, pods: Iterable[FollowedPod], related: Iterable[FollowedPod]) -> list[FollowedPod]:
        """Pods of a ReplicaSet, first the one that goes first; ``related``: those of all its owner's ReplicaSets."""
        return self.draws.in_order_of_removal(pods, related, Times(self.began, self.now), self.down)

    def is_created(self, pod: FollowedPod) -> bool:
        """Return whether a pod is there: in an ordered StatefulSet it comes when the one before has a node, and then
        stays.
        """
        before = pod.queued.after if pod.queued is not None and not pod.node else None
        known = self.pods.by_key.get(pod_key(before.namespace, before.name)) if before is not None else None
        return known is None or bool(known.node)

    @property
    def expects_something(self) -> bool:
        """True if something is to happen later."""
        return bool(self._agenda)

    def is_ready(self, pod: FollowedPod) -> bool:
        """Return whether a pod is on a node whose kubelet is there, and not on its way out."""
        is_there = bool(pod.node) and pod.node not in self.down and not pod.terminating
        return is_there and self.kubelets.starting.get(pod.key) is not pod
