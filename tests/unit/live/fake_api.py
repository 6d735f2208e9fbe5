"""An API server in memory, for the live scheduler's tests: lists, watches, bindings, patches, and faults to order."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec

from tests.faults.mini_api_server import merge_patch
from topospread.live.api_error import ApiError, ApiUnreachable
from topospread.live.rest import Rest

Json = dict[str, Any]
PODS = "/api/v1/pods"
NODES = "/api/v1/nodes"


class FakeApi:
    """In place of an `ApiClient`.

    Attributes:
        before, after: called with method and path before a request is carried out, and before it is answered; what they
            raise is what the client gets.
        held: a path ends so → when a request to it is carried out.
        written: method and path of all writes, in order.
        streams: whether lists can be streamed.
        short: kinds whose streamed lists end before their end.
        labels: given to every pod that is bound (PodTopologyLabelsAdmission).
        rests: path → the rest that its watch may take.
        resting: paths whose watches rest after every event.
    """

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Json]] = defaultdict(dict)
        self.before: Callable[[str, str], None] = lambda method, path: None
        self.after: Callable[[str, str], None] = lambda method, path: None
        self.written: list[tuple[str, str]] = []
        self.bodies: list[Json] = []
        self.held: dict[str, asyncio.Event] = {}
        self.streams = False
        self.short: set[str] = set()
        self.labels: dict[str, str] = {}
        self.rests: dict[str, Rest | None] = {}
        self.resting: set[str] = set()
        self.version = 0
        self._watches: dict[str, list[asyncio.Queue[Json | Exception]]] = defaultdict(list)

    # What a test does.

    def put(self, path: str, item: Json) -> Json:
        """An object comes or changes."""
        self.version += 1
        metadata = item["metadata"]
        metadata["resourceVersion"] = str(self.version)
        metadata.setdefault("uid", f"uid-{metadata['name']}-{self.version}")
        key = _key(metadata)
        kind = "MODIFIED" if key in self.objects[path] else "ADDED"
        self.objects[path][key] = item
        self._tell(path, {"type": kind, "object": item})
        return item

    def remove(self, path: str, key: str) -> None:
        """An object goes."""
        self.version += 1
        gone = self.objects[path].pop(key)
        gone["metadata"]["resourceVersion"] = str(self.version)
        self._tell(path, {"type": "DELETED", "object": gone})

    def cut(self, path: str, error: Exception) -> None:
        """Every watch of a kind ends."""
        for each in self._watches.pop(path, ()):
            each.put_nowait(error)

    def quietly(self, path: str, item: Json) -> None:
        """An object comes or changes while nobody is told, as far as watches go."""
        watches, self._watches[path] = self._watches[path], []
        self.put(path, item)
        self._watches[path] = watches

    def pod(self, name: str) -> Json:
        return self.objects[PODS][f"default/{name}"]

    def node_of(self, name: str) -> str:
        node: str = self.pod(name)["spec"].get("nodeName", "")
        return node

    def notes(self, name: str, reason: str) -> list[str]:
        """The notes of events on a pod."""
        told = [each for each in self.bodies if each.get("kind") == "Event" and each["regarding"]["name"] == name]
        return [each["note"] for each in told if each["reason"] == reason]

    # What a client does.

    async def request(self, method: str, path: str, *, params: Any = None, body: Any = None, **_: Any) -> bytes:
        await asyncio.sleep(0)
        for end, until in self.held.items():
            if path.endswith(end):
                await until.wait()
        self.before(method, path)
        if method != "GET":
            self.written.append((method, path))
            if isinstance(body, dict):
                self.bodies.append(body)
        answer = self._carry_out(method, path, body)
        self.after(method, path)
        return json.dumps(answer).encode()

    async def create_all(self, items: Sequence[tuple[str, Json]]) -> list[bool]:
        done = []
        for path, body in items:
            try:
                await self.request("POST", path, body=body)
                done.append(True)
            except (ApiError, ApiUnreachable):
                done.append(False)
        return done

    async def list_pages(self, path: str, *, params: Any = None) -> AsyncIterator[bytes]:
        await asyncio.sleep(0)
        self.before("LIST", path)
        selector = dict(each.split("=", 1) for each in (params or {}).get("fieldSelector", "").split(",") if each)
        namespace, name = selector.get("metadata.namespace"), selector.get("metadata.name")
        wanted = "/".join(filter(None, (namespace, name)))
        items = [each for key, each in self.objects[path].items() if wanted in ("", key)]
        yield json.dumps({"metadata": {"resourceVersion": str(self.version)}, "items": items}).encode()

    async def list_whole(self, path: str, *, params: Any = None) -> AsyncIterator[bytes]:
        await asyncio.sleep(0)
        self.before("LIST", path)
        items = list(self.objects[path].values())
        whole = {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": str(self.version)}, "items": items}
        data = json.dumps(whole, separators=(",", ":"), indent=None if self.streams else 1).encode()
        yield data[:100]
        yield data[100 : -2 if path in self.short else len(data)]

    async def watch(
        self, path: str, resource_version: str, *, params: Any = None
    ) -> AsyncIterator[tuple[str, msgspec.Raw]]:
        self.before("WATCH", path)
        told: asyncio.Queue[Json | Exception] = asyncio.Queue()
        if "sendInitialEvents" in (params or {}):
            if not self.streams:
                raise ApiError(500, "InternalError", "sendInitialEvents is not served")
            for each in self.objects[path].values():
                told.put_nowait({"type": "ADDED", "object": each})
            if path in self.short:
                yield "ADDED", msgspec.Raw(json.dumps(next(iter(self.objects[path].values()))).encode())
                return
            end = {"k8s.io/initial-events-end": "true"}
            mark = {"metadata": {"resourceVersion": str(self.version), "annotations": end}}
            told.put_nowait({"type": "BOOKMARK", "object": mark})
        self._watches[path].append(told)
        try:
            while True:
                event = await told.get()
                if isinstance(event, Exception):
                    raise event
                yield event["type"], msgspec.Raw(json.dumps(event["object"]).encode())
        finally:
            if told in self._watches[path]:
                self._watches[path].remove(told)

    async def watch_batches(
        self, path: str, resource_version: str, *, params: Any = None, seconds: int = 300, rest: Rest | None = None
    ) -> AsyncIterator[list[tuple[str, msgspec.Raw]]]:
        self.rests[path] = rest
        async for event in self.watch(path, resource_version, params=params):
            if rest is not None and path in self.resting:
                await rest.lasts()
            yield [event]

    def _tell(self, path: str, event: Json) -> None:
        told = json.loads(json.dumps(event))
        for each in self._watches[path]:
            each.put_nowait(told)

    def _carry_out(self, method: str, path: str, body: Any) -> Json:
        if "/events" in path:
            return {}
        _, _, _, _, namespace, kind, name, *sub = path.split("/")
        collection, key = f"/api/v1/{kind}", f"{namespace}/{name}"
        item = self.objects[collection].get(key)
        if item is None:
            raise ApiError(404, "NotFound", f'{kind} "{name}" not found')
        if method == "GET":
            return item
        if method == "DELETE":
            self.remove(collection, key)
            return {}
        if sub == ["binding"]:
            return self._bind(item, body)
        changed = json.loads(json.dumps(item))
        annotations = body.get("metadata", {}).get("annotations")
        metadata = {"metadata": {"annotations": annotations}} if annotations else {}
        merge_patch(changed, {key: value for key, value in body.items() if key != "metadata"} | metadata)
        return self.put(collection, changed)

    def _bind(self, pod: Json, body: Json) -> Json:
        name = pod["metadata"]["name"]
        if body["metadata"]["uid"] != pod["metadata"]["uid"]:
            raise ApiError(409, "Conflict", f"Operation cannot be fulfilled on pods/binding {name}: uid mismatch")
        if pod["spec"].get("nodeName"):
            raise ApiError(409, "Conflict", f"pod {name} is already assigned to node")
        bound = json.loads(json.dumps(pod))
        bound["spec"]["nodeName"] = body["target"]["name"]
        bound["metadata"]["labels"] = bound["metadata"].get("labels", {}) | self.labels
        return self.put(PODS, bound)


def _key(metadata: Json) -> str:
    namespace = metadata.get("namespace", "")
    return f"{namespace}/{metadata['name']}" if namespace else metadata["name"]


def node(name: str, cpu: str = "4", **labels: str) -> Json:
    resources = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    named = {"kubernetes.io/hostname": name} | labels
    return {"metadata": {"name": name, "labels": named}, "spec": {}, "status": {"allocatable": resources}}


def pod(name: str, cpu: str = "100m", **spec: Any) -> Json:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"name": name, "namespace": "default", "generation": 1},
        "spec": {"schedulerName": "default-scheduler", "containers": [container]} | spec,
        "status": {"phase": "Pending"},
    }


LOST = ApiUnreachable("the answer was lost")
