"""Trials that are counted instead of drilled have the figures of the drills."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.drill.builders import ZONE, inventory, nodes, rolling, spread, workload
from topospread.drill.steps import Drain, NodeChoice, Rollout, Step
from topospread.promise.design_checks import DesignChecks
from topospread.promise.design_rules import DesignRules, SpreadRule, with_rules
from topospread.promise.wants import read_intent
from topospread.promise.workload_drills import WorkloadDrills
from topospread.simulation.options import PLAIN
from topospread.simulation.unscored import unscored

HOST = "kubernetes.io/hostname"
KEY = ("Deployment", "shop", "web")
ROLLOUT = Rollout("shop/deploy/web")
SIX = nodes("a", "a", "b", "b", "c", "c")


def drills(*objects: Any, scored: bool = False) -> WorkloadDrills:
    return WorkloadDrills(inventory(*objects), PLAIN if scored else unscored(PLAIN), KEY)


@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("steps", [(), (ROLLOUT,)])
@pytest.mark.parametrize(
    "spec", [{}, {"topologySpreadConstraints": [spread()]}, {"priorityClassName": "system-node-critical"}]
)
def test_the_failures_of_domains_leave_what_their_drills_leave(
    spec: Any, steps: tuple[Step, ...], scored: bool
) -> None:
    other = workload("Deployment", "other", 4)
    begin = drills(*SIX, workload("Deployment", replicas=5, spec=spec, strategy=rolling(1, 1)), other, scored=scored)
    runs = 3 if steps else 1
    for domain, fewest, begun in begin.losses(ZONE, *steps, runs=runs):
        found = begin.play(*steps, begin.lose(ZONE, domain).steps[0], runs=runs)
        assert (fewest, begun) == (found.fewest, found.begun)


def test_the_failure_of_a_domain_is_drilled_where_a_rollout_is_stuck() -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    web = workload("Deployment", replicas=3, spec={"affinity": apart}, strategy=rolling(1, 0))
    begin = drills(*nodes("a", "b", "c"), web)
    assert begin.play(ROLLOUT).stuck
    assert [(domain, fewest) for domain, fewest, _ in begin.losses(ZONE, ROLLOUT)] == [("a", 2), ("b", 2), ("c", 2)]


@pytest.mark.parametrize("available", [0, 1, 2])
@pytest.mark.parametrize("tolerates", [False, True])
def test_drains_of_all_nodes_leave_what_their_drill_leaves(available: int, tolerates: bool) -> None:
    spec = {"tolerations": [{"operator": "Exists"}]} if tolerates else {}
    web = workload("Deployment", replicas=3, spec=spec)
    given = with_rules(inventory(*SIX, web), KEY, DesignRules((SpreadRule(ZONE, 1),), available=available), 3)
    begin = WorkloadDrills(given, PLAIN, KEY)
    intent = read_intent(["zone"], [2], 3, unnoticed=False)
    checks = DesignChecks(begin, begin, given, intent, 500, {})
    fewest = begin.play(*(Drain(NodeChoice("node", each.name)) for each in given.nodes)).fewest
    expected = [f"drains of all nodes can leave {fewest} of 3 ready"] if fewest < 2 else []
    assert [each.text for each in checks.failures() if each.check == "drains"] == expected


@pytest.mark.parametrize("skew", [0, 1, 2])
@pytest.mark.parametrize("by_revision", [False, True])
@pytest.mark.parametrize("strategy", [rolling(1, 0), rolling(0, 2)])
def test_a_proof_by_counting_finds_the_failures_that_drills_find(
    skew: int, by_revision: bool, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = DesignRules((SpreadRule(ZONE, skew, by_revision=by_revision),) if skew else ())
    given = with_rules(inventory(*SIX, workload("Deployment", replicas=5, strategy=strategy)), KEY, rules, 5)
    begin = WorkloadDrills(given, PLAIN, KEY)
    free = WorkloadDrills(given, unscored(PLAIN), KEY)
    intent = read_intent(["zone"], [3], 5, unnoticed=False)

    def failures() -> list[tuple[str, str, str]]:
        found = list(DesignChecks(begin, free, given, intent, 500, {}).failures())
        assert [each.text for each in found] == [each.text for each in found]
        return [(each.check, each.key, each.text) for each in found]

    counted = failures()
    monkeypatch.setattr(DesignChecks, "_surely_left", lambda *_, **__: 0)
    drilled = failures()
    if (skew, by_revision) == (1, False):  # counting proves what no drill finds: three pods stay after every rollout
        drilled = [each for each in drilled if "has no bound" not in each[2]]
    assert counted[:1] == drilled[:1]


@pytest.mark.parametrize("spec", [{}, {"topologySpreadConstraints": [spread(topologyKey=HOST)]}])
def test_a_loss_that_is_not_drilled_takes_no_pod(spec: Any) -> None:
    begin = drills(*SIX, workload("Deployment", replicas=3, spec=spec), workload("Deployment", "other", 4))
    held = set(begin.held(HOST))
    assert 0 < len(held) < len(SIX)
    for domain in begin.domains(HOST).keys() - held:
        found = begin.lose(HOST, domain)
        assert found.fewest == found.begun == found.ready == 3
