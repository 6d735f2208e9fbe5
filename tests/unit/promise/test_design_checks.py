"""The checks of a design."""

from __future__ import annotations

from tests.unit.drill.builders import ZONE, inventory, node, nodes, workload
from topospread.answers.promise_design import promise_design


def test_a_search_that_ends_early_decides_nothing() -> None:
    found = promise_design(inventory(*nodes("a", "b", "c"), workload("Deployment", replicas=3)), tries=1)
    assert found.verdict == "unknown"
    assert found.unjudged[0].because == "1 checked design (--tries) were not enough, and more designs are possible"
    assert not found.unjudged[0].to_know, "no number of tries is sure to find one"


def test_a_failed_search_proves_nothing() -> None:
    """Anti-affinity over zones keeps pods pending; without it is not tried."""
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    web = workload("Deployment", "web", 6, {"affinity": apart})
    found = promise_design(inventory(*nodes(*"aabbcc"), web), want="zone-loss>=4", states=500)
    assert (found.verdict, found.unjudged[0].what) == ("unknown", "designs")
    assert found.says == "no design of shop/web was found that keeps the wanted promises (1 tried)"
    assert "3 of 6 pods find no node" in found.causes[0].says
    full = promise_design(
        inventory(node("a1", "a", cpu="1"), node("b1", "b", cpu="1"), web), want="zone-loss>=3", states=500
    )
    assert (full.verdict, full.causes[0].says) == ("no", "4 of 6 pods find no node even without constraints")


def test_orders_are_not_searched_if_the_states_cannot_suffice() -> None:
    """The other pods may fill a zone, and five workloads of three pods have 1,024 states at least."""
    objects = [node(f"{zone}{number}", zone, cpu="3") for zone in "abc" for number in range(2)]
    objects += [workload("Deployment", f"web-{number}", 3) for number in range(5)]
    found = promise_design(inventory(*objects), want="zone-loss>=2", states=500, tries=30)
    assert found.verdict == "unknown"
    assert found.unjudged[0].because.endswith(
        "counting does not decide, and 15 pods have too many orders to search, because 5 workloads are to be placed: "
        "apply only this workload's file"
    )
    assert all(each.lines for each in found.workloads)
