"""The rule about resource claims of pods: the claim or its template exists."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.lint.examples import deployment
from topospread.lint.lint_input import LintInput, LintSubject
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule
from topospread.text import did_you_mean

_COMPARED = 1000


def _missing(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    inventory = given.inventory
    there: dict[str, dict[str, list[str]]] = {"ResourceClaim": {}, "ResourceClaimTemplate": {}}
    for item in (*inventory.resource_claims, *inventory.resource_claim_templates):
        there[type(item).__name__].setdefault(item.namespace, []).append(item.name)
    for manifest, pods in given.sources:
        namespace = pods.item.namespace
        if not any(namespace in spaces for spaces in there.values()):
            continue  # the claims of this namespace may be in other files
        for at, each in enumerate(pods.spec.resource_claims or ()):
            for kind, field, name in (
                ("ResourceClaim", "resourceClaimName", each.resource_claim_name),
                ("ResourceClaimTemplate", "resourceClaimTemplateName", each.resource_claim_template_name),
            ):
                known = there[kind].get(namespace, [])
                if name and name not in known and kind not in inventory.unread:
                    message = f"the input has no {kind} {namespace}/{name}{did_you_mean(name, known[:_COMPARED])}"
                    yield manifest, Problem(f"{pods.path}.resourceClaims[{at}].{field}", message)


_POD = "resourceClaims:\n- {{name: gpu, resourceClaimTemplateName: {}}}\n"
_TEMPLATE = """\
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly: {deviceClassName: gpu.example.com}
"""

RULES = (
    Rule(
        id="resource-claim-missing",
        sentence="A pod names a ResourceClaim or ResourceClaimTemplate that the input does not have.",
        why="kube-scheduler does not place the pod until the claim exists.",
        link="https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/",
        severity="warning",
        check=_missing,
        wrong=Example(deployment(_POD.format("gpux"), replicas=1) + _TEMPLATE),
        right=Example(deployment(_POD.format("gpu"), replicas=1) + _TEMPLATE),
        needs="manifests",
    ),
)
