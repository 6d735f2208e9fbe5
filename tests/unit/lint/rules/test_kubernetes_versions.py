"""Fields and API versions that a Kubernetes version lacks: found below it, and not from it on."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import constraint, deployment

OWN = "labelSelector:\n  matchLabels: {app: web}\n"


@pytest.mark.parametrize(
    ("field", "since"),
    [
        ("minDomains: 3", 27),
        ("nodeAffinityPolicy: Ignore", 26),
        ("nodeTaintsPolicy: Honor", 26),
        ("matchLabelKeys: [app]", 27),
    ],
)
def test_a_field_of_a_constraint_is_there_from_its_version_on(field: str, since: int) -> None:
    manifest = deployment(constraint(OWN + field))
    assert messages(manifest, "field-not-in-version", kube_version=f"1.{since}") == []
    (said,) = messages(manifest, "field-not-in-version", kube_version=f"1.{since - 1}")
    assert said.startswith(f"{field.partition(':')[0]} is dropped by Kubernetes 1.{since - 1}: the feature gate")
    assert said.endswith(f"on by default since 1.{since}")


def test_a_field_that_a_version_has_never_heard_of() -> None:
    (said,) = messages(deployment(constraint(OWN + "minDomains: 3")), "field-not-in-version", kube_version="1.22")
    assert said == "minDomains does not exist in Kubernetes 1.22: it came with 1.24, on by default since 1.27"


@pytest.mark.parametrize(
    ("spec", "path", "before"),
    [
        ("schedulingGates: [{name: a}]", "schedulingGates", "1.26"),
        ("initContainers: [{name: a, image: a, restartPolicy: Always}]", "initContainers[0].restartPolicy", "1.28"),
        (
            "affinity:\n  podAntiAffinity:\n    preferredDuringSchedulingIgnoredDuringExecution:\n"
            "    - {weight: 1, podAffinityTerm: {topologyKey: a/b, labelSelector: {}, matchLabelKeys: [app]}}",
            "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.matchLabelKeys",
            "1.30",
        ),
    ],
)
def test_fields_elsewhere_in_the_spec(spec: str, path: str, before: str) -> None:
    (found,) = findings(deployment(spec), "field-not-in-version", kube_version=before)
    assert found.place.field == f"spec.template.spec.{path}"
    assert findings(deployment(spec), "field-not-in-version") == []


def test_what_an_api_server_stored_is_not_accused() -> None:
    stored = deployment(constraint(OWN + "minDomains: 3")).replace("metadata:\n", "metadata:\n  uid: a\n", 1)
    assert messages(stored, "field-not-in-version", kube_version="1.22") == []


BUDGET = "apiVersion: policy/{}\nkind: PodDisruptionBudget\nmetadata: {{name: a}}\nspec:\n  maxUnavailable: 1\n"
SELECTOR = "  selector: {matchLabels: {app: web}}\n"


@pytest.mark.parametrize(
    ("version", "kube_version", "said"),
    [
        ("v1", "1.21", []),
        ("v1", "1.20", ["Kubernetes 1.20 does not serve policy/v1 PodDisruptionBudget yet: it came with 1.21"]),
        ("v1beta1", "1.24", []),
        (
            "v1beta1",
            "1.25",
            ["Kubernetes 1.25 does not serve policy/v1beta1 PodDisruptionBudget any more: it is policy/v1 now"],
        ),
    ],
)
def test_api_versions_are_served_from_and_until(version: str, kube_version: str, said: list[str]) -> None:
    manifest = BUDGET.format(version) + SELECTOR
    assert messages(manifest, "api-version-not-served", kube_version=kube_version) == said


def test_the_version_is_rewritten_only_where_that_changes_nothing_else() -> None:
    (found,) = findings(BUDGET.format("v1beta1") + SELECTOR, "api-version-not-served")
    assert [(each.path, each.value) for each in found.fix] == [("apiVersion", "policy/v1")]
    (found,) = findings(BUDGET.format("v1beta1") + "  selector: {}\n", "api-version-not-served")
    assert found.fix == ()


def test_versions_that_every_kubernetes_serves_are_silent() -> None:
    assert messages(deployment(""), "api-version-not-served", kube_version="1.18") == []


@pytest.mark.parametrize(
    ("before", "labels", "told"),
    [
        ("", "", False),
        ("# Source: shop/templates/budget.yaml\n", "", True),
        ("", ", labels: {app.kubernetes.io/managed-by: Helm}", True),
    ],
)
def test_what_helm_has_rendered_may_be_for_another_version(before: str, labels: str, told: bool) -> None:
    budget = f"apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {{name: a{labels}}}\nspec: {{}}\n"
    (said,) = messages(before + budget, "api-version-not-served")
    assert ("--kube-version and --api-versions" in said) == told
