"""Cases as nobody writes them on purpose: empty values, keys with a prefix, mixed architectures, the least fields.

Every corner is turned in about half of the cases, so that a difference shows which one it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.generators.configuration import API_VERSION
from conformance.generators.draw import APPS, HOST, KEYS, ZONE, Draw, Json
from conformance.generators.empties import empties
from conformance.generators.odd_profiles import odd_profile
from conformance.generators.pods import Pods
from conformance.generators.preemption import preemption
from conformance.generators.topology_labels import every_pod, selectors, topology_labels

PREFIXED = "example.com/app"
POOL = "pool.example.com/kind"
ADDRESSES = ["", "0.0.0.0", "127.0.0.1", "10.0.0.1"]


def corners(draw: Draw, pods: Pods, case: Json) -> None:
    """Turn some corners of a case."""
    if draw.chance(0.4) and not case.get("sequential"):
        case |= preemption(draw, pods, case["nodes"], case["pods"], case["incoming"])
        _start_times(draw, case)
    turns: list[Callable[[Draw, Json], None]] = [
        _domains,
        _labels,
        topology_labels,
        _architectures,
        _ports,
        _taints,
        _unparsed,
        _least,
        _nulls,
        empties,
    ]
    for turn in turns:
        if draw.chance(0.5):
            turn(draw, case)
    if draw.chance(0.1):
        case["config"] = draw.choice([_refused_at_start, odd_profile])(draw)


def _start_times(draw: Draw, case: Json) -> None:
    """Some pods have not been started by their kubelet yet."""
    missing = draw.choice([0, 0.2, 0.8])
    for pod in case["pods"]:
        if draw.chance(missing):
            pod["status"].pop("startTime", None)


def _domains(draw: Draw, case: Json) -> None:
    """Topology values that are empty, beside keys that are missing; Services, so that default constraints apply."""
    for node in case["nodes"]:
        labels = node["metadata"]["labels"]
        for key in KEYS:
            x = draw.random() * (3 if key == HOST else 1)
            if x < 0.25:
                labels[key] = ""
            elif x < 0.45:
                labels.pop(key, None)
    for namespace in ("default", "prod"):
        service = {
            "metadata": {"name": "all", "namespace": namespace},
            "spec": {"selector": {"app": draw.choice(APPS)}},
        }
        case.setdefault("services", []).append({"apiVersion": "v1", "kind": "Service", **service})
    if draw.chance(0.6):
        for pod in case["incoming"]:
            pod["spec"].pop("topologySpreadConstraints", None)


def _labels(draw: Draw, case: Json) -> None:
    """Labels with empty values and with a prefix on pods and nodes, and selectors that ask for them."""
    for node in case["nodes"]:
        node["metadata"]["labels"] |= draw.choice([{}, {POOL: ""}, {POOL: "a"}, {"disk": ""}])
    for pod in every_pod(case):
        labels = pod["metadata"]["labels"]
        labels |= draw.choice([{}, {PREFIXED: ""}, {PREFIXED: "web"}, {"app": ""}, {"tier": ""}])
        for selector in selectors(pod["spec"]):
            _ask_for_empty(draw, selector)
        if draw.chance(0.15):
            pod["spec"]["nodeSelector"] = draw.choice([{POOL: ""}, {POOL: "a"}, {"disk": ""}])
        for constraint in pod["spec"].get("topologySpreadConstraints", []):
            if draw.chance(0.1):
                constraint["topologyKey"] = POOL
            if draw.chance(0.2) and "labelSelector" in constraint and PREFIXED not in str(constraint):
                constraint["matchLabelKeys"] = [PREFIXED]
    for service in case.get("services", []):
        if draw.chance(0.2):
            service["spec"]["selector"] = draw.choice([{PREFIXED: ""}, {"app": ""}, {PREFIXED: "web"}])


def _unparsed(draw: Draw, case: Json) -> None:
    """Terms that do not parse, of pods that wait for their victims to go."""
    for pod in case.get("nominated", []):
        if draw.chance(0.3):
            term = {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Near"}]}}
            required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            pod["spec"]["affinity"] = {draw.choice(["podAffinity", "podAntiAffinity"]): required}


def _nulls(draw: Draw, case: Json) -> None:
    """Maps with nulls for values, and null in place of maps and lists."""
    for each in (*case["nodes"], *every_pod(case)):
        metadata, spec = each["metadata"], each["spec"]
        x = draw.random()
        if x < 0.1:
            metadata["labels"] = metadata.get("labels", {}) | {"app": None}
        elif x < 0.15:
            metadata["annotations"] = None
        elif x < 0.2:
            spec["tolerations" if "containers" in spec else "taints"] = None
        elif x < 0.25 and "containers" in spec:
            spec["containers"][0]["resources"] = {"requests": {"cpu": None}, "limits": None}


def _refused_at_start(draw: Draw) -> Json:
    """A configuration that kube-scheduler may not start with: a plugin without a name, weights below zero."""
    point = draw.choice(["filter", "score", "multiPoint", "preFilter", "bind"])
    enabled: Json = {"name": ""}
    if draw.chance(0.6):
        point = draw.choice(["score", "multiPoint"])
        enabled = {"name": draw.choice(["ImageLocality", "NodeAffinity", "PodTopologySpread"])}
        enabled["weight"] = draw.choice([-1, -3, -40])
    plugins = {point: {"enabled": [enabled]}}
    profile = {"schedulerName": "default-scheduler", "plugins": plugins}
    return {"apiVersion": API_VERSION, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


def _ask_for_empty(draw: Draw, selector: Json) -> None:
    x = draw.random()
    if x < 0.2:
        selector.setdefault("matchLabels", {}).update(draw.choice([{PREFIXED: ""}, {PREFIXED: "web"}, {"tier": ""}]))
    elif x < 0.4:
        wanted: list[Json] = [
            {"key": PREFIXED, "operator": "In", "values": ["", "web"]},
            {"key": PREFIXED, "operator": "NotIn", "values": [""]},
            {"key": PREFIXED, "operator": draw.choice(["Exists", "DoesNotExist"])},
            {"key": "app", "operator": "NotIn", "values": [""]},
        ]
        selector.setdefault("matchExpressions", []).append(draw.choice(wanted))


def _architectures(draw: Draw, case: Json) -> None:
    """The same images with other sizes on other nodes, under several names, and listed twice."""
    for node in case["nodes"]:
        arm = draw.chance(0.4)
        node["metadata"]["labels"]["kubernetes.io/arch"] = "arm64" if arm else "amd64"
        images = node["status"].get("images", [])
        for image in images:
            image["sizeBytes"] = int(image["sizeBytes"] * (draw.choice([0.6, 0.9, 3]) if arm else 1))
            if draw.chance(0.2):
                image["names"] = [f"{image['names'][0].split(':')[0]}@sha256:{'0' * 64}", *image["names"]]
        if images and draw.chance(0.1):
            images.append({**draw.choice(images), "sizeBytes": 70_000_000})


def _ports(draw: Draw, case: Json) -> None:
    """Host ports used twice: by containers of a pod, by its sidecars, by pods that got to a node in other ways."""
    for pod in every_pod(case):
        spec = pod["spec"]
        if draw.chance(0.5):
            ports = [_port(draw) for _ in range(draw.choice([1, 1, 2, 3]))]
            if draw.chance(0.3):
                ports.append(dict(ports[0]))
            draw.choice(spec["containers"])["ports"] = ports
        if draw.chance(0.15):
            again = {"name": "again", "image": "again", "ports": [_port(draw)]}
            spec["containers"].append(again)
        if draw.chance(0.15):
            first: Json = {"name": "first", "image": "first", "ports": [_port(draw)]}
            if draw.chance(0.5):
                first["restartPolicy"] = "Always"
            spec.setdefault("initContainers", []).append(first)


def _port(draw: Draw) -> Json:
    port: Json = {"containerPort": 8080, "hostPort": draw.choice([8080, 8080, 9090, 0])}
    if draw.chance(0.5):
        port["hostIP"] = draw.choice(ADDRESSES)
    if draw.chance(0.6):
        port["protocol"] = draw.choice(["TCP", "TCP", "UDP"])
    return port


def _taints(draw: Draw, case: Json) -> None:
    """Taints and tolerations with empty values, with a prefix, and without an effect."""
    for node in case["nodes"]:
        if draw.chance(0.3):
            taint = {"key": draw.choice(["dedicated", POOL]), "effect": draw.choice(["NoSchedule", "PreferNoSchedule"])}
            node["spec"]["taints"] = [taint | draw.choice([{}, {"value": ""}, {"value": "gpu"}])]
    for pod in every_pod(case):
        if draw.chance(0.3):
            given = {"key": draw.choice(["dedicated", POOL])} | draw.choice(
                [{}, {"value": ""}, {"operator": "Equal"}, {"operator": "Exists"}, {"value": "gpu", "effect": ""}]
            )
            pod["spec"].setdefault("tolerations", []).append(given)


def _least(draw: Draw, case: Json) -> None:
    """Nodes and pods with the least fields that there can be."""
    for node in case["nodes"]:
        x = draw.random()
        if x < 0.15:
            node["metadata"] = {"name": node["metadata"]["name"]}
        if x < 0.1:
            node["spec"] = {}
        if 0.05 < x < 0.15:
            node["status"] = draw.choice([{}, {"allocatable": {"pods": "3"}}, {"allocatable": {"cpu": "4"}}])
    for pod in every_pod(case):
        if draw.chance(0.15):
            metadata, spec = pod["metadata"], pod["spec"]
            pod["metadata"] = {key: metadata[key] for key in ("name", "namespace", "uid")}
            kept = {key: spec[key] for key in ("nodeName", "priority") if key in spec}
            pod["spec"] = {"containers": [{"name": "c"}], **kept}
