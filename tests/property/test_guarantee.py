"""What is said to hold always survives random orders; what is said not to is so in the order that is shown."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from hypothesis import given, target
from hypothesis import strategies as st

from tests.drawn import LONG, drawn
from tests.order_questions import guarantee, loss_of
from tests.unit.drill.builders import inventory, node, spread, workload
from topospread.controllers.planned import QueuedPod
from topospread.promise.orders import OrderSearch, SearchBudget
from topospread.promise.proofs import Proof
from topospread.promise.questions import LOSSES, LeftAfterLoss, NoPending, SkewWithin
from topospread.promise.rollout_orders import RolloutSearch, begin_rollout
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run, prepare, spreads
from topospread.why.repeated_simulation import RepeatedSimulation

Json = dict[str, Any]
ATTACKS = 200 * LONG
ZONE, HOST = LOSSES.values()


@st.composite
def small(draw: st.DrawFn, pods: int = 4) -> list[Json]:
    """Two to four nodes in two zones, and two workloads."""
    number = draw(st.integers(2, 4))
    made = [node(f"n{i}", draw(st.sampled_from("ab")), cpu=str(draw(st.integers(1, 4)))) for i in range(number)]
    for name in ("web", "api"):
        cpu = str(draw(st.integers(1, 2)))
        spec: Json = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
        kind = draw(st.sampled_from(["DoNotSchedule", "ScheduleAnyway", ""]))
        if kind:
            labels = {"matchLabels": {"app": name}}
            constraint = spread(draw(st.integers(1, 2)), whenUnsatisfiable=kind, labelSelector=labels)
            spec["topologySpreadConstraints"] = [constraint]
        made.append(workload("Deployment", name, draw(st.integers(1, pods)), spec))
    return made


def shuffled(queue: list[QueuedPod], seed: int) -> list[QueuedPod]:
    found = list(queue)
    random.Random(seed).shuffle(found)
    return found


def skew_of(run: Run) -> int:
    found = (each for every in spreads(run).values() for each in every if each.origin != "system")
    return max((each.skew for each in found), default=0)


@drawn(5)
@given(objects=small(), seed=st.integers(0, 1 << 30))
def test_always_survives_a_thousand_random_orders(objects: list[Json], seed: int) -> None:
    found = guarantee(inventory(*objects), never_pending=True, skew=1)
    always = {each.question: each.answer == "always" for each in found}
    if not any(always.values()):
        return
    options = SimulationOptions(seed=seed, draws=True, preemption=False)
    again = RepeatedSimulation(prepare(inventory(*objects), options, with_spreads=False))
    for number in range(ATTACKS):
        run = again.carry_out(shuffled(list(again.queue), seed + number))
        if always["no pod stays pending"]:
            assert not any(each.pending for each in run.outcomes.values())
        if always["no skew is more than 1"]:
            assert skew_of(run) <= 1
        again.restore()


@st.composite
def ample(draw: st.DrawFn) -> list[Json]:
    """Nodes with more room, and workloads that keep away from one another, take ports and are spread."""
    zones = draw(st.lists(st.sampled_from("abc"), min_size=3, max_size=9))
    made = [node(f"n{i}", zone, cpu=str(draw(st.integers(2, 9)))) for i, zone in enumerate(zones)]
    for name in ("web", "api", "log"):
        container: Json = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(draw(st.integers(1, 2)))}}}
        if draw(st.integers(0, 4)) == 0:
            container["ports"] = [{"containerPort": 80, "hostPort": 80}]
        spec: Json = {"containers": [container]}
        whom = draw(st.sampled_from(["web", "api", "log", "", ""]))
        if whom:
            key = draw(st.sampled_from([HOST, ZONE]))
            term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": whom}}}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        own = {"matchLabels": {"app": name}}
        everybody = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
        spec["topologySpreadConstraints"] = [
            spread(
                draw(st.integers(1, 3)),
                topologyKey=key,
                whenUnsatisfiable=draw(st.sampled_from(["DoNotSchedule", "ScheduleAnyway"])),
                labelSelector=draw(st.sampled_from([own, own, everybody])),
            )
            for key in draw(st.sampled_from([[], [ZONE], [HOST], [ZONE, HOST]]))
        ]
        made.append(workload("Deployment", name, draw(st.integers(1, 4)), spec))
    return made


def left_after(run: Run, key: str) -> int:
    """How many pods of web the loss of the domain that holds the most leaves."""
    codes = run.cluster.nodes.labels(key).codes
    rows = [run.cluster.placed[each] for each, queued in run.placed_here.items() if queued.workload.name == "web"]
    held = Counter(codes.item(row) for row in rows)
    return len(rows) - max(held.values(), default=0)


@drawn(6)
@given(objects=ample(), seed=st.integers(0, 1 << 30))
def test_what_is_counted_survives_a_thousand_random_orders(objects: list[Json], seed: int) -> None:
    options = SimulationOptions(seed=seed, draws=True, preemption=False)
    again = RepeatedSimulation(prepare(inventory(*objects), options, with_spreads=False))
    run = prepare(inventory(*objects), options, with_spreads=False)
    proof = Proof(run, run.queue)
    never_pending = bool(proof.of(NoPending()))
    skew = next((n for n in range(13) if proof.of(SkewWithin(n))), 99)
    left = {
        loss: max(n for n in range(-1, 5) if n < 0 or proof.of(loss_of(run, f"deploy/web={n}", loss)))
        for loss in LOSSES
    }
    target(float(never_pending), label="never pending")
    for number in range(ATTACKS if never_pending or skew < 99 else 0):
        tried = again.carry_out(shuffled(list(again.queue), seed + number))
        assert not never_pending or not any(each.pending for each in tried.outcomes.values())
        assert skew_of(tried) <= skew
        assert all(left_after(tried, LOSSES[loss]) >= least for loss, least in left.items())
        again.restore()


def ends(run: Run, left: list[QueuedPod]) -> set[tuple[int, int]]:
    """How many pods stay pending and the skew, of every order and every tie, each looked at for itself."""
    found: set[tuple[int, int]] = set()
    for i, queued in enumerate(left):
        for best in run.scheduler.verdict(queued.pod, queued.name).best:
            with run.cluster.savepoint():
                pod_class = run.cluster.shared_class(queued.pod)
                run.scheduler.bind(f"shop/{queued.name}", pod_class, run.cluster.nodes.row_of[best])
                found |= ends(run, left[:i] + left[i + 1 :])
    return found or {(len(left), skew_of(run))}


@drawn(12)
@given(objects=small(pods=2))
def test_the_answer_is_that_of_all_orders_looked_at_one_by_one(objects: list[Json]) -> None:
    run = prepare(inventory(*objects), SimulationOptions(preemption=False), with_spreads=False)
    every = ends(run, list(run.queue))
    for question, good in (
        (NoPending(), {not pending for pending, _ in every}),
        (SkewWithin(1), {skew <= 1 for _, skew in every}),
    ):
        found = OrderSearch(run, run.queue, question, SearchBudget()).search()
        assert not found.gave_up
        assert (found.holds, bool(found.why)) == (True in good, False in good)


@drawn(10)
@given(objects=small())
def test_the_order_that_is_shown_comes_to_what_is_said(objects: list[Json]) -> None:
    (answer,) = guarantee(inventory(*objects), never_pending=True)
    if not answer.order:
        assert answer.answer == "always"
        return
    run = prepare(inventory(*objects), SimulationOptions(preemption=False), with_spreads=False)
    by_name = {each.name: each for each in run.queue}
    for step in answer.order:
        queued = by_name[step.name]
        best = run.scheduler.verdict(queued.pod, queued.name).best
        if not step.node:
            assert best == ()
            continue
        assert sorted([step.node, *step.equal]) == list(best)
        pod_class = run.cluster.shared_class(queued.pod)
        run.scheduler.bind(f"shop/{queued.name}", pod_class, run.cluster.nodes.row_of[step.node])


@drawn(8)
@given(objects=ample(), surge=st.sampled_from([(0, 1), (1, 0), ("50%", 1)]))
def test_what_is_counted_of_a_rollout_is_found_by_its_search(objects: list[Json], surge: tuple[object, object]) -> None:
    web = next(each for each in objects if each["metadata"]["name"] == "web")
    rolling = {"maxSurge": surge[0], "maxUnavailable": surge[1]}
    web["spec"] |= {"replicas": min(web["spec"]["replicas"], 3), "strategy": {"rollingUpdate": rolling}}
    begun = begin_rollout(inventory(*objects), SimulationOptions(preemption=False), "deploy/web")
    if begun.undecidable:
        return
    proof = Proof(begun.run, begun.new, begun.old, begun.strategy.max_surge)
    left = [LeftAfterLoss(loss, begun.workload, least) for loss in LOSSES for least in (1, 2)]
    for question in (NoPending(), SkewWithin(1), SkewWithin(2), SkewWithin(3), *left):
        if proof.of(question):
            found = RolloutSearch(begun, question, SearchBudget(1500, 20)).search()
            assert not found.why, question
