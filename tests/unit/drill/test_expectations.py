"""What falls short of a drill's expectations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from topospread.drill.expectations import Expectations, shortfalls
from topospread.drill.steps import Fail, Wait, read_rollout
from topospread.errors import UsageError

from .builders import at, budget, nodes, spread, told, workload


@pytest.mark.parametrize(
    ("expected", "paths"),
    [
        (Expectations(pending=0), ["spec.expect.pending"]),
        (Expectations(pending=2), []),
        (Expectations(skew=1), []),
        (Expectations(ready={"deploy/web": 3}), ["spec.expect.ready[deploy/web]"]),
        (Expectations(ready={"deploy/web": 2, "sts/db": 1}), []),
        (Expectations(broken_budgets=0), ["spec.expect.brokenBudgets"]),
        (Expectations(settled_within=350), []),
        (Expectations(settled_within=349), ["spec.expect.settledWithin"]),
        (Expectations(not_evicted=0), []),
    ],
)
def test_shortfalls(expected: Expectations, paths: list[str]) -> None:
    small = [
        *nodes("a", "b"),
        workload("Deployment", replicas=4),
        workload("StatefulSet", "db", 2),
        budget(minAvailable=3),
    ]
    small[1]["status"]["allocatable"]["cpu"] = "3"
    found = told(small, Fail(at("zone=a")))
    assert len(found.pending[0].pods) in (1, 2)
    assert [each.path for each in shortfalls(found, expected)] == paths


def test_a_workload_that_is_not_there_is_named() -> None:
    found = told([*nodes("a"), workload("Deployment")], Wait(1))
    with pytest.raises(UsageError, match="did you mean shop/deployment/web"):
        shortfalls(found, Expectations(ready={"deploy/wep": 1}))


def test_what_falls_short_in_any_of_the_drills_alike_falls_short() -> None:
    objects = [*nodes(*"abc"), workload("Deployment", replicas=6, spec={"topologySpreadConstraints": [spread()]})]
    found = told(objects, read_rollout("deploy/web", "rollout"))
    alike = sorted((found, *found.others), key=lambda each: each.workloads[0].spread[0].skew)
    mild = replace(alike[0], others=tuple(alike[1:]))
    skews = [each.workloads[0].spread[0].skew for each in alike]
    assert skews[0] < skews[-1]
    (shortfall,) = shortfalls(mild, Expectations(skew=skews[0]))
    assert f"(in {sum(each > skews[0] for each in skews)} of {found.runs} runs)" in shortfall.message
