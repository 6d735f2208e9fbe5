"""What losses leave is attacked: no order with random scores leaves fewer, and the worst of all orders is not more."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.drawn import LONG, drawn
from tests.property.test_promises import HOST, left_by
from tests.unit.drill.builders import ZONE, inventory, node, spread, workload
from topospread.api.inventory import Inventory
from topospread.base import Bounds
from topospread.controllers.planned import QueuedPod
from topospread.promise.kept import WorkloadPromises
from topospread.promise.orders import SearchBudget
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run, prepare
from topospread.simulation.unscored import unscored

Json = dict[str, Any]
KEY = ("ReplicaSet", "shop", "web")
ORDERS = 200 * LONG


@st.composite
def worlds(draw: st.DrawFn) -> list[Json]:
    """At most five nodes and six pods: web is spread or kept apart, or not, and others take room."""
    zones = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
    made = [node(f"n{at}", zone, cpu=str(draw(st.integers(1, 4)))) for at, zone in enumerate(zones)]
    keys = draw(st.lists(st.sampled_from([ZONE, HOST]), unique=True, max_size=2))
    spec: Json = {
        "topologySpreadConstraints": [
            spread(
                draw(st.integers(1, 3)),
                topologyKey=key,
                **draw(st.sampled_from([{}, {"minDomains": 2}, {"minDomains": 4}])),
                whenUnsatisfiable="DoNotSchedule",
            )
            for key in keys
        ]
    }
    apart = draw(st.sampled_from([None, None, ZONE, HOST]))
    if apart:
        term = {"topologyKey": apart, "labelSelector": {"matchLabels": {"app": "web"}}}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    web = draw(st.integers(1, 6))
    own = {"labelSelector": {"matchLabels": {"app": draw(st.sampled_from(["busy", "busy", "web"]))}}}
    limits = [spread(draw(st.integers(1, 2)), whenUnsatisfiable="DoNotSchedule", **own)] if draw(st.booleans()) else []
    busy = workload("ReplicaSet", "busy", draw(st.integers(0, 6 - web)), {"topologySpreadConstraints": limits})
    return [*made, workload("ReplicaSet", "web", web, spec), busy]


def bounds_of(objects: Inventory, loss: str, states: int) -> Bounds:
    options = SimulationOptions(preemption=False)
    return WorkloadPromises(objects, options, KEY, SearchBudget(states, 10), {}).fewest(loss).orders


def worst_of(run: Run, key: str) -> int:
    """Return the fewest pods that a loss leaves at the end of any order with any feasible node: all are tried."""
    codes, seen, worst = run.cluster.nodes.labels(key).codes, set(), [len(run.queue)]
    lines: dict[str, list[QueuedPod]] = {}
    for each in run.queue:
        lines.setdefault(each.workload.name, []).append(each)
    placed: dict[str, list[int]] = {name: [] for name in lines}

    def look() -> None:
        state = tuple((name, tuple(sorted(rows))) for name, rows in placed.items())
        if state in seen:
            return
        seen.add(state)
        moved = False
        for name, line in lines.items():
            if len(placed[name]) == len(line):
                continue
            queued = line[len(placed[name])]
            for feasible in run.scheduler.verdict(queued.pod, queued.name).feasible:
                moved = True
                row = run.cluster.nodes.row_of[feasible]
                with run.cluster.savepoint():
                    run.scheduler.bind(f"shop/{queued.name}", run.cluster.shared_class(queued.pod), row)
                    placed[name].append(row)
                    look()
                    placed[name].pop()
        if not moved:
            held = [codes.item(row) for row in placed["web"]]
            worst[0] = min(worst[0], len(held) - max(map(held.count, held), default=0))

    look()
    return worst[0]


@drawn(25, suppress_health_check=list(HealthCheck))
@given(objects=worlds())
def test_what_is_proved_is_the_worst_of_all_orders(objects: list[Json]) -> None:
    for loss, key in (("zone", ZONE), ("node", HOST)):
        worst = worst_of(prepare(inventory(*objects), unscored(SimulationOptions(preemption=False))), key)
        searched = bounds_of(inventory(*objects), loss, 20_000)
        assert searched == Bounds.exactly(worst)
        counted = bounds_of(inventory(*objects), loss, 1)
        assert counted.least <= worst <= counted.most


@drawn(4, suppress_health_check=list(HealthCheck))
@given(objects=worlds(), seed=st.integers(0, 1000))
def test_no_order_with_random_scores_leaves_fewer(objects: list[Json], seed: int) -> None:
    least = [bounds_of(inventory(*objects), loss, 1).least for loss in ("zone", "node")]
    run = prepare(inventory(*objects), unscored(SimulationOptions(preemption=False)), with_spreads=False)
    draws = random.Random(seed)
    for _ in range(ORDERS):
        zone, host, _ = left_by(run, draws)
        assert zone >= least[0]
        assert host >= least[1]
