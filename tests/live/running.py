"""A live scheduler in the test's own process on a real API server, and words for what is created and awaited there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from topospread.config.load import default_configuration
from topospread.live.api_error import ApiError
from topospread.live.client import ApiClient
from topospread.live.connection import connect
from topospread.live.observer import Observer
from topospread.live.scheduler import LiveScheduler
from topospread.live.settings import LiveSettings

Json = dict[str, Any]
PATIENCE = 60.0
"""Seconds: the machines of tests are slow at times."""


class Told(Observer):
    """Remembers what went wrong."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.bound_pods: list[str] = []

    def failed(self, what: str, why: str) -> None:
        self.failures.append(f"{what}: {why}")

    def binding_failed(self, pod: str, node: str, why: str) -> None:
        self.failures.append(f"{pod} on {node}: {why}")

    def bound(self, pod: str, node: str, profile: str, attempts: int, sli_seconds: float) -> None:
        self.bound_pods.append(pod)


@dataclass
class Api:
    """The API server, in the test's words."""

    client: ApiClient

    async def create(self, *items: Json) -> None:
        turn = asyncio.Semaphore(16)

        async def one(item: Json) -> None:
            async with turn:
                await self.client.request("POST", collection(item), body=item)

        await asyncio.gather(*[one(item) for item in items])

    async def get(self, path: str) -> Json:
        read: Json = json.loads(await self.client.request("GET", path))
        return read

    async def items(self, path: str) -> list[Json]:
        listed: list[Json] = (await self.get(path))["items"]
        return listed

    async def pod(self, name: str) -> Json:
        return await self.get(f"/api/v1/namespaces/default/pods/{name}")

    async def patch(self, path: str, body: Json) -> None:
        await self.client.request("PATCH", path, body=body, content_type="application/merge-patch+json")

    async def delete(self, path: str, **body: Any) -> None:
        try:
            await self.client.request("DELETE", path, body=body)
        except ApiError as error:
            if error.status != 404:
                raise

    async def delete_pod(self, name: str, grace: int = 0) -> None:
        await self.delete(f"/api/v1/namespaces/default/pods/{name}", gracePeriodSeconds=grace)

    async def node_of(self, name: str) -> str:
        node: str = (await self.pod(name))["spec"].get("nodeName", "")
        return node

    async def condition(self, name: str, kind: str = "PodScheduled") -> Json:
        conditions = (await self.pod(name))["status"].get("conditions") or []
        return next((each for each in conditions if each["type"] == kind), {})

    async def events(self, name: str, reason: str) -> list[Json]:
        found = await self.items("/apis/events.k8s.io/v1/namespaces/default/events")
        return [each for each in found if each["regarding"]["name"] == name and each["reason"] == reason]

    async def has_node(self, name: str) -> bool:
        return await self.node_of(name) != ""

    async def is_on(self, name: str, node: str) -> bool:
        return await self.node_of(name) == node

    async def is_nominated(self, name: str, node: str) -> bool:
        told: str = (await self.pod(name))["status"].get("nominatedNodeName", "")
        return told == node

    async def has_event(self, name: str, reason: str) -> bool:
        return bool(await self.events(name, reason))

    async def says(self, name: str, words: str) -> bool:
        told: str = (await self.condition(name)).get("message", "")
        return told == words

    async def wipe(self) -> None:
        """Take away all that tests make."""
        for path in (
            "/api/v1/namespaces/default/pods",
            "/api/v1/namespaces/default/persistentvolumeclaims",
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            "/apis/events.k8s.io/v1/namespaces/default/events",
            "/api/v1/nodes",
            "/api/v1/persistentvolumes",
            "/apis/storage.k8s.io/v1/storageclasses",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
        ):
            for each in await self.items(path):
                name = each["metadata"]["name"]
                if not name.startswith("system-"):
                    if each["metadata"].get("finalizers"):
                        await self.patch(f"{path}/{name}", {"metadata": {"finalizers": None}})
                    await self.delete(f"{path}/{name}", gracePeriodSeconds=0)


@dataclass
class Running:
    """A scheduler that runs."""

    api: Api
    scheduler: LiveScheduler
    told: Told


def in_cluster(kubeconfig: str, scenario: Callable[[Api], Awaitable[None]]) -> None:
    """Play a scenario, and clean up after it."""

    async def play() -> None:
        async with ApiClient(await connect(kubeconfig), qps=0) as client:
            api = Api(client)
            await api.wipe()
            await scenario(api)

    asyncio.run(play())


@asynccontextmanager
async def scheduling(api: Api, settings: LiveSettings | None = None) -> AsyncIterator[Running]:
    """A scheduler at work until the end of the block."""
    stop, told = asyncio.Event(), Told()
    scheduler = LiveScheduler(api.client, default_configuration(), observer=told, settings=settings or LiveSettings())
    task = asyncio.create_task(scheduler.run(stop))
    try:
        await eventually(lambda: scheduler.ready or task.done())
        yield Running(api, scheduler, told)
    finally:
        stop.set()
        await task


async def eventually(check: Callable[[], bool | Awaitable[bool]], seconds: float = PATIENCE) -> None:
    """Wait until something is so."""
    until = asyncio.get_running_loop().time() + seconds
    while True:
        answer = check()
        if answer if isinstance(answer, bool) else await answer:
            return
        assert asyncio.get_running_loop().time() < until, "it did not come to be"
        await asyncio.sleep(0.05)


def collection(item: Json) -> str:
    """Where objects like this are created."""
    kind, version = item["kind"], item["apiVersion"]
    root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    plural = {"StorageClass": "storageclasses", "PriorityClass": "priorityclasses"}.get(kind, f"{kind.lower()}s")
    namespaced = kind in ("Pod", "PersistentVolumeClaim", "PodDisruptionBudget", "Service", "Event", "Deployment")
    return f"{root}/namespaces/default/{plural}" if namespaced else f"{root}/{plural}"


def node(name: str, zone: str = "a", cpu: str = "4", **labels: str) -> Json:
    """A node that is ready."""
    resources = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    named = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": named | labels},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, cpu: str = "100m", labels: Json | None = None, **spec: Any) -> Json:
    """A pod with one container."""
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0} | spec,
    }


def storage_class(provisioner: str, name: str = "late") -> Json:
    """A class whose claims wait for their pod."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def claim(name: str = "data", of: str = "late") -> Json:
    """A claim of a class."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": of,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def spread(key: str, most: int, **labels: str) -> Json:
    """A hard constraint."""
    return {
        "maxSkew": most,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
