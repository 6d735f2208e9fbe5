"""Where requests to Services go, asked of Kubernetes' own packages and of ours, on random Services.

(cd conformance/endpoints && go build -o ../../build/endpoints .)
python -m conformance.traffic --binary build/endpoints --count 2000

The program has the EndpointSlice controller's hints (k8s.io/endpointslice) and kube-proxy's choice of endpoints
(k8s.io/kubernetes/pkg/proxy), of 1.37. Hints by the topology annotation are drawn where zones are equal: there the
number of endpoints for each zone is compared, and what of each zone's requests leaves it.
The first difference is shown, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from topospread.api.node import Node
from topospread.api.well_known_labels import ZONE
from topospread.api.workload import Service
from topospread.traffic.hints import Endpoint, Hinted, TrafficRules, hinted
from topospread.traffic.traffic import chosen

Json = dict[str, Any]
Chosen = Mapping[str, Sequence[str]]
"""Node → the pods that its requests may reach."""


def main() -> int:
    """Compare; 1 where an answer differs."""
    given = _arguments()
    drawn = random.Random(given.seed)
    print(f"seed {given.seed}")
    cases = [case(drawn) for _ in range(given.count)]
    done = subprocess.run(
        [given.binary], input="\n".join(map(json.dumps, cases)), capture_output=True, text=True, check=True
    )
    kinds: Counter[str] = Counter()
    for each, line in zip(cases, done.stdout.splitlines(), strict=True):
        theirs = json.loads(line)
        found, ours = _ours(each)
        if not _same(each, found, ours, theirs):
            print(json.dumps(each), "\ntheirs", line, "\nours", found, ours)
            return 1
        kinds[("hinted " if any(theirs["zones"]) else "without hints ") + (found.policy or "Cluster")] += 1
    print(f"{len(cases)} Services agree: {dict(sorted(kinds.items()))}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="where requests go, beside Kubernetes' own packages")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", random.randrange(10**6))))
    return parser.parse_args()


def case(drawn: random.Random) -> Json:
    """A Service, nodes, and its endpoints on them."""
    zones = ["a", "b", "c", "d"][: drawn.randint(1, 4)]
    nodes = [_node(drawn, f"n{number}", zones) for number in range(drawn.randint(1, 7))]
    endpoints = []
    for number in range(drawn.choice([1, 2, 3, 4, 6, 9, 15, 30])):
        node = drawn.choice(nodes)
        zone = node["metadata"]["labels"].get(ZONE, "")
        ready = drawn.random() < 0.9
        endpoints.append({"pod": f"p{number}", "node": node["metadata"]["name"], "zone": zone, "ready": ready})
    spec: Json = {"internalTrafficPolicy": "Local" if drawn.random() < 0.15 else "Cluster"}
    wanted = drawn.choice(["", "PreferClose", "PreferSameZone", "PreferSameNode"])
    spec |= {"trafficDistribution": wanted} if wanted else {}
    key = drawn.choice(["topology-mode", "topology-aware-hints"])
    annotations = {f"service.kubernetes.io/{key}": drawn.choice(["Auto", "auto", "Disabled"])}
    metadata = {"name": "s", "annotations": annotations if drawn.random() < 0.5 else {}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
    return {"service": service, "nodes": nodes, "endpoints": endpoints}


def _node(drawn: random.Random, name: str, zones: Sequence[str]) -> Json:
    labels = {ZONE: drawn.choice(zones)} if drawn.random() < 0.97 else {}
    if drawn.random() < 0.05:
        labels["node-role.kubernetes.io/control-plane"] = ""
    status = {
        "allocatable": {"cpu": drawn.choice(["1", "2", "3500m", "16"])},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def _ours(each: Json) -> tuple[Hinted, Chosen]:
    service, nodes = msgspec.convert(each["service"], Service), msgspec.convert(each["nodes"], list[Node])
    endpoints = [Endpoint(one["pod"], one["node"], one["zone"], one["ready"]) for one in each["endpoints"]]
    found = hinted(service, endpoints, nodes, TrafficRules())
    local = service.spec.internal_traffic_policy == "Local"
    reached = {
        node.name: [
            one.pod for one in chosen(found.endpoints, node.name, node.labels.get(ZONE, ""), local=local, by_node=True)
        ]
        for node in nodes
    }
    return found, reached


def _same(each: Json, found: Hinted, ours: Chosen, theirs: Json) -> bool:
    zones, nodes = [one.for_zone for one in found.endpoints], [one.for_node for one in found.endpoints]
    if zones == theirs["zones"] and nodes == theirs["nodes"]:
        return all(ours[node] == pods for node, pods in theirs["chosen"].items())
    if found.policy != "Auto":
        return False
    return _figures(each, zones, ours) == _figures(each, theirs["zones"], theirs["chosen"])


def _figures(each: Json, zones: Sequence[str], reached: Chosen) -> object:
    """How many endpoints zones have, and how many of those that each zone asks are elsewhere, in no order."""
    zone_of = {one["pod"]: one["zone"] for one in each["endpoints"]}
    asked: dict[str, list[str]] = {}
    for node in each["nodes"]:
        asked.setdefault(node["metadata"]["labels"].get(ZONE, ""), list(reached[node["metadata"]["name"]]))
    crossing = ((sum(zone_of[pod] != zone for pod in pods), len(pods)) for zone, pods in asked.items())
    return sorted(Counter(zones).values()), sorted(crossing)


if __name__ == "__main__":
    sys.exit(main())
