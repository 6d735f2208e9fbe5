"""A small API server: lists, watches, uid preconditions, leases and compaction, in the test's own event loop.

It validates nothing except the length of names. The real API server in tests/live stays the judge.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Json = dict[str, Any]
Key = tuple[str, str]
"""Namespace, "" for none, and name."""
_FINISHED = ("Succeeded", "Failed")
_LONGEST_NAME = 253
_GRACE = 30
_INITIAL_END = {"k8s.io/initial-events-end": "true"}
_REASONS = {404: "NotFound", 409: "Conflict", 410: "Expired", 422: "Invalid"}


class Refusal(Exception):  # noqa: N818 - the API server refuses a request
    """An answer that is not a success."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.status = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": code,
            "reason": _REASONS[code],
            "message": message,
        }


@dataclass
class Watcher:
    """One open watch: its events, and whether it leaves out finished pods."""

    unfinished_only: bool
    events: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)

    def tell(self, kind: str, item: Json) -> None:
        """Deliver a change; a pod that finishes leaves the selection."""
        if self.unfinished_only and item.get("status", {}).get("phase") in _FINISHED:
            kind = "DELETED"
        self.events.put_nowait(_line(kind, item))


class MiniApiServer:
    """The objects of an API server, and its answers.

    Attributes:
        url: of the server.
        objects: resource (``pods``) → key → object.
        requests: method and path of every request, in order.
        bound: uid → nodes of the accepted bindings.
    """

    def __init__(self) -> None:
        self.url = ""
        self.objects: dict[str, dict[Key, Json]] = defaultdict(dict)
        self.requests: list[tuple[str, str]] = []
        self.bound: dict[str, list[str]] = defaultdict(list)
        self._version = 1000
        self._oldest = 0
        self._log: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
        self._watchers: dict[str, list[Watcher]] = defaultdict(list)

    # Used by tests.

    def put(self, resource: str, item: Json) -> Json:
        """Create or replace an object."""
        item = json.loads(json.dumps(item))
        metadata = item["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        old = self.objects[resource].get(key)
        metadata.setdefault("uid", old["metadata"]["uid"] if old is not None else str(uuid.uuid4()))
        metadata.setdefault("creationTimestamp", _now())
        self.objects[resource][key] = item
        self._changed(resource, "ADDED" if old is None else "MODIFIED", item)
        return item

    def remove(self, resource: str, name: str, namespace: str = "default") -> None:
        """Delete an object at once."""
        key = ("" if resource == "nodes" else namespace, name)
        self._changed(resource, "DELETED", self.objects[resource].pop(key))

    def compact(self) -> None:
        """Forget all old versions and end all watches, so that each is answered with 410."""
        self._version += 1
        self._oldest = self._version
        self._log.clear()
        self.cut_watches()

    def cut_watches(self) -> None:
        """End all watches."""
        for each in [one for some in self._watchers.values() for one in some]:
            each.events.put_nowait(None)

    @contextmanager
    def silent_watches(self) -> Iterator[None]:
        """Deliver no change to the open watches."""
        watchers, self._watchers = self._watchers, defaultdict(list)
        yield
        self._watchers = watchers

    def pod(self, name: str) -> Json:
        """Return a pod of the default namespace."""
        return self.objects["pods"]["default", name]

    def node_of(self, name: str) -> str:
        """Return the node of a pod, "" if the pod has none or does not exist."""
        pod = self.objects["pods"].get(("default", name), {"spec": {}})
        node: str = pod["spec"].get("nodeName", "")
        return node

    def events(self, reason: str) -> list[Json]:
        """Return the events with a reason."""
        return [each for each in self.objects["events"].values() if each["reason"] == reason]

    # Used by clients.

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        self.requests.append((request.method, request.path))
        if request.path in ("/readyz", "/healthz", "/livez", "/version"):
            return web.json_response({"gitVersion": "v1.37.0", "major": "1", "minor": "37"})
        namespace, resource, name, subresource = _parts(request.path)
        body = await request.json() if request.can_read_body else {}
        if request.method == "GET" and not name:
            if "watch" in request.query:
                return await self._watch(request, resource)
            return self._list(request, resource, namespace)
        try:
            found = self._carry_out(request.method, resource, (namespace, name), subresource, body)
        except Refusal as refusal:
            return web.json_response(refusal.status, status=refusal.status["code"])
        return web.json_response(found, status=201 if request.method == "POST" else 200)

    def _carry_out(self, method: str, resource: str, key: Key, subresource: str, body: Json) -> Json:
        if resource == "selfsubjectaccessreviews":
            return {"kind": "SelfSubjectAccessReview", "status": {"allowed": True}}
        if method == "POST" and not subresource:
            return self._create(resource, key[0], body)
        item = self.objects[resource].get(key)
        if item is None:
            raise Refusal(404, f'{resource} "{key[1]}" not found')
        if method == "GET":
            return item
        if method == "DELETE":
            return self._delete(resource, item, body)
        return self._write(method, resource, item, subresource, body)

    def _write(self, method: str, resource: str, item: Json, subresource: str, body: Json) -> Json:
        """Bind, replace or patch an object."""
        metadata = body.get("metadata", {})
        if metadata.get("uid") not in (None, item["metadata"]["uid"]):
            raise Refusal(409, "the uid in the precondition does not match")
        if subresource == "binding":
            return self._bind(item, body["target"]["name"])
        if method == "PUT":
            if metadata.get("resourceVersion") not in (None, item["metadata"]["resourceVersion"]):
                raise Refusal(409, "the object has been modified")
            return self.put(resource, body | {"metadata": metadata | {"uid": item["metadata"]["uid"]}})
        changed = json.loads(json.dumps(item))
        merge_patch(changed, body)
        return self.put(resource, changed)

    def _create(self, resource: str, namespace: str, body: Json) -> Json:
        metadata = body["metadata"]
        if len(metadata["name"]) > _LONGEST_NAME:
            raise Refusal(422, f"metadata.name must be no more than {_LONGEST_NAME} characters")
        if (namespace, metadata["name"]) in self.objects[resource]:
            raise Refusal(409, f'{resource} "{metadata["name"]}" already exists')
        if namespace:
            metadata["namespace"] = namespace
        if resource == "pods":
            body.setdefault("status", {}).setdefault("phase", "Pending")
        return self.put(resource, body)

    def _bind(self, pod: Json, node: str) -> Json:
        if pod["spec"].get("nodeName"):
            raise Refusal(409, f"pod {pod['metadata']['name']} is already assigned to node {pod['spec']['nodeName']}")
        if pod["metadata"].get("deletionTimestamp"):
            raise Refusal(409, f"pod {pod['metadata']['name']} is being deleted")
        changed = json.loads(json.dumps(pod))
        changed["spec"]["nodeName"] = node
        merge_patch(changed, {"status": {"conditions": [{"type": "PodScheduled", "status": "True"}]}})
        self.bound[pod["metadata"]["uid"]].append(node)
        self.put("pods", changed)
        return {"kind": "Status", "status": "Success"}

    def _delete(self, resource: str, item: Json, body: Json) -> Json:
        wanted = (body.get("preconditions") or {}).get("uid")
        if wanted not in (None, item["metadata"]["uid"]):
            raise Refusal(409, "the uid in the precondition does not match")
        is_running = resource == "pods" and item["spec"].get("nodeName")
        if is_running and body.get("gracePeriodSeconds", _GRACE):
            return self.put(resource, item | {"metadata": item["metadata"] | {"deletionTimestamp": _now()}})
        self.remove(resource, item["metadata"]["name"], item["metadata"].get("namespace", ""))
        return {"kind": "Status", "status": "Success"}

    def _list(self, request: web.Request, resource: str, namespace: str) -> web.Response:
        selector = request.query.get("fieldSelector", "")
        equal = dict(each.split("=") for each in selector.split(",") if each and "!" not in each)
        listed = [
            each
            for key, each in self.objects[resource].items()
            if namespace in ("", key[0])
            and equal.get("metadata.namespace", key[0]) == key[0]
            and equal.get("metadata.name", key[1]) == key[1]
            and not ("phase!" in selector and each.get("status", {}).get("phase") in _FINISHED)
        ]
        whole = {
            "kind": "List",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": str(self._version)},
            "items": listed,
        }
        return web.Response(text=json.dumps(whole, separators=(",", ":")), content_type="application/json")

    async def _watch(self, request: web.Request, resource: str) -> web.StreamResponse:
        watcher = Watcher("phase!" in request.query.get("fieldSelector", ""))
        since = int(request.query.get("resourceVersion") or 0)
        if "sendInitialEvents" in request.query:
            for each in self.objects[resource].values():
                watcher.tell("ADDED", each)
            mark = {"metadata": {"resourceVersion": str(self._version), "annotations": _INITIAL_END}}
            watcher.events.put_nowait(_line("BOOKMARK", mark))
        elif since < self._oldest:
            watcher.events.put_nowait(_line("ERROR", Refusal(410, f"too old resource version: {since}").status))
            watcher.events.put_nowait(None)
        else:
            for version, kind, text in self._log[resource]:
                if version > since:
                    watcher.tell(kind, json.loads(text))
        self._watchers[resource].append(watcher)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        try:
            await response.prepare(request)
            while (line := await watcher.events.get()) is not None:
                await response.write(line)
        except ConnectionError:
            pass
        finally:
            self._watchers[resource].remove(watcher)
        return response

    def _changed(self, resource: str, kind: str, item: Json) -> None:
        self._version += 1
        item["metadata"]["resourceVersion"] = str(self._version)
        self._log[resource].append((self._version, kind, json.dumps(item)))
        for each in self._watchers[resource]:
            each.tell(kind, item)


@asynccontextmanager
async def mini_api_server() -> AsyncIterator[MiniApiServer]:
    """A server that listens on loopback."""
    server = MiniApiServer()
    application = web.Application(client_max_size=0)
    application.router.add_route("*", "/{rest:.*}", server.answer)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        server.cut_watches()
        await runner.cleanup()


def _parts(path: str) -> tuple[str, str, str, str]:
    """Return namespace, resource, name and subresource of a path."""
    parts = path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = [*rest, "", ""][:3]
    return namespace, resource, name, subresource


def merge_patch(target: Json, patch: Json) -> None:
    """Apply a merge patch; conditions are merged by type, as a strategic merge patch does it."""
    for key, value in patch.items():
        if key == "conditions":
            types = {each["type"] for each in value}
            target[key] = [each for each in target.get(key) or () if each["type"] not in types] + value
        elif isinstance(value, dict):
            merge_patch(target.setdefault(key, {}), value)
        elif value is None:
            target.pop(key, None)
        else:
            target[key] = value


def _line(kind: str, item: Json) -> bytes:
    return json.dumps({"type": kind, "object": item}, separators=(",", ":")).encode() + b"\n"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
