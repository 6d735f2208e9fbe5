"""Random cases for batches of equal pods; ``python -m conformance.generators.batching SEED COUNT`` prints them.

They draw what may make the reused scores differ from new ones, and what ends a batch.

A case has objects and steps, as `judging.whole` plays them. Pods come in rows of equal ones to few nodes that are soon
full; between them nodes come, change and go, pods are deleted, others preempt, time passes.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator

from conformance.generators.draw import HOST, ZONE, Draw, Json

PROFILES = ["default-scheduler", "second"]
NAMESPACES = ["default", "other"]
LABELS = [{"app": "a"}, {"app": "b"}, {"app": "a", "tier": "front"}]
AMOUNTS = ["100m", "250m", "500m", "1"]
IMAGES = ["x", "registry.example.com/big:1", "registry.example.com/big"]
_NO_DEFAULTS = {"name": "PodTopologySpread", "args": {"defaultingType": "List"}}


def cases(seed: int, count: int) -> Iterator[Json]:
    """``count`` cases; the i-th depends on the seed and i alone."""
    for i in range(count):
        yield _Case(Draw(f"{seed}/batching/{i}")).made(f"batching-{seed}-{i:05d}")


class _Case:
    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.nodes: dict[str, Json] = {}
        self.made_nodes = 0
        self.pods: list[Json] = []
        self.made_pods = 0
        self.tight = draw.chance(0.6)
        # Nodes with images neither come nor go: kube-scheduler learns late how many nodes are left with one.
        self.images = draw.chance(0.4)
        self.profiles = PROFILES if draw.chance(0.3) else PROFILES[:1]

    def made(self, name: str) -> Json:
        draw = self.draw
        objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": each}} for each in NAMESPACES]
        objects += [self._node() for _ in range(draw.randint(2, 9))]
        objects += [each for _ in range(draw.choice([0, 0, 1, 3])) for each in self._placed()]
        if claims := draw.chance(0.15):
            objects += [each for namespace in NAMESPACES for each in self._claim(namespace)]
        steps: list[Json] = []
        for _ in range(draw.randint(1, 4)):
            steps += self._row(claims=claims) if draw.chance(0.85) else self._daemons()
            for _ in range(draw.choice([0, 1, 1, 2])):
                steps += self._event()
        gates: Json = {} if draw.chance(0.85) else {"OpportunisticBatching": draw.chance(0.5)}
        case: Json = {"id": name, "featureGates": gates, "config": self._config(), "objects": objects}
        return case | {"steps": [*steps, {"settle": True}]}

    def _config(self) -> Json | None:
        draw = self.draw
        if len(self.profiles) == 1 and draw.chance(0.05):
            return None
        profiles = []
        for name in self.profiles:
            args: list[Json] = [_NO_DEFAULTS] if draw.chance(0.9) else []
            if draw.chance(0.15):
                ignores = {"ignorePreferredTermsOfExistingPods": True}
                args.append({"name": "InterPodAffinity", "args": ignores})
            if draw.chance(0.2):
                resources = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": draw.randint(1, 3)}]
                strategy = {"type": "MostAllocated", "resources": resources}
                args.append({"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}})
            profile: Json = {"schedulerName": name, "pluginConfig": args}
            off = [each for each in ("PodTopologySpread", "InterPodAffinity", "ImageLocality") if draw.chance(0.06)]
            if off:
                profile["plugins"] = {"multiPoint": {"disabled": [{"name": each} for each in off]}}
                profile["pluginConfig"] = [each for each in args if each["name"] not in off]
            profiles.append(profile)
        version = "kubescheduler.config.k8s.io/v1"
        return {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": profiles}

    def _node(self) -> Json:
        draw, i = self.draw, self.made_nodes
        self.made_nodes += 1
        name = f"n{i}"
        labels = {ZONE: f"z{i % 3}", HOST: name, **({"disk": draw.choice(["ssd", "hdd"])} if draw.chance(0.5) else {})}
        cpu = f"{draw.randint(8, 40) * 100 + draw.randint(0, 99)}m" if draw.chance(0.6) else draw.choice(["1", "2"])
        memory = f"{draw.randint(1000, 9000)}Mi" if draw.chance(0.6) else "4Gi"
        pods = str(draw.randint(1, 3)) if self.tight else "110"
        taints = [
            {"key": f"t{each}", "value": "v", "effect": effect}
            for each, effect in enumerate(["PreferNoSchedule", "PreferNoSchedule", "NoSchedule"])
            if draw.chance(0.1 if effect == "NoSchedule" else 0.35)
        ]
        amounts = {"cpu": cpu, "memory": memory, "pods": pods}
        status: Json = {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        }
        if self.images and draw.chance(0.4):
            status["images"] = [{"names": [IMAGES[1]], "sizeBytes": draw.randint(30, 900) * 1_000_000}]
        metadata = {"name": name, "labels": labels}
        node: Json = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": taints}}
        self.nodes[name] = node | {"status": status}
        return self.nodes[name]

    def _pod(self, spec: Json, labels: Json, namespace: str) -> Json:
        name = f"p{self.made_pods}"
        self.made_pods += 1
        metadata = {"name": name, "namespace": namespace, "uid": f"u-{name}", "labels": labels}
        self.pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        return self.pods[-1]

    def _spec(self, cpu: str, **more: object) -> Json:
        requests = {"cpu": cpu, "memory": self.draw.choice(["64Mi", "256Mi"])}
        container = {"name": "c", "image": self.draw.choice(IMAGES), "resources": {"requests": requests}}
        spec: Json = {"schedulerName": self.draw.choice(self.profiles), "priority": 0, "containers": [container]}
        return spec | more

    def _placed(self) -> Iterator[Json]:
        """Pods on nodes, whose affinity concerns the pods that come."""
        draw = self.draw
        term: Json = {
            "labelSelector": {"matchLabels": {"app": draw.choice("ab")}},
            "topologyKey": draw.choice([ZONE, HOST]),
        }
        if draw.chance(0.5):
            term["namespaces"] = [draw.choice(NAMESPACES)]
        kind = draw.choice(["podAffinity", "podAntiAffinity"])
        weighed = {"weight": draw.choice([1, 50, 100]), "podAffinityTerm": term}
        terms: Json = {"preferredDuringSchedulingIgnoredDuringExecution": [weighed]}
        if draw.chance(0.3):
            kind, terms = "podAntiAffinity", {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec = self._spec("50m", affinity={kind: terms}, nodeName=draw.choice(list(self.nodes)))
        yield self._pod(spec, {"app": "placed"}, draw.choice(NAMESPACES))
        self.pods.pop()

    def _claim(self, namespace: str) -> Iterator[Json]:
        """A claim of one name in each namespace, bound to a volume of one zone."""
        volume = f"v-{namespace}"
        zones = [{"key": ZONE, "operator": "In", "values": self.draw.choice([["z0"], ["z1"], ["z0", "z2"]])}]
        affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": zones}]}}
        storage = {"storage": "1Gi"}
        common: Json = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
        yield {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}} | {
            "spec": common
            | {"capacity": storage, "hostPath": {"path": "/x"}, "nodeAffinity": affinity}
            | {
                "claimRef": {
                    "kind": "PersistentVolumeClaim",
                    "namespace": namespace,
                    "name": "data",
                    "uid": f"c-{namespace}",
                }
            },
            "status": {"phase": "Bound"},
        }
        annotations = {"pv.kubernetes.io/bind-completed": "yes"}
        yield {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": namespace, "uid": f"c-{namespace}", "annotations": annotations},
            "spec": common | {"volumeName": volume, "resources": {"requests": storage}},
            "status": {"phase": "Bound", "capacity": storage},
        }

    def _row(self, *, claims: bool) -> Iterator[Json]:
        """Equal pods one after another, now and then one that differs."""
        draw = self.draw
        more: Json = {}
        if draw.chance(0.4):
            more["tolerations"] = [
                {"key": "t0", "operator": "Exists"},
                *([{"operator": "Exists"}] if draw.chance(0.3) else []),
            ]
        if draw.chance(0.35):
            disk = {
                "matchExpressions": [
                    {"key": "disk", "operator": "In", "values": draw.choice([["ssd"], ["hdd", "ssd"]])}
                ]
            }
            zone = {"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["z1"]}]}
            preferred = [{"weight": draw.choice([1, 30]), "preference": disk}, {"weight": 10, "preference": zone}]
            node: Json = {"preferredDuringSchedulingIgnoredDuringExecution": preferred[: draw.randint(1, 2)]}
            if draw.chance(0.2):
                node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [disk]}
            more["affinity"] = {"nodeAffinity": node}
        if draw.chance(0.08):
            matched = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": HOST}
            more.setdefault("affinity", {})["podAntiAffinity"] = {
                "requiredDuringSchedulingIgnoredDuringExecution": [matched]
            }
        if draw.chance(0.08):
            constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
            more["topologySpreadConstraints"] = [constraint | {"labelSelector": {"matchLabels": {"app": "a"}}}]
        if claims and draw.chance(0.6):
            more["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        spec = self._spec(draw.choice(AMOUNTS), **more)
        if draw.chance(0.3):
            spec["containers"][0]["ports"] = [{"hostPort": 8080, "containerPort": 8080, "protocol": "TCP"}]
        labels, namespace = draw.choice(LABELS), draw.choice(NAMESPACES)
        mixed = draw.chance(0.25)
        for _ in range(draw.randint(2, 8)):
            here = draw.choice(NAMESPACES) if mixed else namespace
            yield {"create": self._pod(spec, labels, here)}
            if draw.chance(0.08):
                other = self._spec(draw.choice(AMOUNTS), priority=draw.choice([0, 0, 100]))
                yield {"create": self._pod(other, draw.choice(LABELS), draw.choice(NAMESPACES))}
            if draw.chance(0.1):
                yield {"settle": True}
            if draw.chance(0.05):
                yield from self._event()

    def _daemons(self) -> Iterator[Json]:
        """Pods of a DaemonSet, one for each node, now and then another pod between them or a second one for a node."""
        draw = self.draw
        spec, labels = self._spec(draw.choice(AMOUNTS)), draw.choice(LABELS)
        for name in draw.sample(list(self.nodes), len(self.nodes)):
            fields = [{"key": "metadata.name", "operator": "In", "values": [name]}]
            required = {"nodeSelectorTerms": [{"matchFields": fields}]}
            affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
            for _ in range(draw.choice([1, 1, 1, 2])):
                made = self._pod({**spec, "affinity": affinity}, labels, "default")
                owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": True}
                yield {"create": {**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}}}
            if draw.chance(0.3):
                yield {"create": self._pod(self._spec(draw.choice(AMOUNTS)), draw.choice(LABELS), "default")}

    def _event(self) -> Iterator[Json]:
        draw = self.draw
        what = draw.choices(
            ["settle", "advance", "node", "gone", "changed", "pod", "preemptor"], [5, 2, 2, 1, 2, 3, 2]
        )[0]
        if what == "settle":
            yield {"settle": True}
        elif what == "advance":
            yield {"advance": draw.choice([1, 1, 20])}
        elif what == "node" and not self.images:
            yield {"create": self._node()}
        elif what == "gone" and len(self.nodes) > 1 and not self.images:
            name = draw.choice(list(self.nodes))
            del self.nodes[name]
            yield {"delete": {"kind": "Node", "name": name}}
        elif what == "changed":
            yield {"update": self._changed(draw.choice(list(self.nodes)))}
        elif what == "preemptor":
            yield {"settle": True}
            yield {"create": self._pod(self._spec("1", priority=1000), {"app": "high"}, "default")}
            if draw.chance(0.6):
                yield {"settle": True}
        elif what == "pod" and self.pods:
            for _ in range(min(draw.randint(1, 2), len(self.pods))):
                metadata = self.pods.pop(draw.randrange(len(self.pods)))["metadata"]
                yield {"delete": {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"]}}

    def _changed(self, name: str) -> Json:
        draw, node = self.draw, copy.deepcopy(self.nodes[name])
        what = draw.choice(["taints", "unschedulable", "labels", "room"])
        if what == "taints":
            node["spec"]["taints"] = [{"key": "t0", "value": "v", "effect": "PreferNoSchedule"}] * draw.randint(0, 1)
        elif what == "unschedulable":
            node["spec"]["unschedulable"] = draw.chance(0.6)
        elif what == "labels":
            node["metadata"]["labels"]["disk"] = draw.choice(["ssd", "hdd"])
        else:
            node["status"]["allocatable"] = node["status"]["allocatable"] | {"pods": str(draw.randint(1, 4))}
        self.nodes[name] = node
        return node


if __name__ == "__main__":
    for case in cases(*map(int, sys.argv[1:3])):
        print(json.dumps(case))
