"""What is drawn in drills that are alike: who is faster, all the time or each time anew."""

from __future__ import annotations

from collections import Counter

from tests.plain_inventory import inventory
from tests.unit.rebalance.builders import standing
from topospread.drill.drill_run import DrillRun
from topospread.drill.steps import Rollout
from topospread.simulation.options import SimulationOptions

from .builders import Json, nodes, rolling, spread, workload

EIGHT: dict[str, int] = {"a1": 1, "a2": 2, "b1": 3, "c1": 2}
"""Pods on nodes: three in zone a, three in b, two in c."""


def rolled(number: int) -> dict[str, int]:
    """Pods of each zone when a Deployment of eight was rolled out."""
    found = standing(EIGHT, spread(nodeTaintsPolicy="Ignore"))
    deployment = workload("Deployment", "web", 8, strategy=rolling("25%", "25%"))
    deployment["spec"]["template"]["spec"] = found[0]["spec"]["template"]["spec"]
    owner: Json = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    found[0]["metadata"]["ownerReferences"] = [owner]
    for each in found:
        labels = {"app": "web", "pod-template-hash": "old"}
        each["metadata"] = each["metadata"] | {"labels": labels}
    found[0]["spec"]["selector"] = {"matchLabels": labels}
    found[0]["spec"]["template"]["metadata"] = {"labels": labels}
    objects = [*nodes(*"abca"), deployment | {"metadata": deployment["metadata"] | {"uid": "d"}}, *found]
    options = SimulationOptions(seed=number, draws=True) if number else SimulationOptions()
    play = DrillRun(inventory(*objects), options, {}, number)
    play.says_how_spread = False
    play.play([Rollout("deploy/web")])
    return dict(Counter(each.node[0] for each in play.world.pods.by_key.values() if not each.terminating))


def test_who_is_faster_is_drawn_each_time_in_some_after_the_first_eight() -> None:
    """Real controllers ended as the second: new pods got ready two by two, and no two steps went the same way."""
    as_ever = {"a": 2, "b": 3, "c": 3}
    assert [rolled(number) for number in (0, 1, 2, 7)] == [as_ever] * 4
    assert rolled(26) == {"a": 3, "b": 2, "c": 3}
    assert rolled(26) == rolled(26)
