"""One API server with one scheduler, on which a history is played; and the controllers that no one else is.

Played are the kubelets (bound pods have a time at which they started, what is being deleted is gone when a step says
so), the volume controller and the provisioner
behind class ``made``. A step is over when the scheduler has nothing left to try.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live.api_server import api_server, free_port
from tests.live.histories import MADE, NAMESPACES, ZONE, Step
from topospread.live.api_error import ApiError
from topospread.live.client import ApiClient
from topospread.live.connection import connect

Json = dict[str, Any]
KINDS = {
    "nodes": "/api/v1/nodes",
    "namespaces": "/api/v1/namespaces",
    "services": "/api/v1/services",
    "persistentVolumes": "/api/v1/persistentvolumes",
    "persistentVolumeClaims": "/api/v1/persistentvolumeclaims",
    "storageClasses": "/apis/storage.k8s.io/v1/storageclasses",
    "csiNodes": "/apis/storage.k8s.io/v1/csinodes",
    "replicaSets": "/apis/apps/v1/replicasets",
    "podDisruptionBudgets": "/apis/policy/v1/poddisruptionbudgets",
    "pods": "/api/v1/pods",
}
"""What decides on placements, as cases of the oracle call it."""
_PLURALS = {"StorageClass": "storageclasses", "PriorityClass": "priorityclasses"}
_MERGE = "application/merge-patch+json"
PACKED = "packed"
"""The name of the second profile."""
_PROFILES: list[Json] = [
    {"schedulerName": "default-scheduler"},
    {
        "schedulerName": PACKED,
        "pluginConfig": [
            {
                "name": "NodeResourcesFit",
                "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 3}]}},
            },
            {
                "name": "PodTopologySpread",
                "args": {
                    "defaultingType": "List",
                    "defaultConstraints": [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}],
                },
            },
        ],
    },
]
"""The second one fills nodes up, and has constraints for pods that have none."""
CONFIG: Json = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False},
    "parallelism": 1,
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 1,
    "profiles": _PROFILES,
}
"""One worker, so that chance does not order the nodes that are looked at; backoff as short as it may be."""
_ANY = ssl._create_unverified_context()
_WAITING = re.compile(r'^scheduler_pending_pods\{queue="(active|backoff)"\} (\S+)', re.MULTILINE)
_ATTEMPTS = re.compile(r'^scheduler_schedule_attempts_total\{.*result="(\w+)"\} (\S+)', re.MULTILINE)


def path_of(item: Json) -> str:
    """Where objects like this are created."""
    version, kind = item["apiVersion"], item["kind"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = _PLURALS.get(kind, kind.lower() + "s")
    return in_namespace(f"{root}/{plural}", item["metadata"].get("namespace", ""))


def in_namespace(path: str, namespace: str) -> str:
    """Where the objects of one namespace are, of the path of all; "" for objects that are in none."""
    root, _, plural = path.rpartition("/")
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else path


@dataclass
class Side:
    """An API server and its scheduler.

    Attributes:
        serves: URL of the scheduler's own pages.
        log: of the scheduler.
        pods_made: namespace and name of every pod that this history made, by uid, gone or not.
    """

    client: ApiClient
    serves: str
    log: Path
    process: subprocess.Popen[bytes]
    pods_made: dict[str, str] = field(default_factory=dict)
    _read: int = field(default=0)

    # What is there.

    async def items(self, path: str) -> list[Json]:
        listed: list[Json] = json.loads(await self.client.request("GET", path))["items"]
        return listed

    async def state(self) -> dict[str, list[Json]]:
        """Everything that decides on placements."""
        found = await asyncio.gather(*[self.items(path) for path in KINDS.values()])
        return dict(zip(KINDS, found, strict=True))

    def metrics(self) -> str:
        """The scheduler's own."""
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        with urllib.request.urlopen(f"{self.serves}/metrics", timeout=10, context=_ANY) as answer:
            text: str = answer.read().decode()
        return text

    async def is_idle(self) -> bool:
        """Whether no pod waits to be tried."""
        text = await asyncio.to_thread(self.metrics)
        return not any(float(each[1]) for each in _WAITING.findall(text))

    async def attempts(self) -> dict[str, float]:
        """How many attempts there were, by result."""
        text = await asyncio.to_thread(self.metrics)
        found: dict[str, float] = {}
        for result, count in _ATTEMPTS.findall(text):  # a line for each profile
            found[result] = found.get(result, 0.0) + float(count)
        return found

    def new_log(self) -> str:
        """What the scheduler has logged since this was asked last."""
        with self.log.open() as log:
            log.seek(self._read)
            text = log.read()
            self._read = log.tell()
        return text

    # What happens.

    async def play(self, step: Step) -> list[Json]:
        """Carry a step out; the objects that came or changed, as they are now. What is gone or there is passed over."""
        made = [done for each in step.creates for done in await self._create_new(each)]
        if step.path == "terminating":
            await self.end_pods()
        elif step.delete is not None:
            await self.delete(step.path, step.delete)
        elif step.patch is not None:
            made += await self.patch(step.path, step.patch)
        return made

    async def _create_new(self, item: Json) -> list[Json]:
        """Create an object; nothing where there is one of its name."""
        try:
            return [await self.create(item)]
        except ApiError as error:
            if error.status != 409:
                raise
            return []

    async def create(self, item: Json) -> Json:
        """Create an object, with its status where that is part of it."""
        made: Json = json.loads(await self.client.request("POST", path_of(item), body=item))
        if item["kind"] == "Pod":
            self.pods_made[made["metadata"]["uid"]] = _name(made)
        status = {"phase": "Available"} if item["kind"] == "PersistentVolume" else item.get("status")
        if status and item["kind"] != "Node":
            path = f"{path_of(item)}/{item['metadata']['name']}/status"
            (made,) = await self.patch(path, {"status": status})
        return made

    async def patch(self, path: str, body: Json) -> list[Json]:
        """Change an object; nothing where it is gone, or the API server refuses."""
        try:
            return [json.loads(await self.client.request("PATCH", path, body=body, content_type=_MERGE))]
        except ApiError as error:
            if error.status not in (403, 404, 409, 422):
                raise
            return []

    async def delete(self, path: str, grace: int = 0) -> None:
        """Delete an object; a pod without a node goes at once."""
        body = {"gracePeriodSeconds": grace} if "/pods/" in path else {}
        try:
            await self.client.request("DELETE", path, body=body)
        except ApiError as error:
            if error.status != 404:
                raise

    async def end_pods(self) -> None:
        """The kubelets end what is being deleted."""
        for each in sorted(await self.items(KINDS["pods"]), key=lambda pod: pod["metadata"]["name"]):
            if each["metadata"].get("deletionTimestamp"):
                metadata = each["metadata"]
                await self.delete(f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}")

    async def control_volumes(self) -> bool:
        """Do what the volume controller and the provisioner do; whether there was something to do."""
        claims = {_name(each): each for each in await self.items(KINDS["persistentVolumeClaims"])}
        acted = False
        for claim in claims.values():
            node = (claim["metadata"].get("annotations") or {}).get("volume.kubernetes.io/selected-node")
            if node and not claim["spec"].get("volumeName") and claim["spec"]["storageClassName"] == MADE:
                acted |= await self._provision(claim, node)
        for volume in await self.items(KINDS["persistentVolumes"]):
            reference = volume["spec"].get("claimRef")
            bound = claims.get(f"{reference['namespace']}/{reference['name']}") if reference else None
            if bound is not None and not bound["spec"].get("volumeName"):
                await self._bind(bound, volume["metadata"]["name"])
                acted = True
        return acted

    async def _provision(self, claim: Json, node: str) -> bool:
        reach = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
        metadata = claim["metadata"]
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"made-for-{metadata['name']}"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": claim["spec"]["accessModes"],
                "storageClassName": MADE,
                "csi": {"driver": "example.com", "volumeHandle": metadata["name"]},
                "claimRef": {key: metadata[key] for key in ("namespace", "name", "uid")},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [reach]}},
            },
        }
        try:
            await self.create(volume)
        except ApiError as error:
            if error.status != 409:
                raise
            return False
        return True

    async def start_pods(self) -> bool:
        """Do what the kubelets do with bound pods; whether there was something to do.

        Each has a second of its own to start in, so that victims of a preemption are never alike. All of them are past:
        a pod that has not started counts as starting now.
        """
        acted = False
        for each in await self.items(KINDS["pods"]):
            if each["spec"].get("nodeName") and not each["status"].get("startTime"):
                metadata = each["metadata"]
                second = int(metadata["name"].rpartition("-")[2])
                started = f"2020-01-01T00:{second // 60:02}:{second % 60:02}Z"
                path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
                await self.patch(path, {"status": {"startTime": started}})
                acted = True
        return acted

    async def _bind(self, claim: Json, volume: str) -> None:
        completed = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
        path = f"/api/v1/namespaces/{claim['metadata']['namespace']}/persistentvolumeclaims/{claim['metadata']['name']}"
        await self.patch(path, {"metadata": {"annotations": completed}, "spec": {"volumeName": volume}})
        await self.patch(f"{path}/status", {"status": {"phase": "Bound"}})
        await self.patch(f"{KINDS['persistentVolumes']}/{volume}/status", {"status": {"phase": "Bound"}})

    async def wipe(self) -> None:
        """Take everything away that histories make."""
        for namespace in NAMESPACES:
            for kind in ("pods", "persistentVolumeClaims", "services", "replicaSets", "podDisruptionBudgets"):
                await self._take_away(in_namespace(KINDS[kind], namespace))
            await self._take_away(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")
        for path in (KINDS["nodes"], KINDS["persistentVolumes"], KINDS["storageClasses"], KINDS["csiNodes"]):
            await self._take_away(path)
        await self._take_away("/apis/scheduling.k8s.io/v1/priorityclasses")
        self.pods_made.clear()

    async def _take_away(self, path: str) -> None:
        for each in await self.items(path):
            name = each["metadata"]["name"]
            if name.startswith("system-") or name == "kubernetes":
                continue
            if each["metadata"].get("finalizers"):
                await self.patch(f"{path}/{name}", {"metadata": {"finalizers": None}})
            await self.delete(f"{path}/{name}")

    async def prepare(self, objects: list[Json]) -> None:
        """Make what a history starts from."""
        for each in objects:
            if each["kind"] == "Namespace":
                name = each["metadata"]["name"]
                if not await self.patch(f"{KINDS['namespaces']}/{name}", each):
                    await self.create(each)
            else:
                await self.create(each)


def _name(item: Json) -> str:
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


@asynccontextmanager
async def side(which: str, programs: Path, folder: Path) -> AsyncIterator[Side]:
    """An API server of its own with ``topospread`` or ``kube-scheduler`` at work."""
    plane = folder / which
    with api_server(programs, plane) as kubeconfig:
        async with ApiClient(await connect(str(kubeconfig)), qps=0) as client:
            port, log = free_port(), plane / "scheduler.log"
            with log.open("wb") as out:
                process = subprocess.Popen(_command(which, programs, plane, port), stdout=out, stderr=out)
            try:
                scheme = "http" if which == "topospread" else "https"
                made = Side(client, f"{scheme}://127.0.0.1:{port}", log, process)
                await _until_ready(made)
                yield made
            finally:
                process.terminate()
                process.wait(30)


def _command(which: str, programs: Path, plane: Path, port: int) -> list[str]:
    config = plane / "config.yaml"
    reached = {"kubeconfig": str(plane / "kubeconfig"), "qps": 1000, "burst": 1000}
    config.write_text(json.dumps({**CONFIG, "clientConnection": reached}))
    if which == "topospread":
        own = [str(Path(sys.executable).with_name("topospread")), "run", "scheduler", "-v", "3"]
        return [*own, "--config", str(config), "--secure-port", str(port)]
    kubeconfig = plane / "kubeconfig"
    return [
        str(programs / "kube-scheduler"),
        f"--config={config}",
        f"--secure-port={port}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
        "--v=3",
    ]


async def _until_ready(made: Side) -> None:
    for _ in range(300):
        try:
            if _WAITING.search(await asyncio.to_thread(made.metrics)):
                return
        except OSError:
            pass
        await asyncio.sleep(0.1)
    raise TimeoutError(made.log.read_text()[-3000:])
