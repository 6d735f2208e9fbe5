"""Random small corners of one cluster, each with workloads and a step of a drill that is taken there."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.live.scenarios import HOST, POOL, REQUIRED, ZONE
from topospread.drill.steps import Drain, Fail, NodeChoice, Rollout, Scale, Step

Json = dict[str, Any]
KINDS = ("rollout", "sts-rollout", "ds-rollout", "scale", "drain", "fail")
LARGER = ("fail-rack", "fail-zone")
"""Several nodes of a larger corner fail at once, or all nodes of a zone; for `calibration`."""
RACK = "acme.example/rack"


@dataclass
class Scenario:
    """A corner of the cluster.

    Attributes:
        name: of the corner: its namespace, and its nodes' pool.
        grown: replicas that workloads get when their first pods are ready, so that pods are of several ages.
        costs: chosen anew for each pod of it when all are there: their pod-deletion-cost.
        step: what happens then.
        moments: when it was asked for, and since when nothing happens any more.
    """

    kind: str
    name: str
    objects: list[Json]
    step: Step
    grown: dict[str, int] = field(default_factory=dict)
    costs: bool = False
    moments: list[datetime] = field(default_factory=list)

    @property
    def nodes(self) -> list[Json]:
        """Its nodes."""
        return [each for each in self.objects if each["kind"] == "Node"]


def scenario(draw: random.Random, kind: str, number: int) -> Scenario:
    """One of a kind."""
    name = f"{kind}-{number}"
    zones = [f"{name}-{letter}" for letter in "abc"[: draw.randint(2, 3)]]
    size = draw.choice([2, 2, 3, 4])
    most = 3 * len(zones) if kind in LARGER else len(zones) + 2
    nodes = [_node(name, i, zones[i % len(zones)], size) for i in range(draw.randint(len(zones), most))]
    there: list[Json] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, *nodes]
    made = _MAKERS[kind](draw, name, size * len(nodes))
    made.kind, made.objects = kind, [*there, *made.objects]
    if made.step is _A_NODE:
        node = draw.choice(nodes)["metadata"]["name"]
        choice = NodeChoice("zone", draw.choice(zones)) if kind == "fail-zone" else NodeChoice("node", node)
        if kind == "fail-rack":
            for each in draw.sample(nodes, draw.randint(2, 3) if len(nodes) > 3 else 1):
                each["metadata"]["labels"][RACK] = name
            choice = NodeChoice(RACK, name)
        made.step = Drain(choice) if kind == "drain" else Fail(choice)
    return made


_A_NODE = Drain(NodeChoice("", ""))
"""Stands for a node that is chosen later."""


def _rollout(draw: random.Random, name: str, room: int) -> Scenario:
    surge, unavailable = draw.choice([(1, 0), (0, 1), (1, 1), ("25%", "25%"), (2, 1), ("50%", 0), ("100%", 0), (0, 2)])
    strategy: Json = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    if draw.random() < 0.1:
        strategy = {"type": "Recreate"}
    item = workload("Deployment", name, draw.randint(2, min(8, room)), _spec(name, draw), strategy=strategy)
    return Scenario("rollout", name, [item], Rollout(f"{name}/deploy/web"))


def _sts_rollout(draw: random.Random, name: str, room: int) -> Scenario:
    update: Json = {"partition": draw.choice([0, 0, 0, 1, 2])}
    if draw.random() < 0.6:
        update["maxUnavailable"] = draw.choice([1, 2, 3, "50%"])
    item = workload(
        "StatefulSet",
        name,
        draw.randint(1, min(6, room + 1)),
        _spec(name, draw, "controller-revision-hash"),
        podManagementPolicy=draw.choice(["OrderedReady", "Parallel"]),
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": update}
        if draw.random() < 0.9
        else {"type": "OnDelete"},
    )
    items = [item]
    if draw.random() < 0.4:
        items.append(workload("Deployment", name, draw.randint(1, 3), _plain(name), app="other"))
    return Scenario("sts-rollout", name, items, Rollout(f"{name}/sts/web"))


def _ds_rollout(draw: random.Random, name: str, room: int) -> Scenario:
    surge, unavailable = draw.choice([(0, 1), (0, 2), (0, "50%"), (1, 0), (2, 0), ("50%", 0), ("100%", 0)])
    update: Json = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    spec = _plain(name, draw.choice(["0", "500m", "1"]))
    items = [workload("Deployment", name, draw.randint(0, room), _plain(name), app="other")]
    items.insert(draw.randint(0, 1), workload("DaemonSet", name, 0, spec, updateStrategy=update))
    return Scenario("ds-rollout", name, items, Rollout(f"{name}/ds/web"))


def _scale(draw: random.Random, name: str, room: int) -> Scenario:
    kind = draw.choice(["Deployment", "Deployment", "Deployment", "ReplicaSet", "StatefulSet"])
    first = draw.randint(1, 5)
    grown = first + draw.randint(1, 5)
    more = {"podManagementPolicy": draw.choice(["OrderedReady", "Parallel"])} if kind == "StatefulSet" else {}
    item = workload(kind, name, first, _spec(name, draw), **more)
    step = Scale(f"{name}/{kind.lower()}/web", draw.randint(0, grown - 1))
    costs = kind != "StatefulSet" and draw.random() < 0.5
    return Scenario("scale", name, [item], step, {f"{kind}/web": grown}, costs)


def _drain(draw: random.Random, name: str, room: int) -> Scenario:
    items = [workload("Deployment", name, draw.randint(2, min(7, room)), _spec(name, draw))]
    if draw.random() < 0.4:
        items.append(workload("StatefulSet", name, draw.randint(1, 2), _plain(name), app="db"))
    if draw.random() < 0.3:
        items.append(workload("DaemonSet", name, 0, _plain(name, "0"), app="log"))
    if draw.random() < 0.6:
        field, value = draw.choice([*[("maxUnavailable", each) for each in (1, 0)], ("minAvailable", "50%")])
        items.append(_budget(name, {field: value}))
    return Scenario("drain", name, items, _A_NODE)


def _fail(draw: random.Random, name: str, room: int) -> Scenario:
    stays = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
        for seconds in [draw.choice([0, 2, 4])]
        for key in ("not-ready", "unreachable")
    ]
    soon = {"tolerations": stays}
    items = [workload("Deployment", name, draw.randint(2, min(7, room)), _spec(name, draw) | soon)]
    if draw.random() < 0.4:
        items.append(workload("StatefulSet", name, draw.randint(1, 2), _plain(name) | soon, app="db"))
    if draw.random() < 0.3:
        items.append(workload("DaemonSet", name, 0, _plain(name, "0"), app="log"))
    return Scenario("fail", name, items, _A_NODE)


_MAKERS = {
    "rollout": _rollout,
    "sts-rollout": _sts_rollout,
    "ds-rollout": _ds_rollout,
    "scale": _scale,
    "drain": _drain,
    "fail": _fail,
    "fail-rack": _fail,
    "fail-zone": _fail,
}


def _node(pool: str, number: int, zone: str, cpu: int) -> Json:
    name = f"{pool}-node-{number}"
    amounts = {"cpu": str(cpu), "memory": "4Gi", "pods": "10"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOST: name, ZONE: zone, POOL: pool}},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _plain(pool: str, cpu: str = "1") -> Json:
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    return {"containers": [container], "nodeSelector": {POOL: pool}}


def _spec(pool: str, draw: random.Random, revision: str = "pod-template-hash") -> Json:
    """Pods with a constraint, most often a hard one on the zone."""
    own = {"matchLabels": {"app": "web"}}
    spec = _plain(pool)
    if draw.random() < 0.1:
        return spec | {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": HOST, "labelSelector": own}]}}}
    constraint: Json = {
        "maxSkew": draw.choice([1, 1, 2]),
        "topologyKey": draw.choice([ZONE, ZONE, ZONE, HOST]),
        "whenUnsatisfiable": draw.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": own,
        "nodeTaintsPolicy": draw.choice(["Ignore", "Honor"]),
    }
    if draw.random() < 0.3:
        constraint["matchLabelKeys"] = [revision]
    return spec | {"topologySpreadConstraints": [constraint]}


def workload(kind: str, namespace: str, replicas: int, spec: Json, app: str = "web", **more: Any) -> Json:
    """A workload of a namespace; of a DaemonSet ``replicas`` does not matter."""
    labels = {"app": app}
    body: Json = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
    if kind != "DaemonSet":
        body["replicas"] = replicas
    if kind == "StatefulSet":
        body["serviceName"] = app
    metadata = {"name": app, "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": body | more}


def _budget(namespace: str, wanted: Json) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": wanted | {"selector": {"matchLabels": {"app": "web"}}},
    }
