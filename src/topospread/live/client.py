"""A client of the API server: single requests, paged lists and watches.

Reads and writes use separate connections, so that a long list does not delay bindings. Requests are retried after 429,
or 5xx with ``Retry-After``, like in client-go (rest/with_retry.go). A request over an idle connection that the server
had closed is sent again. After a 401 the credentials are renewed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NoReturn

import aiohttp
import msgspec

from .answer_stream import answer_from
from .api_error import ApiError, ApiUnreachable, error_of, unreachable, whole_seconds
from .connection import Connection
from .http_head import HttpServer
from .observer import Observer
from .rate_limit import RateLimit
from .request_headers import RequestHeaders
from .rest import Rest
from .watch_events import Json, events_in
from .write_connections import BrokenConnection, Request, WriteConnections
from .write_order import MOST_SLOW

PAGE = 500
"""Objects per page, like client-go's pager."""
_TIMEOUT = 30.0
_CONNECTING = 10.0
_SILENCE = 150.0
"""Seconds without data after which a watch counts as broken. Bookmarks arrive every minute."""
_GOODBYE = 0.1
"""Seconds for closing TLS connections, which aiohttp does not await."""
_RETRIES = 10
_CONNECTIONS = MOST_SLOW + 32
"""Maximum connections for writes: one for each slow write without a slot, and for each write with a slot."""
_GATHERING = 0.01
"""Pause in seconds in which data of a long list can gather."""
_CONFLICT = 409
_ELSEWHERE = (301, 302, 303, 307, 308)


class _ListMeta(msgspec.Struct, rename="camel"):
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    params: Mapping[str, str] | None
    data: bytes | None
    content_type: str
    timeout: float


class ApiClient:
    """A client of one API server; ``qps`` and ``burst`` limit requests per second, without watches."""

    def __init__(
        self, connection: Connection, *, qps: float = 50, burst: int = 100, observer: Observer | None = None
    ) -> None:
        self._connection = connection
        self._observer = observer or Observer()
        self._limit = RateLimit(qps, burst, time.monotonic)
        self._reads: aiohttp.ClientSession | None = None
        self._writes: aiohttp.ClientSession | None = None
        self._generation = self._direct_generation = connection.generation
        self._direct: WriteConnections | None = None
        self._headers = RequestHeaders(connection)
        self._redirects = False
        self._outdated: list[aiohttp.ClientSession] = []
        """Sessions with a replaced client certificate, kept until their requests end."""

    async def __aenter__(self) -> ApiClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        for session in (self._reads, self._writes, *self._outdated):
            if session is not None:
                await session.close()
        if self._direct is not None:
            self._direct.close()
        self._reads = self._writes = self._direct = None
        self._outdated.clear()
        if self._connection.ssl is not None:
            await asyncio.sleep(_GOODBYE)

    async def request(  # noqa: PLR0913 - a request has that many parts
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = "application/json",
        timeout: float = _TIMEOUT,
        allowed: Callable[[], bool] = lambda: True,
    ) -> bytes:
        """Send a request and return the body of the response.

        Args:
            path: path from the root, ``/api/v1/…``.
            body: bytes, or an object that msgspec can encode.
            content_type: content type of the body; patches have several types.
            timeout: time limit of each attempt in seconds.
            allowed: called before every attempt, because retries may be delayed.

        Raises:
            ApiError: if the server answers with an error.
            ApiUnreachable: if there is no answer, or `allowed` returns False. The request may have taken effect.
        """
        data = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        request = _Request(method, path, params, data, content_type if data is not None else "", timeout)
        for retry in range(_RETRIES + 1):
            await self._limit.wait()
            if not allowed():
                raise ApiUnreachable("not sent: it is not allowed any more")
            try:
                return await self._once_more(request)
            except ApiError as error:
                if error.status == 401 and retry == 0:
                    await self._connection.renew()
                    continue
                asked = error.retry_after is not None and (error.status == 429 or error.status >= 500)
                if not asked or retry == _RETRIES:
                    raise
                await asyncio.sleep(error.retry_after or 0)
        raise AssertionError("the last retry returns or raises")

    async def create_all(self, items: Sequence[tuple[str, object]]) -> list[bool]:
        """Create objects with unique names in pipelined requests. Return for each whether it exists now.

        Failed objects can be created one by one later: the server may be busy, or the connection broke.
        """
        writes = self._write_connections()
        if writes is None:
            return [False] * len(items)
        for _ in items:
            await self._limit.wait()
        lines = await self._headers.lines("application/json")
        requests = [Request("POST", path, None, lines, msgspec.json.encode(body)) for path, body in items]
        started = time.monotonic()
        try:
            answers = await writes.send(requests, timeout=_TIMEOUT)
        except OSError:  # includes TimeoutError
            return [False] * len(items)
        seconds = time.monotonic() - started
        for each in answers:
            self._observer.requested("POST", str(each.status), seconds)
        return [each.status < 300 or each.status == _CONFLICT for each in answers]

    async def list_pages(self, path: str, *, params: Mapping[str, str] | None = None) -> AsyncIterator[bytes]:
        """Yield the pages of a list, each a ``…List`` object. All have the same resource version.

        Raises:
            ApiError: with 410 ``Expired`` if the continue token is too old.
            ApiUnreachable: if there is no answer.
        """
        asked = {"limit": str(PAGE), **(params or {})}
        page = await self.request("GET", path, params=asked)
        while True:
            token = msgspec.json.decode(page, type=_Page).metadata.continue_
            following: asyncio.Task[bytes] | None = None
            if token:  # the server prepares the next page while this page is processed
                rest = self.request("GET", path, params=asked | {"continue": token})
                following = asyncio.create_task(rest)
            try:
                yield page
            except BaseException:
                if following is not None:
                    following.cancel()
                raise
            if following is None:
                return
            page = await following

    async def watch(
        self, path: str, resource_version: str, *, params: Mapping[str, str] | None = None
    ) -> AsyncIterator[tuple[str, Json]]:
        """Yield events after a version: ADDED, MODIFIED, DELETED or BOOKMARK, and the object's bytes.

        See `watch_batches`.
        """
        async for events in self.watch_batches(path, resource_version, params=params):
            for event in events:
                yield event

    async def watch_batches(
        self,
        path: str,
        resource_version: str,
        *,
        params: Mapping[str, str] | None = None,
        seconds: int = 300,
        rest: Rest | None = None,
    ) -> AsyncIterator[list[tuple[str, Json]]]:
        """Yield the events of a watch in batches of those that arrived together.

        The server ends the watch after at most ``seconds``. If events arrive continuously, a ``rest`` follows each
        batch, because larger batches are cheaper.

        Raises:
            ApiError: if the server returns an error, such as 410 if the version is too old.
            ApiUnreachable: if the connection fails.
        """
        asked = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(seconds),
            **(params or {}),
        }
        try:
            async with self._stream(path, asked, _SILENCE, rest) as content:
                self._observer.watching(path.rpartition("/")[2], "open")
                async for events in events_in(content):
                    for place, (kind, raw) in enumerate(events):
                        if kind == "ERROR":
                            yield events[:place]
                            raise error_of(bytes(raw))
                    yield events
        except msgspec.DecodeError as error:
            raise ApiUnreachable(f"the watch of {path} broke: {error}") from error

    async def list_whole(self, path: str, *, params: Mapping[str, str] | None = None) -> AsyncIterator[bytes]:
        """Yield an unpaged list in pieces as they arrive. This is the cheapest way for many objects.

        Raises:
            ApiError: if the server answers with an error.
            ApiUnreachable: if the connection fails.
        """
        await self._limit.wait()
        async with self._stream(path, params or {}, _TIMEOUT, Rest(_GATHERING)) as content:
            async for piece in content:
                yield piece

    @asynccontextmanager
    async def _stream(
        self, path: str, asked: Mapping[str, str], silence: float, rest: Rest | None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Yield the body of a response in pieces as they arrive.

        ``silence`` is the time in seconds without data after which the connection counts as broken. For ``rest`` see
        `AnswerStream.pieces`.

        Raises:
            ApiError: if the server answers with an error.
            ApiUnreachable: if the connection fails, also while reading.
        """
        headers = await self._headers.of()  # first, because renewed credentials may change the connection
        connection = self._connection
        try:
            if connection.proxy is None and not self._redirects:
                server = HttpServer(connection.server, connection.ssl, connection.server_hostname)
                async with answer_from(server, path, asked, headers, silence) as answer:
                    self._redirects = answer.status in _ELSEWHERE
                    if not self._redirects:
                        if answer.status != 200:
                            after = whole_seconds(answer.header(b"retry-after"))
                            await self._refused(answer.status, await answer.whole(), after)
                        yield answer.pieces(rest)
                        return
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECTING, sock_read=silence)
            async with self._session(write=False).get(
                connection.server + path,
                params=asked,
                headers=headers,
                timeout=timeout,
                proxy=connection.proxy,
                server_hostname=connection.server_hostname,
            ) as response:
                if response.status != 200:
                    await self._refused(
                        response.status, await response.read(), whole_seconds(response.headers.get("Retry-After", ""))
                    )
                yield response.content.iter_any()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(error) from error

    async def _refused(self, status: int, body: bytes, retry_after: float | None) -> NoReturn:
        """Raise the error in a response. After a 401, renew the credentials first."""
        if status == 401:
            await self._connection.renew()
        raise error_of(body, status, retry_after)

    async def _once_more(self, request: _Request) -> bytes:
        """Send a request, and again if the server had closed the idle connection."""
        try:
            return await self._send(request)
        except aiohttp.ServerDisconnectedError:
            pass
        except BrokenConnection as error:
            if not error.unanswered:
                raise unreachable(error) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(error) from error
        try:
            return await self._send(request)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(error) from error

    async def _send(self, request: _Request) -> bytes:
        """Send a request. Writes use their own connections if possible."""
        started, code = time.monotonic(), "<error>"
        writes = self._write_connections() if request.method != "GET" else None
        try:
            if writes is not None:
                lines = await self._headers.lines(request.content_type)
                sent = Request(request.method, request.path, request.params, lines, request.data or b"")
                answer = (await writes.send([sent], timeout=request.timeout))[0]
                code = str(answer.status)
                if answer.status >= 300:
                    raise error_of(answer.body, answer.status, whole_seconds(answer.header(b"retry-after")))
                return answer.body
            headers = await self._headers.of(request.content_type)
            session = self._session(write=request.method != "GET")
            async with session.request(
                request.method,
                self._connection.server + request.path,
                params=request.params,
                data=request.data,
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=request.timeout, sock_connect=_CONNECTING),
                proxy=self._connection.proxy,
                server_hostname=self._connection.server_hostname,
            ) as response:
                code = str(response.status)
                body = await response.read()
                if response.status >= 300:
                    raise error_of(body, response.status, whole_seconds(response.headers.get("Retry-After", "")))
                return body
        finally:
            self._observer.requested(request.method, code, time.monotonic() - started)

    def _write_connections(self) -> WriteConnections | None:
        """Return the connections for writes; None if a proxy is used."""
        connection = self._connection
        if connection.proxy is not None:
            return None
        if self._direct is None or self._direct_generation != connection.generation:
            if self._direct is not None:
                self._direct.close()
            self._direct_generation = connection.generation
            self._direct = WriteConnections(connection.server, connection.ssl, connection.server_hostname, _CONNECTIONS)
        return self._direct

    def _session(self, *, write: bool) -> aiohttp.ClientSession:
        if self._generation != self._connection.generation:
            self._generation = self._connection.generation
            self._outdated += filter(None, (self._reads, self._writes))
            self._reads = self._writes = None
        session = self._writes if write else self._reads
        if session is None:
            tls = self._connection.ssl
            connector = aiohttp.TCPConnector(limit=_CONNECTIONS if write else 0, ssl=True if tls is None else tls)
            session = aiohttp.ClientSession(connector=connector)
            if write:
                self._writes = session
            else:
                self._reads = session
        return session
