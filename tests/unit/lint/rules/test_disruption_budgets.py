"""Budgets that forbid every eviction, or are not there: found by what is given, silent where that is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.manifests import autoscaler, findings, messages
from topospread.answers.lint import lint_answer
from topospread.lint.examples import constraint, deployment
from topospread.lint.run import lint

ZONES = constraint("labelSelector:\n  matchLabels: {app: web}")
OPEN = deployment("").replace("  replicas: 6\n", "")
OPERATED = "---\napiVersion: example.com/v1\nkind: Database\nmetadata: {name: db}\nspec: {instances: 3}\n"


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


def of(kind: str, manifest: str) -> str:
    return manifest.replace("kind: Deployment", f"kind: {kind}")


@pytest.mark.parametrize(
    ("manifest", "spec", "said"),
    [
        (deployment("", replicas=3), "maxUnavailable: 0", ["maxUnavailable 0 of 3 replicas allows no eviction"]),
        (deployment("", replicas=3), "maxUnavailable: 0%", ["maxUnavailable 0% of 3 replicas allows no eviction"]),
        (deployment("", replicas=3), "minAvailable: 3", ["minAvailable 3 of 3 replicas allows no eviction"]),
        (deployment("", replicas=1), "minAvailable: 1", ["minAvailable 1 of 1 replica allows no eviction"]),
        (deployment(ZONES, replicas=1), "minAvailable: 1", ["minAvailable 1 of 1 replica allows no eviction"]),
        (deployment("", replicas=3), "minAvailable: 2", []),
        (deployment("", replicas=3), "maxUnavailable: 1", []),
        (deployment("", replicas=0), "minAvailable: 1", []),
        (deployment(ZONES, replicas=3), "maxUnavailable: 0", ["maxUnavailable 0 of 3 replicas"]),
        (
            deployment("").replace("  replicas: 6\n", ""),
            "minAvailable: 100%",
            ["minAvailable 100% allows no eviction"],
        ),
        (deployment("").replace("  replicas: 6\n", ""), "minAvailable: 2", []),
        (of("DaemonSet", OPEN), "maxUnavailable: 0", []),
        (of("StatefulSet", deployment("", replicas=3)), "maxUnavailable: 0", ["maxUnavailable 0 of 3 replicas"]),
    ],
)
def test_a_budget_that_lets_nobody_drain_a_node(manifest: str, spec: str, said: list[str]) -> None:
    found = messages(manifest + budget(spec), "budget-blocks-drain")
    assert [each[: len(text)] for each, text in zip(found, said, strict=True)] == said


def test_one_budget_that_two_rules_reject_is_printed_once(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(deployment(ZONES, replicas=3) + budget("minAvailable: 3"))
    text = " ".join(lint_answer(lint([str(tmp_path / "web.yaml")])).text().split())
    assert text.count("minAvailable 3 of 3 replicas allows no eviction") == 1
    assert (
        "warning: budget-blocks-drain and budget-blocks-rebalance (PodDisruptionBudget default/web): "
        "minAvailable 3 of 3 replicas allows no eviction: a node with such a pod cannot be drained; "
        "minAvailable 2 allows one eviction; rebalancing cannot move a pod"
    ) in text


ELSEWHERE = budget("maxUnavailable: 1").replace("name: web", "name: web, namespace: other")


@pytest.mark.parametrize(
    ("manifests", "found"),
    [
        (deployment("") + budget("maxUnavailable: 1", selector="matchLabels: {app: wbe}"), True),
        (deployment("") + budget("maxUnavailable: 1"), False),
        (deployment("") + OPERATED + budget("maxUnavailable: 1", selector="matchLabels: {db: db}"), False),
        (budget("maxUnavailable: 1"), False),
        (deployment("") + ELSEWHERE, True),
        (deployment("") + budget("maxUnavailable: 1") + ELSEWHERE, False),
        (deployment("") + ELSEWHERE.replace("app: web", "app: shop"), False),
        (deployment("") + ELSEWHERE.replace("matchLabels: {app: web}", ""), False),
    ],
    ids=[
        "misspelt",
        "right",
        "of pods that an operator may make",
        "alone in its file",
        "in another namespace than its pods",
        "in another namespace, where its pods have a budget",
        "in another namespace, of other pods",
        "in another namespace, of all pods",
    ],
)
def test_a_budget_that_selects_nothing(manifests: str, found: bool) -> None:
    assert bool(messages(manifests, "budget-selects-nothing")) == found


@pytest.mark.parametrize(
    ("manifests", "found"),
    [
        (deployment("", replicas=3), True),
        (deployment("", replicas=1), False),
        (deployment("").replace("  replicas: 6\n", ""), False),
        (deployment("").replace("  replicas: 6\n", "") + autoscaler("minReplicas: 2, "), True),
        (deployment("", replicas=3) + budget("maxUnavailable: 1"), False),
        (of("StatefulSet", deployment("", replicas=3)), True),
        (of("DaemonSet", deployment("").replace("  replicas: 6\n", "")), False),
    ],
)
def test_replicas_without_a_budget_are_a_hint(manifests: str, found: bool) -> None:
    assert [each.severity for each in findings(manifests, "no-budget")] == ["hint"] * found
