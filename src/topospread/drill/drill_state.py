"""The state of a drill over time: controllers replace pods, and kube-scheduler's queue places them.

Other modules run the steps: they change nodes and delete pods. This module advances the time and applies the effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace as with_fields

from msgspec.structs import replace

from topospread.admission.names import Names
from topospread.admission.policies import not_judged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.node import Node
from topospread.cluster import Cluster
from topospread.cluster.cluster import pod_key
from topospread.cluster.objects import Key
from topospread.controllers.draft import QUOTA, is_lasting, quota_refusal, refused_words
from topospread.controllers.node_lifecycle import is_silent
from topospread.controllers.planned import QueuedPod, Workload
from topospread.simulation.options import SimulationOptions
from topospread.simulation.placing import place_waiting
from topospread.simulation.run import prepare
from topospread.simulation.virtual_queue import VirtualQueue

from .cluster_inventory import Times, as_they_stand, begin_of, with_budgets_open, without_leaving
from .event_schedule import Action, EventSchedule
from .health import Health
from .kubelets import Kubelets
from .pods import FollowedPod, FollowedPods, by_preemptor, owner_of, planned_pods, there_of, waiting_pod
from .random_choices import RandomChoices
from .replacement_pods import ReplacementPods
from .result import DrillEvent, DrillPod, EventKind

REPLACED = "replaced by a rollout"
"""Reason for deleting old pods."""
_NANOSECONDS = 1_000_000_000


class DrillState:
    """The mutable state of a drill.

    Attributes:
        began, now: start of the drill in Unix seconds; seconds since the start.
        down: NotReady nodes.
        run: the current simulation, replaced when manifests change.
        pods: all pods.
        health: counts of ready pods.
        draws: the random choices.
        gates: feature gates of the API server and the controllers.
        events: the events so far.
        on_arrival: called for every pod that gets a node.
        kubelets: work of kubelets that is not done yet.
        rollouts: workload → function that continues its rollout and returns whether it did anything.
        before_round: called before each round of controllers and kube-scheduler; raises an error to end the drill.
    """

    def __init__(self, inventory: Inventory, options: SimulationOptions, number: int = 0) -> None:
        """Create the state.

        Args:
            inventory: the initial cluster.
            options: the simulation options.
            number: number of the run, which selects its random choices.
        """
        self.draws = RandomChoices(number)
        self.kubelets = Kubelets(self.draws)
        self.now = 0.0
        self.down = {each.name for each in inventory.nodes if is_silent(each)}
        self.events: list[DrillEvent] = []
        self.on_arrival: list[Callable[[FollowedPod], None]] = []
        self.rollouts: dict[ObjectKey, Callable[[], bool]] = {}
        self.before_round: Callable[[], None] = lambda: None
        self.pods = FollowedPods()
        self.warnings: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        _, self.gates = options.in_force
        self._options = options = with_fields(options, refuses=False, retries=True, tries_groups=True)
        self.began = begin_of(inventory)
        self._schedule = EventSchedule()
        self._groups: set[Key] = set()
        self._begin(without_leaving(inventory, self.down), options)

    @property
    def cluster(self) -> Cluster:
        """The cluster on which pods are placed."""
        return self.run.cluster

    # Planning: after a change of manifests, the whole cluster is planned again.

    def inventory(self) -> Inventory:
        """The current objects, as an API server would store them."""
        there = self.draws.order(each for each in self.pods.by_key.values() if self.is_created(each))
        return as_they_stand(self.run, there, Times(self.began, self.now), self.down)

    def replan(
        self, change: Callable[[Inventory], Inventory] | None = None, scale: Mapping[str, int] | None = None
    ) -> None:
        """Let all controllers plan again after a change of manifests or replicas.

        Raises:
            InputError: if the API server denies an object.
            UsageError: if ``scale`` names a missing workload.
        """
        inventory = self.inventory()
        self._begin(change(inventory) if change else inventory, with_fields(self._options, scale=scale), self.health)

    def _begin(self, inventory: Inventory, options: SimulationOptions, health: Health | None = None) -> None:
        before, removed = self.pods, []
        unjudged = self.cluster.objects.unjudged_groups if self._groups else {}
        run = self.run = prepare(with_budgets_open(inventory), options, with_spreads=False)
        self.warnings |= dict.fromkeys((*run.plan.inventory.warnings, *run.plan.warnings))
        self.notes |= dict.fromkeys((*run.plan.inventory.notes, *(() if before.by_key else run.plan.notes)))
        self.queue = VirtualQueue(run)
        self.queue.at(round(self.now * _NANOSECONDS))
        if run.scheduler.has_groups:
            from topospread.simulation.group_attempts import take_in_groups

            # A group that was not judged stays so: its state has been unknown since.
            take_in_groups(run, self.queue, {key: unjudged[key] for key in unjudged.keys() & self._groups})
            self._groups |= run.cluster.objects.whole_groups or set()
        self.pods = FollowedPods()
        self._evictions, self._queued, self._seen_placed = 0, len(run.queue), 0
        self._has_left = False
        self._placed_early: list[str] = []
        for followed in planned_pods(run):
            known = before.by_key.get(followed.key)
            if known is not None:
                followed.created, followed.ready_since = known.created, known.ready_since
                followed.leaves_at, followed.is_unready = known.leaves_at, known.is_unready
            else:
                followed.is_unready = not followed.pod.is_ready and followed.node not in {"", *self.down}
                followed.created = self.now if followed.queued is not None and self.now else followed.created
            self.pods.add(followed)
        self.health = Health(run.cluster, self.pods.by_key.values(), lambda: self.now, health)
        run.budgets = self.health
        for followed in self.pods.by_key.values():
            if self.is_ready(followed):
                self.health.gained(followed)
        if health is None:
            self.health.heed(inventory.pod_disruption_budgets)
        self._workloads = {key_of(each): each for each in run.plan.workloads}
        taken = ((each.namespace, each.name) for each in self.pods.by_key.values())
        self.successors = ReplacementPods(run, self.pods, Names(list(taken)), self.is_ready)
        for pod in run.plan.removed:
            gone = before.by_key.get(f"{pod.namespace}/{pod.name}")
            if pod.spec.node_name in self.down and gone is not None:
                self._put_terminating(gone)
            removed.append(DrillPod(pod.namespace, pod.name, owner_of(gone), pod.spec.node_name or ""))
        if removed:
            self.note("evicted", pods=removed, detail="deleted by their controllers")

    # Time.

    def at(self, time: float, action: Action) -> None:
        """Schedule an action at a drill time."""
        self._schedule.add(time, action)

    def settle(self) -> None:
        """Run controllers and kube-scheduler until they are idle, without passing time."""
        self._settle(self.now)

    def pass_time(self, seconds: float) -> None:
        """Let this number of seconds pass."""
        until = self.now + seconds
        self._play(until)
        self.now = until
        self.queue.at(round(until * _NANOSECONDS))

    def rest(self) -> None:
        """Let time pass until the cluster is stable."""
        self._play(None)

    def _play(self, until: float | None) -> None:
        while True:
            following = self._schedule.following
            limits = [each for each in (until, following) if each is not None]
            self._settle(min(limits, default=None))
            sooner = self._schedule.following
            if sooner is not None and (following is None or sooner < following):
                continue
            if following is None or (until is not None and following > until):
                return
            before, happened = self.now, len(self.events)
            self.now = max(self.now, following)
            self._schedule.do_what_is_due(self.now)
            if len(self.events) == happened:
                self.now = before
            else:
                self.queue.at(round(self.now * _NANOSECONDS))

    def _settle(self, until: float | None) -> None:
        limit = None if until is None else round(until * _NANOSECONDS)
        while True:
            self.before_round()
            changed = self._create_again()
            if self.draws.controllers_first:
                self._create(self.draws.created(self.successors.due()))
            place_waiting(self.run, self.queue, limit)
            changed |= self.collect()
            if not self.draws.controllers_first:
                changed |= self._create(self.draws.created(self.successors.due()))
            changed |= any([self._roll_on(goes_on) for goes_on in list(self.rollouts.values())])  # noqa: C419 - all act
            if not changed and not self.kubelets.act(self.ended, self.started):
                return

    def _roll_on(self, goes_on: Callable[[], bool]) -> bool:
        """Let a rollout take one step; in some runs, all possible steps before pods are placed."""
        acted = goes_on()
        while acted and self.draws.controller_goes_on() and goes_on():
            pass
        return acted

    # Pods.

    def create(self, workload: Workload, number: int) -> None:
        """Create pods from a workload's template."""
        self._create(self.successors.replicas(workload, number))

    def create_on(self, workload: Workload, nodes: Iterable[str]) -> None:
        """Create pods of a DaemonSet for nodes."""
        self._create(self.successors.on_nodes(workload, nodes))

    def delete(self, pods: Iterable[FollowedPod], why: str, *, replaced: bool = True) -> bool:
        """Delete pods. Pods on NotReady nodes stay terminating; other pods are removed.

        `pods` may be a generator: each pod is deleted before the next is requested. Return whether any pod was
        deleted. With ``replaced``, controllers create replacements.
        """
        gone, there = [], []
        for each in pods:
            there.append(there_of(each))
            self._forget(each, rolls=why == REPLACED)
            gone.append(each)
        if gone:
            self.note("evicted", pods=there, detail=why)
            made = map(self.successors.of, gone if replaced else ())
            self._create(self.draws.created(each for each in made if each is not None))
        return bool(gone)

    def vanish(self, pods: Sequence[FollowedPod]) -> None:
        """Remove terminating pods."""
        for each in pods:
            self.ended(each)
        self.note("lost", pods=[there_of(each) for each in pods])

    def _forget(self, pod: FollowedPod, *, rolls: bool = False) -> None:
        run = self.run
        run.owners.pop(pod.key, None)
        run.placed_here.pop(pod.key, None)
        if pod.workload is not None:
            pod.workload.existing[:] = [each for each in pod.workload.existing if each is not pod.pod]
        quotas, unjudged = run.plan.quotas, pod.pod.spec.unjudged_admission or ()
        if quotas is not None and not pod.is_refused and not any(each.startswith(QUOTA) for each in unjudged):
            quotas.release(pod.pod)
            self._has_left = True
        if pod.queued is not None and not pod.node:
            self.queue.withdrawn(pod.queued)
            self.pods.remove(pod)
            return
        if self.is_ready(pod):
            self.health.lost(pod, rolls=rolls)
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
        """Free the resources of a deleted pod."""
        self._remove(pod)
        pod.terminating = False

    def started(self, pod: FollowedPod) -> None:
        """Mark a pod as ready."""
        pod.ready_since = self.now
        if self.is_ready(pod):
            self.health.gained(pod)

    def _remove(self, pod: FollowedPod) -> None:
        self.kubelets.starting.pop(pod.key, None)
        self.queue.evicted(self.cluster.unbind(pod.key))
        self.pods.remove(pod)

    def _create_again(self) -> bool:
        """Create refused pods again if deleted pods have freed quota. Return whether one is admitted."""
        if not self._has_left:
            return False
        self._has_left, again = False, list[QueuedPod]()
        for each in list(self.pods.waiting.values()):
            if each.is_refused and each.queued is not None and not each.pod.spec.scheduling_gates:
                each.queued.refused = ""
                again.append(each.queued)
                self.pods.remove(each)
        self._create(self.draws.created(again))
        return any(not each.refused for each in again)

    def _create(self, made: Iterable[QueuedPod]) -> bool:
        """Add pods to the queue. Return whether `made` had any."""
        new = list(made)
        rules, quotas = self.run.plan.new_pods, self.run.plan.quotas
        for each in new:
            if each.after is not None and each.after.refused:
                each.refused = each.after.refused
                continue
            who, message = rules.refusal(each.pod) if rules else ("", "")
            is_certain = is_lasting(who, each.workload)
            if not message and quotas is not None:
                who, message, is_certain = quota_refusal(quotas, each.pod)
            if message and is_certain:
                each.refused = refused_words(each, message)
                continue
            # The API server admitted the workload's stored pods, so it admits their equal replacements.
            is_new = bool(rules) and not any(pod.metadata.is_stored for pod in each.workload.existing[:1])
            by = [*(rules.policies.concerning(each.pod) if rules and is_new else ()), *filter(None, [who])]
            if by:
                each.pod = not_judged(each.pod, *by)
        self.run.queue += [each for each in new if not each.refused]
        self._enter_new()
        for each in new:
            if each.refused:
                self.pods.add(waiting_pod(each, self.now))
        self.queue.created()
        return bool(new)

    def _enter_new(self) -> None:
        """Track the pods that were appended to the queue."""
        for queued in self.run.queue[self._queued :]:
            outcome = self.run.outcome(queued)
            if outcome is None or not outcome.evicted:
                pod = waiting_pod(queued, self.now)
                self.pods.add(pod)
                if outcome is not None and outcome.placement.node is not None:
                    self._placed_early.append(pod.key)
        self._queued = len(self.run.queue)

    def collect(self) -> bool:
        """Process newly placed and preempted pods. Return whether any existed."""
        run, placed = self.run, list[FollowedPod]()
        for pod in self._newly_placed():
            outcome = run.outcome(pod.queued) if pod.queued is not None else None
            if outcome is None or outcome.placement.node is None:
                continue
            if not placed:  # failed attempts take time, too, but no result depends on it
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
        """Return the pending pods placed since the last call, in order of creation."""
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

    # Nodes.

    def change_node(self, new: Node) -> None:
        """Replace a node by its new state."""
        cluster = self.cluster
        old = cluster.nodes.nodes[cluster.nodes.row_of[new.name]]
        if old is not None and cluster.put_node(new):
            self.queue.node_changed(old, new)

    def node(self, name: str) -> Node:
        """Return a current node."""
        found = self.cluster.nodes.nodes[self.cluster.nodes.row_of[name]]
        assert found is not None, "a row that has a name has a node"
        return found

    def go_down(self, names: Iterable[str]) -> None:
        """Make nodes NotReady. Their pods are no longer ready."""
        for name in names:
            for each in filter(self.is_ready, self.pods.on([name])):
                self.health.lost(each)
            self.down.add(name)

    def come_up(self, names: Iterable[str]) -> None:
        """Make nodes Ready. Their terminating pods are removed, and the other pods become ready."""
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
        """Record an event."""
        ready, pending = self.health.ready.total(), len(self.pods.waiting)
        self.events.append(DrillEvent(self.now, kind, detail, tuple(nodes), tuple(pods), ready, pending))

    def workload(self, key: ObjectKey) -> Workload | None:
        """Return the current plan of a workload."""
        return self._workloads.get(key)

    def in_order_of_removal(self, pods: Iterable[FollowedPod], related: Iterable[FollowedPod]) -> list[FollowedPod]:
        """Return a ReplicaSet's pods in the order of removal.

        ``related`` are the pods of all its owner's ReplicaSets.
        """
        order = self.draws.in_order_of_removal(pods, related, Times(self.began, self.now), self.down)
        return sorted(order, key=self.is_created)

    def is_created(self, pod: FollowedPod) -> bool:
        """Return whether a pod exists.

        In an ordered StatefulSet a pod is created once its predecessor has a node.
        """
        if pod.is_refused:
            return False
        before = pod.queued.after if pod.queued is not None and not pod.node else None
        known = self.pods.by_key.get(pod_key(before.namespace, before.name)) if before is not None else None
        return known is None or bool(known.node)

    @property
    def expects_something(self) -> bool:
        """True if an action is scheduled for later."""
        return bool(self._schedule)

    def is_ready(self, pod: FollowedPod) -> bool:
        """Return whether a pod is on a Ready node, not terminating, and not unready in the input."""
        is_there = bool(pod.node) and pod.node not in self.down and not pod.terminating and not pod.is_unready
        return is_there and self.kubelets.starting.get(pod.key) is not pod
