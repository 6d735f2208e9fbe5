"""Pods that are not evicted."""

from __future__ import annotations

import pytest

from topospread.answers.rebalance import rebalance_answer
from topospread.config.gates import gates_for

from .builders import CLAIMS, OTHER_SCHEDULER, THREE, Json, budget, rebalance_of, spread, standing


def test_no_budget_is_broken() -> None:
    objects = [*THREE, *standing({"a1": 3}, spread())]
    found = rebalance_of([*objects, budget("web", maxUnavailable=0)])
    assert found.moves == ()
    (unmet,) = found.unmet
    assert "The disruption budget shop/web needs 3 healthy pods and has 3 currently" in unmet.why
    assert len(rebalance_of([*objects, budget("web", maxUnavailable=1)]).moves) == 2


def test_a_pod_of_two_budgets_is_not_evicted() -> None:
    two = [budget("web", minAvailable=0), budget("web", minAvailable=0)]
    two[1]["metadata"] = two[1]["metadata"] | {"name": "other"}
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread()), *two])
    assert found.moves == ()
    assert "more than one PodDisruptionBudget" in found.unmet[0].why


def test_bare_pods_and_those_of_daemon_sets_stay() -> None:
    pods = standing({"a1": 3}, spread())
    for each in pods[1:]:
        each["metadata"]["ownerReferences"] = []
    found = rebalance_of([*THREE, *pods])
    assert found.moves == ()


@pytest.mark.parametrize(
    ("unjudged", "what"), [(CLAIMS, "resourceClaims"), (OTHER_SCHEDULER, 'schedulerName "volcano"')]
)
def test_no_pod_that_cannot_be_judged_is_evicted(unjudged: Json, what: str) -> None:
    """Whether the new pod finds a node depends on the part, so nobody can say whether evictions help."""
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread(), **unjudged)])
    assert found.moves == ()
    answer = rebalance_answer(found)
    assert answer.verdict == "unknown"
    assert answer.says.startswith("no evictions of judged pods help: 1 constraint is not restored")
    assert [each.what for each in answer.unjudged] == [what]
    assert all(key.startswith("shop/web-") for key in answer.unjudged[0].pods)


@pytest.mark.parametrize("app", ["web", "other"])
def test_a_workload_without_a_budget_is_a_warning(app: str) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": "shop"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
    }
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread()), budget])
    warned = any(each.startswith("shop/web has no PodDisruptionBudget") for each in found.warnings)
    assert (bool(found.moves), warned) == (True, app != "web")


def test_pods_of_a_group_stay_and_other_pods_move() -> None:
    member: Json = {"schedulingGroup": {"podGroupName": "g"}}
    objects = [*THREE, *standing({"a1": 3}, spread(), **member), *standing({"a1": 3}, spread(), name="api")]
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    kind = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup"}
    objects.append(kind | {"metadata": {"name": "g", "namespace": "shop"}, "spec": policy})
    on = {"GenericWorkload": True}
    apiserver = gates_for("1.37", on, component="apiserver")
    found = rebalance_of(objects, gates=gates_for("1.37", on), apiserver_gates=apiserver)
    assert {each.workload for each in found.moves} == {"ReplicaSet/api"}
    (unmet,) = found.unmet
    assert unmet.why == "no surplus pod may be evicted: it would disrupt the PodGroup shop/g"
    assert rebalance_answer(found).verdict == "no"
