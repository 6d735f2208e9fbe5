"""Nodes, PriorityClasses, budgets, Services and StorageClasses, right and wrong in what scheduling reads."""

from __future__ import annotations

from conformance.generators.draw import Json
from conformance.generators.refused.scheduling import selector
from conformance.generators.refused.words import (
    KEYS,
    ODD_KEYS,
    ODD_QUANTITIES,
    ODD_VALUES,
    QUANTITIES,
    VALUES,
    Words,
)

NAMESPACED = frozenset({"PodDisruptionBudget", "Service"})
API_VERSIONS = {
    "Node": "v1",
    "Service": "v1",
    "PodDisruptionBudget": "policy/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
}
_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
_RESOURCES = ["cpu", "memory", "pods", "example.com/gpu", "hugepages-2Mi", "ephemeral-storage"]


def other(words: Words, number: int) -> Json:
    """One object of one of these kinds."""
    kind = words.choice(list(API_VERSIONS))
    names = [f"{kind.lower()}-{number}"]
    metadata: Json = {"name": words.mostly(names, ["A", "a.b", "a_b", "n" * 254, "1a", "", "..", "a/b"], 0.05)}
    if kind in NAMESPACED:
        metadata["namespace"] = "default"
    if words.chance(0.5):
        metadata["labels"] = _labels(words)
    if words.chance(0.1):
        metadata["annotations"] = {words.mostly(KEYS, ODD_KEYS): "x"}
    made: Json = {"apiVersion": API_VERSIONS[kind], "kind": kind, "metadata": metadata}
    return made | _FIELDS[kind](words, metadata)


def _labels(words: Words) -> Json:
    return {words.mostly(KEYS, ODD_KEYS, 0.1): words.mostly(VALUES, ODD_VALUES, 0.1) for _ in range(2)}


def _node(words: Words, _: Json) -> Json:
    taints = [
        {
            "key": words.mostly(["dedicated", "example.com/pool"], ODD_KEYS, 0.1),
            "effect": words.mostly(_EFFECTS, ["", "noschedule", "NoAdmit"], 0.15),
        }
        | words.choice([{}, {"value": words.mostly(VALUES, ODD_VALUES, 0.15)}])
        for _ in range(words.choice([0, 1, 2, 3]))
    ]
    amounts = {
        name: words.mostly(QUANTITIES, ODD_QUANTITIES, 0.1) for name in words.sample(_RESOURCES, words.choice([1, 3]))
    }
    status: Json = {words.choice(["allocatable", "capacity"]): amounts}
    if words.chance(0.15):
        features = ["A", "B", "A/b", "a", "A/", "B", ""]
        status["declaredFeatures"] = words.sample(features, words.choice([1, 2]))
    return {"spec": {"taints": taints} if taints else {}, "status": status}


def _budget(words: Words, _: Json) -> Json:
    shares = [0, 1, 2, "50%", "100%", *([-1, "120%", "half", "-5%", "1"] if words.chance(0.2) else [])]
    spec: Json = {}
    if words.chance(0.8):
        spec["selector"] = selector(words)
    for name, share in (("minAvailable", 0.5), ("maxUnavailable", 0.35)):
        if words.chance(share):
            spec[name] = words.choice(shares)
    if words.chance(0.1):
        spec["unhealthyPodEvictionPolicy"] = words.choice(["AlwaysAllow", "Never", ""])
    return {"spec": spec}


def _priority_class(words: Words, metadata: Json) -> Json:
    if words.chance(0.25):
        metadata["name"] = words.choice(["system-node-critical", "system-cluster-critical", "system-mine"])
    made: Json = {"value": words.choice([0, 1000, 1_000_000_000, 1_000_000_001, 2_000_001_000, 2_000_000_000, -5])}
    if words.chance(0.2):
        made["globalDefault"] = words.chance(0.5)
    if words.chance(0.3):
        made["preemptionPolicy"] = words.choice(["Never", "PreemptLowerPriority", "Always", ""])
    return made


def _service(words: Words, _: Json) -> Json:
    spec: Json = {"ports": [{"port": 80}]}
    if words.chance(0.8):
        spec["selector"] = _labels(words)
    return {"spec": spec}


def _storage_class(words: Words, _: Json) -> Json:
    made: Json = {}
    if words.chance(0.9):
        made["provisioner"] = words.mostly(["ebs.csi.aws.com", "example.com/nfs", "Example.com/x"], ODD_KEYS, 0.15)
    if words.chance(0.6):
        made["volumeBindingMode"] = words.mostly(["Immediate", "WaitForFirstConsumer"], ["", "Waiting"], 0.2)
    if words.chance(0.3):
        made["reclaimPolicy"] = words.mostly(["Delete", "Retain"], ["Recycle", "", "delete"], 0.3)
    if words.chance(0.4):
        made["allowedTopologies"] = [_topology(words) for _ in range(words.choice([1, 1, 2]))]
    return made


def _topology(words: Words) -> Json:
    expressions = [
        {
            "key": words.mostly(KEYS, ODD_KEYS, 0.1),
            "values": [words.choice(["a", "b", "c"]) for _ in range(words.choice([0, 1, 1, 2]))],
        }
        for _ in range(words.choice([0, 1, 1, 2]))
    ]
    return {"matchLabelExpressions": expressions}


_FIELDS = {
    "Node": _node,
    "PodDisruptionBudget": _budget,
    "PriorityClass": _priority_class,
    "Service": _service,
    "StorageClass": _storage_class,
}
