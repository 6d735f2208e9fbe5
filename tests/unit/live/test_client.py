"""Requests, lists and watches against a server that answers as the test wants it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import TypeVar

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from topospread.live.api_error import ApiError, ApiUnreachable
from topospread.live.client import ApiClient
from topospread.live.connection import Connection
from topospread.live.rate_limit import RateLimit
from topospread.live.rest import Rest

T = TypeVar("T")
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def no_headers() -> dict[str, str]:
    return {"Authorization": "Bearer x"}


def _heartbeat(size: int) -> bytes:
    return b'{"type":"MODIFIED","object":{"a":"%b"}}\n' % (b"x" * size)


def asked(answer: Answer, ask: Callable[[ApiClient], Awaitable[T]]) -> T:
    """What a client gets from a server that answers everything with ``answer``."""

    async def run() -> T:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", answer)
        async with TestServer(app) as server:
            client = ApiClient(Connection(str(server.make_url("")).rstrip("/"), None, no_headers), qps=0)
            async with client:
                return await ask(client)

    return asyncio.run(run())


def test_a_request_says_who_asks_and_gives_the_body() -> None:
    seen = {}

    async def answer(request: web.Request) -> web.Response:
        seen.update(request.headers, body=await request.text(), path=request.path_qs)
        return web.Response(text='{"ok":1}', status=201)

    body = asked(answer, lambda c: c.request("POST", "/api/v1/x", params={"a": "b"}, body={"k": "v"}))
    assert body == b'{"ok":1}'
    assert (seen["Authorization"], seen["body"], seen["path"]) == ("Bearer x", '{"k":"v"}', "/api/v1/x?a=b")
    assert seen["User-Agent"].startswith("topospread/")


def test_a_refusal_is_told_in_the_servers_words() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"code": 404, "reason": "NotFound", "message": 'pods "a" not found'}, status=404)

    with pytest.raises(ApiError) as told:
        asked(answer, lambda c: c.request("GET", "/x"))
    assert (told.value.status, told.value.reason, told.value.message) == (404, "NotFound", 'pods "a" not found')


def test_too_many_requests_are_sent_again_when_the_server_says_so() -> None:
    times = []

    async def answer(request: web.Request) -> web.Response:
        times.append(asyncio.get_running_loop().time())
        if len(times) < 2:
            return web.Response(status=429, headers={"Retry-After": "1"}, text="slow down")
        return web.Response(text="done")

    assert asked(answer, lambda c: c.request("POST", "/x", body=b"{}")) == b"done"
    assert times[1] - times[0] >= 0.99


def test_an_internal_error_without_a_time_to_wait_is_not_sent_again() -> None:
    count = []

    async def answer(request: web.Request) -> web.Response:
        count.append(1)
        return web.Response(status=500, text="etcd: no")

    with pytest.raises(ApiError, match="etcd: no"):
        asked(answer, lambda c: c.request("POST", "/x", body=b"{}"))
    assert len(count) == 1


def test_a_connection_that_the_server_closed_is_made_anew() -> None:
    """The server closes each connection after one answer without saying so, as it does with idle ones."""

    async def run() -> list[bytes]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await writer.drain()
            await reader.read(1)  # the next request finds the connection closed on it
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1")
        port = server.sockets[0].getsockname()[1]
        async with server, ApiClient(Connection(f"http://127.0.0.1:{port}", None, no_headers), qps=0) as client:
            return [await client.request("POST", "/x", body=b"{}") for _ in range(3)]

    assert asyncio.run(run()) == [b"ok"] * 3


def test_a_write_whose_answer_breaks_off_is_not_sent_again() -> None:
    async def run() -> list[bytes]:
        asked: list[bytes] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 20\r\n\r\nhalf")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1")
        port = server.sockets[0].getsockname()[1]
        async with server, ApiClient(Connection(f"http://127.0.0.1:{port}", None, no_headers), qps=0) as client:
            with pytest.raises(ApiUnreachable):
                await client.request("POST", "/x", body=b"{}")
        return asked

    assert len(asyncio.run(run())) == 1


def test_an_answer_in_chunks_is_read_whole() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        stream.enable_chunked_encoding()
        await stream.prepare(request)
        for part in (b"a" * 70_000, b"bc"):
            await stream.write(part)
        return stream

    async def ask(client: ApiClient) -> list[bytes]:
        return [await client.request("PATCH", "/x", body=b"{}") for _ in range(2)]

    assert asked(answer, ask) == [b"a" * 70_000 + b"bc"] * 2


def test_a_write_that_does_not_go_out_at_once_goes_out_whole() -> None:
    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(0.2)
        count = 0
        async for piece in request.content.iter_any():
            count += len(piece)
        return web.Response(text=str(count))

    assert asked(answer, lambda c: c.request("POST", "/x", body=b"a" * 20_000_000)) == b"20000000"


def test_a_list_in_one_answer_comes_piece_by_piece() -> None:
    more = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        assert dict(request.query) == {"fieldSelector": "x"}
        stream = web.StreamResponse()
        await stream.prepare(request)
        await stream.write(b"first")
        await more.wait()
        await stream.write(b"second")
        return stream

    async def ask(client: ApiClient) -> bytes:
        came = b""
        async for piece in client.list_whole("/x", params={"fieldSelector": "x"}):
            came += piece
            more.set()
        return came

    assert asked(answer, ask) == b"firstsecond"


def test_a_server_that_sends_on_to_another_place_is_followed() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/x":
            raise web.HTTPTemporaryRedirect("/elsewhere")
        return web.Response(text=f"{request.path} as {request.headers['Authorization']}")

    async def ask(client: ApiClient) -> list[bytes]:
        return [b"".join([piece async for piece in client.list_whole("/x")]) for _ in range(2)]

    assert asked(answer, ask) == [b"/elsewhere as Bearer x"] * 2


def test_where_a_watch_says_something_all_the_time_more_is_looked_for_after_a_rest() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        for _ in range(200):
            await stream.write(_heartbeat(500))
            await asyncio.sleep(0.005)
        return stream

    async def ask(client: ApiClient) -> list[tuple[float, int]]:
        clock, rest = asyncio.get_running_loop().time, Rest(0.5)
        rest.earned = 4
        return [(clock(), len(each)) async for each in client.watch_batches("/api/v1/nodes", "1", rest=rest)]

    came = asked(answer, ask)
    assert sum(count for _, count in came) == 200
    assert any(after - before >= 0.49 for (before, _), (after, _) in pairwise(came)), "many are read at once"
    assert len(came) < 60


def test_a_dozen_changes_of_nodes_are_read_as_they_come() -> None:
    class Watchful(Rest):
        async def lasts(self) -> bool:
            raise AssertionError("it rests")

    async def answer(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        for _ in range(12):
            event = _heartbeat(500)
            for piece in event[:4], event[4:-1], event[-1:]:  # as the API server writes them
                await stream.write(piece)
                await asyncio.sleep(0.001)
        return stream

    async def ask(client: ApiClient) -> int:
        return sum([len(each) async for each in client.watch_batches("/api/v1/nodes", "1", rest=Watchful(0.2))])

    assert asked(answer, ask) == 12


def test_a_rest_ends_where_what_may_have_come_is_needed() -> None:
    rests = asyncio.Event()

    class Told(Rest):
        async def lasts(self) -> bool:
            rests.set()
            return await super().lasts()

    async def answer(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        while not rests.is_set():
            await stream.write(_heartbeat(10))
            await asyncio.sleep(0.001)
        await stream.write(b'{"type":"MODIFIED","object":{"label":"new"}}\n')
        await asyncio.sleep(600)
        return stream

    async def ask(client: ApiClient) -> bytes:
        rest = Told(600.0)
        rest.earned = 4

        async def need() -> None:
            await rests.wait()
            await asyncio.sleep(0.1)
            rest.end()

        needing = asyncio.create_task(need())
        async with asyncio.timeout(30):
            async for events in client.watch_batches("/api/v1/nodes", "1", rest=rest):
                if b"new" in bytes(events[-1][1]):
                    await needing
                    return bytes(events[-1][1])
        return b""

    assert asked(answer, ask) == b'{"label":"new"}'


def test_an_error_in_a_watch_is_told_after_what_came_before_it() -> None:
    async def answer(request: web.Request) -> web.Response:
        gone = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "old"}}
        return web.Response(text='{"type":"ADDED","object":{"a":1}}\n' + json.dumps(gone) + "\n")

    async def ask(client: ApiClient) -> bytes:
        watch = client.watch("/api/v1/pods", "1")
        _, raw = await anext(watch)
        with pytest.raises(ApiError, match="old"):
            await anext(watch)
        return bytes(raw)

    assert asked(answer, ask) == b'{"a":1}'


def test_a_list_in_one_answer_that_is_refused_is_told() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"code": 403, "reason": "Forbidden", "message": "no"}, status=403)

    async def ask(client: ApiClient) -> None:
        async for _ in client.list_whole("/x"):
            pass

    with pytest.raises(ApiError, match="no"):
        asked(answer, ask)


def test_a_write_that_takes_too_long_is_given_up() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(1)
        return web.Response()

    with pytest.raises(ApiUnreachable):
        asked(answer, lambda c: c.request("POST", "/x", body=b"{}", timeout=0.05))


def test_no_server_is_unreachable() -> None:
    async def run() -> None:
        async with ApiClient(Connection("http://127.0.0.1:1", None, no_headers)) as client:
            await client.request("GET", "/x")

    with pytest.raises(ApiUnreachable):
        asyncio.run(run())


def test_a_list_is_followed_to_its_last_page() -> None:
    pages = {"": ("a", "1"), "1": ("b", "2"), "2": ("c", "")}

    async def answer(request: web.Request) -> web.Response:
        assert request.query["limit"] == "500"
        item, following = pages[request.query.get("continue", "")]
        return web.json_response({"items": [item], "metadata": {"resourceVersion": "7", "continue": following}})

    async def ask(client: ApiClient) -> list[bytes]:
        return [page async for page in client.list_pages("/api/v1/pods")]

    assert [json.loads(page)["items"] for page in asked(answer, ask)] == [["a"], ["b"], ["c"]]


def test_a_watch_gives_objects_however_they_are_cut() -> None:
    long = "x" * 300_000

    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.query["resourceVersion"] == "5"
        assert request.query["allowWatchBookmarks"] == "true"
        stream = web.StreamResponse()
        await stream.prepare(request)
        for part in ('{"type":"ADDED","obj', 'ect":{"a":"', long, '"}}\n{"type":"BOOKMARK","object":{}}\n'):
            await stream.write(part.encode())
            await asyncio.sleep(0.01)
        return stream

    async def ask(client: ApiClient) -> list[tuple[str, bytes]]:
        return [(kind, bytes(raw)) async for kind, raw in client.watch("/api/v1/pods", "5")]

    assert asked(answer, ask) == [("ADDED", b'{"a":"' + long.encode() + b'"}'), ("BOOKMARK", b"{}")]


@pytest.mark.parametrize("in_stream", [True, False])
def test_a_watch_of_a_version_that_is_too_old_is_gone(in_stream: bool) -> None:
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version: 1 (5)"}

    async def answer(request: web.Request) -> web.Response:
        told = {"type": "ERROR", "object": gone} if in_stream else gone
        return web.Response(text=json.dumps(told) + "\n", status=200 if in_stream else 410)

    async def ask(client: ApiClient) -> list[object]:
        return [each async for each in client.watch("/api/v1/pods", "1")]

    with pytest.raises(ApiError) as told:
        asked(answer, ask)
    assert told.value.status == 410


def test_a_watch_that_is_cut_in_the_middle_of_an_object_gives_no_half_object_and_is_broken() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text='{"type":"ADDED","object":{"a":1}}\n{"type":"ADDED","obj')

    async def ask(client: ApiClient) -> list[object]:
        watch = client.watch("/api/v1/pods", "1")
        whole = [await anext(watch)]
        with pytest.raises(ApiUnreachable, match="the watch of /api/v1/pods broke"):
            await anext(watch)
        return whole

    assert len(asked(answer, ask)) == 1


def test_a_burst_is_sent_at_once_and_the_rest_at_the_rate() -> None:
    now = [0.0]
    limit = RateLimit(10, 3, lambda: now[0])
    assert [limit.reserve() for _ in range(5)] == [0, 0, 0, pytest.approx(0.1), pytest.approx(0.2)]
    now[0] = 10.0
    assert [limit.reserve() for _ in range(3)] == [0, 0, 0]


def test_after_a_401_the_credentials_are_fetched_anew_once() -> None:
    seen: list[str] = []
    renewed: list[int] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers["Authorization"])
        return web.Response(text="in") if len(renewed) == 1 and seen[-1] == "new" else web.Response(status=401)

    async def headers() -> dict[str, str]:
        return {"Authorization": "new" if renewed else "old"}

    async def renew() -> None:
        renewed.append(1)

    async def run(path: str) -> bytes:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", answer)
        async with TestServer(app) as server:
            at = str(server.make_url("/behind/a/path"))
            async with ApiClient(Connection(at, None, headers, renew=renew), qps=0) as client:
                return await client.request("GET", path)

    assert asyncio.run(run("/x")) == b"in"
    assert seen == ["old", "new"]
    renewed.append(1)
    with pytest.raises(ApiError, match="401"):
        asyncio.run(run("/x"))
    assert seen[2:] == ["new", "new"]


def test_a_server_may_stand_behind_a_path_and_a_new_certificate_makes_new_connections() -> None:
    peers: list[tuple[str, object]] = []

    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        peers.append((request.path, request.transport.get_extra_info("peername")))
        return web.Response(text="ok")

    async def run() -> None:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", answer)
        async with TestServer(app) as server:
            connection = Connection(str(server.make_url("/k8s/one")), None, no_headers)
            async with ApiClient(connection, qps=0) as client:
                await client.request("GET", "/api")
                await client.request("GET", "/api")
                connection.generation += 1
                await client.request("GET", "/api")

    asyncio.run(run())
    assert {path for path, _ in peers} == {"/k8s/one/api"}
    assert peers[0] == peers[1] != peers[2]


def test_what_is_not_allowed_any_more_is_not_sent_again_after_a_wait() -> None:
    sent: list[int] = []

    async def answer(request: web.Request) -> web.Response:
        sent.append(1)
        return web.Response(status=429, headers={"Retry-After": "1"}, text="slow down")

    with pytest.raises(ApiUnreachable, match="not allowed any more"):
        asked(answer, lambda c: c.request("POST", "/x", body=b"{}", allowed=lambda: not sent))
    assert sent == [1]
