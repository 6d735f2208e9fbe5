"""Requests in every form: at pod level, odd quantities, sidecars, pods resized in place; and pods like those there."""

from __future__ import annotations

import copy

from conformance.generators.draw import Draw, Json


def requests(draw: Draw, bound: list[Json], incoming: list[Json]) -> None:
    """Change how the pods request resources, and let some pods there be like incoming ones in all but the node."""
    for pod in (*bound, *incoming):
        if draw.chance(0.25):
            pod["spec"]["resources"] = {"requests": _some(draw, {"cpu": ["700m", "2"], "memory": ["3Gi"]})}
        for container in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])):
            _odd(draw, container)
        if draw.chance(0.15):
            sidecar: Json = {"name": "sidecar", "image": "sidecar", "restartPolicy": "Always"}
            late = {"name": "late", "image": "late", "resources": {"requests": {"cpu": draw.choice(["100m", "3"])}}}
            sidecar |= {"resources": {"requests": {"cpu": "200m"}}}
            pod["spec"].setdefault("initContainers", []).extend([sidecar, late])
        if draw.chance(0.4):
            _resized(draw, pod)
    for i in range(min(3, len(bound))):
        like = copy.deepcopy(draw.choice(incoming))
        like["metadata"] |= {"name": f"like-{i}", "uid": f"uid-like-{i}"}
        like["spec"]["nodeName"] = bound[i]["spec"]["nodeName"]
        bound.append(like)


def _odd(draw: Draw, container: Json) -> None:
    if draw.chance(0.12):
        amounts = container.setdefault("resources", {}).setdefault("requests", {})
        amounts["cpu"] = draw.choice(["0.5m", "1500u", "0", "1e-1", "250m"])
        if draw.chance(0.3):
            amounts["hugepages-2Mi"] = "4Mi"


def _resized(draw: Draw, pod: Json) -> None:
    """What a kubelet says of a pod whose resources were changed while it runs."""
    status = pod.setdefault("status", {})
    status["containerStatuses"] = []
    for container in pod["spec"]["containers"]:
        if draw.chance(0.7):
            said: Json = {"name": container["name"], "ready": True, "restartCount": 0, "image": "i", "imageID": "i"}
            if draw.chance(0.7):
                said["allocatedResources"] = _amounts(draw)
            if draw.chance(0.7):
                said["resources"] = {"requests": _amounts(draw)} if draw.chance(0.8) else {}
            status["containerStatuses"].append(said)
    if draw.chance(0.3):
        reason = draw.choice(["Infeasible", "Deferred"])
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
    if draw.chance(0.2):
        status["resize"] = draw.choice(["Infeasible", "Deferred", ""])
    if draw.chance(0.2):
        status["resources"] = {"requests": _amounts(draw)}
    if draw.chance(0.2):
        status["allocatedResources"] = _amounts(draw)


def _amounts(draw: Draw) -> Json:
    return _some(draw, {"cpu": ["50m", "300m", "1500m"], "memory": ["32Mi", "2Gi"]})


def _some(draw: Draw, choices: dict[str, list[str]]) -> Json:
    return {name: draw.choice(values) for name, values in choices.items() if draw.chance(0.8)}
