"""Random pods: bound ones that hold resources and are counted, incoming ones that ask for a node."""

from __future__ import annotations

from conformance.generators.draw import APPS, HASHES, IMAGES, REGION, TIERS, Draw, Json
from conformance.generators.selectors import affinity, constraints

TOLERATIONS = [
    {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "operator": "Exists"},
    {"key": "location", "operator": "Exists", "effect": "PreferNoSchedule"},
    {"operator": "Exists"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
]


class Pods:
    """The pods of one case; numbers their uids."""

    def __init__(self, draw: Draw, other_pods: bool) -> None:
        """``other_pods``: pods may ask for the nearness of other pods (podAffinity, podAntiAffinity)."""
        self.draw = draw
        self.other_pods = other_pods
        self.uid = 0

    def plain(self, name: str) -> Json:
        """A pod that runs nowhere and asks for nothing but resources."""
        draw = self.draw
        self.uid += 1
        labels = {}
        if not draw.chance(0.1):
            labels["app"] = draw.choice(APPS)
        if draw.chance(0.5):
            labels["tier"] = draw.choice(TIERS)
        if draw.chance(0.6):
            labels["pod-template-hash"] = draw.choice(HASHES)
        namespace = draw.namespace()
        spec = _containers(draw)
        metadata = {"name": name, "namespace": namespace, "uid": f"uid-{self.uid}", "labels": labels}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def bound(self, name: str, node: str) -> Json:
        """A pod on ``node``, sometimes terminating, sometimes finished."""
        draw = self.draw
        pod = self.plain(name)
        pod["spec"]["nodeName"] = node
        finished = None
        if draw.chance(0.06):
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        elif draw.chance(0.05):
            finished = draw.choice(["Succeeded", "Failed"])
        if self.other_pods and draw.chance(0.1):
            terms = affinity(draw, pod["metadata"]["labels"], pods_only=True)
            if terms:
                pod["spec"]["affinity"] = terms
        if finished:
            pod["status"] = {"phase": finished}
        return pod

    def incoming(self, name: str) -> Json:
        """A pod to be placed: spread constraints, node selector, tolerations, affinity."""
        draw = self.draw
        pod = self.plain(name)
        labels, spec = pod["metadata"]["labels"], pod["spec"]
        if not self.other_pods or draw.chance(0.8):
            count = draw.choices([0, 1, 2, 3], [1, 5, 4, 1])[0]
            if count:
                spec["topologySpreadConstraints"] = constraints(draw, labels, count)
        if draw.chance(0.2):
            spec["nodeSelector"] = draw.choice([{"disk": "ssd"}, {"disk": "hdd"}, {REGION: "eu"}])
        if draw.chance(0.3):
            spec["tolerations"] = [dict(toleration) for toleration in TOLERATIONS if draw.chance(0.3)]
        if self.other_pods or draw.chance(0.2):
            terms = affinity(draw, labels)
            if not self.other_pods:
                terms.pop("podAffinity", None)
                terms.pop("podAntiAffinity", None)
            if terms:
                spec["affinity"] = terms
        return pod


def _containers(draw: Draw) -> Json:
    """The part of a pod's spec that says what it runs and requests."""
    spec: Json = {"containers": [_container(draw, i) for i in range(1 if draw.chance(0.8) else 2)]}
    if draw.chance(0.08):
        requests = {"cpu": draw.choice(["1", "2"]), "memory": "512Mi"}
        init = {"name": "init", "image": IMAGES[0], "resources": {"requests": requests}}
        spec["initContainers"] = [init]
        if draw.chance(0.4):
            init["restartPolicy"] = "Always"
    if draw.chance(0.04):
        spec["overhead"] = {"cpu": "100m", "memory": "32Mi"}
        spec["runtimeClassName"] = "sandboxed"
    return spec


def _container(draw: Draw, number: int) -> Json:
    container: Json = {"name": f"c{number}", "image": draw.choice(IMAGES)}
    if draw.chance(0.8):
        requests = {}
        if draw.chance(0.9):
            requests["cpu"] = draw.choice(["100m", "250m", "500m", "1"])
        if draw.chance(0.8):
            requests["memory"] = draw.choice(["64Mi", "256Mi", "1Gi", "200M"])
        if draw.chance(0.05):
            requests["example.com/gpu"] = "1"
        resources: Json = {"requests": requests}
        if "example.com/gpu" in requests:
            resources["limits"] = {"example.com/gpu": "1"}
        if requests:
            container["resources"] = resources
    if draw.chance(0.06):
        port = draw.choice([8080, 9090])
        container["ports"] = [{"containerPort": 8080, "hostPort": port, "protocol": "TCP"}]
    return container
