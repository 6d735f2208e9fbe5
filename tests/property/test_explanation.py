"""What an explanation says agrees with the engine: its sums give the verdict, and what it suggests places the pod."""

from __future__ import annotations

import msgspec
from hypothesis import HealthCheck, event, example, given
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields

from tests.drawn import drawn
from tests.parted import parted
from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.rollout import Strategy, strategy_of
from topospread.config.load import load_configuration
from topospread.config.profile import Configuration
from topospread.simulation.options import SimulationOptions
from topospread.simulation.placing import place_all
from topospread.simulation.run import prepare
from topospread.simulation.simulate import simulate
from topospread.why.explain import explain
from topospread.why.own_constraints import with_constraints
from topospread.why.rejections_per_node import SPREAD, RejectionsPerNode
from topospread.why.repeated_simulation import RepeatedSimulation
from topospread.why.result import Explanation, Suggestion
from topospread.why.rolling_update import RollingUpdate

from .explained import (
    DEFAULTS,
    applied,
    clusters,
    jobs_that_run,
    preemption_before_a_pod_is_created_again,
    rollout_onto_a_full_closed_node,
    with_further,
    without_the_object,
)

Case = tuple[Inventory, str]
MANY = drawn(40, suppress_health_check=[HealthCheck.too_slow])


def explained(case: Case, **how: bool) -> Explanation:
    inventory, target = case
    return explain(inventory, target, **parted(how))


@given(clusters())
@MANY
def test_re_adding_the_sums_gives_what_the_constraint_allows(case: Case) -> None:
    explanation = explained(case, suggest=False)
    for table in explanation.constraints:
        arithmetic = table.arithmetic
        fewest = min((row.matching for row in table.domains), default=0)
        assert arithmetic.minimum == (0 if len(table.domains) < arithmetic.min_domains else fewest)
        for row in table.domains:
            assert row.after == row.matching + arithmetic.counts_itself
            assert row.skew == row.after - arithmetic.minimum
            assert row.allowed == (not arithmetic.hard or row.skew <= arithmetic.max_skew)
            assert row.holds_minimum == (row.matching == fewest)
            assert 0 <= row.open <= row.nodes


@given(clusters())
@MANY
def test_the_tables_alone_say_which_nodes_topology_spread_rejects(case: Case) -> None:
    inventory, _ = case
    explanation = explained(case, suggest=False)
    hard = [table for table in explanation.constraints if table.arithmetic.hard]
    allowed = [{row.name for row in table.domains if row.allowed} for table in hard]
    every = [{row.name for row in table.domains} for table in hard]
    rejected = 0
    for node in inventory.nodes:
        for table, names, known in zip(hard, allowed, every, strict=True):
            value = node.labels.get(table.arithmetic.topology_key)
            # A domain of which no node takes part is none: nothing counts there, and the minimum still binds.
            skew = table.arithmetic.counts_itself - table.arithmetic.minimum
            if value is None or (value in known and value not in names):
                rejected += 1
                break
            if value not in known and skew > table.arithmetic.max_skew:
                rejected += 1
                break
    told = {each.plugin: each.nodes for each in explanation.plugins}
    if SPREAD in told or rejected:
        assert told.get(SPREAD, 0) == rejected


@given(clusters())
@MANY
def test_the_first_obstacle_of_each_node_is_kube_schedulers_reason(case: Case) -> None:
    run = prepare(case[0], SimulationOptions())
    place_all(run)
    for queued in run.queue:
        verdict = run.scheduler.verdict(queued.pod, queued.name)
        pod_class = run.cluster.shared_class(queued.pod)
        obstacles = RejectionsPerNode(run.scheduler.view(pod_class), run.scheduler.framework_of(pod_class), verdict)
        for position, node in enumerate(verdict.nodes):
            found, rejection = obstacles.of_node(position), verdict.rejected.get(node)
            told = (found[0].code, found[0].plugin, found[0].reasons) if found else None
            assert told == (rejection and (rejection.code, rejection.plugin, rejection.reasons))


@given(clusters())
@MANY
def test_points_add_up_to_the_total_and_topology_spreads_sums_to_its_points(case: Case) -> None:
    explanation = explained(case, suggest=False)
    scores = explanation.scores
    if scores is None or explanation.verdict is None:
        return
    for each in scores.nodes:
        assert sum(each.points.values()) == each.total == explanation.verdict.total[each.node]
    for each in scores.spread:
        points = next(one.points[SPREAD] for one in scores.nodes if one.node == each.node)
        assert each.normalized * each.weight == points
        if each.raw is None:
            assert points == 0
            continue
        total = sum(part.points for part in each.parts)
        assert abs(each.raw - total) <= 0.5 + 1e-9
        if each.highest:
            assert each.normalized == 100 * (each.highest + each.lowest - each.raw) // each.highest
        else:
            assert each.normalized == 100


@given(clusters())
@MANY
def test_the_chosen_node_is_the_simulations(case: Case) -> None:
    explanation = explained(case, suggest=False)
    if explanation.state == "placed":
        placements = {each.name: each.node for each in simulate(case[0]).placements}
        assert placements[explanation.name] == explanation.node
        assert explanation.verdict is not None
        assert explanation.node in explanation.verdict.best


@given(st.booleans().flatmap(lambda closed: clusters(closed=closed)))
@example(rollout_onto_a_full_closed_node())
@example(preemption_before_a_pod_is_created_again())
@drawn(60, suppress_health_check=[HealthCheck.too_slow])
def test_every_suggestion_applied_to_the_inventory_and_simulated_anew_does_what_it_says(case: Case) -> None:
    explanation = explained(case)
    event(explanation.state)
    for suggestion in explanation.suggestions:
        event(suggestion.kind)
        placed, pending = outcome(carried_out(case[0], suggestion), explanation)
        assert (placed, placed + pending) == (suggestion.placed, suggestion.wanted), suggestion
        assert suggestion.lets_in > 0


@given(jobs_that_run())
@drawn(30, suppress_health_check=[HealthCheck.too_slow])
def test_the_room_of_what_is_created_again_is_open_to_others_that_wait(case: Case) -> None:
    explanation = explained(case)
    for suggestion in explanation.suggestions:
        event(suggestion.means)
        placed, pending = outcome(carried_out(case[0], suggestion), explanation)
        assert (placed, placed + pending) == (suggestion.placed, suggestion.wanted), suggestion


def carried_out(given: Inventory, suggestion: Suggestion, config: Configuration | None = None) -> Inventory:
    """The inventory as it is when a person carries a suggestion out; what is created again comes behind all others."""
    changed = applied(given, suggestion)
    if suggestion.means != "recreate":
        return changed
    kind = KINDS[suggestion.object["kind"]]
    again = next(each for each in getattr(changed, kind.attribute) if each.name == suggestion.object["name"])
    others = without_the_object(with_further(given, suggestion), suggestion)
    left = simulate(others, options=SimulationOptions(config=config), keep_after=True).after
    assert left is not None
    getattr(left, kind.attribute).append(again)
    return left


@given(clusters())
@MANY
def test_the_same_holds_of_default_constraints_that_the_pod_would_have_to_bring_itself(case: Case) -> None:
    config = load_configuration(DEFAULTS)
    explanation = explain(*case, options=SimulationOptions(config=config))
    for suggestion in explanation.suggestions:
        event(suggestion.kind + str(len(suggestion.patch)))
        placed, pending = outcome(carried_out(case[0], suggestion, config), explanation, config)
        assert (placed, placed + pending) == (suggestion.placed, suggestion.wanted), suggestion


@given(clusters())
@drawn(30, suppress_health_check=[HealthCheck.too_slow])
def test_one_less_than_the_smallest_max_skew_does_not_do(case: Case) -> None:
    explanation = explained(case)
    for suggestion in explanation.suggestions:
        if suggestion.kind != "maxSkew":
            continue
        (operation,) = suggestion.patch
        at = int(operation["path"].split("/")[-2])
        now = next(
            table.arithmetic.max_skew
            for table in explanation.constraints
            if table.arithmetic.hard and table.arithmetic.position == at
        )
        if operation["value"] - 1 > now:
            smaller = with_value(suggestion, operation["value"] - 1)
            if outcome(carried_out(case[0], smaller), explanation)[0] >= suggestion.placed:
                assert case[0].deployments
                assert played(case[0], smaller) is not None, "all would find a place, but not one after the other"


def played(given: Inventory, suggestion: Suggestion, strategy: Strategy | None = None) -> int | None:
    """How many new pods there are when the rolling update to a larger maxSkew gets stuck; ``None`` where it ends."""
    (operation,) = suggestion.patch
    at = int(operation["path"].split("/")[-2])
    run = prepare(given, SimulationOptions())
    by = strategy or strategy_of(given.deployments[0])
    web = next(each for each in run.plan.workloads if each.kind == "Deployment")
    if by is None or web.template is None:
        return None
    constraints = list(web.template.spec.topology_spread_constraints or ())
    constraints[at] = msgspec.structs.replace(constraints[at], max_skew=operation["value"])
    return RollingUpdate(RepeatedSimulation(run), web, by, with_constraints(web.template, constraints)).play()


@given(clusters())
@MANY
def test_a_rolling_update_that_takes_all_pods_away_at_once_comes_to_what_was_simulated(case: Case) -> None:
    explanation = explained(case)
    for suggestion in explanation.suggestions if case[0].deployments else ():
        # Where others wait, too, the order decides: in an update they come first, in a simulation as they were given.
        others = [each for each in case[0].pods if each.spec.node_name is None and each.name.startswith("waiting")]
        if (suggestion.kind, suggestion.means) == ("maxSkew", "rollout") and not others:
            replicas = suggestion.wanted
            stuck_at = played(case[0], suggestion, Strategy(max_surge=0, max_unavailable=replicas))
            event(f"stuck at {stuck_at}")
            assert (replicas if stuck_at is None else stuck_at) == suggestion.placed


def with_value(suggestion: Suggestion, value: int) -> Suggestion:
    """The suggestion with another value."""
    (operation,) = suggestion.patch
    return with_fields(suggestion, patch=({**operation, "value": value},))


def outcome(inventory: Inventory, explanation: Explanation, config: Configuration | None = None) -> tuple[int, int]:
    """Pods of the explained workload that are placed and pending in a simulation."""
    kind, _, name = explanation.workload.partition("/")
    workloads = simulate(inventory, options=SimulationOptions(config=config)).workloads
    found = next(each for each in workloads if (each.kind, each.name) == (kind, name))
    return found.placed, found.pending


@given(clusters())
@MANY
def test_explaining_changes_nothing_that_was_read(case: Case) -> None:
    inventory, _ = case
    before = [repr(each) for each in inventory.objects()]
    explained(case)
    assert [repr(each) for each in inventory.objects()] == before
