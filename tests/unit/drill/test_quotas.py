"""ResourceQuotas in drills: new pods count once the deleted ones are gone, and pods beyond a quota are not judged."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.drill.steps import Drain, Fail, Rollout, Scale, Step

from .builders import Json, at, nodes, rolling, told, workload


def drilled(pods: int, *steps: Step, strategy: Json | None = None) -> Any:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "shop"},
        "spec": {"hard": {"pods": str(pods)}},
    }
    web = workload("Deployment", replicas=3, strategy=strategy or rolling(1, 0))
    return told([*nodes("a", "a", "b", "c"), web, quota], *steps, runs=2).answer()


@pytest.mark.parametrize("step", [Drain(at("node=a1")), Fail(at("zone=a"))])
def test_a_replacement_takes_the_quota_of_the_deleted_pod(step: Step) -> None:
    assert drilled(3, step).verdict == "yes"


def test_a_surge_beyond_the_quota_is_not_judged() -> None:
    answer = drilled(3, Rollout("deploy/web"))
    assert answer.verdict == "unknown"
    assert [each.because for each in answer.unjudged] == [
        "ResourceQuota of the namespace shop is not evaluated: it may refuse the pod"
    ]
    assert drilled(4, Rollout("deploy/web")).verdict == "yes"
    assert drilled(3, Rollout("deploy/web"), strategy=rolling(0, 1)).verdict == "yes"


def test_only_replicas_beyond_the_quota_are_not_judged() -> None:
    (part,) = drilled(4, Scale("deploy/web", 5)).unjudged
    assert len(part.pods) == 1
    assert drilled(4, Scale("deploy/web", 2), Scale("deploy/web", 4), Drain(at("node=a1"))).verdict == "yes"
