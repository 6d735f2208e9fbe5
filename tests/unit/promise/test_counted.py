"""Many workloads are counted and not searched: never more than what a search proves, and as much where it is simple."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from tests.unit.drill.builders import ZONE, inventory, nodes, spread, workload
from topospread.answers.promise_show import promise_show
from topospread.api.inventory import Inventory
from topospread.api.pod import Pod
from topospread.api.workload import ReplicaSet
from topospread.base import Bounds
from topospread.config.load import load_configuration
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


HARD_DEFAULTS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "PodTopologySpread",
                    "args": {"defaultingType": "List", "defaultConstraints": [spread(1, labelSelector=None)]},
                }
            ]
        }
    ],
}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"selector": {"app": "web"}},
}


def with_another_hash(given: Inventory) -> Inventory:
    (made,) = {each.labels["pod-template-hash"] for each in given.pods}
    lists = {}
    for name, kind in (("replica_sets", ReplicaSet), ("pods", Pod)):
        text = msgspec.json.encode(getattr(given, name)).replace(made.encode(), b"59f8c7d6b4")
        lists[name] = msgspec.json.decode(text, type=list[kind])  # type: ignore[valid-type]
    return replace(given, **lists)


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("with_service", [False, True])
def test_the_selector_of_default_constraints_is_that_of_the_coming_pods(*, placed: bool, with_service: bool) -> None:
    """Whatever hash the stored ReplicaSet has: a real cluster's is never the one that is made up here."""
    config = load_configuration(HARD_DEFAULTS)
    given = inventory(*nodes(*"aabbcc"), workload("Deployment", "web", 6), *([SERVICE] if with_service else []))
    if placed:
        after = simulate(given, keep_after=True).after
        assert after is not None
        given = with_another_hash(after)
    key, options = ("Deployment", "shop", "web"), SimulationOptions(preemption=False, config=config)
    with CountedWorkloads(given, options).judge(key) as judge:
        counted = judge.fewest("zone")
    exact = WorkloadPromises(given, options, key, SearchBudget(3_000, 60), {}).fewest("zone")
    assert counted.orders == exact.orders == Bounds.exactly(4)
    assert exact.rolled is not None
    assert counted.rolled is not None
    assert counted.rolled.least <= exact.rolled.least
    assert counted.rolled.most >= exact.rolled.most


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
