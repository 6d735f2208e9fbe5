"""Random claims, the volumes and classes they name, and disks that pods name themselves."""

from __future__ import annotations

from itertools import count

from conformance.generators.draw import HOST, REGION, ZONE, Draw, Json

DRIVERS = ["disk.example.com", "file.example.com"]
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
WAITING = ["wait", "wait", "wait-zone", "wait-keys", "local", "local", "local", "aws", "gce", "vsphere", "portworx"]


class Claims:
    """The storage objects of one case; numbers what it makes, so that names differ."""

    def __init__(self, draw: Draw, nodes: list[Json]) -> None:
        self.draw = draw
        labels = [node["metadata"]["labels"] for node in nodes]
        self.hosts = sorted({each[HOST] for each in labels if HOST in each}) or ["nowhere"]
        self.names = [node["metadata"]["name"] for node in nodes]
        self.zones = sorted({each[ZONE] for each in labels if ZONE in each}) or ["z0"]
        self.numbers = count(1)
        # What a plugin fails on: one such thing a case, because of several failures kube-scheduler reports any.
        self.failure = draw.choice(["", "", "owner", "azure", "gce"])
        self.volumes: list[Json] = []
        self.claims: list[Json] = []
        self.classes = self._classes()
        for _ in range(draw.choice([0, 2, 5, 10])):
            self._free_volume()

    def objects(self) -> Json:
        """The keys of the case."""
        case = {
            "persistentVolumes": self.volumes,
            "persistentVolumeClaims": self.claims,
            "storageClasses": self.classes,
        }
        return {key: objects for key, objects in case.items() if objects}

    def give(self, pod: Json, placed: bool) -> None:
        """Give a pod volumes."""
        draw = self.draw
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            x = draw.random()
            if x < 0.3:
                self._disk(pod)
            elif x < 0.46 and self._shared(pod):
                continue
            elif x < 0.54:
                self._ephemeral(pod, placed)
            else:
                self._claimed(pod, placed)

    def _fails(self, failure: str) -> bool:
        """Whether to let kube-scheduler fail here; once a case."""
        if self.failure != failure:
            return False
        self.failure = ""
        return True

    def _volume(self, pod: Json, source: Json) -> None:
        volumes = pod["spec"].setdefault("volumes", [])
        volumes.append({"name": f"v{len(volumes)}", **source})

    def _disk(self, pod: Json) -> None:
        """A disk named in the pod, of a few that there are."""
        draw = self.draw
        read_only = {"readOnly": True} if draw.chance(0.4) else {}
        disk = f"disk-{draw.choice([0, 0, 0, 1, 2])}"
        ebs = draw.choice([f"vol-{draw.randint(0, 1)}", f"aws://z0/vol-{draw.randint(0, 1)}"])
        rbd = {"image": disk, "pool": draw.choice(["a", "a", "b"]), "monitors": draw.sample(["m0", "m1", "m2"], 2)}
        azure = {"diskName": disk, "diskURI": f"/{disk}", **({"kind": "Managed"} if draw.chance(0.7) else {})}
        iscsi = {"targetPortal": "p", "iqn": draw.choice(["i0", "i0", "i1"]), "lun": draw.randint(0, 1), **read_only}
        self._volume(
            pod,
            draw.choice(
                [
                    {"gcePersistentDisk": {"pdName": disk, **read_only}},
                    {"gcePersistentDisk": {"pdName": disk, **read_only}},
                    {"awsElasticBlockStore": {"volumeID": ebs, **read_only}},
                    {"iscsi": iscsi},
                    {"rbd": {**rbd, **read_only}},
                    {"azureDisk": azure},
                    {"cinder": {"volumeID": disk}},
                    {"portworxVolume": {"volumeID": disk}},
                    {"emptyDir": {}},
                ]
            ),
        )

    def _shared(self, pod: Json) -> bool:
        """A claim that was made for another pod; False when the namespace has none."""
        namespace = pod["metadata"]["namespace"]
        names = [each["metadata"]["name"] for each in self.claims if each["metadata"]["namespace"] == namespace]
        if not names:
            return False
        self._volume(pod, {"persistentVolumeClaim": {"claimName": self.draw.choice(names)}})
        return True

    def _ephemeral(self, pod: Json, placed: bool) -> None:
        draw = self.draw
        name = f"v{len(pod['spec'].get('volumes', []))}"
        self._volume(pod, {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}})
        x = draw.random()
        if x < 0.12:
            return
        claim = self._claim(pod["metadata"]["namespace"], f"{pod['metadata']['name']}-{name}", placed)
        theirs = x > 0.92 and (not placed or self._fails("owner"))
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        claim["metadata"]["ownerReferences"] = [{**owner, "controller": not theirs or x < 0.97}]
        if theirs and x < 0.97:
            claim["metadata"]["ownerReferences"][0]["uid"] = "another"
        self.claims.append(claim)

    def _claimed(self, pod: Json, placed: bool) -> None:
        name = f"claim-{next(self.numbers)}"
        claim = self._claim(pod["metadata"]["namespace"], name, placed)
        if not self.draw.chance(0.03):
            self.claims.append(claim)
        for _ in range(2 if self.draw.chance(0.03) else 1):
            self._volume(pod, {"persistentVolumeClaim": {"claimName": name}})

    def _claim(self, namespace: str, name: str, placed: bool) -> Json:
        draw = self.draw
        modes = draw.choice([["ReadWriteOnce"], ["ReadWriteOnce"], ["ReadWriteOncePod"], ["ReadWriteMany"]])
        claim: Json = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": namespace, "uid": f"uid-claim-{next(self.numbers)}"},
            "spec": {
                "accessModes": modes,
                "resources": {"requests": {"storage": draw.choice(["1Gi", "2Gi", "5Gi", "1500M"])}},
            },
            "status": {"phase": "Pending"},
        }
        if placed or draw.chance(0.45):
            self._bind(claim)
        else:
            self._wait(claim)
        x = draw.random()
        if x < 0.01:
            claim["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            claim["metadata"]["finalizers"] = ["kubernetes.io/pvc-protection"]
        elif x < 0.02:
            claim["status"]["phase"] = "Lost"
        return claim

    def _wait(self, claim: Json) -> None:
        """A claim without a volume, mostly one that waits for its first pod."""
        draw = self.draw
        x = draw.random()
        name = draw.choice(WAITING) if x < 0.93 else draw.choice(["now", "missing", "no-mode", ""])
        if draw.chance(0.05):
            claim["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": name}
            name = "now"
        claim["spec"]["storageClassName"] = name
        if draw.chance(0.06):
            node = draw.choice(self.names)
            claim["metadata"].setdefault("annotations", {})["volume.kubernetes.io/selected-node"] = node
        if draw.chance(0.08):
            claim["spec"]["volumeMode"] = draw.choice(["Block", "Filesystem"])
        if draw.chance(0.08):
            claim["spec"]["selector"] = {"matchLabels": {"tier": draw.choice(["fast", "slow"])}}
        if draw.chance(0.04):
            claim["spec"]["volumeAttributesClassName"] = "gold"
        if draw.chance(0.03):
            claim["spec"]["volumeName"] = "pv-somewhere"
        elif draw.chance(0.1):
            self._promise(claim, name)

    def _promise(self, claim: Json, class_name: str) -> None:
        metadata = claim["metadata"]
        volume = self._plain_volume(class_name or "wait")
        reference = {"namespace": metadata["namespace"], "name": metadata["name"]}
        if self.draw.chance(0.5):
            reference["uid"] = metadata["uid"] if self.draw.chance(0.8) else "another"
        volume["spec"]["claimRef"] = reference
        self._locate(volume)
        self.volumes.append(volume)

    def _bind(self, claim: Json) -> None:
        draw = self.draw
        metadata = claim["metadata"]
        volume = self._plain_volume("now")
        volume["status"] = {"phase": "Bound"}
        volume["spec"]["claimRef"] = {key: metadata[key] for key in ("namespace", "name", "uid")}
        volume["spec"] |= self._source()
        if draw.chance(0.6):
            self._locate(volume)
        if draw.chance(0.35):
            self._label(volume)
            labels = volume["metadata"]["labels"]
            if "gcePersistentDisk" in volume["spec"] and "__" in "".join(labels.values()) and not self._fails("gce"):
                del volume["metadata"]["labels"]
        if not draw.chance(0.01):
            self.volumes.append(volume)
        claim["spec"] |= {"volumeName": volume["metadata"]["name"], "storageClassName": "now"}
        claim["status"] = {"phase": "Bound"}
        if not draw.chance(0.02):
            metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}

    def _free_volume(self) -> None:
        """A volume that a waiting claim may get."""
        draw = self.draw
        volume = self._plain_volume(draw.choice(["local", "local", "local", "wait", "wait-zone"]))
        spec, metadata = volume["spec"], volume["metadata"]
        volume["status"] = {"phase": draw.choices(["Available", "Released", "Pending"], [10, 1, 1])[0]}
        if draw.chance(0.1):
            spec["volumeMode"] = draw.choice(["Block", "Filesystem"])
        if draw.chance(0.3):
            metadata["labels"] = {"tier": draw.choice(["fast", "slow"])}
        if draw.chance(0.05):
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            metadata["finalizers"] = ["kubernetes.io/pv-protection"]
        if draw.chance(0.05):
            spec["claimRef"] = {"namespace": "default", "name": "somebody", "uid": "somebody"}
        if draw.chance(0.05):
            spec["volumeAttributesClassName"] = draw.choice(["gold", ""])
        if draw.chance(0.05):
            metadata["annotations"] = {"volume.beta.kubernetes.io/storage-class": draw.choice(["local", "other"])}
        self._locate(volume)
        self.volumes.append(volume)

    def _plain_volume(self, class_name: str) -> Json:
        draw = self.draw
        number = next(self.numbers)
        modes = draw.choice([["ReadWriteOnce"], ["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"]])
        size = draw.choice([1, 1, 2, 3, 6]) * 1024 + number
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{number}", "uid": f"uid-pv-{number}"},
            "spec": {
                "capacity": {"storage": f"{size}Mi"},
                "accessModes": modes,
                "storageClassName": class_name,
                "local": {"path": "/mnt"},
            },
            "status": {"phase": "Available"},
        }

    def _source(self) -> Json:
        """What stands behind a bound volume; handles repeat now and then."""
        draw = self.draw
        number = draw.randint(0, 60)
        kind = {} if draw.chance(0.2) else {"kind": "Dedicated" if self._fails("azure") else "Managed"}
        azure = {"diskName": f"d{number}", "diskURI": f"/d{number}", **kind}
        source = draw.choice(
            [
                {"csi": {"driver": draw.choice(DRIVERS), "volumeHandle": f"h-{number}"}},
                {"csi": {"driver": draw.choice(DRIVERS), "volumeHandle": f"h-{number}"}},
                {"csi": {"driver": draw.choice(DRIVERS), "volumeHandle": f"h-{number}"}},
                {"gcePersistentDisk": {"pdName": f"d{number}"}},
                {"awsElasticBlockStore": {"volumeID": draw.choice([f"vol-{number}", f"aws://z/vol-{number}"])}},
                {"azureDisk": azure},
                {"cinder": {"volumeID": f"d{number}"}},
                {"portworxVolume": {"volumeID": f"d{number}"}},
                {"nfs": {"server": "s", "path": "/"}},
            ]
        )
        return {"local": None, **source}

    def _locate(self, volume: Json) -> None:
        """Give the volume a node affinity."""
        draw = self.draw
        x = draw.random()
        zones = {"operator": "In", "values": draw.sample(self.zones, draw.randint(1, len(self.zones)))}
        if x < 0.4:
            hosts = draw.sample(self.hosts, min(len(self.hosts), draw.choice([1, 1, 2, 4])))
            terms = [[{"key": HOST, "operator": "In", "values": hosts}]]
        elif x < 0.7:
            terms = [[{"key": draw.choice([ZONE, ZONE, BETA_ZONE]), **zones}]]
        elif x < 0.8:
            terms = [[{"key": ZONE, **zones}], [{"key": "disk", "operator": "NotIn", "values": ["ssd"]}]]
        elif x < 0.88:
            region = {"key": draw.choice([REGION, BETA_REGION]), "operator": "In", "values": ["eu"]}
            terms = [[{"key": draw.choice([ZONE, BETA_ZONE]), **zones}, region]]
        elif x < 0.92:
            terms = [[{"key": "gen", "operator": "Gt", "values": ["4"]}]]
        else:
            return
        selector = [{"matchExpressions": expressions} for expressions in terms]
        if draw.chance(0.03):
            selector[0]["matchFields"] = [
                {"key": "metadata.name", "operator": "In", "values": [draw.choice(self.names)]}
            ]
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": selector}}

    def _label(self, volume: Json) -> None:
        """Give the volume zone labels as in-tree plugins did."""
        draw = self.draw
        zones = draw.sample(self.zones, min(len(self.zones), draw.choice([1, 1, 2])))
        value = "__".join(zones) if not draw.chance(0.05) else draw.choice(["z0__", "", "eu-west-a__eu-west-b"])
        labels = {draw.choice([ZONE, BETA_ZONE]): value}
        if draw.chance(0.4):
            labels[draw.choice([REGION, BETA_REGION])] = draw.choice(["eu", "us"])
        volume["metadata"]["labels"] = labels

    def _classes(self) -> list[Json]:
        draw = self.draw
        wait, now = "WaitForFirstConsumer", "Immediate"
        classes = [
            _class("wait", wait),
            _class("wait-zone", wait),
            _class("wait-keys", wait, DRIVERS[1]),
            _class("now", now),
            _class("local", wait, "kubernetes.io/no-provisioner"),
            _class("aws", wait, "kubernetes.io/aws-ebs"),
            _class("gce", wait, "kubernetes.io/gce-pd"),
            _class("vsphere", wait, "kubernetes.io/vsphere-volume"),
            _class("portworx", wait, "kubernetes.io/portworx-volume"),
            _class("no-mode", None),
        ]
        allowed = {"key": ZONE, "values": draw.sample(self.zones, draw.randint(1, len(self.zones)))}
        classes[1]["allowedTopologies"] = [{"matchLabelExpressions": [allowed]}]
        region = {"key": REGION, "values": ["eu"]}
        terms: list[Json] = [{"matchLabelExpressions": [allowed, region]}, {"matchLabelExpressions": []}]
        if draw.chance(0.5):
            terms.append({"matchLabelExpressions": [{"key": "disk", "values": ["ssd"]}]})
        classes[2]["allowedTopologies"] = terms
        return classes


def _class(name: str, mode: str | None, provisioner: str = DRIVERS[0]) -> Json:
    made: Json = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
    }
    return made if mode is None else made | {"volumeBindingMode": mode}
