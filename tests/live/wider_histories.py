"""Random histories with more of what clusters have than `histories` draws: what people and controllers do beside.

Budgets that change, pods that are resized, end, or are promised a node by someone else, what other schedulers bind,
claims that come after their pod or are shared, limits of CSI drivers, namespaces that get other labels, ReplicaSets,
Services that come and go, extended resources, images, init containers, finalizers, a profile that packs.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy

from tests.live.histories import APPS, HOST, LATE, MADE, NAMESPACES, ZONE, History, Json, Step, Teller, service
from tests.live.lockstep import PACKED, path_of

SIZE, CARD = "example.com/size", "example.com/card"
DRIVER = "example.com"
_IMAGES = ("pause", "registry.example.com/web:1", "registry.example.com/db:2")
_MIB = 1 << 20


def wider_history(seed: int) -> History:
    """The history of a seed."""
    draw = random.Random(seed)
    return WiderTeller(draw).tell(History(seed, []), draw.randint(12, 20))


class WiderTeller(Teller):
    """Draws more kinds of steps, and pods that ask for more."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self._containers: dict[str, list[Json]] = {}
        self._late: list[Json] = []
        self._shared: list[Json] = []
        self._services: list[str] = []

    def tell(self, told: History, steps: int) -> History:
        """Add what is there beforehand."""
        super().tell(told, steps)
        told.objects += [_replica_set(namespace, app) for namespace in NAMESPACES for app in APPS]
        return told

    def kinds(self) -> list[Callable[[], Step | None]]:
        """Half of the steps are those of other histories."""
        more: list[Callable[[], Step | None]] = [self._resized, self._resize_done] * 2 + [self._ended] * 2
        more += [self._bound_elsewhere, self._promised, self._tolerating, self._namespace_changed, self._budget_changed]
        more += [self._service_changed, self._early, self._late_claim, self._late_claim, self._sharing, self._sharing]
        more += [self._limited, self._node_resources, self._released, self._claim_deleted]
        return super().kinds() + more

    # What may happen.

    def _resized(self) -> Step | None:
        """Somebody asks that a running pod gets more or less."""
        path = self._any_pod()
        if path is None:
            return None
        self._containers[path] = containers = deepcopy(self._containers[path])
        containers[0]["resources"]["requests"]["cpu"] = f"{self._draw.randint(1, 25) * 100}m"
        return Step(f"{path} is resized", path=f"{path}/resize", patch={"spec": {"containers": containers}})

    def _resize_done(self) -> Step | None:
        """The kubelet says what a pod has now."""
        path = self._any_pod()
        if path is None:
            return None
        (container,) = self._containers[path]
        requests = container["resources"]["requests"]
        status = {
            "name": "main",
            "image": container["image"],
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "allocatedResources": requests,
            "resources": {"requests": requests},
        }
        return Step(f"{path} has its size", path=f"{path}/status", patch={"status": {"containerStatuses": [status]}})

    def _ended(self) -> Step | None:
        path = self._any_pod()
        phase = self._draw.choice(("Succeeded", "Failed"))
        patch = {"status": {"phase": phase}}
        return Step(f"{path} is {phase}", path=f"{path}/status", patch=patch) if path else None

    def _bound_elsewhere(self) -> Step:
        """Another scheduler asks nobody whether there is room."""
        pod = self._pod("low", gated=False)
        pod["spec"] |= {"schedulerName": "other", "nodeName": self._draw.choice(self._nodes)}
        return Step("a pod of another scheduler comes", (pod,))

    def _promised(self) -> Step | None:
        path, node = self._any_pod(), self._draw.choice([*self._nodes, None])
        patch = {"status": {"nominatedNodeName": node}}
        return Step(f"{path} is nominated for {node}", path=f"{path}/status", patch=patch) if path else None

    def _tolerating(self) -> Step | None:
        path = self._any_pod()
        if path is None:
            return None
        patch = {"spec": {"tolerations": [{"key": "example.com/for", "operator": "Exists"}]}}
        return Step(f"{path} tolerates more", path=path, patch=patch)

    def _namespace_changed(self) -> Step:
        patch = {"metadata": {"labels": {"team": self._draw.choice(("red", "blue"))}}}
        return Step(f"namespace shop: {patch}", path="/api/v1/namespaces/shop", patch=patch)

    def _budget_changed(self) -> Step:
        path = f"/apis/policy/v1/namespaces/{self._draw.choice(NAMESPACES)}/poddisruptionbudgets/budget-0/status"
        patch = {"status": {"disruptionsAllowed": self._draw.choice((0, 1, 2))}}
        return Step(f"{path}: {patch}", path=path, patch=patch)

    def _service_changed(self) -> Step:
        """Constraints by default select what a Service or an owner selects."""
        draw = self._draw
        if self._services and draw.random() < 0.5:
            path = self._services.pop(draw.randrange(len(self._services)))
            return Step(f"{path} goes", path=path, delete=0)
        self._count += 1
        made = service(draw, f"back-{self._count}")
        self._services.append(f"{path_of(made)}/{made['metadata']['name']}")
        return Step("a Service comes", (made,))

    def _early(self) -> Step:
        """A pod whose claim comes later, or never."""
        held = self._claim((LATE, MADE))
        self._late.append(held)
        return Step("a pod comes before its claim", (self._claiming(held),))

    def _late_claim(self) -> Step | None:
        if not self._late:
            return None
        return Step("the claim comes", (self._late.pop(self._draw.randrange(len(self._late))),))

    def _sharing(self) -> Step:
        """Pods that share a claim, some of which only one pod at a time may use."""
        if not self._shared or self._draw.random() < 0.3:
            made = self._claim((LATE, MADE))
            made["spec"]["accessModes"] = [self._draw.choice(("ReadWriteOnce", "ReadWriteOncePod"))]
            self._shared.append(made)
            return Step("a claim comes", (made,))
        return Step("a pod with a shared claim comes", (self._claiming(self._draw.choice(self._shared)),))

    def _claim_deleted(self) -> Step | None:
        if not self._shared:
            return None
        held = self._draw.choice(self._shared)
        name = held["metadata"]["name"]
        return Step(f"{name} is deleted", path=f"{path_of(held)}/{name}", delete=0)

    def _limited(self) -> Step:
        """A driver says how many volumes a node takes; again, and nothing comes of it."""
        node = self._draw.choice(self._nodes)
        if self._draw.random() < 0.3:
            return Step(f"CSINode {node} goes", path=f"/apis/storage.k8s.io/v1/csinodes/{node}", delete=0)
        driver: Json = {"name": DRIVER, "nodeID": node, "topologyKeys": [HOST]}
        if self._draw.random() < 0.8:
            driver["allocatable"] = {"count": self._draw.choice((0, 1, 2))}
        made = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSINode",
            "metadata": {"name": node},
            "spec": {"drivers": [driver]},
        }
        return Step(f"CSINode {node} comes", (made,))

    def _node_resources(self) -> Step:
        name = self._draw.choice(self._nodes)
        card = str(self._draw.randint(0, 3))
        patch = {"status": {"allocatable": {CARD: card}, "capacity": {CARD: card}}}
        return Step(f"node {name} has {card} cards", path=f"/api/v1/nodes/{name}/status", patch=patch)

    def _released(self) -> Step | None:
        path = self._any_pod()
        return Step(f"{path} has no finalizers", path=path, patch={"metadata": {"finalizers": None}}) if path else None

    # Objects.

    def _node(self) -> Json:
        draw, made = self._draw, super()._node()
        made["metadata"]["labels"][SIZE] = str(draw.randint(1, 9))
        status = made["status"]
        if draw.random() < 0.4:
            status["capacity"] = status["allocatable"] = status["allocatable"] | {CARD: str(draw.randint(1, 3))}
        status["images"] = [
            {"names": [each], "sizeBytes": draw.randint(10, 900) * _MIB} for each in _IMAGES if draw.random() < 0.4
        ]
        return made

    def _pod(self, priority: str, namespace: str = "", *, gated: bool | None = None) -> Json:
        draw, made = self._draw, super()._pod(priority, namespace, gated=gated)
        spec, metadata = made["spec"], made["metadata"]
        if draw.random() < 0.15:
            spec["schedulerName"] = PACKED
        (container,) = spec["containers"]
        container["image"] = draw.choice(_IMAGES)
        if draw.random() < 0.15:
            container["resources"] = {**container["resources"], "limits": {CARD: "1"}}
        if draw.random() < 0.2:
            spec["initContainers"] = [_init_container(draw)]
        if draw.random() < 0.2:
            spec["affinity"]["nodeAffinity"] = {
                **spec["affinity"]["nodeAffinity"],
                "requiredDuringSchedulingIgnoredDuringExecution": _required(draw, self._nodes),
            }
        if draw.random() < 0.3:
            app = metadata["labels"]["app"]
            owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": app, "controller": True}
            metadata["ownerReferences"] = [owner]
        metadata["labels"]["pod-template-hash"] = draw.choice(("a", "b"))
        for each in spec.get("topologySpreadConstraints", ()):
            if draw.random() < 0.2:
                each["matchLabelKeys"] = ["pod-template-hash"]
            if draw.random() < 0.3:
                each["nodeAffinityPolicy"] = draw.choice(("Honor", "Ignore"))
        if draw.random() < 0.05:
            metadata["finalizers"] = ["example.com/keep"]
        return made

    def _named(self, made: Json) -> Json:
        named = super()._named(made)
        self._containers[self._pods[-1]] = named["spec"]["containers"]
        return named


def _init_container(draw: random.Random) -> Json:
    made: Json = {
        "name": "before",
        "image": draw.choice(_IMAGES),
        "resources": {"requests": {"cpu": f"{draw.randint(1, 25) * 100}m"}},
    }
    if draw.random() < 0.5:
        made["restartPolicy"] = "Always"
    return made


def _required(draw: random.Random, nodes: list[str]) -> Json:
    """One or two terms of which one has to hold."""
    than = {"key": SIZE, "operator": draw.choice(("Gt", "Lt")), "values": [str(draw.randint(2, 8))]}
    ways: list[Json] = [
        {"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": [draw.choice("abc")]}]},
        {"matchExpressions": [{"key": ZONE, "operator": draw.choice(("Exists", "DoesNotExist"))}]},
        {"matchExpressions": [than]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [draw.choice(nodes)]}]},
    ]
    return {"nodeSelectorTerms": draw.sample(ways, draw.choice((1, 1, 2)))}


def _replica_set(namespace: str, app: str) -> Json:
    template = {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "main", "image": "pause"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"namespace": namespace, "name": app},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": app}}, "template": template},
    }
