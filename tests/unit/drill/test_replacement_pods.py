"""ResourceQuotas in drills: new pods count once the deleted ones are gone, and refused pods are retried."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.api.pools import NodePool
from topospread.api.well_known_labels import ZONE
from topospread.drill.drill import drill
from topospread.drill.steps import Drain, Fail, Rollout, Scale, Step
from topospread.simulation.options import SimulationOptions

from .builders import Json, at, inventory, node, nodes, rolling, spread, told, workload


def quota(pods: int) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "shop"},
        "spec": {"hard": {"pods": str(pods)}},
    }


def drilled(pods: int, *steps: Step, strategy: Json | None = None) -> Any:
    web = workload("Deployment", replicas=3, strategy=strategy or rolling(1, 0))
    return told([*nodes("a", "a", "b", "c"), web, quota(pods)], *steps, runs=2).answer()


@pytest.mark.parametrize("step", [Drain(at("node=a1")), Fail(at("zone=a"))])
def test_a_replacement_takes_the_quota_of_the_deleted_pod(step: Step) -> None:
    assert drilled(3, step).verdict == "yes"


def test_a_surge_beyond_the_quota_is_refused_and_gets_the_rollout_stuck() -> None:
    answer = drilled(3, Rollout("deploy/web"))
    assert answer.verdict == "no"
    assert "the rollout of shop/web is stuck" in answer.says
    assert any("exceeded quota: q" in each.says for each in answer.causes)
    assert drilled(4, Rollout("deploy/web")).verdict == "yes"
    assert drilled(3, Rollout("deploy/web"), strategy=rolling(0, 1)).verdict == "yes"


def test_refused_pods_are_created_once_others_leave() -> None:
    assert drilled(3, Rollout("deploy/web"), strategy=rolling(1, 1)).verdict == "yes"


def test_replicas_beyond_the_quota_are_pending() -> None:
    answer = drilled(4, Scale("deploy/web", 5))
    assert answer.verdict == "no"
    assert answer.says.startswith("1 pod of shop/web is ")
    assert drilled(4, Scale("deploy/web", 2), Scale("deploy/web", 4), Drain(at("node=a1"))).verdict == "yes"


def test_a_rollout_of_pods_that_are_not_judged_may_be_stuck() -> None:
    web = workload("Deployment", "web", strategy=rolling(1, 0), spec={"schedulerName": "volcano"})
    answer = told([*nodes("a", "b"), web], Rollout("deploy/web"), runs=1).answer()
    assert answer.verdict == "unknown"
    assert "the rollout of shop/web may be stuck" in answer.says


def test_refused_pods_get_no_node_of_a_pool() -> None:
    pool = NodePool("p", {ZONE: "a"}, {"cpu": "9", "pods": "9"})
    objects = [node("n", "a", cpu="3"), workload("Deployment", "web", 3), quota(3)]
    found = drill(inventory(*objects), [Scale("shop/deploy/web", 6)], SimulationOptions(pools=[pool]))
    assert [each.added for each in found.pools] == [()]


def test_constraints_of_refused_pods_stay_hard() -> None:
    objects = [*nodes("a", "b", "c"), workload("Deployment", "web", 6, {"topologySpreadConstraints": [spread()]})]
    found = drill(inventory(*objects, quota(3)), [Fail(at("zone=a"))], fallback=True).fallback
    assert found is not None
    assert (found.steps[-1].ready, sum(len(each.pods) for each in found.pending)) == (3, 3)
