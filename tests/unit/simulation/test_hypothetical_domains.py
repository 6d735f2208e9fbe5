"""Domains that node pools could add for an unmet minDomains."""

from __future__ import annotations

from tests.unit.drill.builders import ZONE, nodes, spread, workload
from tests.unit.simulation.test_scaling import added, pool, simulated


def test_min_domains_is_met_after_a_scale_up_or_never() -> None:
    own = {"topologySpreadConstraints": [spread(minDomains=3)]}
    shop = [*nodes("a", "b"), workload("Deployment", replicas=2, spec=own)]
    met = simulated(shop, pool("pc", "c")).notes
    outlook = "is met only after a scale-up: 2 domains exist, new nodes of the pools would add c"
    assert f"shop/web: minDomains 3 of {ZONE} {outlook}" in met
    never = simulated(shop, pool("pa", "a")).notes
    assert any("can never be met: 2 domains exist, no pool could add another domain" in each for each in never)


def test_where_min_domains_forbids_the_pods_a_new_zone_is_asked_for() -> None:
    own = {"topologySpreadConstraints": [spread(minDomains=3)]}
    found = simulated(
        [*nodes("a", "b"), workload("Deployment", replicas=6, spec=own)], pool("pc", "c"), pool("pa", "a")
    )
    assert added(found) == {"pa": 0, "pc": 1}
    assert not found.pending
