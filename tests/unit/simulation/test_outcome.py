"""What stands in the way of one more pod of a workload, after a simulation."""

from __future__ import annotations

from tests.unit.controllers.manifests import inventory
from tests.unit.simulation.test_final_inventory import SPREAD, node, web
from topospread.simulation.simulate import simulate


def test_what_keeps_pods_with_ephemeral_volumes_out_is_told_of_one_that_waits() -> None:
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}
    pods = {"volumes": [volume], "topologySpreadConstraints": [SPREAD]}
    result = simulate(inventory(node("a", "1"), node("b", "1"), web(replicas=3, pod=pods)))
    (spread,) = result.workloads[0].spread
    assert dict(spread.domains.rejected) == {f"zone-{name}": {"Insufficient cpu": 1} for name in "ab"}
    spread_out = simulate(inventory(node("a", "4"), node("b", "0"), web(replicas=1, pod=pods)))
    assert not spread_out.workloads[0].spread[0].domains.rejected
