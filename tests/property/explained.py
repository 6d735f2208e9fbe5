"""Random small clusters with one workload to explain, and what a suggestion makes of such a cluster's inventory."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields

from tests.plain_inventory import inventory
from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.why.result import Suggestion

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
MISSPELT, OLD_ZONE = "topology.kubernetes.io/zome", "failure-domain.beta.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
DEFAULTS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "pluginConfig": [
                {
                    "name": "PodTopologySpread",
                    "args": {
                        "defaultingType": "List",
                        "defaultConstraints": [
                            {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"},
                            {"maxSkew": 2, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway"},
                        ],
                    },
                }
            ],
        }
    ],
}
"""A configuration with a hard constraint for pods that bring none."""
OLD, NEW = "old0hash", "new0hash"
Json = dict[str, Any]
STRATEGIES: list[Json] = [
    {},
    {"strategy": {"type": "Recreate"}},
    {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}},
    {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "50%"}}},
]
HIGH: Json = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}


@st.composite
def clusters(draw: st.DrawFn, *, closed: bool = False) -> tuple[Inventory, str]:
    """An inventory, and what of it is to be explained; ``closed``: most nodes are for more than one reason."""
    nodes = [draw(_node(i, closed=closed)) for i in range(draw(st.integers(1, 6)))]
    names = [each["metadata"]["name"] for each in nodes]
    others = [
        _bound(f"other-{i}", draw(_labels()), draw(st.sampled_from(names))) for i in range(draw(st.integers(0, 5)))
    ]
    if draw(st.booleans()):
        far = _bound("far", {"app": "far"}, draw(st.sampled_from(names)))
        far["metadata"]["namespace"] = "elsewhere"
        others.append(far)
    waiting = [_pod(f"waiting-{i}", {"app": "b"}, draw(_spec())) for i in range(draw(st.integers(0, 2)))]
    kind = draw(st.sampled_from(["Pod", "Deployment", "Rollout", "ReplicaSet", "StatefulSet", "Job", "Not read"]))
    objects, target = draw(_workload(kind, names))
    return inventory(*nodes, HIGH, *others, *waiting, *objects), target


@st.composite
def _node(draw: st.DrawFn, number: int, *, closed: bool = False) -> Json:
    labels = {HOST: f"node-{number}"}
    if draw(st.integers(0, 7)):
        labels[ZONE] = draw(st.sampled_from(["zone-a", "zone-b", "zone-c"]))
    spec: Json = {}
    if draw(st.integers(0, 3)) < (3 if closed else 1):
        spec["taints"] = [{"key": "dedicated", "value": draw(st.sampled_from(["gpu", "db"])), "effect": "NoSchedule"}]
    if draw(st.integers(0, 5)) < (4 if closed else 1):
        spec["unschedulable"] = True
    amounts = {"cpu": draw(st.sampled_from(["1", "2"])), "memory": "4Gi", "pods": draw(st.sampled_from(["2", "20"]))}
    metadata = {"name": f"node-{number}", "uid": f"uid-{number}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": {"allocatable": amounts}}


def rollout_onto_a_full_closed_node() -> tuple[Inventory, str]:
    """A rollout with a surplus pod, whose only node holds more than it may."""
    closed = {"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}], "unschedulable": True}
    status = {"allocatable": {"cpu": "1", "memory": "4Gi", "pods": "2"}}
    metadata = {"name": "node-0", "uid": "uid-0", "labels": {HOST: "node-0"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": closed, "status": status}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "200m", "memory": "64Mi"}}}]}
    return inventory(node, *_deployment({"app": "a"}, spec, 3, ["node-0"] * 3, rollout=True)), "deploy/web"


def preemption_before_a_pod_is_created_again() -> tuple[Inventory, str]:
    """Another pod that waits evicts one; a pod created while it does so would take its room, one created later not."""
    status = {"allocatable": {"cpu": "1", "memory": "4Gi", "pods": "2"}}
    metadata = {"name": "node-0", "uid": "uid-0", "labels": {HOST: "node-0"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": status}
    spec = {"containers": [{"name": "c", "image": "i"}], "priorityClassName": "high", "affinity": ANTI_AFFINITY}
    pods = _bound("other", {"app": "a"}, "node-0"), _pod("waiting", {"app": "b"}, spec), _pod("web", {"app": "a"}, spec)
    return inventory(node, HIGH, *pods), "web"


def _labels() -> st.SearchStrategy[dict[str, str]]:
    return st.sampled_from([{"app": "a"}, {"app": "b"}, {"app": "a", "tier": "x"}])


@st.composite
def _constraint(draw: st.DrawFn, key: str) -> Json:
    hard = draw(st.integers(0, 4)) > 0
    found: Json = {
        "maxSkew": draw(st.integers(1, 2)),
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": draw(st.sampled_from([{"matchLabels": {"app": "a"}}, {"matchLabels": {"tier": "x"}}])),
    }
    if hard and draw(st.integers(0, 3)) == 0:
        found["minDomains"] = draw(st.integers(2, 4))
    if draw(st.integers(0, 4)) == 0:
        found["nodeTaintsPolicy"] = "Honor"
    return found


@st.composite
def _spec(draw: st.DrawFn) -> Json:
    requests = {"cpu": draw(st.sampled_from(["200m", "700m"])), "memory": "64Mi"}
    spec: Json = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    keys = draw(
        st.lists(st.sampled_from([ZONE, ZONE, HOST, HOST, MISSPELT, OLD_ZONE]), min_size=1, max_size=2, unique=True)
    )
    if draw(st.integers(0, 3)):
        spec["topologySpreadConstraints"] = [draw(_constraint(key)) for key in keys]
    if draw(st.integers(0, 5)) == 0:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]
    if draw(st.integers(0, 4)) == 0:
        spec["priorityClassName"] = "high"
    if draw(st.integers(0, 3)) == 0:
        spec |= draw(_mistaken())
    return spec


ANTI_AFFINITY: Json = {
    "podAntiAffinity": {REQUIRED: [{"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "a"}}}]}
}
NEAR: Json = {"podAffinity": {REQUIRED: [{"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "far"}}}]}}


def _mistaken() -> st.SearchStrategy[Json]:
    """What people write who mean something else."""
    selected = [{ZONE: "zone-aa"}, {"zone": "zone-a"}, {"topology.kubernetes.io/zome": "zone-b"}]
    return st.sampled_from(
        [{"affinity": ANTI_AFFINITY}, {"affinity": NEAR}, *({"nodeSelector": each} for each in selected)]
    )


def _pod(name: str, labels: Mapping[str, str], spec: Json, owner: Json | None = None) -> Json:
    metadata: Json = {"name": name, "namespace": "default", "uid": name, "labels": dict(labels)}
    if owner is not None:
        metadata["ownerReferences"] = [owner | {"controller": True}]
    priority = {"priority": HIGH["value"]} if "priorityClassName" in spec else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": copy.deepcopy(spec) | priority}


def _bound(name: str, labels: Mapping[str, str], node: str) -> Json:
    requests = {"cpu": "300m", "memory": "64Mi"}
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    return _pod(name, labels, spec)


@st.composite
def _workload(draw: st.DrawFn, kind: str, nodes: list[str]) -> tuple[list[Json], str]:
    spec = draw(_spec())
    labels = {"app": "a", "tier": draw(st.sampled_from(["x", "y"]))}
    if kind == "Pod":
        return [_pod("web", labels, spec)], "web"
    replicas = draw(st.integers(1, 5))
    if kind == "Not read":
        on = draw(st.lists(st.sampled_from(nodes), max_size=3)) + [""] * replicas
        return _owned(labels, spec, on, NEW, f"web-{NEW}"), f"web-{NEW}-{len(on) - 1}"
    there = draw(st.integers(0, replicas)) if kind in ("Deployment", "Rollout", "ReplicaSet") else 0
    on = [draw(st.sampled_from(nodes)) for _ in range(there)]
    match kind:
        case "Deployment" | "Rollout":
            if kind == "Rollout" and there < replicas and draw(st.booleans()):
                on.append("")
            made = _deployment(labels, spec, replicas, on, rollout=kind == "Rollout")
            made[0]["spec"] |= draw(st.sampled_from(STRATEGIES))
            if not there and draw(st.booleans()):
                del made[0]["metadata"]["uid"]
                return made[:1], "deploy/web"
            return made, "deploy/web"
        case "ReplicaSet":
            return _replica_set(labels, spec, replicas, on), "rs/web"
        case _:
            return [_set_or_job(kind, labels, spec, replicas)], "sts/web" if kind == "StatefulSet" else "job/web"


@st.composite
def jobs_that_run(draw: st.DrawFn) -> tuple[Inventory, str]:
    """A Job of which some pods are on nodes, beside pods that wait for the same room."""
    nodes = [draw(_node(i)) for i in range(draw(st.integers(1, 3)))]
    spec: Json = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "700m"}}}]}
    own = spec | {"topologySpreadConstraints": [draw(_constraint(draw(st.sampled_from([ZONE, HOST]))))]}
    selected = {"batch.kubernetes.io/controller-uid": "uid-web"}
    labels = {"app": "a", "tier": "x"} | selected
    taken = draw(st.lists(st.sampled_from([each["metadata"]["name"] for each in nodes]), min_size=1, max_size=2))
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "web", "uid": "uid-web"}
    running = [_pod(f"web-{i}", labels, own | {"nodeName": each}, owner) for i, each in enumerate(taken)]
    waiting = [_pod(f"waiting-{i}", {"app": "b"}, spec) for i in range(draw(st.integers(1, 3)))]
    job = _set_or_job("Job", labels, own, len(taken) + draw(st.integers(1, 2)))
    job["spec"]["selector"] = {"matchLabels": selected}
    return inventory(*nodes, *waiting, job, *running), "job/web"


def _owned(labels: Json, spec: Json, on: list[str], revision: str, owner: str) -> list[Json]:
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": f"uid-{owner}"}
    own = labels | ({"pod-template-hash": revision} if revision else {})
    specs = [spec | ({"nodeName": node} if node else {}) for node in on]
    return [_pod(f"{owner}-{i}", own, each, reference) for i, each in enumerate(specs)]


def _deployment(labels: Json, spec: Json, replicas: int, on: list[str], *, rollout: bool) -> list[Json]:
    """A Deployment and its ReplicaSet; in a rollout the pods on nodes are an old one's, and one more pod waits."""
    template = {"metadata": {"labels": labels}, "spec": spec}
    selector = {"matchLabels": {"app": "a"}}
    body = {"replicas": replicas, "selector": selector, "template": template}
    made: list[Json] = [_object("Deployment", "web", body)]
    revision = OLD if rollout else NEW
    old = [{**spec["containers"][0], "image": "older"}]
    old_spec = spec | {"containers": old}
    if "topologySpreadConstraints" in spec:
        old_spec["topologySpreadConstraints"] = [each | {"maxSkew": 1} for each in spec["topologySpreadConstraints"]]
    if rollout:
        made.append(_replica_set_of(labels, old_spec, len(on), OLD))
    made.append(_replica_set_of(labels, spec, 1 if rollout else replicas, NEW))
    made += _owned(labels, old_spec if rollout else spec, on, revision, f"web-{revision}")
    if rollout and len(on) == replicas:
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"web-{NEW}", "uid": f"uid-web-{NEW}"}
        made.append(_pod(f"web-{NEW}-w", labels | {"pod-template-hash": NEW}, spec, reference))
    return made


def _replica_set_of(labels: Json, spec: Json, replicas: int, revision: str) -> Json:
    own = labels | {"pod-template-hash": revision}
    selector = {"matchLabels": {"app": "a", "pod-template-hash": revision}}
    body = {"replicas": replicas, "selector": selector, "template": {"metadata": {"labels": own}, "spec": spec}}
    made = _object("ReplicaSet", f"web-{revision}", body)
    made["metadata"]["labels"] = own
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "uid-web", "controller": True}
    made["metadata"]["ownerReferences"] = [reference]
    return made


def _replica_set(labels: Json, spec: Json, replicas: int, on: list[str]) -> list[Json]:
    template = {"metadata": {"labels": labels}, "spec": spec}
    body = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return [_object("ReplicaSet", "web", body), *_owned(labels, spec, on, "", "web")]


def _set_or_job(kind: str, labels: Json, spec: Json, replicas: int) -> Json:
    template = {"metadata": {"labels": labels}, "spec": spec | ({"restartPolicy": "Never"} if kind == "Job" else {})}
    if kind == "Job":
        return _object(
            "Job", "web", {"parallelism": replicas, "completions": replicas, "template": template}, "batch/v1"
        )
    policy = "Parallel" if replicas % 2 else "OrderedReady"
    body = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, "serviceName": "web"}
    return _object("StatefulSet", "web", body | {"podManagementPolicy": policy})


def _object(kind: str, name: str, spec: Json, api_version: str = "apps/v1") -> Json:
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": copy.deepcopy(spec)}


def without_the_object(given: Inventory, suggestion: Suggestion) -> Inventory:
    """The inventory as it is once the object of a suggestion and the pods that it owns are deleted."""
    name, kind = suggestion.object["name"], KINDS[suggestion.object["kind"]]
    made = replace(given, **{each.attribute: list(getattr(given, each.attribute)) for each in KINDS.values()})
    setattr(made, kind.attribute, [each for each in getattr(made, kind.attribute) if each.name != name])
    made.pods = [
        each for each in made.pods if each.metadata.controller is None or each.metadata.controller.name != name
    ]
    return made


def with_further(given: Inventory, suggestion: Suggestion) -> Inventory:
    """The inventory with what a suggestion changes beside its object."""
    for each in suggestion.further:
        part = with_fields(suggestion, object=each.object, patch=each.patch, means="cluster", further=())
        given = applied(given, part)
    return given


def applied(given: Inventory, suggestion: Suggestion) -> Inventory:
    """The inventory with a suggestion's patches applied to their objects, and what that brings about for the pods."""
    given = with_further(given, suggestion)
    made = replace(given, **{kind.attribute: list(getattr(given, kind.attribute)) for kind in KINDS.values()})
    target = suggestion.object
    if target["kind"] == "NodeList":
        document: Json = {"items": [msgspec.to_builtins(each) for each in made.nodes]}
        patched = apply_patch(document, suggestion.patch)
        made.nodes = [msgspec.convert(each, KINDS["Node"].struct) for each in patched["items"]]
        return made
    kind = KINDS[target["kind"]]
    items = getattr(made, kind.attribute)
    if target["kind"] == "Deployment" and not items:
        made.pods = [_of_deployment_not_read(each, suggestion) for each in made.pods]
        return made
    at = next(i for i, each in enumerate(items) if each.name == target["name"])
    patched = apply_patch(msgspec.to_builtins(items[at]), suggestion.patch)
    items[at : at + 1] = [] if patched is None else [msgspec.convert(patched, kind.struct)]
    # A Deployment whose rollout is stuck goes on with its other strategy, and replaces all pods in the end.
    goes_on = suggestion.kind == "strategy"
    if goes_on or (suggestion.means in ("rollout", "recreate", "new pods") and target["kind"] != "Pod"):
        made.pods = [each for each in made.pods if not _replaced(each, suggestion, target)]
    return made


def _of_deployment_not_read(pod: Any, suggestion: Suggestion) -> Any:
    """The pod as the changed template would make it anew, where it is one of the Deployment."""
    owner = pod.metadata.controller
    if owner is None or not owner.name.startswith(suggestion.object["name"]):
        return pod
    document = msgspec.to_builtins(pod)
    document["spec"].pop("nodeName", None)
    short = tuple(each | {"path": each["path"].removeprefix("/spec/template")} for each in suggestion.patch)
    return msgspec.convert(apply_patch(document, short), KINDS["Pod"].struct)


def _replaced(pod: Any, suggestion: Suggestion, target: Mapping[str, str]) -> bool:
    owner = pod.metadata.controller
    own = owner is not None and owner.name.startswith(target["name"])
    return own and (suggestion.means != "new pods" or not pod.spec.node_name)


def apply_patch(document: Any, patch: tuple[Json, ...]) -> Any:
    """RFC 6902 on plain data: add, replace and remove; the document is changed."""
    for operation in patch:
        if operation["path"] == "":
            assert operation["op"] == "remove"
            return None
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        where = document
        for part in parents:
            where = where[int(part)] if isinstance(where, list) else where[part]
        _operate(where, last, operation)
    return document


def _operate(where: Any, last: str, operation: Json) -> None:
    if operation["op"] == "remove":
        del where[int(last) if isinstance(where, list) else last]
    elif isinstance(where, list) and operation["op"] == "add":
        where.insert(len(where) if last == "-" else int(last), operation["value"])
    else:
        assert operation["op"] == "add" or last in where or isinstance(where, list), "replace needs what it replaces"
        where[int(last) if isinstance(where, list) else last] = operation["value"]
