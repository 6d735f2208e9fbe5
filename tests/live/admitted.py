"""Random namespaces with quotas and limit ranges: which new pods does a real API server refuse, and which do we?

python -m tests.live.admitted --count 150 --seed 7
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

from tests.live.api_server import api_server, free_port
from tests.live.policies import ApiServer
from topospread.api.quantity import parse_quantity
from topospread.controllers.planner import plan
from topospread.sources.load import load

Json = dict[str, Any]
_CLASSES = ("", "high", "low")
_AMOUNTS = {
    "cpu": ("0", "50m", "100m", "250m", "1", "1500m", "0.3"),
    "memory": ("0", "64Mi", "100M", "256Mi", "1Gi", "1500000k", "1e8"),
    "ephemeral-storage": ("10Mi", "1G", "1Gi"),
    "hugepages-2Mi": ("2Mi", "4Mi"),
    "example.com/gpu": ("1", "2"),
}
_WHOLE = ("hugepages-2Mi", "example.com/gpu")
_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity")
_PATIENCE = 60.0


def resources(draw: Random) -> Json:
    """Requests and limits of a container, sometimes none."""
    requests: Json = {}
    limits: Json = {}
    for name, amounts in _AMOUNTS.items():
        some = 0.55 if name in ("cpu", "memory") else 0.15
        chosen = sorted(draw.sample(range(len(amounts)), 2))
        if name in _WHOLE:
            if draw.random() < some:
                limits[name] = requests[name] = amounts[chosen[0]]
            continue
        # Limits are no less than requests: an invalid pod is refused before anyone counts.
        ordered = sorted(amounts, key=_size)
        if draw.random() < some:
            requests[name] = ordered[chosen[0]]
        if draw.random() < some:
            limits[name] = ordered[chosen[1]]
    if "hugepages-2Mi" in limits and not requests.keys() & {"cpu", "memory"}:
        requests["cpu"] = limits.setdefault("cpu", "1")
    return {"requests": requests, "limits": limits}


def _size(text: str) -> float:
    units = {"m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Mi": 2.0**20, "Gi": 2.0**30}
    unit = next((each for each in sorted(units, key=len, reverse=True) if text.endswith(each)), "")
    return float(text.removesuffix(unit)) * units.get(unit, 1)


def pod(draw: Random, namespace: str, name: str) -> Json:
    """A pod without a node."""

    def container(kind: str, index: int) -> Json:
        return {"name": f"{kind}{index}", "image": "x", "resources": resources(draw)}

    spec: Json = {"containers": [container("c", index) for index in range(draw.choice((1, 1, 2)))]}
    if draw.random() < 0.3:
        spec["initContainers"] = [container("i", index) for index in range(draw.choice((1, 2)))]
        for each in spec["initContainers"]:
            if draw.random() < 0.5:
                each["restartPolicy"] = "Always"
    if draw.random() < 0.2:
        whole = {"cpu": "2", "memory": "2Gi"}
        spec["resources"] = {"requests": dict(whole), "limits": {"cpu": "4", "memory": "4Gi"}}
        if draw.random() < 0.3:
            del spec["resources"]["limits"]
    if draw.random() < 0.3:
        spec["activeDeadlineSeconds"] = draw.choice((1, 3600))
    if draw.random() < 0.2:
        spec["runtimeClassName"] = "heavy"
    if draw.random() < 0.15:
        term: Json = {"topologyKey": "zone", "labelSelector": {}}
        term |= draw.choice(({}, {"namespaces": ["other"]}, {"namespaceSelector": {}}))
        hard = draw.random() < 0.5
        terms = [term] if hard else [{"weight": 1, "podAffinityTerm": term}]
        when = "required" if hard else "preferred"
        kind = draw.choice(("podAffinity", "podAntiAffinity"))
        spec["affinity"] = {kind: {f"{when}DuringSchedulingIgnoredDuringExecution": terms}}
    if chosen := draw.choice(_CLASSES):
        spec["priorityClassName"] = chosen
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def quota(draw: Random, namespace: str, name: str) -> Json:
    """A quota, often with scopes."""
    hard: Json = {}
    for each, amounts in (
        ("pods", ("2", "4", "6")),
        ("count/pods", ("3", "5", "7")),
        ("cpu", ("1", "2", "2500m")),
        ("requests.cpu", ("1", "3")),
        ("limits.cpu", ("2", "5")),
        ("memory", ("1Gi", "2G")),
        ("requests.memory", ("1Gi", "3000Mi")),
        ("limits.memory", ("2Gi", "4e9")),
        ("requests.ephemeral-storage", ("1Gi", "2G")),
        ("limits.ephemeral-storage", ("2Gi",)),
        ("requests.hugepages-2Mi", ("4Mi", "8Mi")),
        ("hugepages-2Mi", ("6Mi",)),
        ("requests.example.com/gpu", ("1", "3")),
        ("count/configmaps", ("9",)),
    ):
        if draw.random() < 0.2:
            hard[each] = draw.choice(amounts)
    spec: Json = {"hard": hard or {"pods": "3"}}
    roll = draw.random()
    if roll < 0.3:
        scope = draw.choice(_SCOPES)
        if scope == "BestEffort":
            spec["hard"] = {"pods": draw.choice(("1", "2"))}
        else:
            allowed = ("pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
            spec["hard"] = {key: value for key, value in hard.items() if key in allowed} or {"pods": "2"}
        spec["scopes"] = [scope]
    elif roll < 0.55:
        operator = draw.choice(("In", "NotIn", "Exists", "DoesNotExist"))
        expression: Json = {"scopeName": "PriorityClass", "operator": operator}
        if operator in ("In", "NotIn"):
            expression["values"] = draw.choice((["high"], ["high", "low"], ["none"]))
        allowed = ("pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
        spec["hard"] = {key: value for key, value in hard.items() if key in allowed} or {"pods": "2"}
        spec["scopeSelector"] = {"matchExpressions": [expression]}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec}


def limit_range(draw: Random, namespace: str, name: str) -> Json:
    """Bounds and defaults."""
    item: Json = {"type": draw.choice(("Container", "Pod"))}
    for field, cpu, memory in (("min", "50m", "64Mi"), ("max", "3", "3Gi"), ("maxLimitRequestRatio", "4", "3")):
        chosen = {each: value for each, value in (("cpu", cpu), ("memory", memory)) if draw.random() < 0.35}
        if chosen:
            item[field] = chosen
    if item["type"] == "Container" and "maxLimitRequestRatio" not in item and draw.random() < 0.5:
        item["default"], item["defaultRequest"] = {"cpu": "2"}, {"cpu": "100m"}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [item]}}


SHARED: tuple[Json, ...] = (
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}, "value": 1},
    {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "heavy"},
        "handler": "heavy",
        "overhead": {"podFixed": {"cpu": "100m", "memory": "32Mi"}},
    },
)


def _path(item: Json) -> str:
    kind, version = item["kind"], item["apiVersion"]
    plural = f"{kind.lower()}es" if kind.endswith("Class") else f"{kind.lower()}s"
    root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    namespace = item["metadata"].get("namespace")
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"


@contextmanager
def quota_controller(programs: Path, kubeconfig: Path, log: Path) -> Iterator[None]:
    """The controller that counts what is used."""
    command = [str(programs / "kube-controller-manager"), "--kubeconfig", str(kubeconfig), "--leader-elect=false"]
    command += [f"--secure-port={free_port()}", "--controllers=resourcequota-controller", f"--cert-dir={log.parent}"]
    with log.open("w") as out:
        running = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        yield
    finally:
        running.kill()
        running.wait()


def create(server: ApiServer, item: Json) -> tuple[int, Json]:
    """Status and answer of a creation."""
    status, _, answer = server.post(_path(item), item)
    return status, json.loads(answer)


def until_counted(server: ApiServer, namespaces: list[str]) -> None:
    """Wait until every quota says what is used of all that it limits."""
    until = time.monotonic() + _PATIENCE
    for namespace in namespaces:
        while True:
            found = server.get(f"/api/v1/namespaces/{namespace}/resourcequotas")["items"]
            statuses = [each.get("status", {}) for each in found]
            if all(
                each.get("used", {}).keys() >= hard.keys()
                for each, hard in zip(statuses, map(_hard, found), strict=True)
            ):
                break
            assert time.monotonic() < until, f"the quotas of {namespace} are not counted: {found}"
            time.sleep(0.1)


def _hard(found: Json) -> Json:
    hard: Json = found["spec"]["hard"]
    return hard


def parts(message: str) -> tuple[str, ...]:
    """A message in parts whose order is not chance's, without the name of the pod.

    A sum is written as the first pod's amount is, and the controller counts pods in any order.
    """
    said = message.partition("forbidden: ")[2].strip("[]")
    said = re.sub(r"(?<==)[0-9][^,\s]*", lambda amount: str(parse_quantity(amount[0]).milli_value()), said)
    return tuple(sorted(re.split(r", (?=(?:maximum|minimum|cpu max|memory max) )", said)))


def compare(plane: Path, programs: Path, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Return what came of the pods of ``count`` namespaces, and where ours is something else.

    The controller begins when all is there: it does not count again what it did not know when it counted.
    """
    with closing(ApiServer(plane / "kubeconfig")) as server:
        drawn = draw_namespaces(server, count, seed)
        with quota_controller(programs, plane / "kubeconfig", plane / "controllers.log"):
            return compared(server, *drawn)


def draw_namespaces(server: ApiServer, count: int, seed: int) -> tuple[Random, dict[str, list[Json]]]:
    """Create namespaces with pods, quotas and bounds; the rules of each namespace."""
    draw = Random(seed)
    for each in SHARED:
        create(server, each)
    rules: dict[str, list[Json]] = {}
    for name in (f"n{seed}-{index}" for index in range(count)):
        assert create(server, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})[0] == 201
        old = [pod(draw, name, f"old{index}") for index in range(draw.randrange(4))]
        rules[name] = [quota(draw, name, f"q{index}") for index in range(draw.choice((0, 1, 1, 2, 3)))]
        rules[name] += [limit_range(draw, name, "l")] if not rules[name] or draw.random() < 0.4 else []
        for each in old:
            create(server, each)
        for each in rules[name]:
            status, answer = create(server, each)
            assert status == 201, (each, answer)
    return draw, rules


def compared(server: ApiServer, draw: Random, rules: dict[str, list[Json]]) -> tuple[Counter[str], list[str]]:
    """Create pods one after the other in each namespace, and ask ours about the same."""
    until_counted(server, list(rules))
    found: Counter[str] = Counter()
    differences: list[str] = []
    for name, own in rules.items():
        there = server.get(f"/api/v1/namespaces/{name}/pods")["items"]
        there = [{"apiVersion": "v1", "kind": "Pod", **each} for each in there]
        new = [pod(draw, name, f"new{index}") for index in range(draw.randrange(3, 9))]
        said = {each["metadata"]["name"]: create(server, each) for each in new}
        valid = [each for each in new if said[each["metadata"]["name"]][0] in (201, 403)]
        found["invalid"] += len(new) - len(valid)
        ours = our_refusals([*SHARED, *own, *there], valid)
        for each in valid:
            status, answer = said[each["metadata"]["name"]]
            message = "" if status == 201 else answer["message"]
            mine = ours.get(each["metadata"]["name"], "")
            quotas = {one["metadata"]["name"] for one in own if one["kind"] == "ResourceQuota"}
            both = bool(message) and bool(mine) and "exceeded quota" in mine and "exceeded quota" in message
            if parts(message) == parts(mine):
                found["created" if not message else message.partition("forbidden: ")[2].split(" ")[0]] += 1
            elif {"failed quota: "} & {message.partition("forbidden: ")[2][:14]} and "failed quota: " in mine:
                found["another of the quotas that it fails"] += 1
            elif both and _quota_of(message) != _quota_of(mine) and {_quota_of(message), _quota_of(mine)} <= quotas:
                found["another of the quotas that it exceeds"] += 1
            else:
                differences.append(
                    f"{name}/{each['metadata']['name']}\n  theirs {message}\n  ours   {mine}\n  {each}\n  {own}"
                )
    return found, differences


def _quota_of(message: str) -> str:
    return message.partition("exceeded quota: ")[2].partition(",")[0]


def our_refusals(state: list[Json], new: list[Json]) -> dict[str, str]:
    """Name of a pod → why it is refused, as topospread has it."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "110"}}}
    with tempfile.TemporaryDirectory() as folder:
        cluster, manifests = Path(folder, "cluster.json"), Path(folder, "new.json")
        for file, items in ((cluster, [node, *state]), (manifests, new)):
            file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        planned = plan(load([str(manifests)] if new else [], cluster=str(cluster)))
    return {each.name: each.refused for each in planned.refused}


def main() -> int:
    """Compare on an API server of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--programs", type=Path, default=Path(__file__).parent.parent.parent / "build" / "live")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, api_server(given.programs, Path(folder)) as kubeconfig:
        found, differences = compare(kubeconfig.parent, given.programs, given.count, given.seed)
    print(f"seed {given.seed}: {dict(found)}, {len(differences)} differ")
    print("\n".join(differences[:10]))
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
