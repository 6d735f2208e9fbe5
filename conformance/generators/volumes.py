"""Random claims for some pods: bound to zonal volumes, waiting for a first consumer, or broken."""

from __future__ import annotations

from conformance.generators.draw import ZONE, Draw, Json

DRIVER = "disk.example.com"


class Volumes:
    """The storage objects of one case, and the volumes of its pods that name them."""

    def __init__(self, draw: Draw, nodes: list[Json]) -> None:
        self.draw = draw
        zones = {node["metadata"]["labels"].get(ZONE) for node in nodes} - {None}
        self.zones = sorted(zones) or ["z0"]
        self.volumes: list[Json] = []
        self.claims: list[Json] = []
        self.classes = self._classes()
        self.csi_nodes = self._csi_nodes(nodes)

    def add(self, pods: list[Json], incoming: list[Json]) -> Json:
        """Give some of the pods claims; returns the keys of the case that this adds."""
        draw = self.draw
        for i, pod in enumerate(pods):
            if draw.chance(0.2):
                self._claim(pod, f"{i}-0", f"data-{pod['metadata']['name']}-0")
        for i, pod in enumerate(incoming):
            if draw.chance(0.8):
                for k in range(draw.choice([1, 1, 2])):
                    self._claim(pod, f"{10_000 + i}-{k}", f"data-{pod['metadata']['name']}-{k}")
            elif self.claims and draw.chance(0.5):
                self._share(pod)
        case = {
            "persistentVolumes": self.volumes,
            "persistentVolumeClaims": self.claims,
            "storageClasses": self.classes,
            "csiNodes": self.csi_nodes,
        }
        return {key: objects for key, objects in case.items() if objects}

    def _classes(self) -> list[Json]:
        allowed = self.draw.sample(self.zones, self.draw.randint(1, len(self.zones)))
        classes = [
            _storage_class("wait", "WaitForFirstConsumer"),
            _storage_class("wait-zone", "WaitForFirstConsumer"),
            _storage_class("now", "Immediate"),
        ]
        classes[1]["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": allowed}]}]
        return classes

    def _csi_nodes(self, nodes: list[Json]) -> list[Json]:
        out = []
        for node in nodes:
            if self.draw.chance(0.5):
                name = node["metadata"]["name"]
                driver = {
                    "name": DRIVER,
                    "nodeID": name,
                    "topologyKeys": [ZONE],
                    "allocatable": {"count": self.draw.choice([1, 2, 5])},
                }
                out.append(
                    {
                        "apiVersion": "storage.k8s.io/v1",
                        "kind": "CSINode",
                        "metadata": {"name": name},
                        "spec": {"drivers": [driver]},
                    }
                )
        return out

    def _claim(self, pod: Json, number: str, name: str) -> None:
        draw = self.draw
        claim: Json = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": pod["metadata"]["namespace"], "uid": f"pvc-{number}"},
            "spec": {
                "accessModes": [draw.choice(["ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod"])],
                "resources": {"requests": {"storage": "1Gi"}},
                "storageClassName": "now",
            },
        }
        x = draw.random()
        if pod["spec"].get("nodeName") or x < 0.55:
            self._bind(claim, number)
        elif x < 0.9:
            claim["spec"]["storageClassName"] = draw.choice(["wait", "wait-zone"])
            claim["status"] = {"phase": "Pending"}
        else:
            claim["status"] = {"phase": "Pending"}  # Immediate and unbound: the pod has to wait
        if not draw.chance(0.04):
            self.claims.append(claim)
        volume = {"name": f"v{number.rpartition('-')[2]}", "persistentVolumeClaim": {"claimName": name}}
        pod["spec"].setdefault("volumes", []).append(volume)

    def _bind(self, claim: Json, number: str) -> None:
        draw = self.draw
        reference = {key: claim["metadata"][key] for key in ("namespace", "name", "uid")}
        volume: Json = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{number}", "uid": f"pv-{number}"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": claim["spec"]["accessModes"],
                "storageClassName": "now",
                "claimRef": reference,
                "csi": {"driver": DRIVER, "volumeHandle": f"h-{number}"},
            },
            "status": {"phase": "Bound"},
        }
        zone = draw.choice(self.zones)
        if draw.chance(0.7):
            term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
            volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
        if draw.chance(0.2):
            volume["metadata"]["labels"] = {ZONE: zone}
        claim["metadata"]["annotations"] = {
            "pv.kubernetes.io/bind-completed": "yes",
            "pv.kubernetes.io/bound-by-controller": "yes",
        }
        claim["spec"]["volumeName"] = volume["metadata"]["name"]
        claim["status"] = {"phase": "Bound"}
        self.volumes.append(volume)

    def _share(self, pod: Json) -> None:
        """A second pod on a claim of its namespace."""
        namespace = pod["metadata"]["namespace"]
        names = [c["metadata"]["name"] for c in self.claims if c["metadata"]["namespace"] == namespace]
        if names:
            volume = {"name": "shared", "persistentVolumeClaim": {"claimName": self.draw.choice(names)}}
            pod["spec"].setdefault("volumes", []).append(volume)


def _storage_class(name: str, mode: str) -> Json:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": DRIVER,
        "volumeBindingMode": mode,
    }
