"""Random volumes for the pods of groups: bound claims and claims that wait for their pod, scarce volumes, limits."""

from __future__ import annotations

from itertools import count

from conformance.generators.draw import HOST, ZONE, Draw, Json

DRIVER = "disk.example.com"
_STORAGE = "storage.k8s.io/v1"


class GroupVolumes:
    """The storage objects of one case."""

    def __init__(self, draw: Draw, nodes: list[Json]) -> None:
        self.draw = draw
        self.nodes = nodes
        self.zones = sorted({each["metadata"]["labels"][ZONE] for each in nodes})
        self.numbers = count(1)
        self.objects = self._classes()
        self.shared: list[str] = []
        for node in nodes:
            if draw.chance(0.7):
                self.objects.append(self._csi_node(node["metadata"]["name"]))
        for _ in range(draw.randint(0, 6)):
            self.objects.append(self._volume())
        self.late: list[Json] = []

    def give(self, pods: list[Json]) -> None:
        """Give the pods of a group volumes: alike, with a claim each, or one for all."""
        draw = self.draw
        kind = draw.choice(["own", "own", "own", "own", "shared", "none", "mixed"])
        storage_class = draw.choice(["local", "local", "made", "made-zone", "bound", "bound"])
        one = self._shared() if kind == "shared" else ""
        for pod in pods:
            if kind == "none" or (kind == "mixed" and draw.chance(0.5)):
                continue
            if one:
                self._mount(pod, one)
                continue
            for _ in range(draw.choice([1, 1, 1, 2])):
                own = storage_class if draw.chance(0.85) else draw.choice(["local", "made", "made-zone", "bound"])
                self._mount(pod, self._claim(own, late=draw.chance(0.03)))

    def give_placed(self, pod: Json) -> None:
        """Give a pod with a node a volume."""
        zone = next(each for each in self.nodes if each["metadata"]["name"] == pod["spec"]["nodeName"])
        modes = ["ReadWriteOncePod"] if self.draw.chance(0.2) else ["ReadWriteOnce"]
        claim = self._bound(modes, zone["metadata"]["labels"][ZONE])
        self._mount(pod, claim)
        if self.draw.chance(0.4):
            self.shared.append(claim)

    def later(self) -> list[Json]:
        """Return steps after the first pods settled: objects that come late."""
        draw, steps = self.draw, [{"create": each} for each in self.late]
        if draw.chance(0.25):
            steps.append({"create": self._volume()})
        return [*steps, {"settle": True}] if steps else []

    def _mount(self, pod: Json, claim: str) -> None:
        volumes = pod["spec"].setdefault("volumes", [])
        volumes.append({"name": f"v{len(volumes)}", "persistentVolumeClaim": {"claimName": claim}})

    def _shared(self) -> str:
        draw = self.draw
        if self.shared and draw.chance(0.4):
            return draw.choice(self.shared)
        return self._bound(draw.choice([["ReadWriteMany"], ["ReadWriteMany"], ["ReadWriteOncePod"]]))

    def _claim(self, kind: str, *, late: bool = False) -> str:
        draw = self.draw
        if kind == "bound":
            return self._bound(["ReadWriteOnce"])
        name = f"claim-{next(self.numbers)}"
        spec: Json = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": draw.choice(["1Gi", "1Gi", "2Gi", "5Gi"])}},
            "storageClassName": kind,
        }
        (self.late if late else self.objects).append(_claim(name, spec, "Pending"))
        return name

    def _bound(self, modes: list[str], zone: str = "") -> str:
        draw = self.draw
        number = next(self.numbers)
        name, volume = f"claim-{number}", f"pv-{number}"
        terms = [{"key": ZONE, "operator": "In", "values": [zone or draw.choice(self.zones)]}]
        if not zone and draw.chance(0.2):
            terms = [{"key": HOST, "operator": "In", "values": [draw.choice(self.nodes)["metadata"]["name"]]}]
        capacity = {"storage": "1Gi"}
        self.objects.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": volume, "uid": f"uid-{volume}"},
                "spec": {
                    "capacity": capacity,
                    "accessModes": modes,
                    "storageClassName": "made",
                    "csi": {"driver": DRIVER, "volumeHandle": volume},
                    "claimRef": {"namespace": "default", "name": name, "uid": f"uid-{name}"},
                    "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": terms}]}},
                },
                "status": {"phase": "Bound"},
            }
        )
        spec = {"accessModes": modes, "resources": {"requests": capacity}, "storageClassName": "made"}
        claim = _claim(name, spec | {"volumeName": volume}, "Bound")
        claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        self.objects.append(claim)
        return name

    def _volume(self) -> Json:
        """A volume that a waiting claim may get; sizes differ, because kube-scheduler draws among equal ones."""
        draw = self.draw
        number = next(self.numbers)
        key = draw.choice([HOST, HOST, ZONE])
        values = [draw.choice(self.nodes)["metadata"]["labels"][key]]
        term = {"matchExpressions": [{"key": key, "operator": "In", "values": values}]}
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{number}", "uid": f"uid-pv-{number}"},
            "spec": {
                "capacity": {"storage": f"{draw.choice([1, 1, 2, 6]) * 1024 + number}Mi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": draw.choice(["local", "local", "local", "made"]),
                "persistentVolumeReclaimPolicy": "Retain",
                "local": {"path": "/mnt"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            },
            "status": {"phase": "Available"},
        }

    def _classes(self) -> list[Json]:
        draw = self.draw
        made: list[Json] = []
        for name, provisioner in (
            ("local", "kubernetes.io/no-provisioner"),
            ("made", DRIVER),
            ("made-zone", DRIVER),
        ):
            each: Json = {
                "apiVersion": _STORAGE,
                "kind": "StorageClass",
                "metadata": {"name": name},
                "provisioner": provisioner,
                "volumeBindingMode": "WaitForFirstConsumer",
            }
            if name == "made-zone":
                allowed = {"key": ZONE, "values": draw.sample(self.zones, draw.randint(1, len(self.zones)))}
                each["allowedTopologies"] = [{"matchLabelExpressions": [allowed]}]
            made.append(each)
        if draw.chance(0.4):
            spec = {"storageCapacity": True}
            made.append({"apiVersion": _STORAGE, "kind": "CSIDriver", "metadata": {"name": DRIVER}, "spec": spec})
            made += [
                {
                    "apiVersion": _STORAGE,
                    "kind": "CSIStorageCapacity",
                    "metadata": {"name": f"{name}-{zone}", "namespace": "default"},
                    "storageClassName": name,
                    "nodeTopology": {"matchLabels": {ZONE: zone}},
                    "capacity": draw.choice(["1Gi", "3Gi", "10Gi"]),
                }
                for zone in self.zones
                for name in ("made", "made-zone")
                if draw.chance(0.8)
            ]
        return made

    def _csi_node(self, name: str) -> Json:
        draw = self.draw
        driver: Json = {"name": DRIVER, "nodeID": name, "topologyKeys": draw.choice([[ZONE], [ZONE], [HOST], []])}
        if draw.chance(0.7):
            driver["allocatable"] = {"count": draw.choice([1, 2, 2, 3])}
        return {
            "apiVersion": _STORAGE,
            "kind": "CSINode",
            "metadata": {"name": name},
            "spec": {"drivers": [driver]},
        }


class WaitingVolumes(GroupVolumes):
    """Storage objects of one case whose claims wait for several pods of a group."""

    def give(self, pods: list[Json]) -> None:
        """Let all pods mount one unbound claim or two, or every second pod the same, or also a claim of its own."""
        draw = self.draw
        kind = draw.choice(["one", "one", "one", "one", "two", "turns", "own"])
        storage_class = draw.choice(["local", "local", "made", "made-zone"])
        modes = draw.choice([["ReadWriteMany"]] * 3 + [["ReadWriteOnce"], ["ReadWriteOncePod"]])
        for _ in range(draw.randint(1, 3) if storage_class == "local" else 0):
            volume = self._volume()
            volume["spec"] |= {"storageClassName": "local", "accessModes": modes}
            self.objects.append(volume)
        claims = [self._claim(storage_class) for _ in range(2 if kind in ("two", "turns") else 1)]
        for each in self.objects:
            if each["kind"] == "PersistentVolumeClaim" and each["metadata"]["name"] in claims:
                each["spec"]["accessModes"] = modes
        for at, pod in enumerate(pods):
            for name in [claims[at % 2]] if kind == "turns" else claims:
                self._mount(pod, name)
            if kind == "own":
                self._mount(pod, self._claim("made"))


def _claim(name: str, spec: Json, phase: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": spec,
        "status": {"phase": phase},
    }
