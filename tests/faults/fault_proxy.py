"""A proxy before the API server that goes wrong as tests want it: statuses, lost answers, cut connections."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

Matches = Callable[[str, str], bool]
"""Whether a fault concerns a request: method and path."""


@dataclass
class Faults:
    """What goes wrong now.

    Attributes:
        matches: the requests that the faults concern.
        share: the share of the matching requests that the faults concern, drawn the same way each time.
        slow: seconds by which concerned requests are delayed before the API server receives them.
        expired: every watch is answered with 410.
        status: answered in place of the API server's answer, where ``matches``.
        retry_after: seconds in the header of such an answer.
        lose_answers: how many matching requests are still carried out without an answer.
        cut_before: how many matching requests are still cut before the API server hears of them.
        closed: every connection is closed.
        halved: answers end in the middle of what the API server sent, as if that were all, where ``matches``.
        answered: method, path and status of what was answered by the API server.
        received: method and path of every request.
    """

    matches: Matches = lambda method, path: True
    share: float = 1.0
    slow: float = 0.0
    expired: bool = False
    status: int = 0
    retry_after: int | None = None
    lose_answers: int = 0
    cut_before: int = 0
    closed: bool = False
    halved: bool = False
    answered: list[tuple[str, str, int]] = field(default_factory=list)
    received: list[tuple[str, str]] = field(default_factory=list)
    watches: set[asyncio.Transport] = field(default_factory=set)
    _draws: random.Random = field(default_factory=lambda: random.Random(7))

    def concerns(self, method: str, path: str) -> bool:
        """Count a request, and return whether the faults concern it."""
        self.received.append((method, path))
        if not self.matches(method, path):
            return False
        return self.share >= 1 or self._draws.random() < self.share  # requests before a fault take no draw

    def end(self) -> None:
        """End all faults; the counts stay."""
        fresh = Faults()
        for name in ("matches", "share", "slow", "expired", "status", "retry_after", "lose_answers", "cut_before"):
            setattr(self, name, getattr(fresh, name))
        self.closed = self.halved = False

    def cut_watches(self) -> None:
        """Close the connections of all watches."""
        for each in list(self.watches):
            each.abort()

    def bindings(self, status: int) -> int:
        """How many bindings the API server answered so."""
        return sum(1 for _, path, code in self.answered if path.endswith("/binding") and code == status)


@dataclass
class FaultProxy:
    """The proxy's address, and its faults."""

    url: str
    faults: Faults
    _runner: web.AppRunner
    _site: web.TCPSite

    async def refuse(self) -> None:
        """Refuse connections, and close the open ones.

        Connections that are accepted already are taken over first: asyncio would leave them open without reading them
        where their server is closed before.
        """
        assert isinstance(self._site._server, asyncio.Server)
        assert self._runner.server is not None
        for each in self._site._server.sockets:
            asyncio.get_running_loop().remove_reader(each.fileno())
        for _ in range(5):
            await asyncio.sleep(0)
        await self._site.stop()
        for each in self._runner.server.connections:
            if each.transport is not None:
                each.transport.abort()

    async def listen(self) -> None:
        """Accept connections again, on the same port."""
        self._site = web.TCPSite(self._runner, "127.0.0.1", int(self.url.rpartition(":")[2]), reuse_address=True)
        await self._site.start()


def is_binding(method: str, path: str) -> bool:
    return method == "POST" and path.endswith("/binding")


_EXPIRED = {
    "kind": "Status",
    "apiVersion": "v1",
    "status": "Failure",
    "code": 410,
    "reason": "Expired",
    "message": "too old resource version",
}


def is_status(method: str, path: str) -> bool:
    return method == "PATCH" and path.endswith("/status")


def is_event(method: str, path: str) -> bool:
    return "/events" in path


def is_write(method: str, path: str) -> bool:
    return method != "GET"


@asynccontextmanager
async def fault_proxy(server: str, token: str = "") -> AsyncIterator[FaultProxy]:
    """Run a proxy in front of an API server; its clients use plain HTTP.

    Args:
        server: URL of the API server.
        token: added to every request, as client-go sends none over plain HTTP; "" keeps the client's own.
    """
    faults = Faults()
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    connector = aiohttp.TCPConnector(limit=0, ssl=trust)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession(connector=connector, auto_decompress=False, headers=headers) as session:

        async def answer(request: web.Request) -> web.StreamResponse:
            return await _answer(request, session, server, faults)

        application = web.Application(client_max_size=0)
        application.router.add_route("*", "/{rest:.*}", answer)
        runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert runner.addresses
        yield FaultProxy(f"http://127.0.0.1:{runner.addresses[0][1]}", faults, runner, site)
        await runner.cleanup()
        await asyncio.sleep(0.1)  # connections that were cut are closed in the next turns of the loop


async def _answer(
    request: web.Request, session: aiohttp.ClientSession, server: str, faults: Faults
) -> web.StreamResponse:
    concerned = faults.concerns(request.method, request.path)
    if concerned and faults.slow:
        await asyncio.sleep(faults.slow)
    if faults.expired and "watch" in request.query:
        return web.json_response(_EXPIRED, status=410)
    if faults.closed or (concerned and faults.cut_before > 0):
        faults.cut_before -= concerned and not faults.closed
        return _cut(request)
    if concerned and faults.status:
        headers = {} if faults.retry_after is None else {"Retry-After": str(faults.retry_after)}
        return web.Response(status=faults.status, headers=headers, text="a fault of the test")
    dropped = ("host", "content-length", "accept-encoding")
    kept = {key: value for key, value in request.headers.items() if key.lower() not in dropped}
    kept["Accept-Encoding"] = "identity"
    async with session.request(
        request.method,
        server + request.path_qs,
        headers=kept,
        data=await request.read() or None,
        timeout=aiohttp.ClientTimeout(),
    ) as given:
        faults.answered.append((request.method, request.path, given.status))
        # The fault may have begun since the request arrived: it concerns the requests that match it now.
        if concerned and faults.lose_answers > 0 and faults.matches(request.method, request.path):
            faults.lose_answers -= 1
            await given.read()
            return _cut(request)
        passed = web.StreamResponse(
            status=given.status, headers={"Content-Type": given.headers.get("Content-Type", "")}
        )
        await passed.prepare(request)
        is_watch = "watch" in request.query
        transport = request.transport
        if is_watch and transport is not None:
            faults.watches.add(transport)
        try:
            if concerned and faults.halved:
                await _half(given, passed)
                return passed
            async for chunk in given.content.iter_any():
                await passed.write(chunk)
            await passed.write_eof()
        except (ConnectionResetError, aiohttp.ClientError, asyncio.CancelledError):
            if transport is not None:
                transport.abort()
        finally:
            faults.watches -= {transport} if transport is not None else set()
        return passed


async def _half(given: aiohttp.ClientResponse, passed: web.StreamResponse) -> None:
    """Half of an answer, or of what a watch sends first; its end looks like the end."""
    sent = await given.content.readany()
    await passed.write(sent[: len(sent) // 2])
    await passed.write_eof()


def _cut(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()
