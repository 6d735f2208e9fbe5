"""No order of pods with random choices among feasible nodes breaks a promise that is said to be kept."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.drawn import LONG, drawn
from tests.unit.drill.builders import ZONE, inventory, node, spread, workload
from topospread.answers.promise_check import promise_check
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run, prepare
from topospread.simulation.unscored import unscored

Json = dict[str, Any]
ORDERS = 40 * LONG
"""Drawn for each example: a thousand altogether."""
HOST = "kubernetes.io/hostname"


@st.composite
def shops(draw: st.DrawFn) -> list[Json]:
    """Two to four zones of different sizes, web with a hard constraint, and others that take room, or fit nowhere."""
    zones = draw(st.lists(st.sampled_from("abcd"), min_size=2, max_size=6))
    made = [node(f"n{at}", zone, cpu=str(draw(st.integers(2, 6)))) for at, zone in enumerate(zones)]
    constraint = spread(draw(st.integers(1, 3)), topologyKey=draw(st.sampled_from([ZONE, HOST])))
    web = workload("ReplicaSet", "web", draw(st.integers(2, 6)), {"topologySpreadConstraints": [constraint]})
    big: Json = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(draw(st.integers(3, 8)))}}}
    wide = workload("ReplicaSet", "wide", draw(st.integers(0, 2)), {"containers": [big]})
    return [*made, web, workload("ReplicaSet", "busy", draw(st.integers(0, 4))), wide]


def left_by(run: Run, draws: random.Random) -> tuple[int, int, int]:
    """Place all pods at random on feasible nodes; return what losses leave, and the number of pending pods."""
    held: dict[str, Counter[str]] = {ZONE: Counter(), HOST: Counter()}
    waiting, placed = list(run.queue), 0
    with ExitStack() as undone:
        undone.enter_context(run.cluster.savepoint())
        moved = True
        while moved:
            moved = False
            draws.shuffle(waiting)
            for queued in list(waiting):
                feasible = run.scheduler.verdict(queued.pod, queued.name).feasible
                if not feasible:
                    continue
                row = run.cluster.nodes.row_of[draws.choice(feasible)]
                key = f"{queued.namespace}/{queued.name}"
                run.scheduler.bind(key, run.cluster.shared_class(queued.pod), row)
                waiting.remove(queued)
                moved = True
                if queued.workload.name == "web":
                    placed += 1
                    of = run.cluster.nodes.nodes[row]
                    assert of is not None
                    for topology_key, counts in held.items():
                        counts[of.labels[topology_key]] += 1
        pending = sum(each.workload.name == "web" for each in waiting)
    zone, host = (placed - max(counts.values(), default=0) for counts in held.values())
    return zone, host, pending


@drawn(5, suppress_health_check=list(HealthCheck))
@given(objects=shops(), seed=st.integers(0, 1000))
def test_a_thousand_random_orders_break_no_promise(objects: list[Json], seed: int) -> None:
    want = " ".join(f"{loss}-loss>={number}" for loss in ("zone", "node") for number in (1, 2, 3))
    found = promise_check(inventory(*objects), ["rs/web"], want=f"{want} never-waits", states=300, seconds=3)
    kept = {each.want for each in found.promises if each.verdict == "yes"}
    options = unscored(SimulationOptions(preemption=False))
    run, draws = prepare(inventory(*objects), options, with_spreads=False), random.Random(seed)
    for _ in range(ORDERS):
        zone, host, pending = left_by(run, draws)
        assert not pending or "never-waits" not in kept
        broken = {f"zone-loss>={number}" for number in (1, 2, 3) if zone < number}
        broken |= {f"node-loss>={number}" for number in (1, 2, 3) if host < number}
        assert not broken & kept
