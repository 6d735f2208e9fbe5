"""Kubelets of nodes that are only objects: they say that pods run, end those that are deleted, and renew leases."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from topospread.live.api_error import ApiError, ApiUnreachable
from topospread.live.client import ApiClient
from topospread.live.connection import connect

Json = dict[str, Any]
RENEWAL = 6.0
"""Seconds between the signs of life of a node."""
_START = 0.4
"""Seconds until a pod is ready: controllers and kube-scheduler are faster than kubelets."""
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


class Kubelets:
    """All kubelets of a cluster.

    Attributes:
        nodes: whose leases are renewed.
        silent: nodes among them that tell nothing, and do nothing.
    """

    def __init__(self, kubeconfig: Path) -> None:
        self.nodes: set[str] = set()
        self.silent: set[str] = set()
        self._kubeconfig = str(kubeconfig)
        self._pods: dict[str, Json] = {}
        self._busy: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stop = threading.Event()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """They work until the end of the block."""
        thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    async def _run(self) -> None:
        async with ApiClient(await connect(self._kubeconfig), qps=0) as client:
            await self._namespace(client)
            parts = (self._watch(client), self._renew(client), self._look(client))
            work = [asyncio.create_task(each) for each in parts]
            while not self._stop.is_set():
                await asyncio.sleep(0.1)
            for each in [*work, *self._tasks]:
                each.cancel()
            await asyncio.gather(*work, *self._tasks, return_exceptions=True)

    @staticmethod
    async def _namespace(client: ApiClient) -> None:
        item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-node-lease"}}
        try:
            await client.request("POST", "/api/v1/namespaces", body=item)
        except ApiError as error:
            if error.status != 409:
                raise

    async def _watch(self, client: ApiClient) -> None:
        while True:
            listed = json.loads(await client.request("GET", "/api/v1/pods"))
            self._pods = {each["metadata"]["uid"]: each for each in listed["items"]}
            try:
                async for kind, raw in client.watch("/api/v1/pods", listed["metadata"]["resourceVersion"]):
                    if kind == "BOOKMARK":
                        continue
                    pod = json.loads(bytes(raw))
                    uid = pod["metadata"]["uid"]
                    if kind == "DELETED":
                        self._pods.pop(uid, None)
                    else:
                        self._pods[uid] = pod
                        self._tend(client, uid)
            except (ApiError, ApiUnreachable):
                await asyncio.sleep(0.2)

    async def _look(self, client: ApiClient) -> None:
        """Of nodes that are back pods wait to be tended."""
        while True:
            await asyncio.sleep(1)
            for uid in list(self._pods):
                self._tend(client, uid)

    def _tend(self, client: ApiClient, uid: str) -> None:
        if uid not in self._busy and self._is_due(uid):
            self._busy.add(uid)
            task = asyncio.create_task(self._do(client, uid))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _is_due(self, uid: str) -> bool:
        pod = self._pods.get(uid)
        node = pod["spec"].get("nodeName") if pod else None
        if pod is None or node is None or node in self.silent:
            return False
        return "deletionTimestamp" in pod["metadata"] or not _is_ready(pod)

    async def _do(self, client: ApiClient, uid: str) -> None:
        try:
            if "deletionTimestamp" not in self._pods[uid]["metadata"]:
                await asyncio.sleep(_START)
            while self._is_due(uid):
                before = self._pods[uid]
                await self._act(client, before)
                for _ in range(20):
                    if self._pods.get(uid) is not before:
                        break
                    await asyncio.sleep(0.05)
        except (ApiError, ApiUnreachable):
            pass  # it is looked at again
        finally:
            self._busy.discard(uid)

    @staticmethod
    async def _act(client: ApiClient, pod: Json) -> None:
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        precondition = {"uid": metadata["uid"]}
        if "deletionTimestamp" in metadata:
            await client.request("DELETE", path, body={"gracePeriodSeconds": 0, "preconditions": precondition})
            return
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        conditions = [
            {"type": kind, "status": "True", "lastTransitionTime": since}
            for kind in ("PodScheduled", "Ready", "ContainersReady")
        ]
        body = {"metadata": precondition, "status": {"phase": "Running", "conditions": conditions}}
        await client.request("PATCH", f"{path}/status", body=body, content_type="application/merge-patch+json")

    async def _renew(self, client: ApiClient) -> None:
        while True:
            alive = [each for each in sorted(self.nodes) if each not in self.silent]
            await asyncio.gather(*[self._renew_one(client, name) for name in alive])
            await asyncio.sleep(RENEWAL if alive else 0.2)

    @staticmethod
    async def _renew_one(client: ApiClient, name: str) -> None:
        spec = {
            "holderIdentity": name,
            "leaseDurationSeconds": 40,
            "renewTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec}
        try:
            await client.request("PATCH", f"{_LEASES}/{name}", body=lease, content_type="application/merge-patch+json")
        except ApiError as error:
            if error.status != 404:
                raise
            await client.request("POST", _LEASES, body=lease)


def _is_ready(pod: Json) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions") or ())
