"""Rolling updates that the old pods bring to a halt: found by playing them through, with the strategy that is given."""

from __future__ import annotations

import pytest

from tests.unit.linting.manifests import findings, messages
from topospread.linting.examples import constraint, deployment

HOSTNAME = "kubernetes.io/hostname"
OWN = "labelSelector:\n  matchLabels: {app: web}"
BY_NODE = constraint(OWN, key=HOSTNAME)
WITH_CONTROL_PLANE = "nodes=4,taint=node-4:a=b:NoSchedule"


def strategy(text: str, manifest: str) -> str:
    return manifest.replace("spec:\n  replicas", f"spec:\n  strategy: {text}\n  replicas", 1)


def placed(*nodes: int) -> str:
    """Three pods of a running web, through its ReplicaSet."""
    owner = "ownerReferences: [{{apiVersion: apps/v1, kind: {}, name: {}, uid: u, controller: true}}]"
    replica_set = (
        "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: web-1\n  labels: {app: web}\n"
        f"  {owner.format('Deployment', 'web')}\nspec:\n  replicas: 3\n  selector: {{matchLabels: {{app: web}}}}\n"
        "  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: a}]}}\n"
    )
    return replica_set + "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web-1-{node}\n  labels: {{app: web}}\n"
        f"  {owner.format('ReplicaSet', 'web-1')}\nspec:\n  nodeName: node-{node}\n"
        "  containers: [{name: a, image: a}]\n"
        for node in nodes
    )


@pytest.mark.parametrize(
    ("manifest", "cluster", "stuck"),
    [
        (deployment(BY_NODE, replicas=3), WITH_CONTROL_PLANE, True),
        (deployment(BY_NODE, replicas=2), WITH_CONTROL_PLANE, False),
        (deployment(BY_NODE, replicas=3), "nodes=3", False),
        (deployment(BY_NODE, replicas=4), WITH_CONTROL_PLANE, False),
        (deployment(BY_NODE + "  nodeTaintsPolicy: Honor\n", replicas=3), WITH_CONTROL_PLANE, False),
        (deployment(BY_NODE + "  matchLabelKeys: [pod-template-hash]\n", replicas=3), WITH_CONTROL_PLANE, False),
        (deployment(constraint(OWN, key=HOSTNAME, when="ScheduleAnyway"), replicas=3), WITH_CONTROL_PLANE, False),
        (deployment(BY_NODE, replicas=3), "nodes=3,pods=1", False),
    ],
    ids=["stuck", "room", "nothing closed", "not placed at all", "honored", "one revision", "soft", "no room for any"],
)
def test_an_update_that_the_old_pods_stop_is_found(manifest: str, cluster: str, stuck: bool) -> None:
    assert bool(messages(manifest, "rollout-gets-stuck", cluster=cluster)) == stuck


@pytest.mark.parametrize(
    ("text", "stuck"),
    [
        ("{type: Recreate}", False),
        ("{rollingUpdate: {maxUnavailable: 1}}", False),
        ("{rollingUpdate: {maxUnavailable: 0, maxSurge: 2}}", True),
    ],
)
def test_the_strategy_decides(text: str, stuck: bool) -> None:
    manifest = strategy(text, deployment(BY_NODE, replicas=3))
    assert bool(messages(manifest, "rollout-gets-stuck", cluster=WITH_CONTROL_PLANE)) == stuck


def test_what_runs_already_is_updated_as_if_it_were_new() -> None:
    manifests = deployment(BY_NODE, replicas=3) + placed(1, 1, 2)
    (found,) = findings(manifests, "rollout-gets-stuck", cluster=WITH_CONTROL_PLANE)
    assert found.message.startswith("a rolling update gets stuck on these nodes with no pod replaced")
    assert found.place.field == "spec.template.spec.topologySpreadConstraints[0]"


def test_versions_without_match_label_keys_are_not_told_to_use_them() -> None:
    manifest = deployment(BY_NODE, replicas=3)
    assert messages(manifest, "rollout-gets-stuck", cluster=WITH_CONTROL_PLANE, kube_version="1.26") == []
