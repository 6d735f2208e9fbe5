"""Random cases for `conformance/oracle/cmd/controllers`; with its answers they make recorded.jsonl.gz.

python tests/unit/controllers/record.py SEED COUNT > cases; controllers < cases > answers;
paste -d '\n' cases answers | gzip -9 > tests/unit/controllers/recorded.jsonl.gz
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

RESOURCES = ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu", "kubernetes.io/odd"]
AMOUNTS = {
    "cpu": ["100m", "1", "0.5", "250m", "1500u", "2", "0", 1, 0.25],
    "memory": ["64Mi", "128Mi", "1Gi", "100M", "1500m", "0"],
    "hugepages-2Mi": ["2Mi", "4Mi", "6Mi"],
}
TAINTED = ["a", "b", *(f"node.kubernetes.io/{name}" for name in ("not-ready", "disk-pressure", "unschedulable"))]


class Cases:
    """Draws cases of all kinds."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def maybe(self, chance: float, make: Callable[[], Any]) -> Any:
        return make() if self.random.random() < chance else None

    def one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def some(self, make: Callable[[], Any], least: int, most: int) -> list[Any]:
        return [make() for _ in range(self.random.randint(least, most))]

    def amounts(self, names: list[str] = RESOURCES) -> Json:
        chosen = [name for name in names if self.random.random() < (0.5 if name in ("cpu", "memory") else 0.25)]
        return {name: self.one(*AMOUNTS.get(name, ["1", "2"])) for name in chosen}

    def requirements(self, names: list[str] = RESOURCES) -> Json:
        return without_none(
            requests=self.maybe(0.6, lambda: self.amounts(names)), limits=self.maybe(0.6, lambda: self.amounts(names))
        )

    def port(self) -> Json:
        return without_none(
            containerPort=self.random.randint(1, 5) * 100,
            hostPort=self.maybe(0.3, lambda: self.one(0, 8080)),
            protocol=self.maybe(0.5, lambda: self.one("TCP", "UDP")),
        )

    def container(self, name: str, restart_policy: str | None = None) -> Json:
        return without_none(
            name=name,
            image="x",
            resources=self.maybe(0.8, self.requirements),
            restartPolicy=restart_policy,
            ports=self.maybe(0.4, lambda: self.some(self.port, 1, 2)),
        )

    def toleration(self) -> Json:
        key = self.one("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "a", "b", "")
        operator = self.one("Exists", "Equal", "", None) if key else "Exists"
        return without_none(
            key=key or None,
            operator=operator,
            value=self.maybe(0.5, lambda: self.one("", "x")) if operator != "Exists" else None,
            effect=self.maybe(0.7, lambda: self.one("NoSchedule", "NoExecute", "PreferNoSchedule", "")),
            tolerationSeconds=self.maybe(0.2, lambda: self.one(10, 300, 600)),
        )

    def labels(self) -> Json:
        every = {"app": self.one("web", "db"), "tier": "1", "pod-template-hash": "abc"}
        return {key: value for key, value in every.items() if self.random.random() < 0.6}

    def selector(self) -> Json | None:
        app = {"key": "app", "operator": "In", "values": [self.one("web", "db")]}
        return self.maybe(
            0.8,
            lambda: without_none(
                matchLabels=self.maybe(0.6, self.labels), matchExpressions=self.maybe(0.4, lambda: [app])
            ),
        )

    def keys(self) -> list[str] | None:
        every = ["app", "tier", "pod-template-hash", "absent"]
        return self.maybe(0.5, lambda: self.random.sample(every, self.random.randint(0, 3)))

    def pod_term(self) -> Json:
        return without_none(
            labelSelector=self.selector(),
            topologyKey="zone",
            matchLabelKeys=self.keys(),
            mismatchLabelKeys=self.keys(),
            namespaces=self.maybe(0.2, lambda: ["x"]),
        )

    def pod_affinity(self) -> Json:
        return without_none(
            requiredDuringSchedulingIgnoredDuringExecution=self.maybe(0.6, lambda: self.some(self.pod_term, 1, 2)),
            preferredDuringSchedulingIgnoredDuringExecution=self.maybe(
                0.4, lambda: [{"weight": 3, "podAffinityTerm": self.pod_term()}]
            ),
        )

    def node_requirement(self) -> Json:
        operator = self.one("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
        values = {"In": ["a", "ssd"], "NotIn": ["a"], "Gt": ["3"], "Lt": ["5"]}.get(operator)
        return without_none(key=self.one("zone", "disk", "num"), operator=operator, values=values)

    def node_term(self) -> Json:
        field = {"key": "metadata.name", "operator": self.one("In", "NotIn"), "values": [self.one("n1", "n2")]}
        return without_none(
            matchExpressions=self.maybe(0.8, lambda: self.some(self.node_requirement, 0, 2)),
            matchFields=self.maybe(0.15, lambda: [field]),
        )

    def node_affinity(self) -> Json:
        return without_none(
            requiredDuringSchedulingIgnoredDuringExecution=self.maybe(
                0.7, lambda: {"nodeSelectorTerms": self.some(self.node_term, 1, 2)}
            ),
            preferredDuringSchedulingIgnoredDuringExecution=self.maybe(
                0.3, lambda: [{"weight": 2, "preference": self.node_term()}]
            ),
        )

    def affinity(self) -> Json:
        return without_none(
            nodeAffinity=self.maybe(0.5, self.node_affinity),
            podAffinity=self.maybe(0.5, self.pod_affinity),
            podAntiAffinity=self.maybe(0.5, self.pod_affinity),
        )

    def constraint(self) -> Json:
        return without_none(
            maxSkew=1,
            topologyKey="zone",
            whenUnsatisfiable="DoNotSchedule",
            labelSelector=self.selector(),
            matchLabelKeys=self.keys(),
        )

    def spec(self) -> Json:
        pod_level = ["cpu", "memory", "hugepages-2Mi"]
        init = [self.container(f"i{i}", self.maybe(0.4, lambda: "Always")) for i in range(self.random.randint(1, 2))]
        return without_none(
            containers=[self.container(f"c{i}") for i in range(self.random.randint(1, 3))],
            initContainers=self.maybe(0.4, lambda: init),
            hostNetwork=self.maybe(0.3, lambda: self.one(True, True, False)),
            nodeSelector=self.maybe(0.3, lambda: {"disk": self.one("ssd", "hdd")}),
            tolerations=self.maybe(0.5, lambda: self.some(self.toleration, 0, 3)),
            affinity=self.maybe(0.5, self.affinity),
            topologySpreadConstraints=self.maybe(0.5, lambda: self.some(self.constraint, 1, 2)),
            resources=self.maybe(0.4, lambda: self.requirements(pod_level)),
            restartPolicy=self.maybe(0.3, lambda: self.one("Always", "Never")),
            schedulerName=self.maybe(0.2, lambda: "other"),
        )

    def limit(self) -> Json:
        return without_none(
            type=self.one("Container", "Container", "Pod"),
            default=self.maybe(0.5, self.amounts),
            defaultRequest=self.maybe(0.5, self.amounts),
            max=self.maybe(0.3, self.amounts),
            min=self.maybe(0.3, self.amounts),
        )

    def priority_class(self, name: str, value: int) -> Json:
        return without_none(
            metadata={"name": name},
            value=value,
            globalDefault=self.maybe(0.25, lambda: True),
            preemptionPolicy=self.maybe(0.3, lambda: "Never"),
        )

    def runtime_class(self) -> Json:
        selector = {"runtime": "kata", **self.one({}, {"disk": "ssd"})}
        scheduling = without_none(
            nodeSelector=self.maybe(0.7, lambda: selector),
            tolerations=self.maybe(0.7, lambda: self.some(self.toleration, 1, 3)),
        )
        fixed = {"cpu": "250m", **self.one({}, {"memory": "64Mi"})}
        return without_none(
            metadata={"name": "kata"},
            handler="kata",
            overhead=self.maybe(0.7, lambda: {"podFixed": fixed}),
            scheduling=self.maybe(0.7, lambda: scheduling),
        )

    def admit(self) -> Json:
        spec = self.spec() | without_none(
            priorityClassName=self.maybe(0.4, lambda: self.one("high", "low", "system-node-critical", "gone")),
            priority=self.maybe(0.1, lambda: self.one(0, 1000)),
            preemptionPolicy=self.maybe(0.1, lambda: self.one("Never", "PreemptLowerPriority")),
            runtimeClassName=self.maybe(0.4, lambda: self.one("kata", "plain", "gone")),
            overhead=self.maybe(0.1, lambda: {"cpu": self.one("250m", "0.25", "1")}),
        )
        metadata = {"name": "p", "namespace": "ns", "labels": self.labels()}
        limits = {"metadata": {"name": "l", "namespace": "ns"}, "spec": {"limits": self.some(self.limit, 1, 2)}}
        critical = {"metadata": {"name": "system-node-critical"}, "value": 2_000_001_000}
        return {
            "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec},
            "limitRanges": self.one([], [limits]),
            "priorityClasses": [self.priority_class("high", 1000), self.priority_class("low", -5), critical],
            "runtimeClasses": [self.runtime_class(), {"metadata": {"name": "plain"}, "handler": "runc"}],
        }

    def node(self, name: str) -> Json:
        labels = without_none(
            zone=self.maybe(0.7, lambda: self.one("a", "b")),
            disk=self.maybe(0.8, lambda: self.one("ssd", "hdd")),
            num=self.maybe(0.6, lambda: self.one("1", "4", "9", "x")),
        )
        return {"metadata": {"name": name, "labels": labels}, "spec": {"taints": self.some(self.taint, 0, 2)}}

    def taint(self) -> Json:
        return without_none(
            key=self.one(*TAINTED, "node.kubernetes.io/network-unavailable"),
            value=self.maybe(0.4, lambda: "x"),
            effect=self.one("NoSchedule", "NoExecute", "PreferNoSchedule"),
        )

    def daemon(self) -> Json:
        spec = self.spec() | without_none(nodeName=self.maybe(0.15, lambda: self.one("n1", "n2")))
        template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
        daemon_set = {
            "metadata": {"name": "d", "namespace": "ns"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template},
        }
        return {"daemonSet": daemon_set, "nodes": [self.node(f"n{i}") for i in range(5)]}

    def time(self) -> str:
        day, hour = self.random.randint(1, 28), self.random.randint(0, 23)
        return f"2026-0{self.random.randint(1, 3)}-{day:02}T{hour:02}:00:{self.one('00', '30')}Z"

    def removable(self, name: str) -> Json:
        ready = without_none(
            type="Ready", status=self.one("True", "True", "False"), lastTransitionTime=self.maybe(0.85, self.time)
        )
        cost = self.one("1", "-5", "+3", "08", "0", "x", "99999999999", "-07")
        metadata = without_none(
            name=name,
            namespace="ns",
            uid=f"u{self.random.randint(0, 99)}",
            creationTimestamp=self.maybe(0.85, self.time),
            annotations=self.maybe(0.3, lambda: {"controller.kubernetes.io/pod-deletion-cost": cost}),
        )
        spec = without_none(
            nodeName=self.maybe(0.8, lambda: self.one("n1", "n2")),
            containers=[{"name": "c"}],
            initContainers=self.maybe(0.3, lambda: [{"name": "s", "restartPolicy": "Always"}, {"name": "i"}]),
        )
        restarts = [{"name": "s", "restartCount": self.random.randint(0, 2)}, {"name": "i", "restartCount": 5}]
        status = without_none(
            phase=self.one("Pending", "Running", "Running", "Running", "Unknown", ""),
            conditions=self.maybe(0.8, lambda: [ready]),
            containerStatuses=self.maybe(0.4, lambda: [{"name": "c", "restartCount": self.random.randint(0, 2)}]),
            initContainerStatuses=self.maybe(0.3, lambda: restarts),
        )
        return {"metadata": metadata, "spec": spec, "status": status}

    def remove(self) -> Json:
        pods = [self.removable(f"p{i}") for i in range(self.random.randint(2, 6))]
        nodes = [pod["spec"].get("nodeName", "") for pod in pods]
        return {"pods": pods, "ranks": [nodes.count(node) for node in nodes], "now": "2026-04-01T00:00:00Z"}


def without_none(**items: Any) -> Json:
    return {name: value for name, value in items.items() if value is not None}


def main(seed: int, count: int) -> None:
    cases = Cases(seed)
    kinds = (cases.admit, cases.admit, cases.daemon, cases.remove)
    for i in range(count):
        make = kinds[i % len(kinds)]
        print(json.dumps({make.__name__: make()}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
