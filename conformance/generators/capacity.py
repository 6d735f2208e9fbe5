"""Random published storage capacity: CSI drivers that take part or not, and pools that nodes reach by their zone.

A node reaches one pool of a class at most: of several kube-scheduler takes any, which decides points.
"""

from __future__ import annotations

from conformance.generators.claims import Claims
from conformance.generators.draw import ZONE, Draw, Json

API_VERSION = "storage.k8s.io/v1"


def published(draw: Draw, claims: Claims) -> Json:
    """The keys of the case."""
    drivers, capacities = [], []
    provisioners = list(dict.fromkeys(each["provisioner"] for each in claims.classes))
    # One at most has to be on a node: of several that are missing kube-scheduler names any.
    needed = draw.choice([*provisioners, "", ""])
    for name in provisioners:
        x = draw.random()
        if x < 0.7:
            spec = {"storageCapacity": True} if x < 0.55 else {"storageCapacity": False} if x < 0.6 else {}
            if needed == name:
                spec["preventPodSchedulingIfMissing"] = True
            drivers.append({"apiVersion": API_VERSION, "kind": "CSIDriver", "metadata": {"name": name}, "spec": spec})
    for storage_class in claims.classes:
        for zone in claims.zones:
            if draw.chance(0.6):
                name = f"{storage_class['metadata']['name']}-{zone}"
                capacities.append(_pool(draw, name, storage_class["metadata"]["name"], zone))
    return {"csiDrivers": drivers, "csiStorageCapacities": capacities}


def attached(draw: Draw, claims: Claims) -> Json:
    """VolumeAttachments: of volumes that pods use, and of some that none uses; the keys of the case."""
    made = []
    for i, volume in enumerate(claims.volumes):
        if draw.chance(0.6):
            driver = volume["spec"].get("csi", {}).get("driver", "disk.example.com")
            source = {"persistentVolumeName": volume["metadata"]["name"] if draw.chance(0.95) else "gone"}
            spec = {"attacher": driver, "nodeName": draw.choice(claims.names), "source": source}
            metadata = {"name": f"csi-{i}"}
            made.append({"apiVersion": API_VERSION, "kind": "VolumeAttachment", "metadata": metadata, "spec": spec})
    return {"volumeAttachments": made}


def _pool(draw: Draw, name: str, storage_class: str, zone: str) -> Json:
    topology: Json | None = {"matchLabels": {ZONE: zone}}
    x = draw.random()
    if x < 0.1:
        disk = {"key": "disk", "operator": draw.choice(["In", "NotIn"]), "values": ["ssd"]}
        topology = {"matchLabels": {ZONE: zone}, "matchExpressions": [disk]}
    elif x < 0.15:
        topology = None
    made: Json = {
        "apiVersion": API_VERSION,
        "kind": "CSIStorageCapacity",
        "metadata": {"name": name, "namespace": "default"},
        "storageClassName": storage_class,
        "capacity": draw.choice(["0", "1Gi", "1500M", "3Gi", "10Gi", "100Gi"]),
    }
    if topology is not None:
        made["nodeTopology"] = topology
    if draw.chance(0.25):
        made["maximumVolumeSize"] = draw.choice(["1Gi", "2Gi", "20Gi"])
    return made
