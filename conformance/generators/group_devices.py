"""Random devices for the pods of groups: claims of their own, from templates or shared, and extended resources."""

from __future__ import annotations

from itertools import count

from conformance.generators.draw import ZONE, Draw, Json

DRIVER = "gpu.example.com"
_API = "resource.k8s.io/v1"
_EXTENDED = "example.com/gpu"
_BIG = f"device.attributes['{DRIVER}'].model == 'big'"


class GroupDevices:
    """The devices and claims of one case."""

    def __init__(self, draw: Draw, nodes: list[Json]) -> None:
        self.draw = draw
        self.numbers = count(1)
        self.extended = draw.chance(0.35)
        gpu: Json = {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]}
        if self.extended:
            gpu["extendedResourceName"] = _EXTENDED
        self.objects = [_object("DeviceClass", "gpu", spec=gpu)]
        if draw.chance(0.95):
            self.objects.append(_object("DeviceClass", "big", spec={"selectors": [{"cel": {"expression": _BIG}}]}))
        self.free: dict[str, list[str]] = {}
        self.late: list[Json] = []
        for node in nodes:
            name = node["metadata"]["name"]
            if draw.chance(0.75):
                self._slice(name, {"nodeName": name}, draw.randint(1, 4))
            elif self.extended:
                for each in ("allocatable", "capacity"):
                    node["status"][each] = node["status"][each] | {_EXTENDED: draw.choice(["1", "2"])}
        if draw.chance(0.2):
            zone = draw.choice(nodes)["metadata"]["labels"][ZONE]
            term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
            self._slice("net", {"nodeSelector": {"nodeSelectorTerms": [term]}}, 2)
        self.shared: list[str] = []
        self.gates: Json = {}
        self.of_group: list[Json] = []
        self.made: list[Json] = []

    def give(self, pods: list[Json]) -> None:
        """Give the pods of a group devices, mostly alike."""
        draw = self.draw
        kind = draw.choice(["own", "template", "template", "extended", "shared", "mixed", "none"])
        spec = self._spec()
        template = f"template-{next(self.numbers)}"
        self.objects.append(_object("ResourceClaimTemplate", template, namespace=True, spec={"spec": spec}))
        for pod in pods:
            how = draw.choice(["own", "template", "extended", "none"]) if kind == "mixed" else kind
            if how == "extended":
                if self.extended:
                    amount = {_EXTENDED: draw.choice(["1", "1", "2"])}
                    resources = pod["spec"]["containers"][0]["resources"]
                    resources["requests"] |= amount
                    resources["limits"] = amount
            elif how == "template":
                self._claim(pod, {"resourceClaimTemplateName": template})
            elif how == "own":
                name = f"claim-{next(self.numbers)}"
                claim = _object("ResourceClaim", name, namespace=True, spec=spec if draw.chance(0.7) else self._spec())
                (self.late if draw.chance(0.04) else self.objects).append(claim)
                self._claim(pod, {"resourceClaimName": name})
            elif how == "shared" and self.shared:
                self._claim(pod, {"resourceClaimName": self.shared[0]})
        if draw.chance(0.1) and self.shared:
            for pod in pods:
                self._claim(pod, {"resourceClaimName": self.shared[-1]})

    def give_placed(self, pod: Json) -> None:
        """Allocate a device of its node to a pod."""
        node = pod["spec"]["nodeName"]
        if not self.free.get(node):
            return
        device, name = self.free[node].pop(), f"claim-{next(self.numbers)}"
        spec = {"devices": {"requests": [{"name": "r0", "exactly": {"deviceClassName": "gpu"}}]}}
        claim = _object("ResourceClaim", name, namespace=True, spec=spec)
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        claim["status"] = {
            "allocation": {
                "devices": {"results": [{"request": "r0", "driver": DRIVER, "pool": node, "device": device}]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
            },
            "reservedFor": [{"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}],
        }
        self.objects.append(claim)
        self._claim(pod, {"resourceClaimName": name})
        if self.draw.chance(0.5):
            self.shared.append(name)

    def later(self) -> list[Json]:
        """Return steps after the first pods settled: claims that come late."""
        steps: list[Json] = [{"create": each} for each in self.late]
        return [*steps, {"settle": True}] if steps else []

    def _claim(self, pod: Json, source: Json) -> None:
        claims = pod["spec"].setdefault("resourceClaims", [])
        claims.append({"name": f"c{len(claims)}", **source})

    def _slice(self, pool: str, where: Json, count: int) -> None:
        draw = self.draw
        devices = [
            {
                "name": f"d{each}",
                "attributes": {
                    "model": {"string": draw.choice(["big", "big", "small"])},
                    "numa": {"int": each % 2},
                },
                "capacity": {"memory": {"value": draw.choice(["10Gi", "20Gi"])}},
            }
            for each in range(count)
        ]
        self.free[pool] = [f"d{each}" for each in range(count)]
        pools = {"name": pool, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "pool": pools, "devices": devices, **where}
        self.objects.append(_object("ResourceSlice", f"slice-{pool}", spec=spec))

    def _exactly(self) -> Json:
        draw = self.draw
        wanted: Json = {"deviceClassName": draw.choice(["gpu", "gpu", "big"]), "allocationMode": "ExactCount"}
        wanted["count"] = draw.choice([1, 1, 1, 2])
        if draw.chance(0.2):
            wanted["selectors"] = [{"cel": {"expression": f"device.attributes['{DRIVER}'].numa == 1"}}]
        return wanted

    def _spec(self) -> Json:
        draw = self.draw
        requests: list[Json] = []
        for each in range(draw.choice([1, 1, 1, 2])):
            if draw.chance(0.25):
                alternatives = [self._exactly() | {"name": f"s{place}"} for place in range(2)]
                requests.append({"name": f"r{each}", "firstAvailable": alternatives})
            else:
                requests.append({"name": f"r{each}", "exactly": self._exactly()})
        devices: Json = {"requests": requests}
        if draw.chance(0.15):
            devices["constraints"] = [{"matchAttribute": f"{DRIVER}/model"}]
        return {"devices": devices}


class SharedDevices(GroupDevices):
    """The devices and claims of one case whose groups share claims that are not allocated yet."""

    def __init__(self, draw: Draw, nodes: list[Json]) -> None:
        super().__init__(draw, nodes)
        if draw.chance(0.5):
            self.gates = {"DRAWorkloadResourceClaims": True}

    def give(self, pods: list[Json]) -> None:
        """Let all pods claim the same, one or two claims, or every second pod the same, or also one of its own.

        With the gate the PodGroup may have these claims, by name or from a template.
        """
        draw = self.draw
        kind = draw.choice(["one", "one", "one", "one", "two", "turns", "own", "first"])
        of_group = bool(self.gates) and len(pods) > 1 and draw.chance(0.7)
        shared = [self._source(pods[0], at, of_group=of_group) for at in range(2 if kind in ("two", "turns") else 1)]
        self.of_group = [source for source, _ in shared] if of_group else []
        self.made = [made for source, made in shared if of_group and "resourceClaimTemplateName" in source]
        for at, pod in enumerate(pods):
            if kind == "first":
                self._claim(pod, self._own())
            for source, made in [shared[at % 2]] if kind == "turns" else shared:
                self._claim(pod, source)
                if "resourceClaimTemplateName" in source:
                    pod.setdefault("status", {}).setdefault("resourceClaimStatuses", []).append(made)
            if kind == "own":
                self._claim(pod, self._own())

    def _own(self) -> Json:
        name = f"claim-{next(self.numbers)}"
        self.objects.append(_object("ResourceClaim", name, namespace=True, spec=self._spec()))
        return {"resourceClaimName": name}

    def _source(self, pod: Json, at: int, *, of_group: bool) -> tuple[Json, Json]:
        """Return how pods name a new claim, and the status that names it. ``of_group``: it may have a template."""
        name, spec = f"claim-{next(self.numbers)}", self._spec()
        claim, made = _object("ResourceClaim", name, namespace=True, spec=spec), {"name": f"s{at}"}
        self.objects.append(claim)
        if not of_group or self.draw.chance(0.4):
            return made | {"resourceClaimName": name}, made
        group, template = pod["spec"]["schedulingGroup"]["podGroupName"], f"template-{name}"
        owner = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "name": group, "uid": f"u-{group}"}
        claim["metadata"]["ownerReferences"] = [owner | {"controller": True}]
        self.objects.append(_object("ResourceClaimTemplate", template, namespace=True, spec={"spec": spec}))
        return made | {"resourceClaimTemplateName": template}, made | {"resourceClaimName": name}


def _object(kind: str, name: str, *, namespace: bool = False, **fields: Json) -> Json:
    metadata = {"name": name, "uid": f"uid-{kind}-{name}"} | ({"namespace": "default"} if namespace else {})
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, **fields}
