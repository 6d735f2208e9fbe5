"""Random nodes: labels that are sometimes missing, taints, cordons, allocatable resources, images."""

from __future__ import annotations

from conformance.generators.draw import HOST, IMAGES, RACK, REGION, ZONE, Draw, Json

TAINTS = [
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "batch", "effect": "NoExecute"},
    {"key": "location", "value": "true", "effect": "PreferNoSchedule"},
    {"key": "maintenance", "effect": "NoSchedule"},
]
IMAGE_SIZES = [750_000, 190_000_000, 640_000_000]


def nodes(draw: Draw, size: tuple[int, int]) -> list[Json]:
    """Between ``size[0]`` and ``size[1]`` nodes, named n000, n001, …."""
    count = draw.randint(*size)
    zones = [f"z{i}" for i in range(draw.randint(1, 5))]
    racks = [f"r{i}" for i in range(draw.randint(1, 6))]
    missing = draw.choice([0, 0, 0.1, 0.3])
    return [_node(draw, f"n{i:03d}", zones, racks, missing) for i in range(count)]


def _node(draw: Draw, name: str, zones: list[str], racks: list[str], missing: float) -> Json:
    labels = _labels(draw, name, zones, racks, missing)
    spec: Json = {}
    if draw.chance(0.25):
        spec["taints"] = [dict(taint) for taint in draw.sample(TAINTS, draw.randint(1, 2))]
    if draw.chance(0.06):
        spec["unschedulable"] = True
        if draw.chance(0.5):
            cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
            spec.setdefault("taints", []).append(cordon)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": _status(draw),
    }


def _labels(draw: Draw, name: str, zones: list[str], racks: list[str], missing: float) -> dict[str, str]:
    labels = {}
    if not draw.chance(missing / 2):
        labels[HOST] = name if not draw.chance(0.02) else "shared-host"
    if not draw.chance(missing):
        labels[ZONE] = draw.choice(zones)
    if not draw.chance(missing):
        labels[REGION] = "eu" if labels.get(ZONE, "z0") in zones[: len(zones) // 2 + 1] else "us"
    if not draw.chance(missing):
        labels[RACK] = draw.choice(racks)
    labels["disk"] = draw.choice(["ssd", "hdd"])
    labels["gen"] = str(draw.randint(1, 9))
    if draw.chance(0.05):
        labels["zone-typo"] = "zX"
    return labels


def _status(draw: Draw) -> Json:
    allocatable = {
        "cpu": draw.choice(["2", "4", "8", "3500m"]),
        "memory": draw.choice(["4Gi", "8Gi", "16Gi", "7900Mi"]),
        "pods": draw.choice(["110", "110", "8"]),
        "ephemeral-storage": "100Gi",
    }
    if draw.chance(0.2):
        allocatable["example.com/gpu"] = str(draw.randint(1, 4))
    images = [
        {"names": [image], "sizeBytes": size}
        for image, size in zip(IMAGES, IMAGE_SIZES, strict=True)
        if draw.chance(0.3)
    ]
    status: Json = {"allocatable": allocatable, "capacity": allocatable}
    if images:
        status["images"] = images
    return status
