"""A drill as a text: names that are longer than a table has room for, what is alike together, pools."""

from __future__ import annotations

from tests.plain_inventory import inventory
from tests.unit.drills.builders import Json, at, node, nodes, spread, told, workload
from topospread.api.pools import NodePool
from topospread.drills import Drill
from topospread.drills.each import drill_each
from topospread.drills.steps import Autoscale, Fail, Scale
from topospread.report.drill import drill_summary, drill_text
from topospread.report.drill_each import each_text
from topospread.report.layout import Layout
from topospread.simulation.run import SimulationOptions

NARROW = Layout(80)
LONG = "a-deployment-whose-name-is-as-long-as-those-of-charts-are"
SCALER: Json = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "minReplicas": 1,
        "maxReplicas": 14,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
    },
}


def lines(drill: Drill) -> list[str]:
    return drill_text(drill, NARROW).splitlines()


def test_steps_with_long_names_are_told_apart_in_the_table() -> None:
    steps = [Scale(f"shop/deploy/{LONG}", number) for number in (2, 6)]
    table = drill_summary(told([*nodes("a", "b"), workload("Deployment", LONG)], *steps), NARROW).splitlines()
    assert [line for line in table if LONG in line] == [
        f"1  scale shop/deploy/{LONG}=2",
        f"2  scale shop/deploy/{LONG}=6",
    ]
    assert table[0].split() == ["from", "settled", "ready", "at", "worst", "pending", "skew"]
    assert table[3].split()[:3] == ["0:00", "0:00", "2"]
    assert not [line for line in table if "…" in line or len(line) > 80]


def test_long_names_of_nodes_stand_whole_above_their_numbers() -> None:
    name = "ip-10-0-0-1.a-region-with-a-long-name.compute.internal.example"
    found = drill_each(inventory(node(name, "a"), *nodes("b"), workload("Deployment")), "node", SimulationOptions(), 1)
    shown = each_text(found, NARROW).splitlines()
    assert name in shown
    assert shown[shown.index(name) + 1].split()[-1] == "5:50"


def test_what_an_autoscaler_scales_is_one_line() -> None:
    found = told([*nodes("a", "b", "c"), workload("Deployment", replicas=1), SCALER], Autoscale("shop/hpa/web"))
    scaled = [line for line in lines(found) if "scaled" in line]
    assert [line.split("  ")[-1].strip() for line in scaled] == ["shop/deployment/web scaled 14 times, from 1 to 14"]


def test_pools_say_what_they_brought_and_what_is_only_on_paper() -> None:
    zones = {each: {"topology.kubernetes.io/zone": each, "pool": f"web-{each}"} for each in "ac"}
    pools = [NodePool(f"web-{each}", zones[each], {"cpu": "1", "pods": "9"}, most=1) for each in "ac"]
    objects = [node("a1", "a", cpu="1"), node("b1", "b", cpu="1")]
    objects.append(workload("Deployment", replicas=2, spec={"topologySpreadConstraints": [spread()]}))
    found = told(objects, Fail(at("node=a1")), pools=pools)
    assert [(each.name, each.added, each.may_grow) for each in found.pools] == [
        ("web-a", ("web-a-new-1",), False),
        ("web-c", (), True),
    ]
    text = "\n".join(lines(found))
    assert "1 node added by the autoscaler: web-a-new-1" in text
    assert "web-a  no node, 1 added, at most 1\n" in text
    assert "only on paper, so that no constraint counts it:\n    topology.kubernetes.io/zone=c" in text
    assert found.to_dict()["pools"][1]["onPaper"] == {"topology.kubernetes.io/zone": "c"}
    assert not told(objects, Fail(at("node=a1"))).pools
