"""Random Services and controllers of incoming pods: where default constraints take their selectors from."""

from __future__ import annotations

from conformance.generators.draw import APPS, IMAGES, NAMESPACES, Draw, Json

CASE_KEYS = {
    "ReplicaSet": "replicaSets",
    "StatefulSet": "statefulSets",
    "ReplicationController": "replicationControllers",
}


def owners(draw: Draw, incoming: list[Json]) -> Json:
    """Services, and a controller for about every other pod; returns the keys of the case that this adds."""
    services = [_service(draw, i) for i in range(draw.randint(0, 3))]
    controllers: dict[str, list[Json]] = {key: [] for key in CASE_KEYS.values()}
    for pod in incoming:
        if draw.chance(0.5):
            controller = _controller(draw, pod)
            controllers[CASE_KEYS[controller["kind"]]].append(controller)
    case = {"services": services, **controllers}
    return {key: objects for key, objects in case.items() if objects}


def _service(draw: Draw, number: int) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"svc{number}", "namespace": draw.choice(NAMESPACES)},
        "spec": {"selector": {"app": draw.choice(APPS)}, "ports": [{"port": 80}]},
    }


def _controller(draw: Draw, pod: Json) -> Json:
    """A controller that selects the pod, and the pod's reference to it."""
    kind = draw.choice(list(CASE_KEYS))
    metadata = pod["metadata"]
    own = {
        "name": f"own-{metadata['name']}",
        "namespace": metadata["namespace"],
        "uid": f"o-{metadata['uid']}",
    }
    labels = metadata["labels"]
    match = {key: value for key, value in labels.items() if key in ("app", "pod-template-hash")} or {"app": "web"}
    api = "v1" if kind == "ReplicationController" else "apps/v1"
    template = {
        "metadata": {"labels": {**labels, **match}},
        "spec": {"containers": [{"name": "c", "image": IMAGES[0]}]},
    }
    chosen: Json = match if kind == "ReplicationController" else {"matchLabels": match}
    said = draw.choice(["v1", "v1", "/v1"]) if api == "v1" else api
    metadata["ownerReferences"] = [
        {"apiVersion": said, "kind": kind, "name": own["name"], "uid": own["uid"], "controller": True}
    ]
    return {"apiVersion": api, "kind": kind, "metadata": own, "spec": {"selector": chosen, "template": template}}
