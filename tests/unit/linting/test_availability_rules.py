"""What keeps a workload there while nodes are drained: found by what is given, silent where that may be elsewhere."""

from __future__ import annotations

import pytest

from tests.unit.linting.manifests import findings, messages
from tests.unit.linting.test_budget_rules import budget
from topospread.linting.examples import constraint, deployment

ZONE = "topology.kubernetes.io/zone"
ZONES = constraint("labelSelector:\n  matchLabels: {app: web}")
OPEN = deployment("").replace("  replicas: 6\n", "")
OPERATED = "---\napiVersion: example.com/v1\nkind: Database\nmetadata: {name: db}\nspec: {instances: 3}\n"


def autoscaler(least: str, most: int = 9) -> str:
    target = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}"
    head = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
    return f"{head}spec: {{{least}maxReplicas: {most}, {target}}}\n"


def of(kind: str, manifest: str) -> str:
    return manifest.replace("kind: Deployment", f"kind: {kind}")


@pytest.mark.parametrize(
    ("manifest", "spec", "said"),
    [
        (deployment("", replicas=3), "maxUnavailable: 0", ["maxUnavailable 0 of 3 replicas lets none be evicted"]),
        (deployment("", replicas=3), "maxUnavailable: 0%", ["maxUnavailable 0% of 3 replicas lets none be evicted"]),
        (deployment("", replicas=3), "minAvailable: 3", ["minAvailable 3 of 3 replicas lets none be evicted"]),
        (deployment("", replicas=1), "minAvailable: 1", ["minAvailable 1 of 1 replica lets none be evicted"]),
        (deployment(ZONES, replicas=1), "minAvailable: 1", ["minAvailable 1 of 1 replica lets none be evicted"]),
        (deployment("", replicas=3), "minAvailable: 2", []),
        (deployment("", replicas=3), "maxUnavailable: 1", []),
        (deployment("", replicas=0), "minAvailable: 1", []),
        (deployment(ZONES, replicas=3), "maxUnavailable: 0", []),
        (
            deployment("").replace("  replicas: 6\n", ""),
            "minAvailable: 100%",
            ["minAvailable 100% lets none be evicted"],
        ),
        (deployment("").replace("  replicas: 6\n", ""), "minAvailable: 2", []),
        (of("DaemonSet", OPEN), "maxUnavailable: 0", []),
        (of("StatefulSet", deployment("", replicas=3)), "maxUnavailable: 0", ["maxUnavailable 0 of 3 replicas"]),
    ],
)
def test_a_budget_that_lets_nobody_drain_a_node(manifest: str, spec: str, said: list[str]) -> None:
    found = messages(manifest + budget(spec), "budget-blocks-drain")
    assert [each[: len(text)] for each, text in zip(found, said, strict=True)] == said


@pytest.mark.parametrize(
    ("manifests", "found"),
    [
        (deployment("") + budget("maxUnavailable: 1", selector="matchLabels: {app: wbe}"), True),
        (deployment("") + budget("maxUnavailable: 1"), False),
        (deployment("") + OPERATED + budget("maxUnavailable: 1", selector="matchLabels: {db: db}"), False),
        (budget("maxUnavailable: 1"), False),
    ],
    ids=["misspelt", "right", "of pods that an operator may make", "alone in its file"],
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


@pytest.mark.parametrize(
    ("manifests", "found"),
    [
        (deployment(ZONES, replicas=1), True),
        (deployment(ZONES, replicas=2), False),
        (deployment("", replicas=1), False),
        (deployment(ZONES, replicas=1) + autoscaler(""), False),
    ],
)
def test_one_replica_is_nothing_to_spread(manifests: str, found: bool) -> None:
    assert bool(messages(manifests, "one-replica-to-spread")) == found


def test_single_replicas_that_are_spread_together_are_several() -> None:
    broad = constraint("labelSelector:\n  matchLabels: {part-of: shop}")
    shards = [
        deployment(broad, name=name, replicas=1).replace(
            f"labels: {{app: {name}}}", f"labels: {{part-of: shop, app: {name}}}"
        )
        for name in ("one", "two")
    ]
    assert messages("---\n".join(shards), "one-replica-to-spread") == []


SCALED = deployment(ZONES).replace("  replicas: 6\n", "")


@pytest.mark.parametrize(
    ("manifests", "cluster", "said"),
    [
        (SCALED + autoscaler("minReplicas: 2, "), "zones=3,nodes=6", ["at 2 replicas some of the 3 domains"]),
        (SCALED + autoscaler(""), "zones=3,nodes=6", ["at 1 replica some of the 3 domains"]),
        (SCALED + autoscaler("minReplicas: 3, "), "zones=3,nodes=6", []),
        (SCALED + autoscaler("minReplicas: 2, "), "", []),
        (
            SCALED.replace("maxSkew: 1", "minDomains: 3\n        maxSkew: 1") + autoscaler("minReplicas: 2, "),
            "",
            ["at 2 replicas some of the 3 domains"],
        ),
        (SCALED.replace(ZONE, "kubernetes.io/hostname") + autoscaler("minReplicas: 2, "), "nodes=6", []),
    ],
)
def test_an_autoscaler_that_may_leave_domains_empty(manifests: str, cluster: str, said: list[str]) -> None:
    found = findings(manifests, "autoscaler-under-domains", cluster=cluster)
    assert [each.message[: len(text)] for each, text in zip(found, said, strict=True)] == said
    assert all((each.place.object or "").startswith("HorizontalPodAutoscaler") for each in found)
