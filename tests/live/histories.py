"""Random histories of a small cluster, as data: what is there, and what happens to it one step after another.

A history is drawn whole, so that it can be played on any number of API servers, and again. Steps name what may be gone
by then (an evicted pod, say); who plays them passes that over. Each pod prefers one node over the next, in an order of
its own, so that two nodes are seldom equally good: of equals nothing is promised.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.live.running import claim, storage_class

Json = dict[str, Any]
ZONE, HOST, RANK, DISK = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "example.com/rank", "example.com/disk"
RANKS = 12
CLASSES = {"low": 0, "middle": 100, "high": 1000, "polite": 1000}
NAMESPACES = ("default", "shop")
APPS = ("web", "db", "job")
LATE, MADE = "late", "made"
"""Storage classes that wait for the first consumer: volumes that are there, and volumes that are made for a node."""


@dataclass(frozen=True)
class Step:
    """One thing that happens: objects come, one is changed, or one goes.

    Attributes:
        patch: a merge patch; ``path`` says of what. ``delete``: seconds of grace, ``None`` where nothing is deleted.
    """

    words: str
    creates: tuple[Json, ...] = ()
    path: str = ""
    patch: Json | None = None
    delete: int | None = None


@dataclass
class History:
    """A cluster and what happens to it."""

    seed: int
    objects: list[Json]
    steps: list[Step] = field(default_factory=list)

    def calm(self) -> History:
        """The same with a step for each object that comes."""
        steps: list[Step] = []
        for step in self.steps:
            steps += [Step(step.words, (each,)) for each in step.creates] or [step]
        return History(self.seed, self.objects, steps)


def history(seed: int) -> History:
    """The history of a seed."""
    draw = random.Random(seed)
    return Teller(draw).tell(History(seed, []), draw.randint(8, 14))


class Teller:
    """Draws, and remembers what it has named."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._nodes: list[str] = []
        self._gone_nodes: set[str] = set()
        self._pods: list[str] = []
        self._gated: list[str] = []
        self._claims: list[Json] = []
        self._count = 0

    def tell(self, told: History, steps: int) -> History:
        draw = self._draw
        told.objects += [_namespace("shop", draw), *_priority_classes(), *_storage_classes()]
        told.objects += [self._node() for _ in range(draw.randint(3, 7))]
        if draw.random() < 0.5:
            told.objects.append(service(draw, "front"))
        told.objects += [_budget(draw, i) for i in range(draw.randint(0, 2))]
        kinds = self.kinds()
        while len(told.steps) < steps:
            step = draw.choice(kinds)()
            if step is not None:
                told.steps.append(step)
        return told

    # What may happen.

    def kinds(self) -> list[Callable[[], Step | None]]:
        """What steps are drawn from, the likelier ones several times; a step that cannot be is ``None``."""
        kinds: list[Callable[[], Step | None]] = []
        kinds += [self._burst] * 8 + [self._importants] * 3
        kinds += [self._deletion] * 4 + [self._ungating] * 2
        kinds += [self._new_node, self._node_change, self._node_change, self._node_deletion, self._relabelled]
        kinds += [self._volumes, self._with_claim, self._with_claim, self._kubelet, self._kubelet]
        return kinds

    def _burst(self) -> Step:
        """Of the lowest priority: two preemptions at a time would be a race of evictions."""
        draw, likes = self._draw, self._pod("low")
        more = draw.choice((0, 1, 2, 3))
        others = [self._pod("low") if draw.random() < 0.4 else self._copy(likes) for _ in range(more)]
        return Step("pods come", (likes, *others))

    def _importants(self) -> Step:
        pod = self._pod(self._draw.choice(("middle", "middle", "high", "high", "polite")))
        return Step("an important pod comes", (pod,))

    def _any_pod(self) -> str | None:
        """The path of a pod, be it still there or not."""
        return self._draw.choice(self._pods) if self._pods else None

    def _deletion(self) -> Step | None:
        path = self._any_pod()
        if path is None:
            return None
        return Step(f"{path} is deleted", path=path, delete=self._draw.choice((0, 0, 30)))

    def _kubelet(self) -> Step | None:
        """What is being deleted is gone."""
        return Step("the kubelets end pods", path="terminating", delete=0)

    def _ungating(self) -> Step | None:
        if not self._gated:
            return None
        path = self._gated.pop(self._draw.randrange(len(self._gated)))
        return Step(f"{path} has no gates any more", path=path, patch={"spec": {"schedulingGates": []}})

    def _relabelled(self) -> Step | None:
        path = self._any_pod()
        if path is None:
            return None
        label = {"app": self._draw.choice(APPS)}
        return Step(f"{path} is labelled {label}", path=path, patch={"metadata": {"labels": label}})

    def _new_node(self) -> Step | None:
        return Step("a node comes", (self._node(),)) if len(self._nodes) < RANKS else None

    def _node_deletion(self) -> Step | None:
        name = self._draw.choice(self._nodes)
        if len(self._gone_nodes | {name}) == len(self._nodes):  # without a node pods are tried again and again
            return None
        self._gone_nodes.add(name)
        return Step(f"node {name} goes", path=f"/api/v1/nodes/{name}", delete=0)

    def _node_change(self) -> Step:
        draw, name = self._draw, self._draw.choice(self._nodes)
        path = f"/api/v1/nodes/{name}"
        kind = draw.randrange(5)
        if kind == 0:
            cpu = f"{draw.randint(15, 80) * 100}m"
            patch: Json = {"status": {"allocatable": {"cpu": cpu}, "capacity": {"cpu": cpu}}}
            return Step(f"node {name} has {cpu}", path=f"{path}/status", patch=patch)
        if kind == 1:
            patch = {"spec": {"unschedulable": draw.random() < 0.5 or None}}
        elif kind == 2:
            patch = {"spec": {"taints": _taints(draw) or None}}
        else:
            patch = {
                "metadata": {"labels": {ZONE: draw.choice(("a", "b", "c", None)), DISK: draw.choice(("ssd", "hdd"))}}
            }
        return Step(f"node {name}: {patch}", path=path, patch=patch)

    def _volumes(self) -> Step:
        return Step("volumes come", tuple(self._volume() for _ in range(self._draw.randint(1, 2))))

    def _with_claim(self) -> Step:
        """Claims come a step before their pod, so that the two are not tried in another order."""
        if not self._claims:
            made = self._claim((LATE, LATE, MADE))
            self._claims.append(made)
            return Step("a claim comes", (made,))
        return Step("a pod with a claim comes", (self._claiming(self._claims.pop()),))

    # Objects.

    def _node(self) -> Json:
        draw, number = self._draw, len(self._nodes)
        name = f"node-{number}"
        self._nodes.append(name)
        labels = {HOST: name, RANK: f"r{number}", DISK: draw.choice(("ssd", "hdd"))}
        if draw.random() < 0.9:
            labels[ZONE] = draw.choice("abc")
        amounts = {
            "cpu": f"{draw.randint(15, 60) * 100}m",
            "memory": f"{draw.randint(2000, 9000)}Mi",
            "pods": str(draw.choice((3, 6, 110))),
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": _taints(draw)} if draw.random() < 0.3 else {},
            "status": {
                "capacity": amounts,
                "allocatable": amounts,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }

    def _volume(self) -> Json:
        draw = self._draw
        self._count += 1
        reach = {"matchExpressions": [{"key": HOST, "operator": "In", "values": [draw.choice(self._nodes)]}]}
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"volume-{self._count}"},
            "spec": {
                "capacity": {"storage": f"{draw.randint(1, 3)}Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": LATE,
                "local": {"path": "/disk"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [reach]}},
            },
        }

    def _pod(self, priority: str, namespace: str = "", *, gated: bool | None = None) -> Json:
        draw, app = self._draw, self._draw.choice(APPS)
        spec: Json = {
            "containers": [_container(draw)],
            "priorityClassName": priority,
            "terminationGracePeriodSeconds": draw.choice((0, 0, 0, 30)),
            "affinity": {"nodeAffinity": _preferences(draw)},
        }
        _add_wishes(draw, spec, app)
        made: Json = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": namespace or draw.choice(NAMESPACES), "labels": {"app": app}},
            "spec": spec,
        }
        if gated or (gated is None and draw.random() < 0.08):
            spec["schedulingGates"] = [{"name": "example.com/wait"}]
        return self._named(made)

    def _claim(self, classes: tuple[str, ...]) -> Json:
        """A claim of one of these classes."""
        self._count += 1
        return claim(f"claim-{self._count}", self._draw.choice(classes))

    def _claiming(self, held: Json) -> Json:
        """A pod with a claim."""
        pod = self._pod(self._draw.choice(("low", "middle")), namespace="default", gated=False)
        named = {"claimName": held["metadata"]["name"]}
        pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": named}]
        return pod

    def _copy(self, like: Json) -> Json:
        return self._named({**like, "metadata": {**like["metadata"]}, "spec": {**like["spec"]}})

    def _named(self, made: Json) -> Json:
        self._count += 1
        metadata = made["metadata"]
        metadata["name"] = f"pod-{self._count}"
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        self._pods.append(path)
        if made["spec"].get("schedulingGates"):
            self._gated.append(path)
        return made


def _container(draw: random.Random) -> Json:
    requests = {"cpu": f"{draw.randint(1, 25) * 100}m"}
    if draw.random() < 0.7:
        requests["memory"] = f"{draw.randint(10, 2500)}Mi"
    made: Json = {"name": "main", "image": "pause", "resources": {"requests": requests}}
    if draw.random() < 0.1:
        made["ports"] = [{"containerPort": 80, "hostPort": draw.choice((80, 81))}]
    return made


def _preferences(draw: random.Random) -> Json:
    """Every node preferred by another weight."""
    order = list(range(RANKS))
    draw.shuffle(order)
    return {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 100 - 8 * place,
                "preference": {"matchExpressions": [{"key": RANK, "operator": "In", "values": [f"r{rank}"]}]},
            }
            for place, rank in enumerate(order)
        ]
    }


def _add_wishes(draw: random.Random, spec: Json, app: str) -> None:
    """Constraints of all sorts, none for many pods."""
    own = {"matchLabels": {"app": app}}
    if draw.random() < 0.4:
        spec["topologySpreadConstraints"] = [_constraint(draw, own) for _ in range(draw.choice((1, 1, 2)))]
        keys = {each["topologyKey"]: each for each in spec["topologySpreadConstraints"]}
        spec["topologySpreadConstraints"] = list(keys.values())
    if draw.random() < 0.25:
        other = {"matchLabels": {"app": draw.choice(APPS)}}
        term: Json = {"topologyKey": draw.choice((ZONE, HOST)), "labelSelector": draw.choice((own, other))}
        if draw.random() < 0.2:
            term["namespaceSelector"] = {"matchLabels": {"team": "red"}}
        kind = draw.choice(("podAntiAffinity", "podAntiAffinity", "podAffinity"))
        if draw.random() < 0.6:
            spec["affinity"] = {
                **spec["affinity"],
                kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            }
        else:
            soft = {"weight": draw.randint(1, 100), "podAffinityTerm": term}
            spec["affinity"] = {
                **spec["affinity"],
                kind: {"preferredDuringSchedulingIgnoredDuringExecution": [soft]},
            }
    if draw.random() < 0.15:
        spec["nodeSelector"] = {DISK: draw.choice(("ssd", "hdd"))}
    if draw.random() < 0.3:
        spec["tolerations"] = [{"key": "example.com/for", "operator": "Exists"}]


def _constraint(draw: random.Random, selector: Json) -> Json:
    made: Json = {
        "maxSkew": draw.choice((1, 1, 2)),
        "topologyKey": draw.choice((ZONE, ZONE, HOST)),
        "whenUnsatisfiable": draw.choice(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")),
        "labelSelector": selector,
    }
    if made["whenUnsatisfiable"] == "DoNotSchedule" and draw.random() < 0.2:
        made["minDomains"] = draw.randint(2, 4)
    if draw.random() < 0.3:
        made["nodeTaintsPolicy"] = draw.choice(("Honor", "Ignore"))
    return made


def _taints(draw: random.Random) -> list[Json]:
    effects = ("NoSchedule", "PreferNoSchedule")
    return [{"key": "example.com/for", "value": "x", "effect": draw.choice(effects)}] if draw.random() < 0.7 else []


def _namespace(name: str, draw: random.Random) -> Json:
    labels = {"team": draw.choice(("red", "blue"))}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _priority_classes() -> list[Json]:
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            **({"preemptionPolicy": "Never"} if name == "polite" else {}),
        }
        for name, value in CLASSES.items()
    ]


def _storage_classes() -> list[Json]:
    return [storage_class("kubernetes.io/no-provisioner", LATE), storage_class("example.com/disks", MADE)]


def service(draw: random.Random, name: str) -> Json:
    """A Service of some pods of a namespace."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": draw.choice(NAMESPACES)},
        "spec": {"selector": {"app": draw.choice(APPS)}, "clusterIP": "None"},
    }


def _budget(draw: random.Random, number: int) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": f"budget-{number}", "namespace": draw.choice(NAMESPACES)},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": draw.choice(APPS)}}},
        "status": {
            "disruptionsAllowed": draw.choice((0, 0, 1)),
            "currentHealthy": 1,
            "desiredHealthy": 1,
            "expectedPods": 1,
            "observedGeneration": 1,
        },
    }
