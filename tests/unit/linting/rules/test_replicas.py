"""Too few replicas to be spread: found by what is given, silent where that may be elsewhere."""

from __future__ import annotations

import pytest

from tests.unit.linting.manifests import autoscaler, findings, messages
from topospread.linting.examples import constraint, deployment

ZONE = "topology.kubernetes.io/zone"
ZONES = constraint("labelSelector:\n  matchLabels: {app: web}")


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
