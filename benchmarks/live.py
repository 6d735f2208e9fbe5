"""A live scheduler beside kube-scheduler on one API server: pods bound a second, processor time of everybody.

    python -m benchmarks.live [--nodes N] [--pods N] [--constraint none|hard] [--while-created] [--programs DIR]

Pods of ten apps are created before a scheduler starts, or while it runs, and watched until all are bound; lines are
counted, not decoded. kube-scheduler runs with QPS 5000, as its default of 50 would be what is measured. Each scheduler
gets an API server of its own with the same nodes. DIR holds etcd, kube-apiserver, kubectl (`tests/live/controlplane.sh
build DIR`) and kube-scheduler, built from the same module.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topospread.live.client import ApiClient
from topospread.live.connection import connect

ROOT = Path(__file__).resolve().parent.parent
CONTROL_PLANE = ROOT / "tests" / "live" / "controlplane.sh"
PODS = "/api/v1/namespaces/default/pods"
TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 600.0
SETTLING = 5.0

Json = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """What is measured."""

    nodes: int
    pods: int
    constraint: str
    while_created: bool


@dataclass
class Figures:
    """What came of it: seconds, and seconds of a processor."""

    bound: int
    first_to_last: float
    created_a_second: float
    own: float
    server: float

    def row(self, name: str) -> str:
        """A line of the table."""
        each = self.bound or 1
        return (
            f"{name:16} {self.bound:6} bound  {self.bound / self.first_to_last:7.0f}/s  created at "
            f"{self.created_a_second:5.0f}/s  own {self.own / each * 1e3:6.2f} ms a pod  "
            f"API server and etcd {self.server / each * 1e3:5.2f} ms a pod"
        )


def node(number: int) -> Json:
    """A node of one of three zones."""
    resources = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    name = f"node-{number:05}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % 3}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(number: int, constraint: str) -> Json:
    """A pod of one of ten apps."""
    app = f"app-{number % 10}"
    requests = {"cpu": "10m", "memory": "50Mi"}
    spec: Json = {"containers": [{"name": "main", "image": "pause", "resources": {"requests": requests}}]}
    if constraint == "hard":
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 5,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": app}},
            }
        ]
    metadata = {"name": f"pod-{number:06}", "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


async def create(client: ApiClient, path: str, items: Iterable[Json]) -> None:
    """Create objects, sixteen at a time."""
    left = iter(items)

    async def work() -> None:
        for item in left:
            await client.request("POST", path, body=item)

    await asyncio.gather(*[work() for _ in range(16)])


class Bound:
    """Counts the pods that get a node, and notes when."""

    def __init__(self, wanted: int) -> None:
        self.names: set[bytes] = set()
        self.first = self.last = 0.0
        self.done = asyncio.Event()
        self._wanted = wanted

    async def watch(self, client: ApiClient) -> None:
        """Until all are bound."""
        listed = json.loads(await client.request("GET", PODS, params={"limit": "1"}))
        async for _, raw in client.watch(PODS, listed["metadata"]["resourceVersion"], seconds=int(PATIENCE)):
            line = bytes(raw)
            if b'"nodeName":"' in line:
                place = line.find(b'"name":"pod-') + 8
                self.names.add(line[place : place + 10])
                self.last = time.monotonic()
                self.first = self.first or self.last
            if len(self.names) >= self._wanted:
                self.done.set()
                return


async def until_bound(bound: Bound, process: subprocess.Popen[bytes], watching: asyncio.Task[None], log: Path) -> None:
    """Wait until all pods are bound, as long as the scheduler runs and is watched."""
    until = time.monotonic() + PATIENCE
    while not bound.done.is_set():
        assert process.poll() is None, log.read_text()[-2000:]
        if watching.done():
            watching.result()
        assert time.monotonic() < until, f"{len(bound.names)} pods are bound"
        await asyncio.sleep(0.05)


def processor_time(pid: int) -> float:
    """User and system seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@asynccontextmanager
async def api_server(programs: Path, folder: Path) -> AsyncIterator[tuple[ApiClient, Path]]:
    """An API server with nothing in it."""
    port = random.randrange(20000, 30000, 3)
    subprocess.run([CONTROL_PLANE, "up", programs, folder, str(port)], check=True, stdout=subprocess.DEVNULL)
    try:
        async with ApiClient(await connect(str(folder / "kubeconfig")), qps=0) as client:
            yield client, folder
    finally:
        subprocess.run([CONTROL_PLANE, "down", folder], check=True)


def command(which: str, programs: Path, folder: Path) -> list[str]:
    """How a scheduler is started."""
    config = folder / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"clientConnection: {{kubeconfig: {folder / 'kubeconfig'}, qps: 5000, burst: 5000}}\n"
        "leaderElection: {leaderElect: false}\n"
    )
    own = [Path(sys.executable).with_name(which), "scheduler"]
    program = own if which == "topospread" else [programs / which]
    return [*map(str, program), f"--config={config}", "--secure-port=0"]


async def measured(which: str, programs: Path, case: Case) -> Figures:
    """One scheduler at work."""
    with tempfile.TemporaryDirectory() as made:
        async with api_server(programs, Path(made)) as (client, folder):
            await create(client, "/api/v1/nodes", (node(i) for i in range(case.nodes)))
            pods = (pod(i, case.constraint) for i in range(case.pods))
            creating = 0.0
            if not case.while_created:
                began = time.monotonic()
                await create(client, PODS, pods)
                creating = time.monotonic() - began
            bound = Bound(case.pods)
            watching = asyncio.create_task(bound.watch(client))
            log = (folder / "scheduler.log").open("wb")
            process = subprocess.Popen(command(which, programs, folder), stdout=log, stderr=log)
            servers = [int((folder / f"{name}.pid").read_text()) for name in ("apiserver", "etcd")]
            own, server = 0.0, sum(map(processor_time, servers))
            try:
                if case.while_created:
                    await asyncio.sleep(SETTLING)
                    own, server = processor_time(process.pid), sum(map(processor_time, servers))
                    began = time.monotonic()
                    await create(client, PODS, pods)
                    creating = time.monotonic() - began
                await until_bound(bound, process, watching, folder / "scheduler.log")
                own = processor_time(process.pid) - own
                server = sum(map(processor_time, servers)) - server
            finally:
                watching.cancel()
                process.send_signal(signal.SIGTERM)
                process.wait(30)
                log.close()
            return Figures(len(bound.names), bound.last - bound.first, case.pods / creating, own, server)


def main() -> None:
    """Measure both, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=3000)
    parser.add_argument("--constraint", choices=("none", "hard"), default="hard")
    parser.add_argument("--while-created", action="store_true")
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "live")
    parser.add_argument("--only", choices=("topospread", "kube-scheduler"))
    given = parser.parse_args()
    case = Case(given.nodes, given.pods, given.constraint, given.while_created)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard) if soft < hard else soft, hard))
    print(f"{case}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for which in ("topospread", "kube-scheduler"):
        if given.only in (None, which):
            print(asyncio.run(measured(which, given.programs, case)).row(which), flush=True)


if __name__ == "__main__":
    main()
