"""Run the steps of a drill until the cluster is stable after each, and record the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.node import Node
from topospread.api.pools import NodePool
from topospread.api.well_known_labels import REGION, ZONE
from topospread.cluster.cluster import pod_key
from topospread.config.gates import gates_for
from topospread.controllers.fallback import Domain
from topospread.controllers.planned import Workload
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.cycle import Placement
from topospread.simulation.options import SimulationOptions
from topospread.simulation.outcome import not_asked
from topospread.simulation.pending import pending_group
from topospread.simulation.result import DomainSpreads, PendingGroup, PoolUse, WorkloadSpread
from topospread.simulation.run import PodOutcome, spreads
from topospread.simulation.scaling import PoolScaler
from topospread.simulation.unknown import is_unjudged

from .autoscaling import autoscale
from .choosing import chosen
from .drains import cordon, drain, uncordon
from .drill_state import DrillState
from .fallback import Fallback
from .interruption import Interrupted
from .manifests import add_nodes, scale
from .node_failure import NodeFailures
from .notes import lost_replicas, not_rolled_out, remarks
from .placed_pods import place_first
from .pods import FollowedPod
from .result import Drill, DrillAutoscaler, DrillEvent, DrillPod, StepOutcome, UnevictedPod, WorkloadState
from .rollouts import apply_and_roll, roll_out, rollout_states
from .steps import (
    AddNodes,
    Apply,
    Autoscale,
    Cordon,
    Drain,
    Fail,
    NodeChoice,
    Recover,
    Rollout,
    Scale,
    Step,
    Uncordon,
    Wait,
)

# When the cluster is stable, pools add nodes for pending pods, like `scaling` decides.


class PoolGrowth:
    """The node pools of a drill. New nodes are ready at once, and none is removed."""

    def __init__(self, state: DrillState, pools: Sequence[NodePool]) -> None:
        self._state = state
        self._scaler = PoolScaler.of(pools)
        self._failed: set[Domain] = set()
        self.fail(sorted(state.down))

    def fail(self, names: Collection[str], choice: NodeChoice | None = None) -> None:
        """Record the zones and regions of failed nodes, and the domain in ``choice`` unless it is a single node."""
        if choice is not None and (choice.key == "node" or [*names] == [choice.value]):
            return
        keys = {ZONE, REGION, *(choice.labels if choice is not None else ())}
        for each in map(self._state.node, names):
            self._failed |= {(key, each.labels[key]) for key in keys if key in each.labels}

    @property
    def has_pools(self) -> bool:
        """True if the drill has node pools, even full ones."""
        return bool(self._scaler.pools)

    def _lost(self) -> set[Domain]:
        """Return the failed domains without a Ready node."""
        live = (each for each in self._state.cluster.nodes.nodes if each and each.name not in self._state.down)
        return self._failed - {label for each in live for label in each.labels.items()}

    def rest(self) -> None:
        """Let time pass until the cluster is stable and no new node would help a pending pod."""
        self._state.rest()
        while (node := self._wanted()) is not None:
            self._state.note("added", nodes=[node.name], detail="by the autoscaler")
            self._state.replan(partial(_with, node))
            self._state.rest()

    def uses(self, keys: Collection[str]) -> tuple[PoolUse, ...]:
        """Return the use of each pool, with the domains of `keys` that a new node of the pool would add."""
        if not self._scaler.pools:
            return ()
        nodes = [each for each in self._state.cluster.nodes.nodes if each is not None]
        self._scaler.lost = self._lost()
        return tuple(self._scaler.uses(nodes, {ZONE, *keys}))

    def _wanted(self) -> Node | None:
        if not self._scaler.pools:
            return None
        run = self._state.run
        self._scaler.lost = self._lost()
        pods = self._state.pods.waiting.values()
        waiting = [each.queued for each in pods if each.queued is not None and not each.is_refused]
        waiting.sort(key=lambda queued: -queued.priority)
        return self._scaler.wanted(run.scheduler, run.plan.workloads, waiting)


def _with(node: Node, inventory: Inventory) -> Inventory:
    return replace(inventory, nodes=[*inventory.nodes, node])


Spreads = Mapping[ObjectKey, Sequence[ConstraintArithmetic]]
Manifests = Mapping[str, Inventory]
"""Path of an `Apply` or `Rollout` step → its objects."""
Progress = Callable[[int, int], None]
"""Receives the number of finished steps and the total."""


class DrillRun:
    """A running drill.

    Attributes:
        says_how_spread: compute each workload's pods per domain after each step.
        keeps_after: keep the cluster after each step (`StepOutcome.after`).
        falls_back: make hard constraints of pending pods soft while a domain is lost.
        placed: pods that are placed before all other pods, as of `BegunDrill`.
    """

    def __init__(self, inventory: Inventory, options: SimulationOptions, manifests: Manifests, number: int = 0) -> None:
        """Create a drill.

        Args:
            inventory: the initial cluster.
            options: the simulation options.
            manifests: objects that steps apply.
            number: number of the run, which selects its random choices.
        """
        self.state = DrillState(inventory, options, number)
        self.says_how_spread = True
        self.keeps_after = False
        self.falls_back = False
        self.placed: Sequence[tuple[str, str]] = ()
        self._fallback = Fallback(self.state)
        self._growth = PoolGrowth(self.state, options.pools)
        gates = options.gates or gates_for(options.kube_version)
        self._failures = NodeFailures(
            self.state,
            gates.kube_version,
            comparison_operators=gates.enabled("TaintTolerationComparisonOperators"),
        )
        self._manifests = manifests
        self._spreads: Spreads = {}
        self._ready: Counter[ObjectKey] = Counter()
        self._begun = False
        self._at_first: tuple[WorkloadState, ...] = ()
        self._events = 0
        self._said: set[str] = set()
        self._listed: set[ObjectKey] = set()

    def play(self, steps: Sequence[Step], progress: Progress | None = None) -> Drill:
        """Run all steps, each until the cluster is stable. If a wait follows a step, the step runs only for that time.

        Raises:
            InputError: if the API server denies a manifest.
            UsageError: if a step names a missing object.
            Interrupted: on Ctrl-C, with the finished steps.
        """
        outcomes = [self.begin()]
        for number, step in enumerate(steps):
            if progress is not None:
                progress(number, len(steps))
            try:
                outcomes.append(self.take(step, steps[number + 1] if number + 1 < len(steps) else None))
            except KeyboardInterrupt:
                raise Interrupted(self.drill(outcomes, f"ended in step {number + 1} of {len(steps)}")) from None
        return self.drill(outcomes, steps=steps)

    def drill(self, outcomes: Sequence[StepOutcome], partial: str = "", steps: Sequence[Step] = ()) -> Drill:
        """Return the result of the steps so far. ``partial`` is the reason for an early stop."""
        state = self.state
        workloads = () if partial else tuple(self._workload_state(each) for each in state.run.plan.workloads)
        first, *left = outcomes
        changed = {key_of(each) for outcome in outcomes for each in outcome.changed}
        at_first = tuple(each for each in self._at_first if key_of(each) in changed)
        return Drill(
            (replace(first, changed=at_first), *left),
            len(state.cluster.nodes),
            workloads,
            (*state.warnings, *not_rolled_out(state.run.plan.workloads, outcomes)),
            tuple(state.notes),
            partial=partial,
            unaffected=self.is_unaffected(steps, outcomes),
            pools=self._growth.uses({spread.topology_key for each in workloads for spread in each.spread}),
        )

    def is_unaffected(self, steps: Sequence[Step], outcomes: Sequence[StepOutcome]) -> bool:
        """Return whether unjudged pods exist and cannot change the harm of the finished steps."""
        if self.falls_back or self._growth.has_pools or not any(map(is_unjudged, outcomes[0].pending)):
            return False
        from .unaffected import is_unaffected

        return is_unaffected(self.state, steps, outcomes)

    def begin(self) -> StepOutcome:
        """Return the initial state, once the cluster is stable."""

        given = set(self.state.pods.waiting)

        def begins() -> None:
            if self.placed:
                place_first(self.state, self.placed)
            self._failures.begin()
            self._growth.rest()
            self.state.health.note_breaches()

        outcome = self._outcome("", 0.0, begins)
        lost = {
            (each.namespace, each.workload)
            for event in outcome.events
            if event.kind == "evicted"
            for each in event.pods
        }
        displaced = tuple(
            DrillPod(group.namespace, name, group.workload, "")
            for group in outcome.pending
            if not is_unjudged(group) and (group.namespace, group.workload) in lost
            for name in group.pods
            if pod_key(group.namespace, name) not in given
        )
        return replace(outcome, displaced=displaced)

    def take(self, step: Step, following: Step | None) -> StepOutcome:
        """Run one of several steps until the cluster is stable; without that if `step` or `following` is a wait.

        Raises:
            InputError: if the API server denies a manifest.
            UsageError: if the step names a missing object.
        """
        return self._step(step, goes_on=not isinstance(following, Wait) and not isinstance(step, Wait))

    def go_on(self, step: Step) -> StepOutcome:
        """Run one step until the cluster is stable.

        Raises:
            UsageError: if the step names a missing object.
        """
        return self._step(step, goes_on=True)

    def _step(self, step: Step, *, goes_on: bool) -> StepOutcome:
        left: list[UnevictedPod] = []
        reached: list[DrillAutoscaler] = []

        def take_its_course() -> None:
            if isinstance(step, Autoscale):
                reached.append(autoscale(self.state, step))
            else:
                left.extend(self._do(step))
            if goes_on:
                self._growth.rest()
                while self.falls_back and self._fallback.apply():
                    self._growth.rest()
            else:
                self.state.settle()

        outcome = self._outcome(str(step), self.state.now, take_its_course)
        return replace(outcome, not_evicted=tuple(left), autoscaled=reached[0] if reached else None)

    def _do(self, step: Step) -> Sequence[UnevictedPod]:
        state = self.state
        match step:
            case Fail():
                names = self._chosen(step.nodes, step)
                if state.down.issuperset(names):
                    state.warnings[f"{step}: its nodes are NotReady already"] = None
                self._growth.fail(names, step.nodes)
                self._failures.fail(names)
            case Recover():
                self._fallback.end()
                self._failures.recover(self._chosen(step.nodes, step))
            case Cordon():
                cordon(state, self._chosen(step.nodes, step))
            case Uncordon():
                uncordon(state, self._chosen(step.nodes, step))
            case Drain():
                return drain(state, self._chosen(step.nodes, step), forced=step.forced)
            case Scale():
                scale(state, step)
            case Wait():
                state.pass_time(step.seconds)
            case AddNodes():
                add_nodes(state, step)
            case Apply():
                apply_and_roll(state, self._manifests[step.path], step.path)
            case Rollout():
                roll_out(state, step, self._manifests.get(step.path))
        return ()

    def _chosen(self, choice: NodeChoice, step: Step) -> list[str]:
        nodes = [each for each in self.state.cluster.nodes.nodes if each is not None]
        return chosen(choice, nodes, str(step))

    def _outcome(self, step: str, begins: float, happens: Callable[[], None]) -> StepOutcome:
        state = self.state
        state.health.begin_step()
        happens()
        state.queue.write_back()
        events = tuple(state.events[self._events :])
        self._events = len(state.events)
        states = list(self._states(events))
        if not self._begun:
            self._at_first = tuple(self._workload_state(each) for each in state.run.plan.workloads)
        pending = tuple(self._pending())
        self._ready = Counter(state.health.ready)
        self._begun = True
        return StepOutcome(
            step=step,
            begins=begins,
            ends=max((each.at for each in events), default=begins),
            ready=state.health.ready.total(),
            events=events,
            changed=tuple(states),
            pending=pending,
            breaches=tuple(state.health.breaches.values()),
            lost=lost_replicas(state),
            rollouts=tuple(rollout_states(state)),
            remarks=tuple(self._new_remarks(states, pending)),
            after=state.inventory() if self.keeps_after else None,
        )

    def _new_remarks(self, states: Sequence[WorkloadState], pending: Sequence[PendingGroup]) -> list[str]:
        """Return the remarks that the previous step did not have."""
        now = list(remarks(self.state, self._failures, states, pending))
        before, self._said = self._said, set(now)
        return [each for each in now if each not in before]

    def _states(self, events: Sequence[DrillEvent]) -> Iterator[WorkloadState]:
        """Yield changed, recovered or incomplete workloads, in input order."""
        state = self.state
        named = {(pod.workload, pod.namespace) for event in events for pod in event.pods}
        before, self._spreads = self._spreads, self._now_spread()
        for workload in state.run.plan.workloads:
            touched = (f"{workload.kind}/{workload.name}", workload.namespace) in named
            key = key_of(workload)
            touched |= key in state.health.fewest
            is_back = self._begun and state.health.ready[key] != self._ready[key]
            if touched or is_back or self._is_recounted(key, before) or self._pending_of(workload):
                self._listed.add(key)
                yield self._workload_state(workload, before)

    def _is_recounted(self, key: ObjectKey, before: Spreads) -> bool:
        """Return whether nodes changed a workload's counts, for example an uncordon with nodeTaintsPolicy: Honor.

        A workload that was listed before is also listed again if only the nodes of its constraints change.
        """
        was, now = before.get(key, ()), self._spreads.get(key, ())
        if key in self._listed:
            return was != now
        return self._begun and list(map(_counts, was)) != list(map(_counts, now))

    def _pending_of(self, workload: Workload) -> int:
        return sum(not each.node for each in self.state.pods.of(key_of(workload)))

    def _workload_state(self, workload: Workload, before: Spreads | None = None) -> WorkloadState:
        """Return the state of a workload. ``before`` is the spread of all workloads at the start of the step."""
        key, health = key_of(workload), self.state.health
        now = self._spreads.get(key, ())
        was = self._spreads if before is None else before
        return WorkloadState(
            kind=workload.kind,
            namespace=workload.namespace,
            name=workload.name,
            replicas=workload.replicas,
            ready=health.ready[key],
            ready_before=self._ready[key],
            fewest=min(self._ready[key], health.ready[key], health.fewest.get(key, health.ready[key])),
            pending=self._pending_of(workload),
            terminating=sum(each.terminating for each in self.state.pods.of(key)),
            spread=tuple(map(_spread, _aligned(was.get(key, ()), now), now)),
        )

    def _now_spread(self) -> Spreads:
        found = spreads(self.state.run) if self.says_how_spread else {}
        return {key_of(each): found[id(each)] for each in self.state.run.plan.workloads if id(each) in found}

    def _pending(self) -> Iterator[PendingGroup]:
        """Yield the pending pods, grouped by workload and by kube-scheduler's message in the current state."""
        groups: dict[tuple[ObjectKey, str], tuple[Workload, list[str], PodOutcome]] = {}
        never_tried: dict[int, PodOutcome] = {}
        if self.state.queue.groups is not None:
            from topospread.simulation.group_attempts import outcomes_of_waiting

            never_tried = outcomes_of_waiting(self.state.run, self.state.queue)
        for pod in self.state.pods.waiting.values():
            outcome = never_tried.get(id(pod.queued)) or self._outcome_of(pod)
            if pod.workload is not None:
                key = (key_of(pod.workload), outcome.placement.message)
                groups.setdefault(key, (pod.workload, [], outcome))[1].append(pod.name)
        cluster = self.state.cluster
        for workload, names, outcome in groups.values():
            yield pending_group(workload, tuple(names), outcome, cluster)

    def _outcome_of(self, pod: FollowedPod) -> PodOutcome:
        run = self.state.run
        outcome = run.outcome(pod.queued) if pod.queued is not None else None
        if outcome is not None:
            is_one_of_group = self.state.queue.groups is not None and self.state.queue.groups.takes(pod.pod)
            if outcome.verdict is None or outcome.stamp == run.cluster.journal.stamp or is_one_of_group:
                return outcome
            verdict = run.scheduler.pending_verdict(pod.pod, pod.name)
            if not verdict.error and not verdict.feasible:
                return PodOutcome(Placement(pod.key, None, message=verdict.message), verdict, outcome.preemption)
            return outcome
        gated = pod.queued is not None and (bool(pod.pod.spec.scheduling_gates) or pod.is_refused)
        return PodOutcome(not_asked(pod.queued) if pod.queued is not None and gated else Placement(pod.key, None))


def _counts(spread: ConstraintArithmetic) -> tuple[int, dict[str, int]]:
    """Return the skew and the domains with pods; nothing for the constraints of kube-scheduler's own defaults."""
    if spread.origin == "system":
        return 0, {}
    return spread.skew, spread.pods_by_domain


def _aligned(
    was: Sequence[ConstraintArithmetic], now: Sequence[ConstraintArithmetic]
) -> Iterator[ConstraintArithmetic]:
    """Yield each constraint's arithmetic before the step; for a new constraint, the current arithmetic."""
    for each in now:
        same = (
            other
            for other in was
            if (other.topology_key, other.when_unsatisfiable) == (each.topology_key, each.when_unsatisfiable)
        )
        yield next(same, each)


def _spread(was: ConstraintArithmetic, now: ConstraintArithmetic) -> WorkloadSpread:
    return WorkloadSpread(
        topology_key=now.topology_key,
        when_unsatisfiable=now.when_unsatisfiable,
        max_skew=now.max_skew,
        origin=now.origin,
        skew=now.skew,
        domains=DomainSpreads(was.domains, now.domains, {}),
        arithmetic=now,
    )
