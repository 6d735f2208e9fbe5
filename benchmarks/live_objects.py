"""Nodes and pods as API servers have them: what kubelets report, and pods that serve something."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_IMAGES = [f"registry.example.com/team-{i % 7}/service-{i}@sha256:{'0123456789abcdef' * 4}" for i in range(10)]
_HEALTH = [
    {"type": kind, "status": status, "reason": "KubeletSays", "message": f"kubelet says so of {kind}"}
    for kind, status in (
        ("MemoryPressure", "False"),
        ("DiskPressure", "False"),
        ("PIDPressure", "False"),
        ("Ready", "True"),
    )
]


def node(number: int) -> Json:
    """A node of one of three zones."""
    resources = {"cpu": "32", "memory": "256Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    name = f"node-{number:05}"
    labels = {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": "m6i.8xlarge",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": _HEALTH,
            "images": [{"names": [each], "sizeBytes": 10_000_000} for each in _IMAGES],
        },
    }


def pod(name: str, number: int, constraint: str, on: str = "") -> Json:
    """A pod of one of ten apps; ``on``: the node where it is already."""
    app = f"app-{number % 10}"
    container = {
        "name": "main",
        "image": "pause",
        "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
        "ports": [{"containerPort": 8080, "name": "http"}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}},
        "env": [
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "MODE", "value": "production"},
        ],
    }
    spec: Json = {"containers": [container]}
    if on:
        spec["nodeName"] = on
    if constraint == "hard":
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 5,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": app}},
            }
        ]
    labels = {"app": app, "pod-template-hash": "7c9d5b8f64"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}
