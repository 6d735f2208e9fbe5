"""Cases for the whole scheduler with extenders, and the stub that answers them; ``python -m …extenders SEED COUNT``.

The stub answers by the pod's and the node's names alone, so that both judges get the same answers; what is asked of it
is in its URL.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]
MANAGED = "example.com/fpga"
_STATES = ("plain", "plain", "plain", "silent", "unresolvable", "both", "error", "down", "strange", "objects")


def _drawn(*words: object) -> int:
    return hashlib.sha256(repr(words).encode()).digest()[0]


class Stub(BaseHTTPRequestHandler):
    """``/STATE/SEED/filter`` and ``/STATE/SEED/prioritize``."""

    def do_POST(self) -> None:
        """Answer."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, state, seed, verb = self.path.split("/")
        pod = asked["Pod"]["metadata"]["name"]
        nodes = asked.get("Nodes")
        names = asked.get("NodeNames") or [each["metadata"]["name"] for each in (nodes or {}).get("items") or ()]
        if state == "down" and _drawn(seed, pod) < 128:
            self.send_error(503)
            return
        answer: Any
        if verb == "prioritize":
            answer = [{"Host": each, "Score": _drawn(seed, pod, each, "score") % 11} for each in names]
        else:
            left = [each for each in names if _drawn(seed, pod, each) < 150]
            said = {each: f"{state} says no" for each in names if each not in left}
            unresolvable = {each: "for good" for each in said if _drawn(seed, each) < 128}
            answer = {"FailedNodes": {} if state in ("silent", "unresolvable") else said}
            if state in ("unresolvable", "both"):
                answer["FailedAndUnresolvableNodes"] = unresolvable
            if nodes is not None:
                answer["nodes"] = {"items": [each for each in nodes["items"] if each["metadata"]["name"] in left]}
            else:
                answer["nodenames"] = [*left, "nowhere"] if state == "strange" else left
            if state == "error" and _drawn(seed, pod) < 128:
                answer = {"Error": f"no answer for {pod}"}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: object) -> None:
        """Stay silent."""


@contextmanager
def answering(port: int = 0, stub: type[Stub] = Stub) -> Iterator[str]:
    """Serve the stub; its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", port), stub)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def case(draw: random.Random, name: str, url: str) -> Json:
    """Draw nodes, pods and up to three extenders."""
    objects: list[Json] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}]
    for number in range(draw.randint(2, 6)):
        host, zone = f"n{number}", f"z{draw.randrange(3)}"
        size = {"cpu": str(draw.choice([2, 4])), "memory": "8Gi", "pods": str(draw.choice([3, 10])), MANAGED: "2"}
        node: Json = {"metadata": {"name": host, "labels": {"kubernetes.io/hostname": host, "zone": zone}}}
        node["status"] = {"allocatable": size, "capacity": size}
        node["status"]["images"] = [{"names": ["app"], "sizeBytes": 700 << 20}] if draw.random() < 0.3 else []
        node["spec"] = {"taints": [{"key": "soft", "effect": "PreferNoSchedule"}] if draw.random() < 0.2 else []}
        objects.append({"apiVersion": "v1", "kind": "Node", **node})
        for old in range(draw.randint(0, 2)):
            pod = _pod(draw, f"old-{number}-{old}", priority=0)
            pod["spec"]["nodeName"] = host
            objects.append(pod)
    extenders = []
    for number in range(draw.choice([1, 1, 1, 2, 3])):
        verbs = draw.choice([["filter"], ["prioritize"], ["filter", "prioritize"]])
        each: Json = {f"{verb}Verb": verb for verb in verbs}
        each["urlPrefix"] = f"{url}/{draw.choice(_STATES)}/{draw.randrange(1000)}{'/' * draw.randrange(2)}"
        each |= {"weight": draw.randint(1, 5), "nodeCacheCapable": draw.random() < 0.5, "httpTimeout": "60s"}
        each["ignorable"] = draw.random() < 0.4
        if draw.random() < 0.3:
            each["managedResources"] = [{"name": MANAGED, "ignoredByScheduler": number == 0 and draw.random() < 0.5}]
        extenders.append(each)
    if not any("managedResources" in each for each in extenders):
        del extenders[3:]
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    steps: list[Json] = []
    for number in range(draw.randint(1, 6)):
        steps.append({"create": _pod(draw, f"p{number}", draw.choice([0, 0, 0, 10]))})
        if draw.random() < 0.3:
            steps.append({"settle": True})
    return {"id": name, "config": {**config, "extenders": extenders}, "objects": objects, "steps": steps}


def _pod(draw: random.Random, name: str, priority: int) -> Json:
    requests = {"cpu": draw.choice(["250m", "500m", "1", "2"]), "memory": draw.choice(["64Mi", "1Gi"])}
    limits = {MANAGED: "1"} if draw.random() < 0.4 else {}
    container = {"name": "c", "image": "app", "resources": {"requests": requests | limits, "limits": limits}}
    spec: Json = {"containers": [container], "priority": priority, "schedulerName": "default-scheduler"}
    labels = {"app": draw.choice("ab")}
    spread = {"maxSkew": 1, "labelSelector": {"matchLabels": labels}}
    if draw.random() < 0.5:
        spec["topologySpreadConstraints"] = [
            {**spread, "topologyKey": key, "whenUnsatisfiable": draw.choice(["ScheduleAnyway", "DoNotSchedule"])}
            for key in draw.choice([["zone"], ["kubernetes.io/hostname"], ["zone", "kubernetes.io/hostname"]])
        ]
    meta = {"name": name, "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


if __name__ == "__main__":
    seed, count, port = map(int, sys.argv[1:4])
    drawing = random.Random(seed)
    for number in range(count):
        print(json.dumps(case(drawing, f"extenders-{seed}-{number}", f"http://127.0.0.1:{port}")))
