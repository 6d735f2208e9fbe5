"""What decides which nodes kube-scheduler looks at: percentages, several profiles, zones, nominated nodes."""

from __future__ import annotations

import copy

from conformance.generators.configuration import API_VERSION
from conformance.generators.draw import REGION, ZONE, Draw, Json

BETA = {ZONE: "failure-domain.beta.kubernetes.io/zone", REGION: "failure-domain.beta.kubernetes.io/region"}
PERCENTAGES = [0, 1, 5, 20, 35, 50, 80, 100]
OTHER = "other-scheduler"


def sampling(draw: Draw, case: Json) -> None:
    """Make the case one for the program that judges sampling."""
    case["sampling"] = "kube"
    draw.shuffle(case["nodes"])
    for node in case["nodes"]:
        _label(draw, node)
    config = case.get("config") or {"profiles": [{"schedulerName": "default-scheduler"}]}
    case["config"] = _configure(draw, copy.deepcopy(config))
    names = [profile["schedulerName"] for profile in case["config"]["profiles"]]
    nodes = [node["metadata"]["name"] for node in case["nodes"]]
    for pod in case["incoming"]:
        pod["spec"]["schedulerName"] = draw.choice(names)
        # What a nominated node says that PreFilter leaves out is in kube-scheduler's message, and is in no other's.
        if draw.chance(0.1) and "matchFields" not in str(pod["spec"].get("affinity")):
            pod["status"] = {"nominatedNodeName": draw.choice([*nodes, "gone"])}
        pod["spec"]["priority"] = draw.choice([0, 0, 10])
    case["nominated"] = [
        _nominated(draw, pod, i, nodes) for i, pod in enumerate(case["incoming"][: draw.choice([0, 8])])
    ]


def _label(draw: Draw, node: Json) -> None:
    """Some nodes have the labels of old, alone or beside the new ones."""
    labels = node["metadata"]["labels"]
    if draw.chance(0.1):
        for key, beta in BETA.items():
            if key in labels:
                labels[beta] = labels[key]
                if draw.chance(0.5):
                    del labels[key]


def _configure(draw: Draw, config: Json) -> Json:
    config |= {"apiVersion": API_VERSION, "kind": "KubeSchedulerConfiguration"}
    if draw.chance(0.5):
        config["percentageOfNodesToScore"] = draw.choice(PERCENTAGES)
    if draw.chance(0.5):
        other: Json = {"schedulerName": OTHER, "plugins": draw.choice([*_PLUGINS, {}])}
        config["profiles"].append(other)
    for profile in config["profiles"]:
        if draw.chance(0.4):
            profile["percentageOfNodesToScore"] = draw.choice(PERCENTAGES)
    return config


_PLUGINS: list[Json] = [
    {"score": {"disabled": [{"name": "*"}]}},
    {"filter": {"disabled": [{"name": "*"}]}},
    {"filter": {"disabled": [{"name": "PodTopologySpread"}, {"name": "TaintToleration"}]}},
    {"multiPoint": {"disabled": [{"name": "NodeAffinity"}, {"name": "ImageLocality"}]}},
    {"multiPoint": {"disabled": [{"name": "PodTopologySpread"}], "enabled": [{"name": "NodeName", "weight": 3}]}},
]


def _nominated(draw: Draw, like: Json, number: int, nodes: list[str]) -> Json:
    """A pod that waits for its victims to go."""
    pod: Json = copy.deepcopy(like)
    pod["metadata"] |= {"name": f"waits-{number}", "uid": f"uid-waits-{number}"}
    pod["status"] = {"nominatedNodeName": draw.choice(nodes)}
    pod["spec"]["priority"] = draw.choice([0, 5, 100])
    return pod
