"""The page of status: which constraints are defaults, and soft ones over maxSkew while pods are pending."""

from __future__ import annotations

import topospread
from tests.unit.drill.builders import ZONE, node, nodes, spread, workload
from tests.unit.rebalance.builders import standing
from topospread.config.load import load_configuration

DEFAULT = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
ARGS = {"defaultingType": "List", "defaultConstraints": [DEFAULT]}
HARD = load_configuration(
    {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": ARGS}]}],
    }
)


def test_constraints_of_the_profile_are_marked_as_defaults_and_own_ones_are_not() -> None:
    own = workload("Deployment", "web", 3, {"topologySpreadConstraints": [spread()]})
    session = topospread.Session([*nodes(*"abc"), own, workload("Deployment", "none", 2)], config=HARD)
    rows = {line.split()[0]: line for line in session.simulate().text().splitlines() if line.startswith("shop/")}
    assert rows["shop/none"].endswith("1 default")
    assert rows["shop/web"].endswith("1")
    placed = session.after()
    rows = {line.split()[0]: line for line in placed.status().text().splitlines() if line.startswith("shop/")}
    assert rows["shop/none"].endswith("default maxSkew")
    assert "default" not in rows["shop/web"]
    assert "maxSkew 1 (default) over zones" in " ".join(placed.why("deploy/none", namespace="shop").text().split())


def test_soft_constraints_over_maxSkew_are_counted_while_pods_are_pending() -> None:  # noqa: N802 - a field
    soft = {"topologySpreadConstraints": [spread(whenUnsatisfiable="ScheduleAnyway")]}
    waits = workload("Deployment", "waits", 1, {"nodeSelector": {"disk": "none"}})
    given = [*nodes("a"), node("b1", "b", cpu="0"), workload("Deployment", "web", 3, soft)]
    said = "soft: 1 soft constraint is over maxSkew (-o wide lists it)"
    for more in ([], [waits]):
        placed = topospread.Session([*given, *more]).after()
        assert (said in placed.status().text()) == bool(more), placed.status().text()


def test_pods_of_nodes_that_are_not_ready_and_workloads_with_one_cause_are_named() -> None:
    lost = node("a1", "a", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}])
    waits = [workload("Deployment", name, 1, {"nodeSelector": {"disk": "none"}}) for name in ("api", "batch")]
    found = topospread.Session([lost, *nodes("b"), *waits, *standing({"a1": 6})]).status()
    text, wide = (" ".join(found.text(wide=each).split()) for each in (False, True))
    assert "node a1 has 6 pods: shop/web-0, shop/web-1, shop/web-2 and 3 more" in text
    assert "node: a1 has 6 pods: shop/web-0, shop/web-1, shop/web-2, shop/web-3, shop/web-4, shop/web-5" in wide
    assert "2 shop/api, shop/batch no node has" in text
