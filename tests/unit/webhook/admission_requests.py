"""Requests as an API server sends them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"


def deployment(
    *constraints: Json, labels: Json | None = None, replicas: int | None = 3, namespace: str = "shop"
) -> Json:
    """A Deployment of web pods, as the API server has defaulted it."""
    pods: Json = {"containers": [{"name": "web", "image": "web"}], "restartPolicy": "Always"}
    if constraints:
        pods["topologySpreadConstraints"] = list(constraints)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace, "uid": "u", "labels": labels or {}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pods},
        },
    }


def constraint(counted: str = "web", key: str = ZONE) -> Json:
    """A hard one over the zones."""
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": counted}},
        "matchLabelKeys": ["pod-template-hash"],
    }


def request(made: Json, old: Json | None = None, **more: Any) -> Json:
    """Of an object that is created, or changed."""
    operation = "CREATE" if old is None else "UPDATE"
    kind = {"group": "apps", "version": "v1", "kind": made["kind"]}
    asked = {"uid": "1", "kind": kind, "operation": operation, "namespace": made["metadata"]["namespace"]}
    return asked | {"object": made, "oldObject": old} | more
