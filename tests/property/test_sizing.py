"""The set of nodes that `capacity --pools` names is the cheapest of all sets: each of them is simulated."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.plain_inventory import inventory
from tests.unit.drill.builders import node, spread, workload
from topospread.api.inventory import Inventory
from topospread.api.node_selection import Taint
from topospread.api.pools import NodePool, new_names
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.capacity.capacity import capacity
from topospread.capacity.filling import CapacityQuestion, capacity_of
from topospread.capacity.wanted import read_shares
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

Json = dict[str, Any]
MOST = 3
"""New nodes of a pool."""


@st.composite
def _pools(draw: st.DrawFn) -> tuple[NodePool, ...]:
    priced = draw(st.booleans())
    found = []
    for at in range(draw(st.integers(1, 3))):
        labels = {"pool": f"p{at}", ZONE: draw(st.sampled_from("abc"))}
        taints = (Taint(key="only", value="x", effect="NoSchedule"),) if draw(st.integers(0, 4)) == 0 else ()
        price = Fraction(draw(st.integers(1, 5)), 4) if priced else None
        cpu = {"cpu": str(draw(st.integers(1, 4))), "memory": "64Gi", "pods": "110"}
        found.append(NodePool(f"p{at}", labels, cpu, taints, most=draw(st.integers(1, MOST)), price=price))
    return tuple(found)


@st.composite
def _shops(draw: st.DrawFn) -> list[Json]:
    rooms = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    constraints = []
    if draw(st.booleans()):
        least = {"minDomains": 3} if draw(st.integers(0, 3)) == 0 else {}
        constraints.append(spread(draw(st.integers(1, 2)), **least))
    if draw(st.integers(0, 2)) == 0:
        constraints.append(spread(draw(st.integers(1, 2)), topologyKey=HOSTNAME))
    own: Json = {"topologySpreadConstraints": constraints}
    if draw(st.integers(0, 3)) == 0:
        key = draw(st.sampled_from([HOSTNAME, ZONE]))
        term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "web"}}}
        own["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    objects = [
        *(node(f"n{i}", "abc"[i % 3], cpu=str(room)) for i, room in enumerate(rooms)),
        workload("Deployment", "web", draw(st.integers(1, 3)), own),
    ]
    if draw(st.booleans()):
        objects.append(workload("Deployment", "api", draw(st.integers(1, 2))))
    if draw(st.booleans()):
        half = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "500m"}}}]}
        objects.append(workload("DaemonSet", "log", spec=half))
    return objects


def _suffices(settled: Inventory, pools: tuple[NodePool, ...], counts: tuple[int, ...], more: int) -> bool:
    nodes = list(settled.nodes)
    for pool, number in zip(pools, counts, strict=True):
        nodes += [pool.node(name, nodes) for name in islice(new_names(pool, nodes), number)]
    grown = simulate(replace(settled, nodes=nodes), keep_after=True).after
    assert grown is not None
    question = CapacityQuestion(read_shares(("deploy/web",), None), None, more, SimulationOptions())
    return capacity_of(grown, question).rounds >= more


@drawn(10)
@given(_shops(), _pools(), st.integers(1, 6))
def test_no_cheaper_set_of_nodes_suffices(objects: list[Json], pools: tuple[NodePool, ...], more: int) -> None:
    given_ = inventory(*objects)
    report = capacity(given_, "deploy/web", more=more, options=SimulationOptions(pools=pools), workers=1, seconds=300.0)
    settled = simulate(given_, keep_after=True).after
    assert settled is not None
    if report.sizing is None:
        assert _suffices(settled, pools, (0,) * len(pools), more)
        return
    prices = [pool.price or Fraction(1) for pool in pools]
    sets = sorted(
        (sum(map(Fraction.__mul__, prices, map(Fraction, counts)), Fraction()), sum(counts), counts)
        for counts in product(*(range((pool.most or 0) + 1) for pool in pools))
        if any(counts)
    )
    cheapest = next((each for each in sets if _suffices(settled, pools, each[2], more)), None)
    found = tuple(each.add for each in report.sizing.pools)
    if cheapest is None:
        assert report.sizing.verdict == "no"
        assert not any(found)
        return
    assert report.sizing.verdict == "yes"
    assert report.sizing.is_cheapest
    assert _suffices(settled, pools, found, more)
    assert sum(map(Fraction.__mul__, prices, map(Fraction, found)), Fraction()) == cheapest[0]
    assert sum(found) == cheapest[1]
