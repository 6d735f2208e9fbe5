"""Random histories: pods of a case tried one after another, and what happens to its cluster in between.

A case of any flavour becomes a sequence; what is put there later is made of what the case has. It decides nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

from conformance.generators.draw import APPS, HOST, ZONE, Draw, Json
from conformance.generators.nodes import TAINTS

if TYPE_CHECKING:
    from conformance.generators.pods import Pods

ZONES = ["z0", "z1", "z2", ""]
AT_ONCE = "2026-01-01T04:00:00Z"
FAILURES = ["reserve", "update", "provision", "bind"]
LISTED = {
    "persistentVolumes": "PersistentVolume",
    "persistentVolumeClaims": "PersistentVolumeClaim",
    "podDisruptionBudgets": "PodDisruptionBudget",
    "services": "Service",
}


def sequence(draw: Draw, pods: Pods, case: Json, length: int) -> None:
    """Turn a case's incoming pods into steps, with other events between them, ``length`` in all."""
    history = History(draw, pods, case)
    incoming = case.pop("incoming")
    events = [False] * len(incoming) + [True] * (length - len(incoming))
    draw.shuffle(events)
    waiting = iter(incoming)
    case["incoming"] = []
    case["sequence"] = [history.event() if event else history.schedule(next(waiting)) for event in events]


class History:
    """What is there as the sequence goes on, as far as it can be known without placing anything."""

    def __init__(self, draw: Draw, pods: Pods, case: Json) -> None:
        self.draw = draw
        self.pods = pods
        self.nodes: dict[str, Json] = {node["metadata"]["name"]: node for node in case["nodes"]}
        self.gone: dict[str, Json] = {}
        begins: Callable[[Json, int], None] = draw.choice([_start, _start_at_once, _start_as_drawn])
        for second, pod in enumerate(case["pods"]):
            begins(pod, second)
        self.placed = list(case["pods"])
        self.known = [_key(pod) for pod in (*case["pods"], *case.get("nominated", []))]
        self.tried: list[str] = [_key(pod) for pod in case.get("nominated", [])]
        self.objects = [copy.deepcopy(each) for key in LISTED for each in case.get(key, [])]
        self.removed: list[Json] = []
        self.count = 0
        self.preempts = bool(case.get("preempt"))

    def schedule(self, pod: Json) -> Json:
        """A pod is tried for the first time."""
        self.tried.append(_key(pod))
        self.known.append(_key(pod))
        return {"schedule": pod} | self._luck()

    def event(self) -> Json:
        """Something else happens."""
        makers: list[tuple[int, Callable[[], Json]]] = [
            (8, self._again),
            (5, self._remove_pod),
            (2, self._remove_node),
            (3, self._put_node),
            (2, self._change_node),
            (2, self._put_pod),
            (3, self._update_pod),
        ]
        if self.objects or self.removed:
            makers += [(4, self._remove_object), (4, self._put_object)]
        weights, made = zip(*makers, strict=True)
        step: Json = self.draw.choices(made, weights)[0]()
        return step

    def _luck(self) -> Json:
        """Which of equally good nodes is taken, and what goes wrong."""
        more: Json = {}
        if self.draw.chance(0.4):
            more["choose"] = self.draw.choice(sorted(self.nodes)) if self.nodes else "nowhere"
        if self.draw.chance(0.08):
            more["fails"] = self.draw.choice(FAILURES)
        return more

    def _again(self) -> Json:
        if not self.tried:
            return self._put_node()
        return {"again": self.draw.choice(self.tried[-6:])} | self._luck()

    def _remove_pod(self) -> Json:
        if not self.known:
            return self._put_pod()
        namespace, _, name = self.draw.choice(self.known).partition("/")
        return {"remove": {"kind": "Pod", "namespace": namespace, "name": name}}

    def _remove_node(self) -> Json:
        if len(self.nodes) < 2:
            return self._put_node()
        name = self.draw.choice(sorted(self.nodes))
        self.gone[name] = self.nodes.pop(name)
        return {"remove": {"kind": "Node", "name": name}}

    def _put_node(self) -> Json:
        """A node comes back, or a new one comes that is like another."""
        draw = self.draw
        if self.gone and draw.chance(0.6):
            node = self.gone.pop(draw.choice(sorted(self.gone)))
        else:
            self.count += 1
            node = copy.deepcopy(draw.choice([*self.nodes.values(), *self.gone.values()]))
            name = node["metadata"]["name"] = f"n9{self.count:02d}"
            labels = node["metadata"].get("labels") or {}
            if HOST in labels:
                labels[HOST] = name
        self.nodes[node["metadata"]["name"]] = node
        return {"put": node}

    def _change_node(self) -> Json:
        """Labels, taints, cordon, allocatable, images, or nothing that matters."""
        draw = self.draw
        if not self.nodes:
            return self._put_node()
        node = copy.deepcopy(self.nodes[draw.choice(sorted(self.nodes))])
        self.nodes[node["metadata"]["name"]] = node
        x = draw.random()
        if x < 0.3:
            node["metadata"]["labels"] = (node["metadata"].get("labels") or {}) | {ZONE: draw.choice(ZONES)}
        elif x < 0.45:
            node["spec"] = (node.get("spec") or {}) | {"taints": [dict(draw.choice(TAINTS))]}
        elif x < 0.6:
            node["spec"] = (node.get("spec") or {}) | {"unschedulable": draw.chance(0.5)}
        elif x < 0.8 and node.get("status", {}).get("allocatable"):
            allocatable = node["status"]["allocatable"] | {"cpu": draw.choice(["1", "2", "3500m"])}
            node["status"] = {**node["status"], "allocatable": allocatable, "capacity": allocatable}
        elif x < 0.95:
            for image in node.get("status", {}).get("images") or ():
                image["sizeBytes"] = draw.choice([70_000_000, 300_000_000, 900_000_000])
        return {"put": node}

    def _put_pod(self) -> Json:
        """A pod comes that somebody else has placed."""
        if not self.nodes:
            return self._put_node()
        self.count += 1
        pod = self.pods.bound(f"late{self.count}", self.draw.choice(sorted(self.nodes)))
        started = f"2026-01-01T05:00:{self.count % 60:02d}Z"
        pod["status"] = {"phase": pod.get("status", {}).get("phase", "Running"), "startTime": started}
        pod["spec"]["priority"] = self.draw.choice([0, 10, 100]) if self.preempts else 0
        self.known.append(_key(pod))
        self.placed.append(pod)
        return {"put": pod}

    def _update_pod(self) -> Json:
        """Something is said of a pod that was there: its status, its labels, or nothing new; if it went, it comes."""
        draw = self.draw
        there = [place for place, pod in enumerate(self.placed) if pod["spec"]["nodeName"] in self.nodes]
        if not there:
            return self._put_pod()
        place = draw.choice(there)
        pod = self.placed[place] = copy.deepcopy(self.placed[place])
        x = draw.random()
        if x < 0.2:
            pod["metadata"]["labels"] = (pod["metadata"].get("labels") or {}) | {"app": draw.choice(APPS)}
        elif x < 0.4:
            pod["status"] = (pod.get("status") or {}) | {"startTime": draw.choice([AT_ONCE, "2026-01-01T05:00:00Z"])}
        return {"put": pod}

    def _remove_object(self) -> Json:
        if not self.objects:
            return self._put_object()
        each = self.objects.pop(self.draw.randrange(len(self.objects)))
        self.removed.append(each)
        metadata = each["metadata"]
        named = {key: metadata[key] for key in ("namespace", "name") if key in metadata}
        return {"remove": {"kind": each["kind"], **named}}

    def _put_object(self) -> Json:
        """An object comes back, as new, or what is there changes."""
        draw = self.draw
        if self.removed and (not self.objects or draw.chance(0.5)):
            each = copy.deepcopy(self.removed.pop(draw.randrange(len(self.removed))))
            each["metadata"]["uid"] = f"uid-again-{len(self.removed)}-{draw.randint(0, 99)}"
            if each["kind"] == "PersistentVolumeClaim" and draw.chance(0.7):
                each["metadata"].pop("annotations", None)
                each["spec"].pop("volumeName", None)
                each["status"] = {"phase": "Pending"}
            elif each["kind"] == "PersistentVolume" and draw.chance(0.7):
                each["spec"].pop("claimRef", None)
                each["status"] = {"phase": "Available"}
        else:
            each = draw.choice(self.objects)
            if each["kind"] in ("PersistentVolume", "PersistentVolumeClaim"):
                return self._put_node()  # what is bound to what is not known here
            each = self.objects[self.objects.index(each)] = copy.deepcopy(each)
            if each["kind"] == "PodDisruptionBudget":
                each["status"] = each["status"] | {"disruptionsAllowed": draw.choice([0, 1, 2])}
            else:
                each["spec"]["selector"] = {"app": draw.choice(APPS)}
            return {"put": each}
        self.objects.append(each)
        return {"put": each}


def _start(pod: Json, second: int) -> None:
    """Give a pod a moment of its own in which it was started."""
    status = pod.get("status") or {}
    started = status.get("startTime", AT_ONCE)
    pod["status"] = status | {"startTime": f"{started[:-3]}{second % 60:02d}Z"}


def _start_at_once(pod: Json, _: int) -> None:
    """Give a pod the moment in which all are started: which of them is evicted hangs on what went before."""
    pod["status"] = (pod.get("status") or {}) | {"startTime": AT_ONCE}


def _start_as_drawn(pod: Json, _: int) -> None:
    """Leave a pod as it is."""


def _key(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
