"""Random cases for preemption by and of pod groups; ``python -m conformance.generators.groups SEED COUNT`` prints them.

Nodes are full of less important pods, alone or in groups of both disruption modes, under disruption budgets. Then more
important groups come, and now and then a pod alone. A third argument, ``volumes`` or ``devices``, gives
most pods such needs; with ``policies`` groups have preemption policies; ``alone`` makes the more important pods come
alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from conformance.generators.draw import HOST, ZONE, Draw, Json
from conformance.generators.group_devices import GroupDevices, SharedDevices
from conformance.generators.group_gates import GroupGates
from conformance.generators.group_volumes import GroupVolumes, WaitingVolumes

GATES = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}

_NEEDS: dict[str, type[GroupDevices] | type[GroupGates] | type[GroupVolumes]] = {
    "devices": GroupDevices,
    "gates": GroupGates,
    "shared": SharedDevices,
    "volumes": GroupVolumes,
    "waiting": WaitingVolumes,
}


def cases(seed: int, count: int, needs: str = "") -> Iterator[Json]:
    """``count`` cases; the i-th depends on the seed, what the pods need, and i alone."""
    name = f"groups-{needs}" if needs else "groups"
    for i in range(count):
        yield _Case(Draw(f"{seed}/{name}/{i}"), needs).made(f"{name}-{seed}-{i:05d}")


class _Case:
    def __init__(self, draw: Draw, needs: str) -> None:
        self.draw = draw
        self.needs = needs
        self.steps: list[Json] = []
        self.placed = 0

    def made(self, name: str) -> Json:
        draw = self.draw
        objects: list[Json] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}]
        self.nodes = [f"n{i}" for i in range(draw.randint(2, 6))]
        nodes = [self._node(each, i) for i, each in enumerate(self.nodes)]
        objects += nodes
        self.extras = _NEEDS[self.needs](draw, nodes) if self.needs in _NEEDS else None
        groups = draw.choice([0, 1, 1, 2])
        for at in range(groups):
            objects.append(self._group(f"low{at}", draw.choice([0, 0, 10]), 1))
        for node in self.nodes:
            for _ in range(draw.choice([0, 1, 2, 2, 3])):
                objects.append(self._low(node, groups))
        if draw.chance(0.3):
            objects.append(self._budget())
        for at in range(draw.choice([1, 1, 2])):
            self._high(at)
        if draw.chance(0.3):
            solo = self._pod("solo", "solo", draw.choice(["1", "2"]), draw.choice([0, 50]))
            if self.extras is not None and draw.chance(0.5):
                self.extras.give([solo])
            self.steps.append({"create": solo})
        if self.extras is not None:
            objects += self.extras.objects
            self.steps += [{"settle": True}, *self.extras.later()]
        gates = GATES | self.extras.gates if isinstance(self.extras, GroupDevices) else GATES
        if self.needs == "policies":
            gates = GATES | {"CompositePodGroup": draw.chance(0.5), "PodGroupPreemptionPolicy": draw.chance(0.7)}
        return {"id": name, "featureGates": gates, "objects": objects, "steps": [*self.steps, {"settle": True}]}

    def _node(self, name: str, at: int) -> Json:
        amounts = {"cpu": self.draw.choice(["2", "3", "4"]), "memory": "8Gi", "pods": self.draw.choice(["110", "4"])}
        labels = {ZONE: f"z{at % 3}", HOST: name, "rack": f"r{at % 2}"}
        status: Json = {"allocatable": amounts, "capacity": amounts}
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}

    def _group(self, name: str, priority: int, minimum: int) -> Json:
        draw = self.draw
        policy: Json = {"basic": {}} if draw.chance(0.3) else {"gang": {"minCount": minimum}}
        spec: Json = {"priority": priority, "schedulingPolicy": policy}
        if draw.chance(0.5):
            spec["disruptionMode"] = draw.choice([{"all": {}}, {"all": {}}, {"single": {}}])
        if name.startswith("high") and draw.chance(0.25):
            topology = [{"key": draw.choice(["rack", ZONE])}]
            spec["schedulingConstraints"] = {"topology": topology}
        metadata = {"name": name, "namespace": "default", "uid": f"u-{name}"}
        version = "scheduling.k8s.io/v1beta1"
        return {"apiVersion": version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def _pod(self, name: str, app: str, cpu: str, priority: int, **spec: object) -> Json:
        metadata = {"name": name, "namespace": "default", "uid": f"u-{name}", "labels": {"app": app}}
        container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}
        whole = {"schedulerName": "default-scheduler", "priority": priority, "containers": [container]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": whole | spec}

    def _low(self, node: str, groups: int) -> Json:
        draw, name = self.draw, f"l{self.placed}"
        self.placed += 1
        more: Json = {"nodeName": node}
        priority = draw.choice([0, 0, 10, 20])
        if groups and draw.chance(0.5):
            more["schedulingGroup"] = {"podGroupName": f"low{draw.randrange(groups)}"}
            priority = 0
        if draw.chance(0.12):
            term = {"labelSelector": {"matchLabels": {"app": "high0"}}, "topologyKey": draw.choice([HOST, ZONE])}
            more["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        made = self._pod(name, draw.choice(["a", "b"]), draw.choice(["500m", "1", "1"]), priority, **more)
        if self.extras is not None and draw.chance(0.4):
            self.extras.give_placed(made)
        if draw.chance(0.6):
            second = draw.randint(0, 59)
            made["status"] = {"phase": "Running", "startTime": f"1999-12-31T23:00:{second:02}Z"}
        return made

    def _budget(self) -> Json:
        spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": self.draw.choice(["a", "b"])}}}
        status = {"disruptionsAllowed": self.draw.choice([0, 0, 1, 2])}
        metadata = {"name": "budget", "namespace": "default"}
        return {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": metadata,
            "spec": spec,
            "status": status,
        }

    def _high(self, at: int) -> None:
        draw, name = self.draw, f"high{at}"
        count, priority = draw.randint(2, 4), draw.choice([15, 100, 100])
        more: Json = {}
        if self.needs != "alone":
            group = self._group(name, priority, max(1, count - draw.choice([0, 0, 0, 1])))
            self.steps.append({"create": group})
            more["schedulingGroup"] = {"podGroupName": name}
        if draw.chance(0.3 if self.needs == "policies" else 0.1):
            more["preemptionPolicy"] = "Never"
        if self.needs == "policies" and draw.chance(0.8):
            group["spec"]["preemptionPolicy"] = more.get("preemptionPolicy", "PreemptLowerPriority")
        if draw.chance(0.3):
            constraint: Json = {"maxSkew": 1, "topologyKey": draw.choice([ZONE, HOST])}
            constraint["whenUnsatisfiable"] = draw.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])
            more["topologySpreadConstraints"] = [constraint | {"labelSelector": {"matchLabels": {"app": name}}}]
        if draw.chance(0.15):
            term = {"labelSelector": {"matchLabels": {"app": name}}, "topologyKey": HOST}
            more["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        cpu = draw.choice(["500m", "1", "1", "2"])
        pods = [self._pod(f"{name}-{each}", name, cpu, priority, **more) for each in range(count)]
        if self.extras is not None:
            self.extras.give(pods)
            if isinstance(self.extras, GroupDevices) and self.extras.of_group:
                group["spec"]["resourceClaims"] = self.extras.of_group
                group["status"] = {"resourceClaimStatuses": self.extras.made}
        self.steps += [{"create": each} for each in pods]
        if draw.chance(0.4):
            self.steps.append({"settle": True})


if __name__ == "__main__":
    for case in cases(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]):
        print(json.dumps(case))
