"""Builders of short example manifests for the rules."""

from __future__ import annotations

from textwrap import dedent, indent

_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  replicas: {replicas}
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
{spec}\
      containers:
      - name: {name}
        image: registry.k8s.io/pause:3.10
"""


def deployment(spec: str, *, name: str = "web", replicas: int = 6) -> str:
    """Return a Deployment whose pods have the label ``app: web``.

    Args:
        spec: YAML of further fields of the pod spec.
        name: name of the Deployment and its container, and value of the label.
        replicas: number of replicas.
    """
    return _DEPLOYMENT.format(name=name, replicas=replicas, spec=indent(_lines(spec), " " * 6))


def constraint(fields: str = "", *, key: str = "topology.kubernetes.io/zone", when: str = "DoNotSchedule") -> str:
    """Return ``topologySpreadConstraints`` with one constraint.

    Args:
        fields: the constraint's further fields, in YAML.
        key: its topologyKey.
        when: its whenUnsatisfiable.
    """
    head = f"topologySpreadConstraints:\n- maxSkew: 1\n  topologyKey: {key}\n  whenUnsatisfiable: {when}\n"
    return head + indent(_lines(fields), "  ")


def _lines(text: str) -> str:
    text = dedent(text).strip("\n")
    return text + "\n" if text else ""


GOOD_CONSTRAINT = constraint("labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]")
"""A hard constraint for `deployment`'s pods without findings."""
