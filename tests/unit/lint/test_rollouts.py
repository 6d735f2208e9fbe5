"""Rolling updates that the old pods bring to a halt: found by playing them through, with the strategy that is given."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import constraint, deployment

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


def apart(key: str = HOSTNAME, more: str = "", app: str = "web") -> str:
    term = f"{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: {app}}}}}{more}}}"
    return f"affinity:\n  podAntiAffinity:\n    requiredDuringSchedulingIgnoredDuringExecution: [{term}]\n"


@pytest.mark.parametrize(
    ("spec", "replicas", "text", "found"),
    [
        (apart(), 3, "", True),
        (apart(), 2, "", False),
        (apart(), 4, "", False),
        (apart(), 3, "{type: Recreate}", False),
        (apart(), 3, "{rollingUpdate: {maxSurge: 0}}", False),
        (apart(), 3, "{rollingUpdate: {maxUnavailable: 1}}", False),
        (apart(), 3, "{rollingUpdate: {maxUnavailable: 0, maxSurge: 2}}", True),
        (apart(more=", matchLabelKeys: [pod-template-hash]"), 3, "", False),
        (apart(app="other"), 3, "", False),
        (apart(key="topology.kubernetes.io/zone"), 2, "", True),
        (BY_NODE, 3, "", False),
    ],
)
def test_a_rollout_that_old_pods_keep_off_every_node_is_found(spec: str, replicas: int, text: str, found: bool) -> None:
    manifest = deployment(spec, replicas=replicas)
    manifest = strategy(text, manifest) if text else manifest
    said = messages(manifest, "anti-affinity-stops-rollout", cluster="zones=2,nodes=3")
    assert bool(said) == found


def test_other_controllers_delete_a_pod_before_they_make_the_next() -> None:
    manifest = deployment(apart(), replicas=3).replace("kind: Deployment", "kind: StatefulSet")
    assert messages(manifest, "anti-affinity-stops-rollout", cluster="nodes=3") == []


@pytest.mark.parametrize(
    ("spec", "replicas", "kind", "cluster", "found"),
    [
        (apart(), 4, "Deployment", "nodes=3", ["1 of 4 pods stay pending"]),
        (apart(), 4, "StatefulSet", "nodes=3", ["1 of 4 pods stay pending"]),
        (apart(), 3, "Deployment", "nodes=3", []),
        (apart(), 3, "Deployment", "nodes=4,cordon=node-1,cordon=node-2", ["1 of 3 pods stay pending"]),
        (apart(key="topology.kubernetes.io/zone"), 3, "Deployment", "zones=2,nodes=6", ["1 of 3 pods stay pending"]),
        (apart(), 4, "Deployment", "nodes=3,pods=0", []),
        (BY_NODE, 4, "Deployment", "nodes=3", []),
    ],
)
def test_one_replica_more_than_nodes_is_found(
    spec: str, replicas: int, kind: str, cluster: str, found: list[str]
) -> None:
    manifest = deployment(spec, replicas=replicas).replace("kind: Deployment", f"kind: {kind}")
    said = messages(manifest, "anti-affinity-over-nodes", cluster=cluster)
    assert [each.partition(" on these")[0] for each in said] == found


def test_what_runs_already_is_updated_as_if_it_were_new() -> None:
    manifests = deployment(BY_NODE, replicas=3) + placed(1, 1, 2)
    (found,) = findings(manifests, "rollout-gets-stuck", cluster=WITH_CONTROL_PLANE)
    assert found.message.startswith("a rolling update gets stuck on these nodes with no pod replaced")
    assert found.place.field == "spec.template.spec.topologySpreadConstraints[0]"


def test_versions_without_match_label_keys_are_not_told_to_use_them() -> None:
    manifest = deployment(BY_NODE, replicas=3)
    assert messages(manifest, "rollout-gets-stuck", cluster=WITH_CONTROL_PLANE, kube_version="1.26") == []
