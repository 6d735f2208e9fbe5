"""What a simulation leaves is where another one starts: nothing moves, nothing is placed twice.

Without preemption: what is created anew for a pod that was evicted in the midst of a rollout may be one too many then.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given

from tests.drawn import drawn
from tests.property.explained import clusters
from topospread.api.inventory import Inventory
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate


@drawn(25, suppress_health_check=[HealthCheck.too_slow])
@given(clusters())
def test_a_simulation_of_what_one_left_places_nothing_more(cluster: tuple[Inventory, str]) -> None:
    first = simulate(cluster[0], keep_after=True, options=SimulationOptions(preemption=False))
    assert first.after is not None
    second = simulate(first.after, keep_after=True, options=SimulationOptions(preemption=False))
    assert second.after is not None
    assert [each.node for each in second.placements if each.node] == []
    there, still = ({each.name: each.spec.node_name for each in one.after.pods} for one in (first, second))
    assert there == still
    pending = {each.name for each in first.placements if each.node is None and not _is_not_created(each.message)}
    assert {name for name, node in there.items() if node is None} >= pending
    assert second.removed == {}


def _is_not_created(message: str) -> bool:
    return message.startswith("not created")
