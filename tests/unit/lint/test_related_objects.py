"""What stands beside the manifests: the cluster's workloads, Services and budgets, and autoscalers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import constraint, deployment

OWN = "labelSelector:\n  matchLabels: {app: web}"
BROAD = "labelSelector:\n  matchLabels: {part-of: shop}"
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {topology.kubernetes.io/zone: z}}\n---\n"
BUDGET = (
    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s}\n"
    "spec:\n  minAvailable: 2\n  selector: {matchLabels: {app: web}}\n"
)


def shop(name: str, spec: str) -> str:
    return deployment(spec, name=name).replace(f"labels: {{app: {name}}}", f"labels: {{part-of: shop, app: {name}}}")


def autoscaler(least: int, most: int, *, kind: str = "Deployment", namespace: str = "default") -> str:
    return (
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"
        f"metadata: {{name: a, namespace: {namespace}}}\n"
        f"spec:\n  scaleTargetRef: {{apiVersion: apps/v1, kind: {kind}, name: web}}\n"
        f"  minReplicas: {least}\n  maxReplicas: {most}\n"
    )


def cluster(tmp_path: Path, manifests: str) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(NODE + manifests)
    return str(file)


def test_a_selector_that_counts_a_workload_of_the_cluster_is_found(tmp_path: Path) -> None:
    there = cluster(tmp_path, shop("batch", ""))
    (found,) = findings(shop("web", constraint(BROAD)), "selector-counts-others", cluster=there)
    assert "Deployment batch" in found.message
    assert found.place.object == "Deployment default/web"


def test_workloads_of_the_cluster_are_not_judged_and_those_replaced_not_counted(tmp_path: Path) -> None:
    there = cluster(tmp_path, shop("web", "") + "---\n" + shop("batch", constraint(BROAD)))
    assert findings(shop("web", constraint(BROAD)), "selector-counts-others", cluster=there) == []
    assert findings(deployment("", name="other"), "selector-counts-others", cluster=there) == []


def test_a_group_is_compared_with_the_cluster(tmp_path: Path) -> None:
    there = cluster(tmp_path, shop("batch", constraint(BROAD, when="ScheduleAnyway")))
    assert len(messages(shop("web", constraint(BROAD)), "group-differs", cluster=there)) == 1


def test_a_budget_beside_one_of_the_cluster_is_one_too_many(tmp_path: Path) -> None:
    there = cluster(tmp_path, (BUDGET % "old").removeprefix("---\n"))
    assert messages(deployment("") + BUDGET % "new", "several-budgets", cluster=there)
    assert messages(deployment("") + BUDGET % "old", "several-budgets", cluster=there) == []


def test_a_service_of_the_cluster_groups_the_pods_of_a_job(tmp_path: Path) -> None:
    job = (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: sums}\nspec:\n  parallelism: 4\n  template:\n"
        "    metadata: {labels: {app: sums}}\n    spec:\n      restartPolicy: Never\n"
        "      containers: [{name: a, image: a}]\n"
    )
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: sums}\nspec:\n  selector: {app: sums}\n"
    assert messages(job, "defaults-never-apply", cluster="nodes=3")
    assert messages(job, "defaults-never-apply", cluster=cluster(tmp_path, service)) == []


@pytest.mark.parametrize(
    ("least", "found"),
    [(2, True), (3, False)],
)
def test_a_budget_is_measured_by_what_the_autoscaler_leaves_at_least(least: int, found: bool) -> None:
    manifests = deployment(constraint(OWN), replicas=9) + BUDGET % "web" + autoscaler(least, 10)
    assert bool(messages(manifests, "budget-blocks-rebalance")) == found


@pytest.mark.parametrize(
    ("scaler", "found"),
    [
        (autoscaler(1, 2), True),
        (autoscaler(1, 3), False),
        (autoscaler(1, 3, kind="StatefulSet"), True),
        (autoscaler(1, 3, namespace="other"), True),
    ],
)
def test_domains_are_held_against_what_the_autoscaler_allows_at_most(scaler: str, found: bool) -> None:
    manifests = deployment(constraint(OWN), replicas=2) + scaler
    assert bool(messages(manifests, "replicas-under-domains", cluster="zones=3,nodes=3")) == found


@pytest.mark.parametrize(("most", "found"), [(3, True), (4, False)])
def test_numbers_are_held_against_as_many_replicas_as_the_autoscaler_allows(most: int, found: bool) -> None:
    wide = constraint(f"{OWN}\nminDomains: {most}").replace("maxSkew: 1", "maxSkew: 3")
    manifests = deployment(wide, replicas=2) + autoscaler(1, most)
    assert bool(messages(manifests, "max-skew-never-binds")) == found
    assert messages(manifests, "min-domains-over-replicas") == []


@pytest.mark.parametrize(
    "broken",
    [
        "spec: []",
        "spec: {scaleTargetRef: web, maxReplicas: 3}",
        "spec: {scaleTargetRef: {kind: Deployment, name: web}, maxReplicas: many}",
    ],
)
def test_an_autoscaler_that_says_nothing_of_use_is_passed_over(broken: str) -> None:
    head = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\n"
    manifests = deployment(constraint(OWN), replicas=2) + head + broken + "\n"
    assert messages(manifests, "replicas-under-domains", cluster="zones=3,nodes=3")
