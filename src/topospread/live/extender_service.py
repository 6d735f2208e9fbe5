"""An HTTP extender for kube-scheduler: answers filter and prioritize from watched nodes and pods.

kube-scheduler schedules the next pod before the watch shows the previous binding. So the extender remembers each pod
that passed its filter. Before it counts pods of a namespace, it waits until the watch shows that such pods have a
node, are deleted, or were rejected by another plugin, but at most `PATIENCE` seconds.

Protocol: k8s.io/kube-scheduler/extender/v1/types.go. Client: pkg/scheduler/extender.go.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from aiohttp import web

from topospread.api.meta import KubeObject, ObjectMeta
from topospread.api.node import Node
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.errors import TopospreadError
from topospread.extender.declared import declared, texts_of
from topospread.extender.domain_rules import refused, scores
from topospread.extender.surroundings import surroundings

from .serving import has_client_certificate

log = logging.getLogger(__name__)

PATIENCE: Final = 2.0
"""Seconds to wait for the binding of a passed pod. kube-scheduler's default timeout for an extender is 5 seconds."""

LARGEST: Final = 8 << 20
"""Maximum bytes of a request: a pod of up to 3 MiB, and with nodeCacheCapable tens of thousands of node names."""

MOST_NODES: Final = 50_000
"""Maximum number of nodes of a request: ten times as many as Kubernetes supports."""

_BODY_SECONDS: Final = 5.0
"""Time limit in seconds for receiving a request: kube-scheduler's default httpTimeout."""

Json = dict[str, Any]
PodKey = tuple[str, str]


class ExtenderArgs(msgspec.Struct, dict=True):
    """A request of kube-scheduler.

    Attributes:
        nodes: a NodeList as plain data, to be sent back unchanged; ``None`` with nodeCacheCapable.
        node_names: the names of the nodes with nodeCacheCapable.
    """

    pod: Pod = msgspec.field(name="Pod")
    nodes: Json | None = msgspec.field(default=None, name="Nodes")
    node_names: list[str] | None = msgspec.field(default=None, name="NodeNames")

    def __post_init__(self) -> None:
        """Decode the nodes. Raise ValidationError if one is not a node, or there are too many."""
        self.items = (self.nodes or {}).get("items") or []
        if max(len(self.node_names or ()), len(self.items)) > MOST_NODES:
            raise ValueError(f"more than {MOST_NODES:,} nodes")
        self.sent = msgspec.convert(self.items, list[Node])

    @property
    def names(self) -> list[str]:
        """The nodes' names, in order."""
        return self.node_names or [] if self.nodes is None else [each.name for each in self.sent]


@dataclass(frozen=True, slots=True)
class _Passed:
    """A pod that passed the filter, but that the watch does not show on a node yet."""

    uid: str | None
    until: float


class WatchedDomains:
    """The watched nodes and pods, and the pods that passed the filter recently; a `ClusterListener`."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._pods: dict[str, dict[str, Pod]] = {}
        self._passed: dict[PodKey, _Passed] = {}
        self._moved = asyncio.Event()

    def put(self, kind: str, item: KubeObject, before: KubeObject | None) -> None:
        """See ClusterListener."""
        if isinstance(item, Node):
            self.nodes[item.name] = item
        elif isinstance(item, Pod):
            self._pods.setdefault(item.namespace, {})[item.name] = item
            if item.spec.node_name or item.phase in FINISHED_PHASES or _was_refused(item, before):
                self._settled((item.namespace, item.name))

    def delete(self, kind: str, item: KubeObject) -> None:
        """See ClusterListener."""
        if isinstance(item, Node):
            self.nodes.pop(item.name, None)
        elif isinstance(item, Pod):
            self._pods.get(item.namespace, {}).pop(item.name, None)
            self._settled((item.namespace, item.name))

    def placed(self, namespace: str) -> list[tuple[Pod, str]]:
        """Return (pod, node) for the placed pods of a namespace."""
        pods = self._pods.get(namespace, {}).values()
        return [(each, each.spec.node_name) for each in pods if each.spec.node_name]

    def pass_on(self, pod: Pod, seconds: float) -> None:
        """Record that a pod passed the filter. Other pods wait for its binding at most ``seconds``."""
        known = self._pods.get(pod.namespace, {}).get(pod.name)
        if known is None or not known.spec.node_name:
            until = asyncio.get_running_loop().time() + seconds
            self._passed[pod.namespace, pod.name] = _Passed(pod.metadata.uid, until)

    async def settle(self, pod: Pod) -> None:
        """Wait until no other pod of the namespace is between filter and binding."""
        self._passed.pop((pod.namespace, pod.name), None)
        now = asyncio.get_running_loop().time
        while waiting := [until for (namespace, _), until in self._under_way(now()) if namespace == pod.namespace]:
            self._moved.clear()
            try:
                await asyncio.wait_for(self._moved.wait(), max(0.0, min(waiting) - now()))
            except TimeoutError:
                continue

    def _under_way(self, now: float) -> list[tuple[PodKey, float]]:
        self._passed = {key: each for key, each in self._passed.items() if each.until > now}
        return [(key, each.until) for key, each in self._passed.items()]

    def _settled(self, key: PodKey) -> None:
        if self._passed.pop(key, None) is not None:
            self._moved.set()


def _was_refused(pod: Pod, before: KubeObject | None) -> bool:
    """Return whether kube-scheduler has just reported that the pod found no node."""

    def said(each: KubeObject | None) -> list[object]:
        status = each.status if isinstance(each, Pod) else None
        return [one for one in (status.conditions if status else None) or () if one.type == "PodScheduled"]

    return bool(said(pod)) and said(pod) != said(before)


class ExtenderService:
    """Computes the answers of the extender.

    Args:
        ready: returns whether the initial lists are complete.
        patience: seconds to wait for the binding of a pod that passed the filter.
    """

    def __init__(
        self, watched: WatchedDomains, ready: Callable[[], bool] = lambda: True, patience: float = PATIENCE
    ) -> None:
        self._watched = watched
        self._patience = patience
        self._one_by_one = asyncio.Lock()
        self.ready = ready

    async def filter(self, args: ExtenderArgs) -> Json:
        """Return an ExtenderFilterResult. It lists all rejected nodes as nodes on which preemption cannot help."""
        if not self.ready():
            return {"Error": "topospread run extender: the cluster is not read yet"}
        pod = args.pod
        async with self._one_by_one:
            against = await self._against(pod, args)
            if len(against) < len(args.names):
                self._watched.pass_on(pod, self._patience)
        if against:
            log.debug("%s/%s: %d of %d nodes refused", pod.namespace, pod.name, len(against), len(args.names))
        answer: Json = {"FailedAndUnresolvableNodes": against}
        if args.nodes is None:
            answer["NodeNames"] = [name for name in args.names if name not in against]
        else:
            kept = [item for item, node in zip(args.items, args.sent, strict=True) if node.name not in against]
            answer["Nodes"] = {**args.nodes, "items": kept}
        return answer

    async def _against(self, pod: Pod, args: ExtenderArgs) -> dict[str, str]:
        texts = texts_of(pod.metadata)
        if not texts:
            return {}
        asked, problems = declared(texts)
        if problems:
            return dict.fromkeys(args.names, f"{problems[0].annotation}: {problems[0].message}")
        await self._watched.settle(pod)
        nodes = self._nodes(args)
        return refused(asked, surroundings(pod, asked.counted, nodes, self._watched.placed(pod.namespace)), args.names)

    async def prioritize(self, args: ExtenderArgs) -> list[Json]:
        """Return a HostPriorityList."""
        pod = args.pod
        asked, problems = declared(texts_of(pod.metadata))
        points = dict.fromkeys(args.names, 0)
        if asked.rules and not problems and self.ready():
            nodes, placed = self._nodes(args), self._watched.placed(pod.namespace)
            points = scores(asked, surroundings(pod, asked.counted, nodes, placed), args.names)
        return [{"Host": name, "Score": points[name]} for name in args.names]

    def _nodes(self, args: ExtenderArgs) -> Mapping[str, Node]:
        """Return the watched nodes, and sent nodes that are not seen yet."""
        new = [name for name in args.names if name not in self._watched.nodes]
        if not new:
            return self._watched.nodes
        sent = {each.name: each for each in args.sent}
        return {
            **self._watched.nodes,
            **{name: sent.get(name) or Node(metadata=ObjectMeta(name=name)) for name in new},
        }


def extender_application(service: ExtenderService, *, needs_certificate: bool = False) -> web.Application:
    """Return the application for ``POST /filter``, ``POST /prioritize``, ``/healthz``, ``/livez`` and ``/readyz``.

    Args:
        needs_certificate: whether kube-scheduler must present a client certificate.
    """
    decoder = msgspec.json.Decoder(ExtenderArgs)

    def answer(by: Callable[[ExtenderArgs], Awaitable[object]]) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            if needs_certificate and not has_client_certificate(request):
                raise web.HTTPUnauthorized(text="a client certificate is required\n")
            data = await _body(request)
            try:
                return _json(await by(decoder.decode(data)))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TopospreadError) as error:
                raise web.HTTPBadRequest(text=f"not valid ExtenderArgs: {error}\n") from None

        return handle

    async def well(request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def ready(request: web.Request) -> web.Response:
        if service.ready():
            return web.Response(text="ok")
        return web.Response(status=500, text="the cluster is not read yet\n")

    application = web.Application(client_max_size=LARGEST)
    application.router.add_post("/filter", answer(service.filter))
    application.router.add_post("/prioritize", answer(service.prioritize))
    for path in ("/healthz", "/livez"):
        application.router.add_get(path, well)
    application.router.add_get("/readyz", ready)
    return application


async def _body(request: web.Request) -> bytes:
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise web.HTTPRequestEntityTooLarge(
            LARGEST, text=f"more than {LARGEST:,} bytes; set nodeCacheCapable: true for this extender\n"
        ) from None
    except TimeoutError:
        raise web.HTTPRequestTimeout(text="the request did not arrive in time\n") from None


def _json(answer: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(answer), content_type="application/json")
