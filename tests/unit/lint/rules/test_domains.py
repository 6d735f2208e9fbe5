"""Constraints held against nodes: keys, domains and closed domains, with the engine's own counts."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import constraint, deployment
from topospread.lint.problem import FieldEdit

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
OWN = "labelSelector:\n  matchLabels: {app: web}"
THREE = "zones=3,nodes=6"


@pytest.mark.parametrize(("cluster", "found"), [("nodes=3", True), (THREE, False)])
@pytest.mark.parametrize(
    ("when", "rule", "severity"),
    [("DoNotSchedule", "topology-key-on-no-node", "error"), ("ScheduleAnyway", "soft-key-on-no-node", "hint")],
)
def test_a_key_that_no_node_has(cluster: str, found: bool, when: str, rule: str, severity: str) -> None:
    said = findings(deployment(constraint(OWN, when=when)), cluster=cluster)
    assert [each.severity for each in said if each.rule.endswith("on-no-node")] == [severity] * found
    assert [each.rule for each in said if each.rule.endswith("on-no-node")] == [rule] * found


def test_a_soft_key_that_no_node_has_takes_the_other_soft_keys_along() -> None:
    hostname = constraint(OWN, key=HOSTNAME, when="ScheduleAnyway").removeprefix("topologySpreadConstraints:\n")
    both = deployment(constraint(OWN, when="ScheduleAnyway") + hostname)
    (said,) = messages(both, "soft-key-stops-scoring", cluster="nodes=3")
    assert said == f"none of 3 nodes has {ZONE}: the pods are not spread over {HOSTNAME} either"
    assert messages(both, "soft-key-on-no-node", cluster="nodes=3") == []
    assert messages(both, "soft-key-stops-scoring", cluster=THREE) == []
    hard = deployment(constraint(OWN, when="ScheduleAnyway") + hostname.replace("ScheduleAnyway", "DoNotSchedule"))
    assert messages(hard, "soft-key-stops-scoring", cluster="nodes=3") == []


@pytest.mark.parametrize(
    ("key", "label", "meant"),
    [
        (ZONE, "kubernetes.io/os=linux", ""),
        (ZONE, "zone-typo=a", "zone-typo"),
        (ZONE, "failure-domain.beta.kubernetes.io/zone=a", "failure-domain.beta.kubernetes.io/zone"),
        ("hostname", "a=b", HOSTNAME),
    ],
)
def test_only_a_label_of_a_name_like_the_keys_is_taken_for_meant(key: str, label: str, meant: str) -> None:
    manifest = deployment(constraint(OWN, key=key))
    (said,) = messages(manifest, "topology-key-on-no-node", cluster=f"nodes=1,label={label}")
    assert said.partition(" (is ")[2] == (f"{meant} meant?)" if meant else "")


def test_the_label_that_may_be_meant_is_named() -> None:
    manifest = deployment(constraint(OWN, key="example.com/rak"))
    (said,) = messages(manifest, "topology-key-on-no-node", cluster="nodes=3,label=example.com/rack=r1")
    assert said == "none of 3 nodes has example.com/rak: every pod stays pending (is example.com/rack meant?)"


def test_without_nodes_nothing_is_said_about_them() -> None:
    found = findings(deployment(constraint(OWN + "\nmatchLabelKeys: [pod-template-hash]")))
    assert [each.rule for each in found] == ["no-budget"]


@pytest.mark.parametrize(
    ("spec", "cluster", "found"),
    [
        ("", "nodes=4,label=node-1:a/rack=r1", True),
        ("", "nodes=4,label=a/rack=r1", False),
        ("nodeSelector: {a/rack: r1}\n", "nodes=4,label=node-1:a/rack=r1", False),
        ("", "nodes=2,label=node-1:a/rack=r1,taint=node-2:gpu=yes:NoSchedule", False),
        ("", "nodes=2,label=node-1:a/rack=r1,cordon=node-2", False),
        ("tolerations: [{operator: Exists}]\n", "nodes=2,label=node-1:a/rack=r1,taint=node-2:gpu=y:NoSchedule", True),
    ],
)
def test_only_nodes_that_the_pods_may_run_on_have_to_have_the_key(spec: str, cluster: str, found: bool) -> None:
    manifest = deployment(spec + constraint(OWN, key="a/rack"))
    assert bool(messages(manifest, "topology-key-on-some-nodes", cluster=cluster)) == found


@pytest.mark.parametrize(
    ("min_domains", "spec", "said"),
    [
        (3, "", []),
        (4, "", ["minDomains is 4, but only 3 eligible domains exist for"]),
        (
            3,
            f"nodeSelector: {{{ZONE}: zone-a}}\n",
            ["minDomains is 3, but only 1 eligible domain exists for"],
        ),
    ],
)
def test_min_domains_counts_eligible_domains(min_domains: int, spec: str, said: list[str]) -> None:
    manifest = deployment(spec + constraint(f"{OWN}\nminDomains: {min_domains}"))
    found = messages(manifest, "min-domains-over-cluster", cluster=THREE)
    assert [each.partition(f" {ZONE}")[0] for each in found] == said


@pytest.mark.parametrize(
    ("replicas", "selector", "end"),
    [
        (4, "app: web", "each takes at most 1 pod, so at least 1 of 4 replicas stays pending"),
        (6, "app: web", "each takes at most 1 pod, so at least 3 of 6 replicas stay pending"),
        (3, "app: web", "each takes at most 1 pod"),
        (6, "app: api", "each takes at most 1 pod"),
    ],
)
def test_min_domains_says_how_many_replicas_stay_pending_and_has_a_fix(replicas: int, selector: str, end: str) -> None:
    own = constraint(f"labelSelector:\n  matchLabels: {{{selector}}}\nminDomains: 5")
    (found,) = findings(deployment(own, replicas=replicas), "min-domains-over-cluster", cluster=THREE)
    assert found.message.endswith(f": {end}")
    assert [(each.value, each.path.rpartition(".")[2]) for each in found.fix] == [(3, "minDomains")]


@pytest.mark.parametrize(
    ("replicas", "key", "said"),
    [
        (2, ZONE, [f"2 replicas for 3 domains of {ZONE}: 1 holds none"]),
        (1, ZONE, []),
        (3, ZONE, []),
        (2, HOSTNAME, []),
    ],
)
def test_fewer_replicas_than_domains_are_a_hint_but_not_for_nodes(replicas: int, key: str, said: list[str]) -> None:
    manifest = deployment(constraint(OWN, key=key), replicas=replicas)
    assert messages(manifest, "replicas-under-domains", cluster=THREE) == said


def test_replicas_that_are_left_to_an_autoscaler_are_not_counted() -> None:
    manifest = deployment(constraint(OWN), replicas=1).replace("  replicas: 1\n", "")
    assert messages(manifest, "replicas-under-domains", cluster=THREE) == []


@pytest.mark.parametrize(
    ("cluster", "fields", "found"),
    [
        ("zones=1,nodes=3", "", True),
        ("zones=1,nodes=1", "", False),
        (THREE, "", False),
        ("zones=1,nodes=3", "\nminDomains: 2", False),
    ],
)
def test_a_cluster_of_one_domain_spreads_nothing(cluster: str, fields: str, found: bool) -> None:
    assert bool(messages(deployment(constraint(OWN + fields)), "one-domain-in-cluster", cluster=cluster)) == found


def pods_on(*nodes: int) -> str:
    return "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: w{number}, labels: {{app: web}}}}\n"
        f"spec:\n  nodeName: node-{node}\n  containers: [{{name: a, image: a}}]\n"
        for number, node in enumerate(nodes)
    )


@pytest.mark.parametrize(
    ("pods", "when", "said"),
    [
        (pods_on(1, 4), "DoNotSchedule", ["zone-a holds 2 pods and the minimum is 0: the skew is 2"]),
        (pods_on(1, 2, 3, 4), "DoNotSchedule", []),
        (pods_on(1, 4), "ScheduleAnyway", []),
        ("", "DoNotSchedule", []),
    ],
)
def test_a_skew_that_is_there_already_is_a_hint(pods: str, when: str, said: list[str]) -> None:
    found = findings(deployment(constraint(OWN, when=when)) + pods, "skewed-already", cluster=THREE)
    assert [each.message.partition(", and")[0] for each in found] == said
    assert all(each.severity == "hint" for each in found)


TAINTED = f"{THREE},taint=zone-c:gpu=yes:NoSchedule"


@pytest.mark.parametrize(
    ("cluster", "replicas", "said"),
    [
        (TAINTED, 6, ["zone-c is counted and takes no pods (tainted gpu:NoSchedule): 4 of 6 pods stay pending"]),
        (TAINTED, 2, []),
        (TAINTED, 3, ["zone-c is counted and takes no pods (tainted gpu:NoSchedule): 1 of 3 pods stay pending"]),
        (f"{THREE},cordon=zone-c", 3, ["zone-c is counted and takes no pods (cordoned): 1 of 3 pods stay pending"]),
        (f"{THREE},cordon=node-3", 3, []),
        (f"{THREE},taint=zone-c:gpu=yes:PreferNoSchedule", 3, []),
        (THREE, 60, []),
    ],
)
def test_a_closed_domain_that_leaves_pods_pending_is_found(cluster: str, replicas: int, said: list[str]) -> None:
    manifest = deployment(constraint(OWN), replicas=replicas)
    assert messages(manifest, "closed-domain-pins-minimum", cluster=cluster) == said


@pytest.mark.parametrize(
    "spec",
    [
        constraint(OWN + "\nnodeTaintsPolicy: Honor"),
        constraint(OWN, when="ScheduleAnyway"),
        "tolerations: [{key: gpu, operator: Exists}]\n" + constraint(OWN),
        constraint("labelSelector:\n  matchLabels: {app: other}"),
    ],
    ids=["honored", "soft", "tolerated", "does not count itself"],
)
def test_what_the_closed_domain_does_not_hold_back_is_left_alone(spec: str) -> None:
    assert messages(deployment(spec), "closed-domain-pins-minimum", cluster=TAINTED) == []


def test_replicas_that_an_autoscaler_sets_are_taken_to_grow_by_one() -> None:
    open_ended = deployment(constraint(OWN), replicas=1).replace("  replicas: 1\n", "")
    assert messages(open_ended, "closed-domain-pins-minimum", cluster=TAINTED) == []
    (said,) = messages(open_ended + pods_on(1, 2), "closed-domain-pins-minimum", cluster=TAINTED)
    assert said == "zone-c is counted and takes no pods (tainted gpu:NoSchedule): no further pod fits"


def test_the_fix_is_the_policy_that_leaves_the_domain_out() -> None:
    (found,) = findings(deployment(constraint(OWN)), "closed-domain-pins-minimum", cluster=TAINTED)
    path = "spec.template.spec.topologySpreadConstraints[0]"
    assert found.fix == (FieldEdit("add", f"{path}.nodeTaintsPolicy", "Honor"),)
    ignoring = f"nodeSelector: {{pool: web}}\n{constraint(OWN)}  nodeAffinityPolicy: Ignore\n"
    pool = f"{THREE},label=zone-a:pool=web,label=zone-b:pool=web"
    (found,) = findings(deployment(ignoring), "closed-domain-pins-minimum", cluster=pool)
    assert found.fix == (FieldEdit("replace", f"{path}.nodeAffinityPolicy", "Honor"),)


def test_a_version_without_the_policy_has_no_fix() -> None:
    found = findings(deployment(constraint(OWN)), "closed-domain-pins-minimum", cluster=TAINTED, kube_version="1.25")
    assert [each.fix for each in found] == [()]


def test_pods_that_stand_in_the_closed_domain_leave_room_in_the_others() -> None:
    placed = pods_on(1, 2, 3)
    five = deployment(constraint(OWN), replicas=5)
    six = deployment(constraint(OWN), replicas=6)
    assert messages(five + placed, "closed-domain-pins-minimum", cluster=TAINTED) == []
    assert messages(six + placed, "closed-domain-pins-minimum", cluster=TAINTED) != []


SSD = "nodeSelector: {disktype: ssd}\n"
AFFINITY = """\
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [%s]}]
"""


@pytest.mark.parametrize(
    ("spec", "cluster", "said"),
    [
        (SSD, THREE, ["none of 6 nodes has disktype=ssd: every pod stays pending"]),
        (
            SSD,
            f"{THREE},label=disk-type=ssd",
            ["none of 6 nodes has disktype=ssd: every pod stays pending (is disk-type meant?)"],
        ),
        (SSD, f"{THREE},label=zone-a:disktype=ssd", []),
        (AFFINITY % "zone-z", THREE, ["none of 6 nodes matches: every pod stays pending"]),
        (AFFINITY % "zone-b", THREE, []),
        (SSD + AFFINITY % "zone-b", f"{THREE},label=zone-a:disktype=ssd", ["none of 6 nodes matches: every pod stays"]),
        ("affinity: {}", THREE, []),
    ],
)
def test_a_selector_that_no_node_matches(spec: str, cluster: str, said: list[str]) -> None:
    found = messages(deployment(spec), "no-node-matches", cluster=cluster)
    assert [each.startswith(words) for each, words in zip(found, said, strict=True)] == [True] * len(said)
    assert messages(deployment(spec, replicas=0), "no-node-matches", cluster=cluster) == []
