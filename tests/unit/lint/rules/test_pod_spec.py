"""What else of a pod's spec makes its constraints idle: found, and near misses left alone."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import constraint, deployment
from topospread.lint.problem import FieldEdit

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
OWN = "labelSelector:\n  matchLabels: {app: web}"
ZONES = constraint(OWN)


def node_affinity(*terms: str) -> str:
    listed = "".join(f"      - matchExpressions: [{each}]\n" for each in terms)
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return f"affinity:\n  nodeAffinity:\n    {required}:\n      nodeSelectorTerms:\n{listed}"


def of_zones(*zones: str) -> str:
    return f"{{key: {ZONE}, operator: In, values: [{', '.join(zones)}]}}"


def pod_affinity(key: str, *, kind: str = "podAffinity", app: str = "web", more: str = "") -> str:
    term = f"{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: {app}}}}}{more}}}"
    return f"affinity:\n  {kind}:\n    requiredDuringSchedulingIgnoredDuringExecution: [{term}]\n"


def preferred(key: str) -> str:
    term = f"{{weight: 1, podAffinityTerm: {{topologyKey: {key}, labelSelector: {{matchLabels: {{app: web}}}}}}}}"
    return f"affinity:\n  podAntiAffinity:\n    preferredDuringSchedulingIgnoredDuringExecution: [{term}]\n"


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (f"nodeSelector: {{{ZONE}: zone-a}}\n", True),
        (node_affinity(of_zones("zone-a")), True),
        (node_affinity(of_zones("zone-a"), of_zones("zone-a")), True),
        (node_affinity(of_zones("zone-a"), of_zones("zone-b")), False),
        (node_affinity(of_zones("zone-a", "zone-b")), False),
        (node_affinity(of_zones("zone-a"), "{key: disk, operator: Exists}"), False),
        ("nodeSelector: {kubernetes.io/os: linux}\n", False),
    ],
)
def test_pods_that_may_run_in_one_domain_only_are_found(spec: str, found: bool) -> None:
    assert bool(messages(deployment(spec + ZONES), "one-domain-selected")) == found


def test_a_node_selector_that_the_constraint_ignores_leaves_other_domains() -> None:
    manifest = deployment(f"nodeSelector: {{{ZONE}: zone-a}}\n" + ZONES + "  nodeAffinityPolicy: Ignore\n")
    assert messages(manifest, "one-domain-selected") == []


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (pod_affinity(ZONE) + ZONES, True),
        (pod_affinity(HOSTNAME) + ZONES, True),
        (pod_affinity(ZONE, more=", mismatchLabelKeys: [app]") + ZONES, False),
        (pod_affinity(ZONE, more=", mismatchLabelKeys: [other]") + ZONES, True),
        (pod_affinity(ZONE) + constraint(OWN, key=HOSTNAME), False),
        (pod_affinity(ZONE, app="cache") + ZONES, False),
        (pod_affinity(ZONE, more=", namespaces: [other]") + ZONES, False),
        (pod_affinity(ZONE, more=", namespaces: [other], namespaceSelector: {}") + ZONES, True),
        (pod_affinity(ZONE, more=", namespaceSelector: {matchLabels: {team: a}}") + ZONES, False),
        (pod_affinity(ZONE) + constraint(OWN, when="ScheduleAnyway"), False),
        (pod_affinity(ZONE) + constraint("labelSelector:\n  matchLabels: {app: cache}"), False),
    ],
)
def test_affinity_that_gathers_what_a_hard_constraint_spreads_is_found(spec: str, found: bool) -> None:
    assert bool(messages(deployment(spec), "affinity-against-spread")) == found


def test_as_many_replicas_as_fit_into_one_domain_may_stand_together() -> None:
    assert messages(deployment(pod_affinity(ZONE) + ZONES, replicas=1), "affinity-against-spread") == []
    assert messages(deployment(pod_affinity(ZONE) + ZONES, replicas=2), "affinity-against-spread") != []


@pytest.mark.parametrize(
    ("spec", "replicas", "found"),
    [
        (pod_affinity(HOSTNAME, kind="podAntiAffinity"), 3, True),
        (preferred(HOSTNAME), 3, False),
        (pod_affinity(HOSTNAME, kind="podAntiAffinity"), 1, False),
        (pod_affinity(ZONE, kind="podAntiAffinity"), 3, False),
        (pod_affinity(HOSTNAME, kind="podAntiAffinity", app="other"), 3, False),
        (pod_affinity(HOSTNAME, kind="podAntiAffinity") + constraint(OWN, key=HOSTNAME), 3, False),
    ],
)
def test_anti_affinity_that_spreading_expresses_better_is_a_hint(spec: str, replicas: int, found: bool) -> None:
    said = findings(deployment(spec, replicas=replicas), "anti-affinity-for-spread")
    assert [each.severity for each in said] == ["hint"] * found


SURGE = ", and so do surge pods if every node has one"
ANTI = pod_affinity(HOSTNAME, kind="podAntiAffinity")


@pytest.mark.parametrize(
    ("spec", "strategy", "surges"),
    [
        (ANTI, "", True),
        (ANTI, "strategy: {rollingUpdate: {maxSurge: 1}}", True),
        (ANTI, "strategy: {rollingUpdate: {maxSurge: 0}}", False),
        (ANTI, "strategy: {type: Recreate}", False),
        (ANTI, "strategy: {rollingUpdate: {maxSurge: x}}", False),
        (pod_affinity(HOSTNAME, kind="podAntiAffinity", more=", matchLabelKeys: [pod-template-hash]"), "", False),
    ],
)
def test_only_a_rollout_that_makes_more_pods_is_said_to_wait(spec: str, strategy: str, surges: bool) -> None:
    manifest = deployment(spec, replicas=3).replace("  replicas: 3\n", f"  replicas: 3\n  {strategy}\n")
    (said,) = messages(manifest, "anti-affinity-for-spread")
    assert said == "at most one pod per node: with more replicas than nodes, some stay pending" + SURGE * surges


@pytest.mark.parametrize("kind", ["StatefulSet", "ReplicaSet"])
def test_other_controllers_make_no_surge(kind: str) -> None:
    (said,) = messages(
        deployment(ANTI, replicas=3).replace("kind: Deployment", f"kind: {kind}"), "anti-affinity-for-spread"
    )
    assert "surge" not in said


def daemon_set(spec: str) -> str:
    return deployment(spec).replace("kind: Deployment", "kind: DaemonSet").replace("  replicas: 6\n", "")


def test_constraints_of_a_daemon_set_have_no_effect_and_can_go() -> None:
    (found,) = findings(daemon_set(ZONES), "daemon-set-spread")
    assert found.message.endswith("constraints have no effect")
    assert found.fix == (FieldEdit("remove", "spec.template.spec.topologySpreadConstraints"),)
    assert messages(deployment(ZONES), "daemon-set-spread") == []


def test_a_daemon_set_that_counts_all_nodes_may_lose_pods() -> None:
    (found,) = findings(daemon_set(ZONES + "  nodeAffinityPolicy: Ignore\n"), "daemon-set-spread")
    assert found.message.endswith("constraints can only leave pods pending")
    assert found.fix == ()


def test_a_template_that_names_a_node_is_found_and_a_placed_pod_is_not() -> None:
    assert messages(deployment("nodeName: node-1\n" + ZONES), "node-name-in-template") != []
    assert messages(deployment("nodeName: node-1\n"), "node-name-in-template") == []
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {app: web}}\nspec:\n  nodeName: node-1\n"
    pod += "  containers: [{name: a, image: a}]\n" + "".join(f"  {line}\n" for line in ZONES.splitlines())
    assert messages(pod, "node-name-in-template") == []
