"""Random histories of the scheduling queue: pods that come, are tried and go, and what happens beside them.

What the queue does with a step is not known here: a step that ends an attempt names it by its number among those under
way. Where several steps may happen at one time, nothing moves several waiting pods at once: kube-scheduler goes through
those in no order.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from conformance.generators.claims import DRIVERS, Claims
from conformance.generators.draw import APPS, RACK, REGION, TIERS, ZONE, Draw, Json
from conformance.generators.nodes import TAINTS, nodes
from conformance.generators.pods import TOLERATIONS, Pods

REJECTORS = [
    "DefaultPreemption",
    "InterPodAffinity",
    "NodeAffinity",
    "NodeDeclaredFeatures",
    "NodeName",
    "NodePorts",
    "NodeResourcesFit",
    "NodeUnschedulable",
    "NodeVolumeLimits",
    "PodTopologySpread",
    "TaintToleration",
    "VolumeBinding",
    "VolumeRestrictions",
    "VolumeZone",
]
THEMES = {
    "any": REJECTORS,
    "ports": ["NodePorts", "NodePorts", "NodeResourcesFit"],
    "pods": ["InterPodAffinity", "PodTopologySpread"],
    "nodes": ["NodeAffinity", "NodeDeclaredFeatures", "NodeUnschedulable", "TaintToleration", "InterPodAffinity"],
    "volumes": ["NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone"],
}
"""What rejects pods in a history: with few plugins at a time, more of what happens matters to them."""
NODE_LABELS = {ZONE: ["z0", "z1"], REGION: ["eu", "us"], RACK: ["r0", "r1"], "disk": ["ssd", "hdd"], "other": ["x"]}
FEATURES = ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"]
SECOND = 1_000_000_000
PERIODS = [1, 1000, SECOND // 3, SECOND, SECOND, 3 * SECOND, 10 * SECOND, 60 * SECOND, 301 * SECOND]


class History:
    """One history: the objects as they now stand, and the steps so far."""

    def __init__(self, draw: Draw, *, tied: bool) -> None:
        """``tied``: things may happen at one time; then only pods come, go and are tried."""
        self.draw = draw
        self.tied = tied
        self.theme = draw.choices(list(THEMES), [6, 1, 3, 3, 3])[0]
        self.pods = Pods(draw, other_pods=True)
        self.nodes = nodes(draw, (1, 4))
        self.claims = Claims(draw, self.nodes)
        self.waiting: list[Json] = []
        self.bound: list[Json] = []
        self.storage: dict[str, list[Json]] = {}
        self.number = 0

    def steps(self, count: int) -> Iterator[Json]:
        """So many steps, and then all pods popped that can be."""
        kinds: dict[Callable[[], Json], int] = {
            self._add: 14,
            self._pop: 24,
            self._fail: 22,
            self._done: 4,
            self._update: 8,
            self._delete: 3,
            self._advance: 8,
            lambda: {"do": "flushBackoff"}: 5,
        }
        if not self.tied:
            kinds |= {
                self._activate: 2,
                lambda: {"do": "flushUnschedulable"}: 3,
                self._node: 25 if self.theme == "nodes" else 9,
                self._assigned: 25 if self.theme in ("pods", "ports") else 9,
                self._storage: 25 if self.theme == "volumes" else 6,
            }
        yield self._add()
        for _ in range(count):
            if not self.tied:
                yield {"do": "advance", "nanoseconds": self.draw.choice([1, 1, 17, SECOND // 10])}
            yield self.draw.choices(list(kinds), list(kinds.values()))[0]()
        yield from ({"do": "pop"} for _ in range(len(self.waiting) + 3))

    def _add(self) -> Json:
        self.number += 1
        pod = self._pod(f"w{self.number:02d}")
        self.waiting.append(pod)
        return {"do": "add", "pod": pod}

    def _pod(self, name: str) -> Json:
        draw = self.draw
        pod = self.pods.incoming(name)
        spec = pod["spec"]
        spec["schedulerName"] = "default-scheduler"
        if draw.chance(0.7):
            spec["priority"] = draw.choice([0, 0, 5, 5, 10, -3])
        if draw.chance(0.15):
            spec["schedulingGates"] = [{"name": "example.com/gate"}]
        self._suit(pod)
        if draw.chance(0.9 if self.theme == "volumes" else 0.25):
            self.claims.give(pod, placed=False)
        if draw.chance(0.1):
            volume = {"name": f"v{len(spec.get('volumes', []))}", "csi": {"driver": draw.choice(DRIVERS)}}
            spec.setdefault("volumes", []).append(volume)
        if draw.chance(0.1):
            spec["hostNetwork"], spec["hostUsers"] = True, False
        if draw.chance(0.1):
            pod["status"] = {"nominatedNodeName": "n000"}
        return pod

    def _suit(self, pod: Json) -> None:
        """Make the pod one that the history's events are about."""
        spec = pod["spec"]
        if self.theme == "any":
            return
        pod["metadata"]["namespace"] = "default"
        if self.theme == "ports":
            port = {"containerPort": 80, "hostPort": self.draw.choice([80, 443, 0]), "protocol": "TCP"}
            port |= (
                {"hostIP": address} if (address := self.draw.choice(["", "0.0.0.0", "10.0.0.1", "10.0.0.2"])) else {}
            )
            spec["containers"][0]["ports"] = [port]
        if self.theme == "nodes" and "nodeName" not in spec and self.draw.chance(0.6):
            spec["nodeSelector"] = {"disk": "ssd"}

    def _pop(self) -> Json:
        return {"do": "pop"}

    def _fail(self) -> Json:
        draw = self.draw
        step: Json = {"do": "fail", "nth": draw.randrange(4)}
        if draw.chance(0.85):
            step["unschedulable"] = sorted(set(draw.choices(THEMES[self.theme], k=draw.choice([1, 1, 1, 2, 3]))))
        if draw.chance(0.15):
            step["pending"] = draw.sample(REJECTORS, 1)
        return step

    def _done(self) -> Json:
        return {"do": "done", "nth": self.draw.randrange(4)}

    def _advance(self) -> Json:
        return {"do": "advance", "nanoseconds": self.draw.choice(PERIODS)}

    def _delete(self) -> Json:
        if not self.waiting:
            return self._add()
        place = self.draw.randrange(len(self.waiting))
        pod = self.waiting.pop(place) if self.draw.chance(0.8) else self.waiting[place]
        return {"do": "delete", "pod": pod}

    def _activate(self) -> Json:
        some = self.draw.sample(self.waiting, min(len(self.waiting), self.draw.choice([1, 1, 2])))
        return {"do": "activate", "pods": some}

    def _update(self) -> Json:
        if not self.waiting:
            return self._add()
        place = self.draw.randrange(len(self.waiting))
        old = self.waiting[place]
        new = self._changed(old)
        if self.draw.chance(0.06):
            new["metadata"]["uid"] += "-anew"
        self.waiting[place] = new
        return {"do": "update", "old": old, "new": new}

    def _changed(self, pod: Json) -> Json:
        """The pod after one to three changes."""
        new = copy.deepcopy(pod)
        for change in self.draw.sample(
            [self._relabel, self._tolerate, self._resize, self._ungate, self._reprioritize, self._unshare],
            self.draw.choice([1, 1, 2, 3]),
        ):
            change(new)
        return new

    def _relabel(self, pod: Json) -> None:
        labels = pod["metadata"]["labels"]
        key, values = self.draw.choice([("app", APPS), ("tier", TIERS)])
        if self.draw.chance(0.25):
            labels.pop(key, None)
        else:
            labels[key] = self.draw.choice(values)
        if self.theme == "pods":
            labels.pop("pod-template-hash", None)

    def _tolerate(self, pod: Json) -> None:
        pod["spec"].setdefault("tolerations", []).append(dict(self.draw.choice(TOLERATIONS)))

    def _resize(self, pod: Json) -> None:
        container = pod["spec"]["containers"][0]
        requests = container.setdefault("resources", {}).setdefault("requests", {})
        if self.draw.chance(0.3):
            requests.pop("memory", None)
        requests["cpu"] = self.draw.choice(["50m", "100m", "250m", "1", "3"])

    def _ungate(self, pod: Json) -> None:
        pod["spec"].pop("schedulingGates", None)

    def _reprioritize(self, pod: Json) -> None:
        if self.draw.chance(0.3):
            pod["spec"]["priority"] = self.draw.choice([0, 5, 10])

    def _unshare(self, pod: Json) -> None:
        if self.draw.chance(0.3):
            pod["spec"]["hostNetwork"], pod["spec"]["hostUsers"] = True, False

    def _event(self, kind: str, old: Json | None, new: Json | None) -> Json:
        step: Json = {"do": "event", "kind": kind}
        return step | {key: each for key, each in (("old", old), ("new", new)) if each is not None}

    def _node(self) -> Json:
        draw = self.draw
        x = draw.random()
        if x < 0.35 or not self.nodes:
            new = nodes(draw, (1, 1))[0]
            self.number += 1
            new["metadata"]["name"] = f"n{self.number:03d}"
            if draw.chance(0.3):
                self._redeclare(new)
            self.nodes.append(new)
            return self._event("Node", None, new)
        place = draw.randrange(len(self.nodes))
        old = self.nodes[place]
        if x < 0.5:
            del self.nodes[place]
            return self._event("Node", old, None)
        new = self.nodes[place] = copy.deepcopy(old)
        changes = [self._relabel_node, self._taint, self._cordon, self._resize_node, self._redeclare]
        for change in draw.sample(changes, draw.choice([0, 1, 1, 2, 3])):
            change(new)
        return self._event("Node", old, new)

    def _relabel_node(self, node: Json) -> None:
        labels = node["metadata"]["labels"]
        key = self.draw.choice(["disk", *NODE_LABELS])
        if self.draw.chance(0.3):
            labels.pop(key, None)
        else:
            labels[key] = self.draw.choice(NODE_LABELS[key])

    def _taint(self, node: Json) -> None:
        node["spec"]["taints"] = [dict(taint) for taint in self.draw.sample(TAINTS, self.draw.choice([0, 0, 1, 2]))]

    def _cordon(self, node: Json) -> None:
        node["spec"]["unschedulable"] = not node["spec"].get("unschedulable", False)

    def _resize_node(self, node: Json) -> None:
        allocatable = node["status"]["allocatable"] = dict(node["status"]["allocatable"])
        name, amounts = self.draw.choice(
            [
                ("cpu", ["100m", "1", "4", "16"]),
                ("memory", ["128Mi", "4Gi", "32Gi"]),
                ("pods", ["0", "8", "200"]),
                ("example.com/gpu", ["0", "2"]),
            ]
        )
        allocatable[name] = self.draw.choice(amounts)

    def _redeclare(self, node: Json) -> None:
        node["status"]["declaredFeatures"] = sorted(self.draw.sample(FEATURES, self.draw.randint(0, 2)))

    def _assigned(self) -> Json:
        draw = self.draw
        x = draw.random()
        if x < 0.45 or not self.bound:
            self.number += 1
            new = self.pods.bound(f"b{self.number:02d}", draw.choice(["n000", "n001"]))
            new["status"] = {}
            self._suit(new)
            if draw.chance(0.4):
                self.claims.give(new, placed=True)
            if draw.chance(0.3) and self.theme in ("any", "volumes"):
                self._as_waiting_pod(new)
            self.bound.append(new)
            return self._event("Pod", None, new)
        place = draw.randrange(len(self.bound))
        old = self.bound[place]
        if x < 0.75:
            del self.bound[place]
            if draw.chance(0.15):
                return self._withdrawn(old)
            return self._event("Pod", old, None)
        new = self.bound[place] = copy.deepcopy(old)
        for change in draw.sample([self._relabel, self._tolerate, self._resize], draw.choice([0, 1, 1, 2])):
            change(new)
        return self._event("Pod", old, new)

    def _as_waiting_pod(self, pod: Json) -> None:
        """It uses the very volumes and ports of a pod that waits, as its predecessor would."""
        if self.waiting:
            other = self.draw.choice(self.waiting)
            pod["metadata"]["namespace"] = other["metadata"]["namespace"]
            pod["spec"] |= {key: copy.deepcopy(other["spec"][key]) for key in ("volumes",) if key in other["spec"]}
            pod["spec"]["containers"] = copy.deepcopy(other["spec"]["containers"])

    def _withdrawn(self, pod: Json) -> Json:
        """A pod that a node was promised to, or that had none at all; only less important ones look up."""
        pod = copy.deepcopy(pod)
        del pod["spec"]["nodeName"]
        pod["status"] = {"nominatedNodeName": "n000"} if self.draw.chance(0.6) else {}
        return self._event("Pod", pod, None) | {"maxPriority": self.draw.choice([0, 5])}

    def _storage(self) -> Json:
        draw = self.draw
        kind = draw.choice(
            [
                *("PersistentVolumeClaim", "PersistentVolumeClaim", "PersistentVolume", "StorageClass"),
                *("CSINode", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"),
            ]
        )
        known = self.storage.setdefault(kind, [])
        x = draw.random()
        if x < 0.4 or not known:
            new = self._made(kind)
            known.append(new)
            return self._event(kind, None, new)
        place = draw.randrange(len(known))
        old = known[place]
        if x < 0.55:
            del known[place]
            return self._event(kind, old, None)
        new = known[place] = copy.deepcopy(old)
        if draw.chance(0.8):
            fresh = self._made(kind)
            new |= {key: value for key, value in fresh.items() if key not in ("metadata", "kind", "apiVersion")}
            for key in ("labels", "annotations"):
                if key in fresh["metadata"]:
                    new["metadata"][key] = fresh["metadata"][key]
        return self._event(kind, old, new)

    def _made(self, kind: str) -> Json:
        """A storage object; claims, volumes and classes are those that pods have, where there are any."""
        draw, claims = self.draw, self.claims
        self.number += 1
        kept = {
            "PersistentVolumeClaim": claims.claims,
            "PersistentVolume": claims.volumes,
            "StorageClass": claims.classes,
        }.get(kind)
        if kept:
            made = copy.deepcopy(draw.choice(kept))
            if kind == "PersistentVolume" and draw.chance(0.5):
                key = draw.choice([ZONE, REGION, "failure-domain.beta.kubernetes.io/zone"])
                made["metadata"].setdefault("labels", {})[key] = draw.choice(["z0", "z1", "z0__z1", "z0__", "eu"])
            if kind == "StorageClass" and draw.chance(0.3):
                values = {"key": ZONE, "values": draw.sample(["z0", "z1", "z2"], 2)}
                made["allowedTopologies"] = [{"matchLabelExpressions": [values]}]
            return made
        name = f"s{self.number:03d}"
        made = {"kind": kind, "metadata": {"name": name}}
        match kind:
            case "CSINode":
                if draw.chance(0.3):
                    made["metadata"]["annotations"] = {
                        "storage.alpha.kubernetes.io/migrated-plugins": draw.choice(["", "kubernetes.io/gce-pd"])
                    }
                drivers = draw.sample(DRIVERS, draw.choice([0, 1, 1, 2]))
                made["spec"] = {"drivers": [self._csi_driver(driver) for driver in drivers]}
            case "CSIDriver":
                made["metadata"]["name"] = draw.choice(DRIVERS)
                made["spec"] = draw.choice([{}, {"storageCapacity": True}, {"storageCapacity": False}])
            case "CSIStorageCapacity":
                made |= {"storageClassName": "wait"}
                for key in ("capacity", "maximumVolumeSize"):
                    if draw.chance(0.6):
                        made[key] = draw.choice(["1Gi", "5Gi", "1500M"])
            case "VolumeAttachment":
                attacher = draw.choice([*DRIVERS, "pd.csi.storage.gke.io", "ebs.csi.aws.com"])
                made["spec"] = {"attacher": attacher, "nodeName": "n000", "source": {}}
            case _:
                made |= {"metadata": {"name": name, "namespace": "default"}, "spec": {}}
        return made

    def _csi_driver(self, name: str) -> Json:
        driver: Json = {"name": name, "nodeID": "n", "topologyKeys": []}
        if self.draw.chance(0.8):
            driver["allocatable"] = {"count": self.draw.choice([1, 2, 5])} if self.draw.chance(0.9) else {}
        return driver
