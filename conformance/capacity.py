"""How many pods fit, asked of the real cluster-capacity on a real API server and of ours, on random clusters.

python -m conformance.capacity --binary build/cluster-capacity/hypercc --programs build/live --count 60

`make live` asks it of as many clusters (`tests/live/test_capacity.py`).
The binary is sigs.k8s.io/cluster-capacity's `hypercc` (or `cluster-capacity`), whose scheduler is kube-scheduler of the
version in its go.mod (`--kube-version`); the programs are what `tests/live/controlplane.sh build` builds. Each cluster
is created on the API server, cluster-capacity is run against it with one pod's file, and ours is given what kubectl
prints. Which of equal nodes is taken is drawn there: ours is asked with several seeds, and one of its counts has to be
cluster-capacity's. The first difference is shown with its files, and the exit code is 1.

With ``--store FILE`` the clusters and its counts are kept, a line each: `tests/conformance/capacity.jsonl`,
to which the tests hold us.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance.programs import ROOT, ProgramError
from tests.live.api_server import api_server
from topospread import load
from topospread.capacity.capacity import capacity
from topospread.simulation.options import SimulationOptions

Json = dict[str, Any]
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
SEEDS = (None, 1, 2, 3, 4, 5, 6, 7)
MORE_SEEDS = tuple(range(8, 200))
KUBE_VERSION = "1.30"
"""Of the kube-scheduler in cluster-capacity 0.30.0, whose counts are stored."""
_KINDS = "nodes,pods,services,replicasets,replicationcontrollers,statefulsets"


@dataclass(frozen=True)
class Compared:
    """One cluster, and how many more pods fit there.

    Attributes:
        theirs: what cluster-capacity counts.
        ours: what we count, with some ways of drawing among equals.
    """

    nodes: list[Json]
    pods: list[Json]
    template: Json
    theirs: int
    ours: set[int]

    @property
    def agrees(self) -> bool:
        return self.theirs in self.ours


@dataclass(frozen=True)
class Judge:
    """The real cluster-capacity on a running API server.

    Attributes:
        binary: cluster-capacity's, or its `hypercc`.
        kubectl: the words that begin a command.
        folder: where files may be written.
        kube_version: of its scheduler.
    """

    binary: str
    kubeconfig: Path
    kubectl: list[str]
    folder: Path
    kube_version: str = KUBE_VERSION

    def compared(self, drawn: random.Random) -> Compared:
        """One random cluster: created, asked of both, and taken away."""
        nodes, pods, template = cluster(drawn)
        listed, pod = self.folder / "cluster.json", self.folder / "pod.json"
        pod.write_text(json.dumps(template))
        _create(self.kubectl, [*nodes, *pods])
        listed.write_text(_run([*self.kubectl, "get", _KINDS, "-A", "-o", "json"]))
        theirs = _theirs(self.binary, self.kubeconfig, pod)
        ours = counts(listed, pod, self.kube_version)
        if theirs not in ours:  # a rare way of drawing
            ours |= counts(listed, pod, self.kube_version, MORE_SEEDS)
        _run([*self.kubectl, "delete", "pods,nodes", "--all", "-A", "--force", "--grace-period=0", "--wait=false"])
        return Compared(nodes, pods, template, theirs, ours)


def main() -> int:
    """Compare; 1 where a count differs."""
    given = _arguments()
    drawn = random.Random(given.seed)
    print(f"seed {given.seed}")
    kept: list[Compared] = []
    with TemporaryDirectory() as made, api_server(Path(given.programs), Path(made) / "plane") as kubeconfig:
        kubectl = [str(Path(given.programs) / "kubectl"), "--kubeconfig", str(kubeconfig)]
        judge = Judge(given.binary, kubeconfig, kubectl, Path(made), given.kube_version)
        for number in range(given.count):
            found = judge.compared(drawn)
            kept.append(found)
            there = f"{len(found.nodes)} nodes, {len(found.pods)} pods"
            print(f"cluster {number}: {there}, {found.theirs} more fit, ours {sorted(found.ours)}")
            if not found.agrees:
                print((judge.folder / "cluster.json").read_text(), (judge.folder / "pod.json").read_text())
                return 1
    print(f"{len(kept)} clusters agree, {sum(len(each.ours) == 1 for each in kept)} of them whatever is drawn")
    if given.store:
        lines = [{"nodes": each.nodes, "pods": each.pods, "pod": each.template, "count": each.theirs} for each in kept]
        written = (json.dumps(each, separators=(",", ":")) for each in lines)
        Path(given.store).write_text("".join(f"{line}\n" for line in written))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="cluster-capacity beside topospread capacity")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--programs", default=str(ROOT / "build" / "live"))
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", random.randrange(10**6))))
    parser.add_argument("--kube-version", default=KUBE_VERSION)
    parser.add_argument("--store", metavar="FILE")
    return parser.parse_args()


def cluster(drawn: random.Random) -> tuple[list[Json], list[Json], Json]:
    """Nodes, pods that are on them, and the pod of which more are to fit."""
    names = [f"node-{number}" for number in range(drawn.randint(2, 8))]
    nodes = [_node(drawn, name) for name in names]
    pods = [_pod(drawn, f"there-{number}", drawn.choice(names)) for number in range(drawn.randint(0, 10))]
    return nodes, pods, _template(drawn)


def _node(drawn: random.Random, name: str) -> Json:
    labels = {HOST: name, "disk": drawn.choice(["ssd", "hdd"])}
    if drawn.random() < 0.9:
        labels[ZONE] = drawn.choice(["zone-a", "zone-b", "zone-c"])
    taints = [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}] if drawn.random() < 0.15 else []
    amounts = {"cpu": drawn.choice(["2", "4", "7"]), "memory": drawn.choice(["4Gi", "8Gi"])}
    amounts |= {"pods": drawn.choice(["6", "20", "110"]), "ephemeral-storage": "20Gi"}
    spec: Json = {"taints": taints, "unschedulable": drawn.random() < 0.1}
    status = {"allocatable": amounts, "capacity": amounts}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec} | {
        "status": status
    }


def _pod(drawn: random.Random, name: str, node: str) -> Json:
    labels = {"app": drawn.choice(["web", "web", "db"])}
    requests = {"cpu": drawn.choice(["100m", "500m"]), "memory": "256Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"nodeName": node, "containers": [_container(requests)]},
    }


def _template(drawn: random.Random) -> Json:
    requests = {"cpu": drawn.choice(["200m", "500m", "1"]), "memory": drawn.choice(["128Mi", "1Gi"])}
    spec: Json = {"containers": [_container(requests)], "restartPolicy": "Always", "dnsPolicy": "ClusterFirst"}
    spec |= {"terminationGracePeriodSeconds": 30, "schedulerName": "default-scheduler"}
    keys = drawn.sample([ZONE, HOST], drawn.choice([0, 1, 1, 2]))
    if keys:
        spec["topologySpreadConstraints"] = [_constraint(drawn, key) for key in keys]
    if drawn.random() < 0.2:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    if drawn.random() < 0.2:
        spec["nodeSelector"] = {"disk": "ssd"}
    if drawn.random() < 0.2:
        selector = {"matchLabels": {"app": "db"}}
        term = {"topologyKey": drawn.choice([ZONE, HOST]), "labelSelector": selector}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    metadata = {"name": "one-more", "namespace": "default", "labels": {"app": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _constraint(drawn: random.Random, key: str) -> Json:
    hard = drawn.random() < 0.75
    found: Json = {
        "maxSkew": drawn.randint(1, 3),
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "nodeTaintsPolicy": drawn.choice(["Honor", "Ignore"]),
        "nodeAffinityPolicy": drawn.choice(["Honor", "Ignore"]),
    }
    if hard and drawn.random() < 0.25:
        found["minDomains"] = drawn.randint(2, 4)
    return found


def _container(requests: Json) -> Json:
    more = {"imagePullPolicy": "IfNotPresent", "terminationMessagePolicy": "File"}
    return {"name": "c", "image": "i", "resources": {"requests": requests}, **more}


def _theirs(binary: str, kubeconfig: Path, pod: Path) -> int:
    """What cluster-capacity counts."""
    words = [binary, *(["cluster-capacity"] if Path(binary).name == "hypercc" else [])]
    printed = _run([*words, "--kubeconfig", str(kubeconfig), "--podspec", str(pod), "-o", "json"])
    line = next((each for each in printed.splitlines() if each.startswith("{")), None)
    if line is None:
        raise ProgramError(f"cluster-capacity says {printed}")
    replicas: int = json.loads(line)["status"]["replicas"]
    return replicas


def counts(cluster: Path, pod: Path, kube_version: str, seeds: Sequence[int | None] = SEEDS) -> set[int]:
    """What we count, with each way of drawing among equals."""
    there = load(str(cluster))
    return {
        capacity(
            there, pod=pod, options=SimulationOptions(seed=seed, kube_version=kube_version), workers=1
        ).capacity.rounds
        for seed in seeds
    }


def _create(kubectl: list[str], items: list[Json]) -> None:
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    _run([*kubectl, "create", "--validate=false", "-f", "-"], listed)


def _run(words: list[str], given: str | None = None) -> str:
    done = subprocess.run(words, input=given, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise ProgramError(f"{words[0]}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
