"""The pods that a workload keeps after losses, drains, rollouts and scale-downs: proved by filters, or simulated in
drills.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.node import Node
from topospread.api.promises import Want, has_quorum
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.base import Bounds, Word, worst
from topospread.capacity.capacity import capacity
from topospread.controllers.scale import short_target
from topospread.drill.drill import drill
from topospread.drill.result import WorkloadState
from topospread.drill.steps import Drain, Fail, NodeChoice, Rollout, Scale, Step, Wait
from topospread.simulation.options import SimulationOptions
from topospread.simulation.unknown import merged
from topospread.status.result import ConstraintStatus, WorkloadStatus
from topospread.status.status import status
from topospread.text import agreeing, counted

from .counted import CountedWorkloads
from .fresh import LISTS, only_workload
from .grouped_pods import ORDERS
from .kept import Fewest, WorkloadPromises
from .orders import SearchBudget
from .workload_drills import Trial, WorkloadDrills

When = Literal["zone-loss", "node-loss", "drain", "rollout", "scale-down", "more"]
Basis = Literal["none", "seen", "played", "drawn", "proved"]
"""The basis of a count: none, the current placement, one drill, drills with random choices, or all orders."""
_ROLLED = frozenset({"Deployment", "StatefulSet"})
_RUNS = 8
_MOST_MORE = 1000
_MANY, _MOST_ZONES = 10, 5
"""Above `_MANY` workloads, losses are only counted, and the loss of at most `_MOST_ZONES` zones is simulated once for
all."""
_LARGE, _MOST_REPEATED = 3_000, 300
"""Above `_LARGE` pods, a workload is only counted. Above `_MOST_REPEATED` pods, each event is simulated only
once, and orders are not searched without other workloads."""
_LOSSES: dict[When, str] = {"zone-loss": ZONE, "node-loss": HOSTNAME}


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """One event, and the pods that it leaves of the workload.

    Attributes:
        key: topology key of a loss, "" for other events.
        leaves: pods that stay ready at the worst moment; for ``more``, the replicas that can be added.
        now: pods that a loss or drain leaves in the current state; ``None`` if no pod has a node.
        orders: fewest pods that a loss or drain leaves in any order; ``None`` for other events.
        rolled: fewest pods that a loss or drain leaves after any rollout; ``None`` if rollouts do not matter.
        alone: fewest pods that a loss leaves in any order in the cluster without other workloads; ``None`` unless it
            is proved and ``orders`` is undecided.
        alone_rolled: the same after any rollout.
        then: the events that follow, in words.
        pending: pods that are pending afterwards.
        missing: pods that are not ready afterwards, pending or not.
        skew: greatest skew afterwards of a constraint of the workload.
        worst: domain or node of the worst drill.
        why: kube-scheduler's sentence about a pending pod.
        steps: steps of the worst drill.
        runs: number of drills.
        unjudged: parts of pods on which the event depends.
        shared: why a loss takes all pods of a pod group; "" if it may leave some.
    """

    when: When
    leaves: Bounds
    of: int
    basis: Basis
    key: str = ""
    now: int | None = None
    orders: Bounds | None = None
    rolled: Bounds | None = None
    alone: int | None = None
    alone_rolled: int | None = None
    then: str = ""
    pending: int = 0
    missing: int = 0
    skew: int | None = None
    worst: str = ""
    why: str = ""
    steps: tuple[Step, ...] = ()
    runs: int = 0
    unjudged: tuple[Unjudged, ...] = ()
    shared: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """One workload with its events.

    Attributes:
        ready: pods that have nodes now.
        placed: pods that have nodes once kube-scheduler has tried all of them.
        needed: pods that a loss must leave: 1, or the quorum.
        undecided: why a longer search cannot decide the verdict; "" if it may.
        declared: promises that the workload declares. A promise with a count replaces ``needed``.
        is_beside_unjudged: whether other pods are not judged. They take no room in the simulations.
        has_unjudged: whether pods of the workload are not judged.
        sizes: replicas that an autoscaler allows; ``None`` if ``replicas`` is the only number.
        blocking: budgets that let no pod be evicted.
    """

    key: ObjectKey
    replicas: int
    ready: int
    placed: int
    needed: int
    constraints: tuple[ConstraintStatus, ...]
    events: tuple[ShownEvent, ...]
    unjudged: tuple[Unjudged, ...]
    undecided: str = ""
    declared: tuple[Want, ...] = ()
    is_beside_unjudged: bool = False
    has_unjudged: bool = False
    sizes: Bounds | None = None
    blocking: tuple[str, ...] = ()

    @property
    def verdict(self) -> Word:
        """Yes if no event leaves fewer pods than it must leave."""
        return worst(each.leaves.at_least(least) for each, least in self.asked)

    @property
    def asked(self) -> list[tuple[ShownEvent, int]]:
        """(event, number of pods that it must leave) pairs."""
        least: dict[str, int] = {}
        for want in self.declared:
            for when in _LOSSES if want.about == "quorum" else (want.about,):
                least[when] = max(least.get(when, 0), want.least(self.replicas))
        asked = [(each, least[each.when]) for each in self.events if each.when in least]
        return asked or [(each, self.needed) for each in self.events if each.when in _LOSSES]

    @property
    def basis(self) -> Basis:
        """Basis of the verdict: "seen" if a loss takes too many pods now, else "proved", "played" or "none"."""
        if self.verdict == "unknown":
            return "none"
        if any(each.now is not None and each.now < least for each, least in self.asked):
            return "seen"
        broken = [each.basis for each, least in self.asked if each.leaves.at_least(least) == "no"]
        return "played" if broken and all(each == "played" for each in broken) else "proved"


def shown(  # noqa: PLR0913 - one keyword
    inventory: Inventory,
    options: SimulationOptions,
    keys: Iterable[ObjectKey],
    budget: SearchBudget,
    most: int,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Shown]:
    """Yield each workload with the pods that each event leaves.

    Args:
        inventory: the objects.
        options: the control plane.
        keys: the workloads.
        budget: the limits of each search.
        most: number of domains or nodes for which each event is simulated, most pods first.
        progress: receives the name of each search or simulation before it begins.
    """
    progress("placing pending pods")
    by = options.answered_by
    ready = {key_of(each): each.ready for each in status(inventory, by).workloads}
    after = drill(inventory, [Wait(0)], by, keep_after=True).steps[0].after
    assert after is not None, "the drill was to keep it"
    settled = {key_of(each): each for each in status(after, by).workloads}
    listed = list(keys)
    largest = max((settled[key].replicas for key in listed), default=0)
    counted = CountedWorkloads(inventory, options) if len(listed) > _MANY or largest > _LARGE else None
    if counted is not None and counted.is_enough:
        yield from _counted(counted, after, listed, settled, ready)
        return
    for key in listed:
        judge = WorkloadPromises(inventory, replace(options, preemption=False, refuses=False), key, budget, {})
        drills = WorkloadDrills(inventory, options, key, seconds=budget.seconds)
        yield _Showing(judge, drills, settled[key], most, progress).shown(ready.get(key, 0))


def _counted(
    counted: CountedWorkloads,
    after: Inventory,
    keys: Sequence[ObjectKey],
    settled: Mapping[ObjectKey, WorkloadStatus],
    ready: Mapping[ObjectKey, int],
) -> Iterator[Shown]:
    """Yield many workloads: losses are counted, and each zone's loss is simulated once for all workloads."""
    inventory, options = counted.inventory, counted.options
    zones = Counter(each.labels[ZONE] for each in inventory.nodes if ZONE in each.labels).most_common(
        _MOST_ZONES if len(keys) > _MANY else 1
    )
    states: dict[ObjectKey, list[tuple[str, WorkloadState]]] = {}
    for name, _ in zones:
        for each in drill(after, [Fail(NodeChoice("zone", name))], options.answered_by).workloads:
            states.setdefault(key_of(each), []).append((name, each))
    for key in keys:
        with counted.judge(key) as judge:
            showing = _Showing(judge, WorkloadDrills(inventory, options, key), settled[key], 1, is_counted=True)
            yield showing.counted(ready.get(key, 0), states.get(key, []))


@dataclass(frozen=True)
class _Showing:
    judge: WorkloadPromises
    drills: WorkloadDrills
    settled: WorkloadStatus
    most: int
    progress: Callable[[str], None] = lambda _: None
    is_counted: bool = False

    def shown(self, ready: int) -> Shown:
        """Return the workload with its events."""
        judge = self.judge
        losses = list(self._losses())
        # Skip the drills if the workload's pods are not judged: they would only stay pending.
        own = {each.what for each in judge.unjudged if judge.is_own(each)}
        is_judged = own <= {ORDERS} and not (own and self.drills.play().unjudged)
        events = [*map(self._followed, losses), *self._others(losses)] if is_judged else losses
        hang = any(each.lacks == "pods" for each in judge.undecided)
        parts = {each.what: each for each in judge.unjudged if hang or each.what in own - {ORDERS}}
        return self._told(ready, events, tuple(parts.values()))

    def counted(self, ready: int, zones: Sequence[tuple[str, WorkloadState]]) -> Shown:
        """Return the workload with counted losses, and with the simulated end of the worst zone's loss."""
        judge, of = self.judge, self.settled.replicas
        losses = list(self._losses())
        if zones and losses and losses[0].when == "zone-loss":
            name, worst_end = max(zones, key=lambda each: (each[1].pending, -each[1].ready))
            pending, missing = worst_end.pending, max(of - worst_end.ready, 0)
            then = _ended(pending, missing)
            losses[0] = replace(losses[0], then=then, pending=pending, missing=missing, worst=name, runs=len(zones))
        parts = tuple(each for each in judge.unjudged if each.what != ORDERS)
        if parts:
            return self._told(ready, losses, parts)
        drain = self._drained(losses)
        events = [*losses, *([] if drain is None else [drain])]
        if judge.key[0] in _ROLLED:
            events.append(
                ShownEvent("rollout", Bounds.exactly(min(judge.rolling_least(), self.settled.existing)), of, "proved")
            )
        return self._told(ready, events)

    def _told(self, ready: int, events: Sequence[ShownEvent], unjudged: tuple[Unjudged, ...] = ()) -> Shown:
        one, of = self.settled, self.settled.replicas
        needed = of // 2 + 1 if has_quorum(one.kind, of) else min(of, 1)
        counted = f"counting is not enough, and orders are not searched above {_MANY} workloads or {_LARGE} pods"
        why = next((each.why for each in self.judge.undecided if each.lacks in ("rollout", "sampling")), "")
        why = why or (counted if self.judge.shared is not None else "")
        unjudged_pods = (each for each in self.judge.unjudged if each.pods and each.what != ORDERS)
        beside = any(not self.judge.is_own(each) for each in unjudged_pods)
        return Shown(
            self.judge.key, of, ready, one.existing, needed, one.constraints, tuple(events), unjudged, why,
            is_beside_unjudged=beside, has_unjudged=any(map(self.judge.is_own, self.judge.unjudged)),
            blocking=self.judge.blocking_budgets,
        )  # fmt: skip

    def _losses(self) -> Iterator[ShownEvent]:
        for when, key in _LOSSES.items():
            if any(key in each.labels for each in self._nodes):
                yield self._lost(when, key)

    def _lost(self, when: When, key: str) -> ShownEvent:
        loss = "zone" if when == "zone-loss" else "node"
        self.progress(f"searching the orders of pods for the loss of a {loss}")
        event = self._forced(when, key, self.judge.fewest(loss))
        event = replace(event, shared=self.judge.shared_domain(loss))
        judge = self.judge
        is_large = self.is_counted or event.of > _MOST_REPEATED
        if event.basis != "none" or is_large or judge.key[0] not in LISTS:
            return event
        self.progress(f"searching the loss of a {loss} without other workloads")
        own = only_workload(judge.inventory, judge.key)
        found = WorkloadPromises(own, judge.options, judge.key, judge.budget, {}).fewest(loss)
        alone, rolled = (each.least if each.known else None for each in (found.orders, found.bounds))
        return replace(event, alone=alone, alone_rolled=rolled)

    def _drained(self, losses: Sequence[ShownEvent], played: int = 0) -> ShownEvent | None:
        """Return a drain with the pods that filters and budgets guarantee; ``None`` if a node lacks a hostname.

        Args:
            losses: the losses of zones and nodes.
            played: pods that every drain of the current state leaves: `kubectl drain` may refuse a node.
        """
        lost = next((each for each in losses if each.when == "node-loss"), None)
        if lost is None or lost.orders is None or not all(HOSTNAME in each.labels for each in self._nodes):
            return None
        found = self.judge.drained(Fewest(lost.orders, lost.rolled, lost.now))
        return self._forced("drain", "", replace(found, now=None if found.now is None else max(found.now, played)))

    @property
    def _nodes(self) -> Sequence[Node]:
        return self.drills.inventory.nodes

    def _forced(self, when: When, key: str, found: Fewest) -> ShownEvent:
        least, most = found.bounds.least, found.bounds.most
        basis: Basis = "proved" if least == most else "none"
        if found.now is not None and found.now <= least:
            least, most, basis = found.now, found.now, "seen"
        elif found.now is not None:
            most = min(most, found.now)
        bounds = Bounds(least=least, most=most)
        return ShownEvent(when, bounds, self.settled.replicas, basis, key, found.now, found.orders, found.rolled)

    def _at_most(self, runs: int) -> int:
        """Return the number of simulated runs of an event: one if the workload has many pods."""
        return runs if self.settled.replicas <= _MOST_REPEATED else 1

    def _followed(self, event: ShownEvent) -> ShownEvent:
        """Return a loss with the events after it, simulated for the domains with most pods."""
        held = self._held(event.key)[: self._at_most(self.most)]
        return self._with(event, [(name, self._played(Fail(self.drills.choice(event.key, name)))) for name in held])

    def _played(self, step: Step, runs: int = 1) -> Trial:
        self.progress(f"simulating {step}")
        return self.drills.play(step, runs=self._at_most(runs))

    def _with(self, event: ShownEvent, played: Sequence[tuple[str, Trial]]) -> ShownEvent:
        if unjudged := merged(*(trial.unjudged for _, trial in played)):
            return replace(event, unjudged=unjudged)
        if event.basis == "none" and event.key and self.judge.orders_unsearched:
            fewest = min((trial.fewest for _, trial in played), default=0)
            leaves = Bounds(least=event.leaves.least, most=min(event.leaves.most, fewest))
            event = replace(event, leaves=leaves, basis="played")
        if not played:
            return replace(event, then="no pod has a node")
        own = self.judge.own_budgets
        broken = {name: [each for each in trial.broken if each in own] for name, trial in played}
        name, worst_one = max(played, key=lambda each: (each[1].own_left, len(broken[each[0]]), *_short(each[1])))
        pending, missing = _short(worst_one)
        if worst_one.own_left:
            stay = f"{worst_one.fewest} of {event.of} stay ready"
            then = f"does not end: {counted(worst_one.own_left, 'pod')} of {name} cannot be evicted, {stay}"
        elif broken[name]:
            budgets = "budget" if len(broken[name]) == 1 else "budgets"
            then = f"breaks the {budgets} {', '.join(broken[name])}; {_ended(pending, missing)}"
        else:
            waits = f"; the drain waits for {counted(worst_one.left, 'pod')} of other workloads"
            then = _ended(pending, missing) + (waits if worst_one.left else "")
        return replace(
            event, then=then, pending=pending, missing=missing, worst=name, why=worst_one.why, steps=worst_one.steps,
            runs=len(played),
        )  # fmt: skip

    def _held(self, key: str) -> list[str]:
        """Return the domains with pods of the workload, most pods first."""
        held = [each for each in self.settled.losses if each.topology_key == key and each.lost]
        return [each.domain for each in sorted(held, key=lambda each: (-each.lost, each.domain))][: self.most]

    def _others(self, losses: Sequence[ShownEvent]) -> Iterator[ShownEvent]:
        key, replicas = self.judge.key, self.settled.replicas
        nodes = self._held(HOSTNAME)[: self._at_most(self.most)]
        drains = [(name, self._played(Drain(self.drills.choice(HOSTNAME, name)))) for name in nodes]
        if drains:
            others = (
                each.lost for each in self.settled.losses if each.topology_key == HOSTNAME and each.domain not in nodes
            )
            played = min(*(trial.fewest for _, trial in drains), self.settled.existing - max(others, default=0))
            yield self._with(_as_played(self._drained(losses, played), drains, replicas), drains)
        if key[0] in _ROLLED and replicas:
            trial = self._played(Rollout(short_target(key)), _RUNS)
            least = self.judge.rolling_least()
            basis: Basis = "proved" if least <= trial.fewest else "drawn"
            event = ShownEvent("rollout", Bounds.exactly(min(least, trial.fewest)), replicas, basis)
            yield self._drawn(event, trial)
        if key[0] != "ReplicationController" and replicas > 1:
            half = (replicas + 1) // 2
            trial = self._played(Scale(short_target(key), half), _RUNS)
            yield self._drawn(ShownEvent("scale-down", Bounds.exactly(trial.ready), half, "drawn"), trial)
        yield self._room()

    def _drawn(self, event: ShownEvent, trial: Trial) -> ShownEvent:
        skews = [(skew, key) for key, skew in trial.skews.items()]
        skew = max((each for each, _ in skews), default=None)
        missing = max(event.of - trial.ready, 0)
        then = f"may end at skew {skew}" if skew else "all ready again" if skew is None else "ends at skew 0"
        if trial.stuck or trial.pending:
            then = "may not end" + (f": {_ended(trial.pending, missing)}" if trial.pending or missing else "")
        return replace(
            event, then=then, pending=trial.pending, missing=missing, skew=skew, why=trial.why, steps=trial.steps,
            runs=trial.runs,
        )  # fmt: skip

    def _room(self) -> ShownEvent:
        self.progress("adding replicas until one stays pending")
        found = capacity(
            self.drills.inventory,
            short_target(self.judge.key),
            options=self.drills.options.answered_by,
            limit=_MOST_MORE,
        )
        room, pending = found.capacity.targets[0], found.capacity.pending
        other = room if found.assumed is None else found.assumed.capacity.targets[0]
        more = Bounds.of((room.more, other.more))
        then = "more were not tried" if pending is None else "then a pod is pending"
        why = pending.message if pending else ""
        event = ShownEvent("more", more, 0, "played", then=then, missing=room.missing, why=why)
        return event if more.known else replace(event, basis="none", unjudged=found.unjudged)


def _as_played(event: ShownEvent | None, drains: Sequence[tuple[str, Trial]], replicas: int) -> ShownEvent:
    """Return the event of a drain, or a simulated drain if it keeps fewer pods ready."""
    fewest = min(trial.fewest for _, trial in drains)
    if event is None or fewest < event.leaves.least:
        return ShownEvent("drain", Bounds.exactly(fewest), replicas, "played", now=fewest)
    return event


def _ended(pending: int, missing: int) -> str:
    if pending:
        return f"{pending} {agreeing('stay', pending)} pending"
    return f"{missing} {agreeing('are', missing)} not replaced" if missing else "all ready again"


def _short(trial: Trial) -> tuple[int, int]:
    """Return the pods that are pending and that are not ready at the end."""
    return trial.pending, max(trial.begun - trial.ready, 0)
