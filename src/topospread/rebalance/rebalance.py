"""Compute a plan of evictions for an inventory: goals, movable pods, plan and result.

The search works on savepoints of the state. Then a drill simulates the plan with controllers, budgets and the queue,
and its result is the answer. No pod is evicted in a live cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.labels import Selector
from topospread.api.selector_text import nothing_selected
from topospread.controllers.node_lifecycle import is_silent
from topospread.controllers.planned import Workload
from topospread.controllers.scale import the_workload
from topospread.drill.drill_state import DrillState
from topospread.drill.interruption import Interrupted
from topospread.drill.pods import FollowedPod, owner_of
from topospread.errors import UsageError
from topospread.plugins.interface import NotJudgedError
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.placing import Progress
from topospread.simulation.unknown import merged, unjudged_of
from topospread.text import agreeing, counted, listed, not_in_namespace

from .bounds import Bound, bound_by_counts, bound_of, groups
from .exhaustive_search import deepen, without_needless
from .goals import GoalCounts, counts_of, goals_of
from .movable_pods import MovablePods, movable_pods, why_not_evicted
from .result import ConstraintChange, PodMove, Rebalance, UnmetConstraint
from .search import FoundMoves, plan_of
from .trials import PlannedMove, Trials
from .unmet import unmet_of

# Simulate a plan in a drill, move by move. The simulated outcome counts, not the one from the search.

Ban = tuple[ObjectKey, str]
"""A workload's pods on a node, which must not be moved."""


class CarriedOut(msgspec.Struct, frozen=True):
    """The simulated result of a plan, up to the move with another outcome than the search found, if any."""

    moves: tuple[PodMove, ...]
    surprise: Ban | None = None


def carry_out(
    state: DrillState, plan: Sequence[PlannedMove], keys: Sequence[str], *, anywhere: bool = False
) -> CarriedOut:
    """Evict pods one by one, once the previous replacement has a node. Record the domains of the topology keys.

    With `anywhere`, a replacement in other domains than planned is no surprise.
    """
    waiting, done = set(state.pods.waiting), list[PodMove]()
    for each in plan:
        movable, target = each.movable, state.cluster.nodes.names[each.target]
        node = state.cluster.nodes.names[movable.row]
        ban = (key_of(movable.workload), node)
        pod = _pod_of(state, each, node)
        if pod is None or why_not_evicted(state, pod):
            return CarriedOut(tuple(done), ban)
        before = {other.key for other in state.pods.of(key_of(movable.workload))} - {pod.key}
        state.delete([pod], "rebalanced")
        state.settle()
        made = [other for other in state.pods.of(key_of(movable.workload)) if other.key not in before]
        new = next((other for other in made if other.node), None)
        if new is None or len(made) != 1 or state.pods.waiting.keys() - waiting:
            return CarriedOut(tuple(done), ban)
        domains = {key: (_domain(state, key, node), _domain(state, key, new.node)) for key in keys}
        if not anywhere and any(_domain(state, key, target) != after for key, (_, after) in domains.items()):
            return CarriedOut(tuple(done), ban)
        uid = pod.pod.metadata.uid or ""
        incomplete = _is_incomplete(state, key_of(movable.workload))
        done.append(PodMove(pod.namespace, pod.name, owner_of(pod), node, new.name, new.node, domains, uid, incomplete))
    return CarriedOut(tuple(done))


def _is_incomplete(state: DrillState, key: ObjectKey) -> bool:
    """Return whether a pod of the workload is on a node that is not ready."""
    return any(each.node and is_silent(state.node(each.node)) for each in state.pods.of(key))


def _pod_of(state: DrillState, each: PlannedMove, node: str) -> FollowedPod | None:
    """Return the pod to evict; if an earlier move created it, an equivalent pod on the node."""
    movable = each.movable
    known = state.pods.by_key.get(movable.key)
    if known is not None and known.node == node:
        return known
    there = state.pods.of(key_of(movable.workload))
    return next((pod for pod in there if pod.node == node and pod.labels == movable.pod.labels), None)


def _domain(state: DrillState, key: str, node: str) -> str:
    return state.node(node).labels.get(key, "")


_DEEPER = 3
"""Number of moves above the bound that the exhaustive search covers if no plan was found."""
_RESTARTS = 20
_NOBODY = "no workload was checked: the selector matches no pods"


class RebalanceOptions(msgspec.Struct, frozen=True):
    """The constraints to fix, and the limits of the search.

    Attributes:
        namespace, selector, targets: select the workloads to fix; other workloads must only not get worse.
        max_skew: target skew of soft constraints; None ignores them.
        seconds: time limit of the integer program.
        allow_empty: whether a selector may select no workload.
    """

    namespace: str | None = None
    selector: Selector | None = None
    max_skew: int | None = None
    seconds: float = 10.0
    allow_empty: bool = False
    targets: Sequence[str] = ()


class RebalancePlan(msgspec.Struct):
    """A plan under construction; ``doing`` is the current phase, in words."""

    moves: Sequence[PlannedMove] = ()
    bound: Bound = Bound(0, "counts")
    unmet: tuple[UnmetConstraint, ...] = ()
    doing: str = ""


class _Begun(msgspec.Struct, frozen=True):
    """A drill in its stable initial state, with the goals.

    Attributes:
        before: initial counts of each goal.
        waiting: number of pending pods.
        unjudged: unmodelled parts that alone keep pods pending.
    """

    state: DrillState
    trials: Trials
    may_move: MovablePods
    before: Sequence[GoalCounts]
    waiting: int
    unjudged: Sequence[tuple[NotJudgedError, str]]


def rebalance(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    options: SimulationOptions = PLAIN,
    *,
    targets: Sequence[str] = (),
    namespace: str | None = None,
    selector: Selector | None = None,
    max_skew: int | None = None,
    seconds: float = 10.0,
    allow_empty: bool = False,
    progress: Progress | None = None,
) -> Rebalance:
    """Find the evictions, and their order, after which kube-scheduler's own placement meets the constraints.

    Args:
        inventory: the input, which is not changed.
        options: the control plane; preemption is off.
        targets: fix these workloads, ``[NAMESPACE/]KIND/NAME``; by default all.
        namespace: fix workloads of this namespace; constraints of other workloads do not get worse.
        selector: fix workloads whose pods have these labels.
        max_skew: also reduce the skew of soft constraints to this value.
        seconds: time limit of the integer program (extra ``solver``).
        allow_empty: accept a selector that selects no workload.
        progress: receives the number of fixed constraints and the total.

    Raises:
        InputError: if the API server denies an object.
        UsageError: if the namespace is empty, a target does not exist, or the selector matches no workload.
        topospread.drill.interruption.Interrupted: on Ctrl-C (a KeyboardInterrupt), with the evictions so far.
    """
    options = replace(options, preemption=False)
    wished = RebalanceOptions(namespace, selector, max_skew, seconds, allow_empty, targets)
    found = _rebalanced(inventory, options, wished, progress)
    if not found.unjudged:
        return found
    try:
        admitted = _rebalanced(inventory, replace(options, assumes_unjudged=True), wished, progress)
    except Interrupted as ended:
        raise Interrupted(replace(found, partial=ended.finished.partial)) from None
    return replace(found, is_met_if_admitted=admitted.is_met)


def _rebalanced(
    inventory: Inventory, options: SimulationOptions, wished: RebalanceOptions, progress: Progress | None
) -> Rebalance:
    """Plan and simulate. If a move's outcome differs from the search, plan again without this move."""
    banned: set[Ban] = set()
    plan = RebalancePlan()
    try:
        while True:
            begun = _begun(inventory, options, wished, banned)
            plan = RebalancePlan(doing="the bound was worked out")
            _plan(plan, begun, wished, progress)
            plan.doing = "the evictions were carried out in a drill"
            done = _carried_out(begun, plan)
            if done.surprise is None:
                begun, done = _incomplete_last(begun, plan, done, partial(_begun, inventory, options, wished, banned))
                return _result(begun, plan, done, wished)
            if done.surprise in banned or len(banned) == _RESTARTS:
                return _as_far_as_it_goes(inventory, options, wished, plan)
            banned.add(done.surprise)
    except KeyboardInterrupt:
        if not plan.doing:
            raise
        # The interrupted state may be inconsistent, so the plan is simulated on a new one.
        found = _as_far_as_it_goes(inventory, options, wished, plan)
        raise Interrupted(replace(found, partial=f"ended while {plan.doing}")) from None


def _incomplete_last(
    begun: _Begun, plan: RebalancePlan, done: CarriedOut, begin: Callable[[], _Begun]
) -> tuple[_Begun, CarriedOut]:
    """Return a drill with the moves of incomplete workloads last, if no constraint ends worse; else the given drill.

    A wait until such a workload is complete ends only if its node recovers or its pod is replaced.
    """
    ordered = sorted(plan.moves, key=lambda each: _is_incomplete(begun.state, key_of(each.movable.workload)))
    if ordered == list(plan.moves):
        return begun, done
    other = begin()
    keys = {each.topology_key for each in begun.trials.goals if each.wanted}
    again = carry_out(other.state, ordered, sorted(keys), anywhere=True)
    ends = ([counts_of(goal, one.trials.scheduler).distance for goal in one.trials.goals] for one in (other, begun))
    is_worse = again.surprise is not None or any(new > old for new, old in zip(*ends, strict=True))
    return (begun, done) if is_worse else (other, again)


def _as_far_as_it_goes(
    inventory: Inventory, options: SimulationOptions, wished: RebalanceOptions, plan: RebalancePlan
) -> Rebalance:
    """Return the result of a plan up to the first move whose outcome differs from the search."""
    while True:
        begun = _begun(inventory, options, wished, set())
        done = _carried_out(begun, plan)
        if done.surprise is None:
            return _result(begun, plan, done, wished)
        plan.moves = plan.moves[: len(done.moves)]


def _begun(inventory: Inventory, options: SimulationOptions, wished: RebalanceOptions, banned: set[Ban]) -> _Begun:
    state = DrillState(inventory, options)
    state.rest()
    may_move = movable_pods(state)
    names = state.cluster.nodes.names
    movables = [each for each in may_move.pods if (key_of(each.workload), names[each.row]) not in banned]
    scheduler = state.run.scheduler
    goals = goals_of(state.run.plan.workloads, scheduler, wished.max_skew, _chosen(state, wished))
    trials = Trials(scheduler, goals, movables)
    before = [counts_of(each, trials.scheduler) for each in trials.goals]
    return _Begun(state, trials, may_move, before, len(state.pods.waiting), list(_unjudged(state)))


def _unjudged(state: DrillState) -> Iterator[tuple[NotJudgedError, str]]:
    """Yield the unmodelled parts that alone keep pods pending, with these pods."""
    for each in state.pods.waiting.values():
        verdict = state.run.scheduler.verdict(each.pod, each.name)
        yield from ((part, each.key) for part in (verdict.unjudged if verdict.error else ()))


def _carried_out(begun: _Begun, plan: RebalancePlan) -> CarriedOut:
    keys = {each.topology_key for each in begun.trials.goals if each.wanted}
    return carry_out(begun.state, plan.moves, sorted(keys))


def _result(begun: _Begun, plan: RebalancePlan, done: CarriedOut, wished: RebalanceOptions) -> Rebalance:
    state = begun.state
    return Rebalance(
        nodes=len(state.cluster.nodes),
        moves=done.moves,
        constraints=tuple(_changes(begun.before, state)),
        unmet=plan.unmet,
        bound=None if plan.unmet else plan.bound.at_least,
        bound_by=plan.bound.by,
        impossible=plan.bound.impossible,
        soft=_soft_beyond(state, wished) if wished.max_skew is None else 0,
        pending=begun.waiting - len({pod for _, pod in begun.unjudged}),
        warnings=(*state.warnings, *_not_ready(state), *_without_budget(state, done.moves)),
        notes=(*state.notes, *([] if _chosen(state, wished) else [_NOBODY])),
        unjudged=merged(unjudged_of(begun.unjudged), *(each.unjudged for each in plan.unmet)),
    )


def _not_ready(state: DrillState) -> Iterator[str]:
    """Yield a warning about nodes that are not ready: the node lifecycle controller may evict their pods first."""
    found = [name for name in state.cluster.nodes.names if is_silent(state.node(name))]
    pods = sum(each.node in found and not each.terminating for each in state.pods.by_key.values())
    if found and pods:
        yield (
            f"{counted(len(found), 'node')} {agreeing('are', len(found))} not ready: {listed(found, 3)}. "
            f"The controllers may replace {counted(pods, 'pod')} there, which count in the present domains. "
            "To plan for the state after that: topospread drill --wait 10m --save FILE, then rebalance --on FILE"
        )


def _without_budget(state: DrillState, moves: Sequence[PodMove]) -> Iterator[str]:
    """Yield a warning about the workloads of evicted pods that no PodDisruptionBudget selects."""
    keys = dict.fromkeys((*each.workload.split("/", 1), each.namespace) for each in moves)
    found = [
        f"{namespace}/{name}"
        for kind, name, namespace in keys
        if not any(map(state.health.budgets_of, state.pods.of((kind, namespace, name))))
    ]
    if found:
        verb = agreeing("have", len(found))
        yield f"{listed(found, 3)} {verb} no PodDisruptionBudget, so a drain may evict all pods at the same time"


def _chosen(state: DrillState, wished: RebalanceOptions) -> list[Workload]:
    """Return the workloads to fix."""
    every = state.run.plan.workloads
    found = [each for each in every if wished.namespace in (None, each.namespace)]
    if not found and wished.namespace is not None:
        raise UsageError(not_in_namespace(wished.namespace, {each.namespace for each in every}))
    if wished.targets:
        by_key = {key_of(each): each for each in every}
        named = dict.fromkeys(the_workload(each, list(by_key), wished.namespace) for each in wished.targets)
        found = [by_key[each] for each in named]
    selector = wished.selector
    if selector is None:
        return found
    selected = [each for each in found if each.template is not None and selector.matches(each.template.labels)]
    if not selected and not wished.allow_empty:
        raise nothing_selected(selector)
    return selected


def _plan(plan: RebalancePlan, begun: _Begun, wished: RebalanceOptions, progress: Progress | None) -> None:
    """Fill in the plan. The state is unchanged afterwards."""
    trials = begun.trials
    related = groups(trials)
    plan.bound = bound_by_counts(trials, related)
    plan.bound = bound_of(trials, related, wished.seconds)
    begin = trials.cluster.savepoint()
    plan.doing, plan.moves = "evictions were looked for", (found := FoundMoves()).moves
    plan_of(trials, found, progress)
    plan.doing = "it was looked at why constraints are left"
    unmet = tuple(unmet_of(trials, found.stuck, begun.may_move.refused))
    begin.close()
    most = len(plan.moves) if not unmet else plan.bound.at_least + _DEEPER
    if plan.bound.at_least < most and not plan.bound.impossible:
        plan.doing = "fewer evictions were looked for"
        trials = Trials(trials.scheduler, trials.goals, trials.beginning)
        if not unmet:
            plan.moves = without_needless(trials, plan.moves, plan.bound.at_least)
            most = len(plan.moves)
        deeper = deepen(trials, plan.bound.at_least, most)
        if deeper.moves is not None:
            plan.moves, unmet = deeper.moves, ()
        if deeper.at_least > plan.bound.at_least:
            plan.bound = Bound(deeper.at_least, "search")
    plan.unmet = unmet


def _left_out(state: DrillState, was: GoalCounts) -> dict[str, str]:
    """Return the domains with pods of a workload that its constraint does not count, with the pods and the reason."""
    key, pods = was.goal.topology_key, Counter[str]()
    for each in state.pods.of(key_of(was.goal.workload)):
        pods[state.node(each.node).labels.get(key, "") if each.node else ""] += 1
    found: dict[str, str] = {}
    for domain, number in pods.items():
        if domain and domain not in was.names:
            nodes = [each for each in map(state.node, state.cluster.nodes.names) if each.labels.get(key) == domain]
            why = "all nodes cordoned" if all(each.spec.unschedulable for each in nodes) else "no eligible node"
            if why != "all nodes cordoned" and all(each.spec.unschedulable or each.spec.taints for each in nodes):
                why = "all nodes cordoned or tainted"
            found[domain] = f"{counted(number, 'pod')}, {why}"
    return found


def _changes(before: Sequence[GoalCounts], state: DrillState) -> Iterator[ConstraintChange]:
    """Yield the constraints to fix that did not hold before."""
    for was in before:
        goal = was.goal
        if goal.wanted and was.distance:
            now = counts_of(goal, state.run.scheduler)
            yield ConstraintChange(
                kind=goal.workload.kind,
                namespace=goal.workload.namespace,
                name=goal.workload.name,
                topology_key=goal.topology_key,
                when_unsatisfiable=goal.constraint.when_unsatisfiable,
                max_skew=goal.constraint.max_skew,
                highest=goal.highest,
                before=dict(zip(was.names, was.matching.tolist(), strict=True)),
                after=dict(zip(now.names, now.matching.tolist(), strict=True)),
                skew_before=was.skew,
                skew_after=now.skew,
                fewest=was.distance,
                left_out=_left_out(state, was),
            )


def _soft_beyond(state: DrillState, wished: RebalanceOptions) -> int:
    """Return the number of soft constraints of the chosen workloads that exceed their maxSkew."""
    scheduler, chosen = state.run.scheduler, _chosen(state, wished)
    soft = (each for each in goals_of(chosen, scheduler, 0, chosen) if not each.hard)
    return sum(counts_of(each, scheduler).skew > each.constraint.max_skew for each in soft)
