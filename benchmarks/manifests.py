"""Manifests as a company's repository has them: for each service a Deployment, a Service and a PodDisruptionBudget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

_TEAMS = 40
_ZONE = "topology.kubernetes.io/zone"
_OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def write_manifests(folder: Path, number: int) -> None:
    """Write so many objects, a file for each service.

    Every third Deployment is spread over the hostname too, every tenth still names a beta key, and all have probes,
    limits, a volume and variables, as most have.
    """
    folder.mkdir()
    for at in range(0, number, 3):
        objects = _objects(at // 3)[: number - at]
        text = yaml.dump_all(objects, Dumper=yaml.CSafeDumper, sort_keys=False)
        (folder / f"service-{at // 3}.yaml").write_text(text)


def write_deployments(path: Path, number: int) -> None:
    """Write so many Deployments of one namespace, of which every third is spread over the hostname too."""
    items = [_objects(at)[0] for at in range(number)]
    items = [each | {"metadata": each["metadata"] | {"namespace": "shop"}} for each in items]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def _objects(at: int) -> list[dict[str, Any]]:
    name, namespace = f"service-{at}", f"team-{at % _TEAMS}"
    selector = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": "prod"}
    metadata = {"name": name, "namespace": namespace}
    template = {
        "metadata": {"labels": selector | {"app.kubernetes.io/part-of": namespace}},
        "spec": {
            "topologySpreadConstraints": _constraints(at, selector),
            "containers": [_container(name)],
            "volumes": [{"name": "config", "configMap": {"name": name}}],
        },
    }
    deployment = {"replicas": 2 + at % 5, "selector": {"matchLabels": selector}, "template": template}
    ports = [{"port": 80, "targetPort": "http"}]
    budget = {"maxUnavailable": 1, "selector": {"matchLabels": selector}}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata | {"labels": selector},
            "spec": deployment,
        },
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": selector, "ports": ports}},
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget},
    ]


def _constraints(at: int, selector: dict[str, str]) -> list[dict[str, Any]]:
    common = {"maxSkew": 1, "labelSelector": {"matchLabels": selector}, "matchLabelKeys": ["pod-template-hash"]}
    zone = _ZONE if at % 10 else _OLD_ZONE
    constraints = [common | {"topologyKey": zone, "whenUnsatisfiable": "DoNotSchedule"}]
    if at % 3 == 0:
        constraints.append(common | {"topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"})
    return constraints


def _container(name: str) -> dict[str, Any]:
    return {
        "name": "main",
        "image": f"registry.example.com/{name}:1.2.3",
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [{"name": f"SETTING_{at}", "value": f"value-{at}"} for at in range(8)],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "initialDelaySeconds": 10},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
        "securityContext": {"runAsNonRoot": True, "allowPrivilegeEscalation": False},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/config"}],
    }
