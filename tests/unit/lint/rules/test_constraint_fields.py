"""Fields that do nothing: found, and not where they do something after all."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import constraint, deployment
from topospread.lint.rules.constraint_fields import stateful_set

OWN = "labelSelector:\n  matchLabels: {app: web}"


def with_keys(*keys: str) -> str:
    return constraint(f"{OWN}\nmatchLabelKeys: [{', '.join(keys)}]")


def test_min_domains_of_a_soft_constraint_is_found_and_removed() -> None:
    (found,) = findings(deployment(constraint(OWN + "\nminDomains: 2", when="ScheduleAnyway")), "min-domains-soft")
    assert found.message == "the API server rejects minDomains with ScheduleAnyway; it needs DoNotSchedule"
    assert [each.op for each in found.fix] == ["remove"]


def test_min_domains_of_a_hard_constraint_is_right() -> None:
    assert messages(deployment(constraint(OWN + "\nminDomains: 2")), "min-domains-soft") == []


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("zone", ["zone is a private label key: most clusters have topology.kubernetes.io/zone"]),
        ("rack", ["rack is a private label key, which not every cluster has"]),
        ("topology.kubernetes.io/zone", []),
        ("example.com/rack", []),
        ("topology.kubernetes.io/rack", []),
        ("topology.kubernetes.io/subzone", []),
        ("topology.ebs.csi.aws.com/zone", []),
        ("failure-domain.beta.kubernetes.io/zone", []),
        ("topology.kubernetes.io/zones", []),
    ],
)
def test_a_key_without_a_prefix_is_private(key: str, said: list[str]) -> None:
    assert messages(deployment(constraint(OWN, key=key)), "private-topology-key") == said


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("topology.kubernetes.io/zones", "topology.kubernetes.io/zone"),
        ("topology.kubernetes.io/zoen", "topology.kubernetes.io/zone"),
        ("topology.kubernetes.io/Zone", "topology.kubernetes.io/zone"),
        ("topology.kuberentes.io/zone", "topology.kubernetes.io/zone"),
        ("failure-domain.beta.kubernetes.io/zoen", "topology.kubernetes.io/zone"),
        ("topology.kubernetes.io/regions", "topology.kubernetes.io/region"),
        ("kubernetes.io/hostnme", "kubernetes.io/hostname"),
        ("topology.kubernetes.io/rack", ""),
        ("topology.kubernetes.io/subzone", ""),
        ("topology.ebs.csi.aws.com/zone", ""),
        ("kubernetes.io/hostname", ""),
    ],
)
def test_a_misspelt_well_known_key_is_a_warning_with_a_fix(key: str, meant: str) -> None:
    found = findings(deployment(constraint(OWN, key=key)), "beta-topology-key")
    told = [(each.severity, each.message, [edit.value for edit in each.fix]) for each in found]
    cluster = f"zones=3,nodes=6,label={key}=a"
    assert findings(deployment(constraint(OWN, key=key)), "beta-topology-key", cluster=cluster) == []
    assert told == ([("warning", f"no node has {key} by itself; is {meant} meant?", [meant])] if meant else [])


@pytest.mark.parametrize(
    ("manifest", "found"),
    [
        (deployment(with_keys("pod-template-hash")), []),
        (deployment(with_keys("app")), []),
        (deployment(with_keys("pod-template-hash", "version")), ["version"]),
        (deployment(with_keys("controller-revision-hash")), ["controller-revision-hash"]),
        (stateful_set(with_keys("controller-revision-hash")), []),
        (stateful_set(with_keys("pod-template-hash")), ["pod-template-hash"]),
    ],
)
def test_a_key_that_the_pods_lack_is_found(manifest: str, found: list[str]) -> None:
    said = messages(manifest, "match-label-key-missing")
    assert [each.split()[5].rstrip(",") for each in said] == found


def test_the_hash_of_a_deployment_is_replaced_by_that_of_a_stateful_set() -> None:
    (found,) = findings(stateful_set(with_keys("app", "pod-template-hash")), "match-label-key-missing")
    (edit,) = found.fix
    assert (edit.op, edit.value) == ("replace", "controller-revision-hash")
    assert edit.path == "spec.template.spec.topologySpreadConstraints[0].matchLabelKeys[1]"


def test_a_label_that_only_one_pod_has_is_found_where_it_is_one() -> None:
    assert messages(stateful_set(with_keys("apps.kubernetes.io/pod-index")), "match-label-key-of-one-pod")
    assert not messages(stateful_set(with_keys("controller-revision-hash")), "match-label-key-of-one-pod")
    assert not messages(deployment(with_keys("apps.kubernetes.io/pod-index")), "match-label-key-of-one-pod")


@pytest.mark.parametrize(
    ("more", "version", "said"),
    [
        ("", "1.37", "counts no pod: the constraint spreads nothing"),
        ("", "1.26", "counts no pod: the constraint spreads nothing"),
        ("", "1.25", "counts every pod of the namespace"),
        ("\nmatchLabelKeys: [tier]", "1.37", "counts every pod of the namespace with the same tier"),
        ("\nmatchLabelKeys: [pod-template-hash]", "1.37", ""),
    ],
)
def test_an_empty_selector_counts_what_the_version_and_the_keys_make_of_it(more: str, version: str, said: str) -> None:
    text = deployment(constraint(f"labelSelector: {{}}{more}"))
    found = messages(text, "selector-empty", kube_version=version)
    assert found == ([f"the empty labelSelector {said}"] if said else [])
