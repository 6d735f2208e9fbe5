"""Lists, maps and terms that are there but empty, null or say nothing, which is not always the same as missing."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.generators.draw import HOST, ZONE, Draw, Json
from conformance.generators.topology_labels import every_pod

_EXPRESSIONS: list[Json] = [
    {"key": "disk", "operator": "In", "values": []},
    {"key": "disk", "operator": "Near", "values": ["a"]},
    {"key": "", "operator": "Exists"},
    {"key": "disk", "operator": "Exists", "values": ["x"]},
    {"key": "gen", "operator": "Gt", "values": ["x"]},
]
_TERMS: list[Json] = [
    {},
    {"matchExpressions": []},
    {"matchFields": []},
    {"matchExpressions": None, "matchFields": []},
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n000"]}]},
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n000", "n001"]}]},
    {"matchFields": [{"key": "metadata.uid", "operator": "In", "values": ["n000"]}]},
    *({"matchExpressions": [each]} for each in _EXPRESSIONS),
]
_SELECTORS: list[Json | None] = [
    None,
    {},
    {"matchExpressions": []},
    {"matchLabels": {}},
    {"matchLabels": None},
    *({"matchExpressions": [each]} for each in _EXPRESSIONS[:4]),
]
_AMOUNTS: list[Json | None] = [None, {}, {"requests": {}}, {"requests": None, "limits": {}}, {"requests": {"cpu": "1"}}]
_FIELDS: dict[str, Sequence[object]] = {
    "tolerations": [[], None, [{}], [{"operator": ""}], [{"key": "", "operator": "Exists"}]],
    "nodeSelector": [{}, None],
    "volumes": [[], None],
    "overhead": [{}, None, {"cpu": "100m"}],
    "initContainers": [[], None],
    "schedulingGates": [[], None],
    "resources": _AMOUNTS,
}


def empties(draw: Draw, case: Json) -> None:
    """Give pods, nodes, Services and budgets of a case such fields."""
    for pod in every_pod(case):
        if draw.chance(0.6):
            _pod(draw, pod)
    for node in case["nodes"]:
        if draw.chance(0.1):
            node["metadata"]["labels"] = draw.choice([{}, None])
        if draw.chance(0.1):
            node["spec"] = draw.choice([{}, None, {"taints": []}, {"taints": None}])
        if draw.chance(0.1):
            images: object = draw.choice([[], None, [{}], [{"names": [], "sizeBytes": 5}]])
            node["status"] = draw.choice([{}, {"allocatable": {}}, {"allocatable": None}, {"images": images}])
    for service in case.get("services", []):
        if draw.chance(0.2):
            service["spec"]["selector"] = draw.choice([{}, None])
    for budget in case.get("podDisruptionBudgets", []):
        if draw.chance(0.4):
            budget["spec"]["selector"] = draw.choice(_SELECTORS)
        if draw.chance(0.2):
            budget["status"] = draw.choice([{}, {"disruptedPods": {}}, {"disruptedPods": None}])


def _pod(draw: Draw, pod: Json) -> None:
    spec = pod["spec"]
    if draw.chance(0.3):
        _near_nodes(draw, spec)
    if draw.chance(0.3):
        _near_pods(draw, spec)
    if draw.chance(0.3):
        spec["topologySpreadConstraints"] = [_constraint(draw) for _ in range(draw.choice([0, 1, 1, 2]))]
    for field, values in _FIELDS.items():
        if draw.chance(0.1):
            spec[field] = draw.choice(values)
    container = spec["containers"][0]
    if draw.chance(0.1):
        container["ports"] = draw.choice([[], None, [{}], [{"hostPort": 0}], [{"containerPort": 80}]])
    if draw.chance(0.1):
        container["resources"] = draw.choice(_AMOUNTS)
    if draw.chance(0.1):
        pod["metadata"]["labels"] = draw.choice([{}, None])
    if draw.chance(0.2):
        _status(draw, pod)


def _affinity(spec: Json) -> Json:
    made: Json = spec.get("affinity") or {}
    spec["affinity"] = made
    return made


def _near_nodes(draw: Draw, spec: Json) -> None:
    wanted = _affinity(spec)["nodeAffinity"] = {}
    if draw.chance(0.7):
        terms = [draw.choice(_TERMS) for _ in range(draw.randint(0, 3))]
        required: Json = draw.choice([{"nodeSelectorTerms": terms}, {"nodeSelectorTerms": terms}, {}])
        wanted["requiredDuringSchedulingIgnoredDuringExecution"] = required
    if draw.chance(0.7):
        wanted["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": draw.choice([0, 1, 5, 100]), "preference": draw.choice(_TERMS)}
            for _ in range(draw.randint(0, 2))
        ]


def _near_pods(draw: Draw, spec: Json) -> None:
    wanted = _affinity(spec)[draw.choice(["podAffinity", "podAntiAffinity"])] = {}
    if draw.chance(0.7):
        wanted["requiredDuringSchedulingIgnoredDuringExecution"] = [_term(draw) for _ in range(draw.randint(0, 2))]
    if draw.chance(0.5):
        wanted["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": draw.choice([0, 1, 50]), "podAffinityTerm": _term(draw)} for _ in range(draw.randint(0, 2))
        ]


def _term(draw: Draw) -> Json:
    term = {"topologyKey": draw.choice([HOST, ZONE, ""]), "labelSelector": draw.choice(_SELECTORS)}
    more: dict[str, Sequence[object]] = {
        "namespaceSelector": _SELECTORS,
        "namespaces": [None, [], ["prod"]],
        "matchLabelKeys": [None, [], ["app"]],
    }
    return term | {key: draw.choice(values) for key, values in more.items() if draw.chance(0.4)}


def _constraint(draw: Draw) -> Json:
    made: Json = {
        "maxSkew": draw.choice([1, 2]),
        "topologyKey": draw.choice([HOST, ZONE]),
        "whenUnsatisfiable": draw.choice(["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": draw.choice(_SELECTORS),
    }
    if draw.chance(0.4):
        made["matchLabelKeys"] = draw.choice([None, [], ["app"], ["not-there"]])
    return made


def _status(draw: Draw, pod: Json) -> None:
    """What the kubelet says of resources: in containers' statuses, in the pod's own, and of a resize."""
    status = pod["status"] = pod.get("status") or {}
    container: Json = {"name": pod["spec"]["containers"][0]["name"], "image": "x", "imageID": "x"}
    if draw.chance(0.6):
        container["resources"] = draw.choice([*_AMOUNTS, {"requests": {"cpu": "2"}}])
    if draw.chance(0.6):
        container["allocatedResources"] = draw.choice([{}, None, {"cpu": "1"}, {"memory": "1Gi"}])
    status["containerStatuses"] = draw.choice([[container], [container], [], None])
    if draw.chance(0.4):
        status["initContainerStatuses"] = draw.choice([[], None])
    if draw.chance(0.4):
        status["allocatedResources"] = draw.choice([{}, None, {"cpu": "1"}])
    if draw.chance(0.4):
        status["resources"] = draw.choice(_AMOUNTS)
    if draw.chance(0.2):
        status["resize"] = "Infeasible"
    if draw.chance(0.5):
        resize = {"type": "PodResizePending", "status": "True", "reason": draw.choice(["Infeasible", "Deferred"])}
        status["conditions"] = draw.choice([[], None, [resize], [{"type": "PodResizeInProgress", "status": "True"}]])
