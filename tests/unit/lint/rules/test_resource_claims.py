"""The rule about claims and templates that the input does not have."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings
from topospread.lint.examples import deployment

VERSION = "---\napiVersion: resource.k8s.io/v1\n"
SPEC = "devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}"
TEMPLATE = f"{VERSION}kind: ResourceClaimTemplate\nmetadata: {{name: gpu}}\nspec: {{spec: {{{SPEC}}}}}\n"
CLAIM = f"{VERSION}kind: ResourceClaim\nmetadata: {{name: gpu}}\nspec: {{{SPEC}}}\n"


def claiming(field: str, name: str) -> str:
    return deployment(f"resourceClaims:\n- {{name: gpu, {field}: {name}}}\n", replicas=1)


@pytest.mark.parametrize(
    ("manifests", "said"),
    [
        (claiming("resourceClaimTemplateName", "gpu") + TEMPLATE, []),
        (claiming("resourceClaimName", "gpu") + CLAIM, []),
        (claiming("resourceClaimTemplateName", "gpux"), []),
        (claiming("resourceClaimTemplateName", "gpux") + TEMPLATE.replace("gpu}", "gpu, namespace: other}", 1), []),
        (
            claiming("resourceClaimTemplateName", "gpux") + TEMPLATE,
            ["the input has no ResourceClaimTemplate default/gpux; did you mean gpu?"],
        ),
        (claiming("resourceClaimName", "own") + TEMPLATE, ["the input has no ResourceClaim default/own"]),
    ],
)
def test_a_claim_that_the_input_does_not_have(manifests: str, said: list[str]) -> None:
    assert [each.message for each in findings(manifests, "resource-claim-missing")] == said
