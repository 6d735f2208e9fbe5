"""Random claims on volumes of which there are fewer than are asked for, so that who came first decides.

Sizes of volumes differ and a claim is promised one at most, because kube-scheduler goes through equal ones in no order.
"""

from __future__ import annotations

from conformance.generators.draw import HOST, ZONE, Draw, Json

DRIVER = "disk.example.com"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
CLASSES = {
    "local": (NO_PROVISIONER, "WaitForFirstConsumer"),
    "shelf": (NO_PROVISIONER, "Immediate"),
    "made": (DRIVER, "WaitForFirstConsumer"),
    "made-zone": (DRIVER, "WaitForFirstConsumer"),
    "made-now": (DRIVER, "Immediate"),
}
MODES = [["ReadWriteOnce"], ["ReadWriteOnce", "ReadWriteOncePod"], ["ReadWriteOnce", "ReadWriteMany"]]


class ScarceVolumes:
    """The storage objects of one case."""

    def __init__(self, draw: Draw, nodes: list[Json]) -> None:
        self.draw = draw
        labels = [node["metadata"].get("labels", {}) for node in nodes]
        self.hosts = sorted({each[HOST] for each in labels if HOST in each}) or ["nowhere"]
        self.zones = sorted({each[ZONE] for each in labels if ZONE in each}) or ["z0"]
        self.claims: list[Json] = []
        self.volumes = [self._volume(i) for i in range(draw.randint(0, 8))]
        self.csi_nodes = [self._csi_node(node["metadata"]["name"]) for node in nodes if draw.chance(0.6)]

    def give(self, incoming: list[Json]) -> Json:
        """Give most pods claims; the keys of the case."""
        draw = self.draw
        for pod in incoming:
            for _ in range(draw.choice([0, 1, 1, 1, 2])):
                self._claimed(pod)
        case = {
            "persistentVolumes": self.volumes,
            "persistentVolumeClaims": self.claims,
            "storageClasses": self._classes(),
            "csiNodes": self.csi_nodes,
        }
        return {key: objects for key, objects in case.items() if objects}

    def _claimed(self, pod: Json) -> None:
        draw = self.draw
        namespace = pod["metadata"]["namespace"]
        known = [each["metadata"]["name"] for each in self.claims if each["metadata"]["namespace"] == namespace]
        used = [each["persistentVolumeClaim"]["claimName"] for each in pod["spec"].get("volumes", [])]
        known = [name for name in known if name not in used]
        name = draw.choice(known) if known and draw.chance(0.25) else self._claim(namespace)
        volumes = pod["spec"].setdefault("volumes", [])
        volumes.append({"name": f"v{len(volumes)}", "persistentVolumeClaim": {"claimName": name}})

    def _claim(self, namespace: str) -> str:
        draw = self.draw
        name = f"claim-{len(self.claims)}"
        storage_class = draw.choice(["local", "local", "local", "local", "made", "made-zone", "shelf", "made-now"])
        spec: Json = {
            "accessModes": draw.choice([["ReadWriteOnce"]] * 4 + [["ReadWriteOncePod"], ["ReadWriteMany"]]),
            "resources": {"requests": {"storage": draw.choice(["1Gi", "1Gi", "2Gi", "1500M"])}},
            "storageClassName": storage_class,
        }
        if draw.chance(0.1):
            spec["volumeMode"] = draw.choice(["Block", "Filesystem"])
        if draw.chance(0.1):
            spec["selector"] = {"matchLabels": {"tier": draw.choice(["fast", "slow"])}}
        uid = f"uid-{name}"
        free = [each for each in self.volumes if "claimRef" not in each["spec"]]
        # A volume of whatever class that names a claim is taken before a new one is made.
        if free and draw.chance(0.3 if storage_class.startswith("made") else 0.12):
            volume = draw.choice(free)
            volume["spec"]["claimRef"] = {"namespace": namespace, "name": name} | draw.choice([{}, {}, {"uid": uid}])
            if draw.chance(0.5):
                spec["volumeName"] = volume["metadata"]["name"]
        elif self.volumes and draw.chance(0.06):
            spec["volumeName"] = draw.choice(self.volumes)["metadata"]["name"]
        metadata = {"name": name, "namespace": namespace, "uid": uid}
        self.claims.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})
        return name

    def _volume(self, number: int) -> Json:
        draw = self.draw
        size = draw.choice([1, 1, 2, 3]) * 1024 + 64 * number
        metadata: Json = {"name": f"pv-{number}", "uid": f"uid-pv-{number}"}
        spec: Json = {
            "capacity": {"storage": f"{size}Mi"},
            "accessModes": draw.choice(MODES),
            "storageClassName": draw.choice(["local", "local", "local", "shelf", "made"]),
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": "/mnt"},
        }
        if draw.chance(0.3):
            metadata["labels"] = {"tier": draw.choice(["fast", "slow"])}
        if draw.chance(0.1):
            spec["volumeMode"] = "Block"
        if draw.chance(0.85):
            key, values = draw.choice([(HOST, self.hosts), (HOST, self.hosts), (ZONE, self.zones)])
            values = draw.sample(values, min(len(values), draw.choice([1, 1, 2])))
            term = {"matchExpressions": [{"key": key, "operator": "In", "values": values}]}
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
        status = {"phase": "Available"} if draw.chance(0.5) else {}
        return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec, "status": status}

    def _classes(self) -> list[Json]:
        allowed = {"key": ZONE, "values": self.draw.sample(self.zones, self.draw.randint(1, len(self.zones)))}
        made = []
        for name, (provisioner, mode) in CLASSES.items():
            each: Json = {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": name},
                "provisioner": provisioner,
                "volumeBindingMode": mode,
            }
            if name == "made-zone" or (name == "made-now" and self.draw.chance(0.5)):
                each["allowedTopologies"] = [{"matchLabelExpressions": [allowed]}]
            if self.draw.chance(0.3):
                each["reclaimPolicy"] = self.draw.choice(["Retain", "Delete"])
            made.append(each)
        return made

    def _csi_node(self, name: str) -> Json:
        keys = self.draw.choice([[ZONE], [ZONE], [HOST], []])
        driver: Json = {"name": DRIVER, "nodeID": name, "topologyKeys": keys}
        if self.draw.chance(0.7):
            driver["allocatable"] = {"count": self.draw.choice([1, 1, 2, 3])}
        return {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSINode",
            "metadata": {"name": name},
            "spec": {"drivers": [driver]},
        }
