"""Budgets that forbid every eviction: found by the sizes the manifests give, silent where those are not known."""

from __future__ import annotations

import pytest

from tests.unit.linting.manifests import findings, messages
from topospread.linting.examples import constraint, deployment

ZONES = constraint("labelSelector:\n  matchLabels: {app: web}")


def budget(spec: str, name: str = "web", selector: str = "matchLabels: {app: web}") -> str:
    head = f"---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {name}}}\n"
    return f"{head}spec:\n  {spec}\n  selector: {{{selector}}}\n"


@pytest.mark.parametrize(
    ("replicas", "spec", "blocks"),
    [
        (3, "minAvailable: 3", True),
        (3, "minAvailable: 4", True),
        (3, "minAvailable: 2", False),
        (3, "minAvailable: 100%", True),
        (3, 'minAvailable: "67%"', True),
        (3, 'minAvailable: "66%"', False),
        (3, "maxUnavailable: 0", True),
        (3, "maxUnavailable: 0%", True),
        (3, "maxUnavailable: 1%", False),
        (1, "minAvailable: 1", False),
        (2, "minAvailable: 1", False),
    ],
)
def test_a_budget_without_room_is_found(replicas: int, spec: str, blocks: bool) -> None:
    manifests = deployment(ZONES, replicas=replicas) + budget(spec)
    assert bool(messages(manifests, "budget-blocks-rebalance")) == blocks


def test_the_finding_stands_at_the_budget() -> None:
    (found,) = findings(deployment(ZONES, replicas=3) + budget("maxUnavailable: 0"), "budget-blocks-rebalance")
    assert (found.place.object, found.place.field) == ("PodDisruptionBudget default/web", "spec.maxUnavailable")


@pytest.mark.parametrize(
    "manifests",
    [
        deployment("", replicas=3) + budget("maxUnavailable: 0"),
        deployment(ZONES, replicas=3) + budget("maxUnavailable: 0", selector="matchLabels: {app: other}"),
        deployment(ZONES, replicas=3).replace("  replicas: 3\n", "") + budget("minAvailable: 3"),
    ],
    ids=["not spread", "of other pods", "replicas left to an autoscaler"],
)
def test_budgets_that_hold_nothing_back_are_left_alone(manifests: str) -> None:
    assert messages(manifests, "budget-blocks-rebalance") == []


def test_replicas_of_all_workloads_of_a_budget_count() -> None:
    both = deployment(ZONES, replicas=2) + "---\n" + deployment("", name="batch", replicas=2)
    manifests = both + budget("minAvailable: 3", selector="matchExpressions: [{key: app, operator: Exists}]")
    assert messages(manifests, "budget-blocks-rebalance") == []


def test_two_budgets_for_one_pod_are_found() -> None:
    web = deployment("", replicas=3)
    (found,) = findings(web + budget("minAvailable: 1") + budget("minAvailable: 1", "again"), "several-budgets")
    assert found.place.object == "PodDisruptionBudget default/again"
    assert messages(web + budget("minAvailable: 1") + budget("minAvailable: 1"), "several-budgets") == []
