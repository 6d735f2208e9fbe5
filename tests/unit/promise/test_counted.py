"""Many workloads are counted and not searched: never more than what a search proves, and as much where it is simple."""

from __future__ import annotations

import pytest

from tests.unit.drill.builders import ZONE, inventory, nodes, spread, workload
from topospread.answers.promise_show import promise_show
from topospread.base import Bounds
from topospread.promise.counted import CountedWorkloads
from topospread.promise.kept import WorkloadPromises
from topospread.promise.orders import SearchBudget
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

HOST = "kubernetes.io/hostname"
APART = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "apart"}}}
            ]
        }
    }
}


def own(name: str, max_skew: int = 1, key: str = ZONE) -> dict[str, object]:
    selector = {"matchLabels": {"app": name}}
    return {"topologySpreadConstraints": [spread(max_skew, topologyKey=key, labelSelector=selector)]}


SPECS = {"plain": {}, "hard": own("hard"), "loose": own("loose", 3), "node": own("node", 1, HOST), "apart": APART}
OBJECTS = [*nodes(*"aabbcc"), *(workload("Deployment", name, 3, spec) for name, spec in SPECS.items())]


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("name", SPECS)
def test_counting_proves_no_more_than_a_search(name: str, *, placed: bool) -> None:
    given = inventory(*OBJECTS)
    if placed:
        after = simulate(given, keep_after=True).after
        assert after is not None
        given = after
    key, options = ("Deployment", "shop", name), SimulationOptions(preemption=False)
    with CountedWorkloads(given, options).judge(key) as judge:
        counted = {loss: judge.fewest(loss) for loss in ("zone", "node")}
    search = WorkloadPromises(given, options, key, SearchBudget(3_000, 60), {})
    for loss, found in counted.items():
        exact = search.fewest(loss)
        assert found.now == exact.now
        assert found.orders == exact.orders
        if exact.rolled is not None and found.rolled is not None:
            assert found.rolled.least <= exact.rolled.least
            assert found.rolled.most >= exact.rolled.most


def test_more_than_ten_workloads_are_shown_with_the_loss_of_each_zone_played_once() -> None:
    more = [workload("Deployment", f"w{each}", 3, own(f"w{each}")) for each in range(11)]
    found = promise_show(inventory(*nodes(*"aabbcc"), *more))
    assert len(found.workloads) == 11
    for each in found.workloads:
        events = {event.when: event for event in each.events}
        assert set(events) == {"zone-loss", "node-loss", "drain", "rollout"}
        assert events["zone-loss"].runs == 3
        assert events["zone-loss"].then == "1 stays pending"
        assert events["drain"].orders == events["node-loss"].orders
        assert events["rollout"].leaves == Bounds.exactly(3)
    assert ZONE in found.workloads[0].constraints[0]
