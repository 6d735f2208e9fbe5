"""Random autoscalers for `conformance/oracle/cmd/autoscale`; with its answers they make autoscaling.jsonl.gz.

python tests/unit/controllers/record_autoscaling.py SEED COUNT > cases; autoscale < cases > answers;
paste -d '\\n' cases answers | gzip -9 > tests/unit/controllers/autoscaling.jsonl.gz
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

Json = dict[str, Any]

RESOURCES = {
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
    "ReplicaSet": "replicasets.apps",
    "ReplicationController": "replicationcontrollers",
}
VERSIONS = ["apps/v1", "apps/v1beta1", "v1", "extensions/v1beta1", "", "apps"]


def case(draw: random.Random) -> Json:
    kind = draw.choice(list(RESOURCES))
    own = "v1" if kind == "ReplicationController" else "apps/v1"
    target = {
        "apiVersion": own if draw.random() < 0.7 else draw.choice(VERSIONS),
        "kind": kind if draw.random() < 0.9 else draw.choice(list(RESOURCES)),
        "name": "web" if draw.random() < 0.95 else "other",
    }
    most = draw.randint(1, 9)
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
    }
    spec: Json = {"scaleTargetRef": target, "maxReplicas": most, "metrics": [metric]}
    if draw.random() < 0.7:
        spec["minReplicas"] = draw.randint(0, most)
    autoscaler = {"metadata": {"name": "scaler", "namespace": "ns"}, "spec": spec}
    return {"autoscaler": autoscaler, "kind": kind, "resource": RESOURCES[kind], "replicas": draw.randint(0, 12)}


def main(seed: int, count: int) -> None:
    draw = random.Random(seed)
    for _ in range(count):
        print(json.dumps(case(draw)))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
