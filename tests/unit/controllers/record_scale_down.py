"""Random scale-downs for `conformance/oracle/cmd/scaledown`; with its answers they make scale_down.jsonl.gz.

python tests/unit/controllers/record_scale_down.py SEED COUNT > cases; scaledown < cases > answers;
paste -d '\\n' cases answers | gzip -9 > tests/unit/controllers/scale_down.jsonl.gz
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]

NODES = ["n1", "n2", "n3"]
OWNERS = [("Deployment", "d1"), ("Rollout", "d2")]


class ScaleDowns:
    """Draws ReplicaSets and ReplicationControllers, owned or not, with more pods than they want.

    Ages of one controller's pods differ by so much that their logarithms do whatever the seconds until they are judged.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = datetime.now(UTC).replace(microsecond=0)

    def case(self) -> Json:
        sets = [self.controller("ReplicaSet", f"rs{i}") for i in range(self.random.randint(1, 3))]
        controllers = [self.controller("ReplicationController", f"rc{i}") for i in range(self.random.randint(0, 2))]
        pods: list[Json] = []
        surplus = 0
        # Of several at once, what the first deletes would count for the second or not, as it happens.
        scaled = self.random.choice([*sets, *controllers])
        for each in (*sets, *controllers):
            own = self.pods_of(each)
            active = sum(pod["status"]["phase"] == "Running" for pod in own)
            each["spec"]["replicas"] = self.random.randint(1, max(active - 1, 1)) if each is scaled else active
            surplus += max(active - each["spec"]["replicas"], 0)
            pods += own
        pods += [self.stranger(self.random.choice(sets), i) for i in range(self.random.randint(0, 2))]
        return {
            "replicaSets": sets,
            "replicationControllers": controllers,
            "pods": pods,
            "surplus": surplus,
            "now": self.text(timedelta()),
        }

    def controller(self, kind: str, name: str) -> Json:
        owner = self.random.choice([None, *OWNERS, *OWNERS])
        labels = {"app": owner[1] if owner else name, "of": name}
        metadata: Json = {"name": name, "namespace": "ns", "uid": f"u-{name}"}
        if owner is not None:
            metadata["ownerReferences"] = [reference("apps/v1", *owner)]
        # One of an owner's may select the pods of the others, too.
        wanted = labels if self.random.random() < 0.7 or not owner else {"app": owner[1]}
        selector: Json = wanted if kind == "ReplicationController" else {"matchLabels": wanted}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        version = "v1" if kind == "ReplicationController" else "apps/v1"
        return {
            "apiVersion": version,
            "kind": kind,
            "metadata": metadata,
            "spec": {"selector": selector, "template": template},
        }

    def pods_of(self, controller: Json) -> list[Json]:
        name, labels = controller["metadata"]["name"], controller["spec"]["template"]["metadata"]["labels"]
        ages = self.random.sample(range(8), self.random.randint(2, 6))
        owner = reference(controller["apiVersion"], controller["kind"], name)
        return [self.pod(f"{name}-{i}", labels, owner, age) for i, age in enumerate(ages)]

    def stranger(self, controller: Json, number: int) -> Json:
        """A pod that a ReplicaSet selects and somebody else owns."""
        labels = controller["spec"]["template"]["metadata"]["labels"]
        return self.pod(f"stranger-{number}", labels, reference("apps/v1", "StatefulSet", "other"), number)

    def pod(self, name: str, labels: Json, owner: Json, age: int) -> Json:
        since = self.text(timedelta(seconds=600 * 4**age))
        metadata: Json = {
            "name": name,
            "namespace": "ns",
            "uid": f"u-{name}",
            "labels": labels,
            "creationTimestamp": since,
            "ownerReferences": [owner],
        }
        if self.random.random() < 0.15:
            cost = self.random.choice(["-5", "7"])
            metadata["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
        spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": self.random.choice(NODES)}
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": since}
        phase = "Succeeded" if self.random.random() < 0.1 else "Running"
        status = {"phase": phase, "conditions": [ready]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}

    def text(self, before: timedelta) -> str:
        return (self.now - before).strftime("%Y-%m-%dT%H:%M:%SZ")


def reference(version: str, kind: str, name: str) -> Json:
    return {"apiVersion": version, "kind": kind, "name": name, "uid": f"u-{name}", "controller": True}


def main(seed: int, count: int) -> None:
    scale_downs = ScaleDowns(seed)
    for _ in range(count):
        print(json.dumps(scale_downs.case()))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
