"""Random outages: every node of some domains is tainted, and pods ask for more domains than are left (KEP-5980)."""

from __future__ import annotations

from conformance.generators.draw import HOST, RACK, ZONE, Draw, Json

TAINTS = [
    {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "location", "value": "true", "effect": "PreferNoSchedule"},
]


def tainted(draw: Draw, case: Json) -> None:
    """Taint the nodes of one or two domains, mostly all of them, and give incoming pods minDomains."""
    key = draw.choice([ZONE, ZONE, ZONE, RACK, HOST])
    values = sorted({node["metadata"]["labels"].get(key, "") for node in case["nodes"]} - {""})
    lost = draw.sample(values, min(len(values), draw.randint(1, 2)))
    healthy = draw.choice([0, 0, 0.2])
    for node in case["nodes"]:
        node["spec"].pop("taints", None)
        if node["metadata"]["labels"].get(key) in lost and not draw.chance(healthy):
            node["spec"]["taints"] = [dict(draw.choices(TAINTS, [3, 3, 2, 1])[0])]
    for pod in (*case["pods"], *case["incoming"]):
        if draw.chance(0.8):
            pod["metadata"]["namespace"] = "default"
            pod["metadata"]["labels"]["app"] = "web"
    for pod in case["pods"]:
        if draw.chance(0.1):
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    for pod in case["incoming"]:
        given = pod["spec"].setdefault("topologySpreadConstraints", [])
        given[:] = [each for each in given if each["topologyKey"] != key][: draw.choice([0, 0, 1])]
        min_domains = max(2, len(values) + draw.choice([-1, 0, 0, 0, 1]))
        given.append(_constraint(draw, key, pod["metadata"]["labels"], min_domains))


def _constraint(draw: Draw, key: str, labels: dict[str, str], min_domains: int) -> Json:
    app = labels.get("app", "web") if draw.chance(0.9) else "db"
    constraint: Json = {
        "maxSkew": draw.choice([1, 1, 2]),
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}} if draw.chance(0.95) else {},
        "minDomains": min_domains,
    }
    if draw.chance(0.85):
        constraint["nodeTaintsPolicy"] = "Honor"
    if draw.chance(0.2):
        constraint["nodeAffinityPolicy"] = draw.choice(["Honor", "Ignore"])
    return constraint
