"""What a policy file may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.errors import InputError
from topospread.webhook.policy import AdmissionPolicy, read_policy

DOCUMENTED = Path(__file__).parents[3] / "docs" / "how-to" / "admission" / "policy.yaml"


def test_the_documented_policy_is_one() -> None:
    policy = read_policy(str(DOCUMENTED))
    assert policy.deny == {"selector-not-own", "beta-topology-key"}
    assert policy.exclude_namespaces == {"kube-system", "monitoring"}
    assert policy.defaults[0].min_replicas == 2


def test_a_file_that_says_nothing_is_no_policy_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("")
    assert read_policy(str(tmp_path / "policy.yaml")) == AdmissionPolicy()


OF_DEFAULTS = "defaults: [{constraints: [%s]}]"
RIGHT = "maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("denny: []", "unknown field 'denny'"),
        ("deny: [selector-not-owm]", "deny[0]: unknown rule 'selector-not-owm'; did you mean selector-not-own?"),
        ("deny: [no-budget]", "deny[0]: 'no-budget' needs other objects"),
        ("deny: selector-not-own", "deny: expected a list"),
        ("onTimeout: ignore", "onTimeout: expected one of allow, deny"),
        ("mayIgnore: [no-budget]", "mayIgnore[0]: 'no-budget' needs other objects"),
        ("level: bad", "level: expected one of error, warning, hint"),
        ("kubeVersion: '1.2.3.4'", "kubeVersion"),
        ("defaults: {}", "defaults: expected a list"),
        ("defaults: [{constraints: []}]", "defaults[0].constraints: expected constraints"),
        ("defaults: [{kinds: [Pod]}]", "defaults[0].kinds: expected one of Deployment"),
        (f"defaults: [{{minReplicas: -1, constraints: [{{{RIGHT}}}]}}]", "defaults[0].minReplicas: expected a number"),
        (OF_DEFAULTS % "{maxSkew: 1, labelSelector: {}}", "defaults[0].constraints[0].labelSelector: remove it"),
        (OF_DEFAULTS % "{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}", "constraints[0].maxSkew"),
        (OF_DEFAULTS % f"{{{RIGHT}}}, {{{RIGHT}}}", "Duplicate value"),
        (OF_DEFAULTS % "{maxSkew: a}", "defaults[0].constraints"),
        ("[]", "expected a mapping"),
        ("a: [", "policy.yaml"),
    ],
)
def test_what_means_nothing_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(text if text != "[]" else "[a]")
    with pytest.raises(InputError) as caught:
        read_policy(str(path))
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
