"""Random pods that carry their node's zone and region since they were bound, and whoever selects by them."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.generators.draw import REGION, ZONE, Draw, Json

_WANTED = (
    {"key": ZONE, "operator": "In", "values": ["z0", "z1", ""]},
    {"key": ZONE, "operator": "In", "values": ["z0"]},
    {"key": ZONE, "operator": "Exists"},
    {"key": ZONE, "operator": "DoesNotExist"},
    {"key": REGION, "operator": "NotIn", "values": ["eu"]},
)


def topology_labels(draw: Draw, case: Json) -> None:
    """Give the labels to some of the pods that are there, and let constraints and terms ask for them."""
    labels_of = {node["metadata"]["name"]: node["metadata"]["labels"] for node in case["nodes"]}
    for pod in case["pods"]:
        theirs = labels_of.get(pod["spec"]["nodeName"], {})
        if draw.chance(0.7):
            pod["metadata"]["labels"] |= {key: theirs[key] for key in (ZONE, REGION) if key in theirs}
    for pod in every_pod(case):
        for selector in selectors(pod["spec"]):
            if draw.chance(0.3):
                selector.setdefault("matchExpressions", []).append(dict(draw.choice(_WANTED)))
        for constraint in pod["spec"].get("topologySpreadConstraints", []):
            if draw.chance(0.2) and "labelSelector" in constraint and ZONE not in str(constraint["labelSelector"]):
                constraint["matchLabelKeys"] = [ZONE]


def selected_by_all(draw: Draw, case: Json) -> None:
    """Let budgets and Services ask for the labels, too, and pods say otherwise than their node will."""
    for each in case.get("podDisruptionBudgets", []):
        if draw.chance(0.4):
            each["spec"]["selector"] = draw.choice([{"matchLabels": {ZONE: "z0"}}, {"matchExpressions": [_WANTED[2]]}])
    for each in case.get("services", []):
        if draw.chance(0.4):
            each["spec"]["selector"] = {ZONE: draw.choice(["z0", "z1"])}
    for pod in case["incoming"]:
        if draw.chance(0.2):
            pod["metadata"]["labels"] |= {draw.choice([ZONE, REGION]): draw.choice(["z0", "z1", "eu"])}


def every_pod(case: Json) -> Iterator[Json]:
    """All pods of a case: those that are there, that come and that are promised a node."""
    yield from (*case["pods"], *case["incoming"], *case.get("nominated", []))


def selectors(spec: Json) -> Iterator[Json]:
    """The label selectors of a pod."""
    for constraint in spec.get("topologySpreadConstraints", []):
        if constraint.get("labelSelector") is not None:
            yield constraint["labelSelector"]
    affinity = spec.get("affinity", {})
    for kind in ("podAffinity", "podAntiAffinity"):
        for terms in affinity.get(kind, {}).values():
            for term in terms:
                selector = term.get("podAffinityTerm", term).get("labelSelector")
                if selector is not None:
                    yield selector
