"""What the rules' tests lint: small manifests as text, and the ids or messages of what is found in them."""

from __future__ import annotations

from io import BytesIO

from topospread.lint.rule import Finding
from topospread.lint.run import lint


def findings(manifests: str, rule: str = "", *, cluster: str = "", kube_version: str = "1.37") -> list[Finding]:
    """What is found in YAML documents, by one rule or by all."""
    found = lint(["-"], stdin=BytesIO(manifests.encode()), cluster=cluster or None, kube_version=kube_version)
    return [each for each in found if not rule or each.rule == rule]


def messages(manifests: str, rule: str, *, cluster: str = "", kube_version: str = "1.37") -> list[str]:
    """What one rule says of YAML documents."""
    return [each.message for each in findings(manifests, rule, cluster=cluster, kube_version=kube_version)]


def autoscaler(least: str, most: int = 9) -> str:
    """An autoscaler of `deployment`'s pods; ``least`` is '' or ``minReplicas: N, ``."""
    target = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}"
    head = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\n"
    return f"{head}spec: {{{least}maxReplicas: {most}, {target}}}\n"
