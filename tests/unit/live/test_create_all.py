"""Objects that are created by requests that are sent together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from aiohttp import web

from tests.unit.live.test_client import asked, no_headers
from topospread.live.client import ApiClient
from topospread.live.connection import Connection
from topospread.live.observer import Observer

ITEMS = [(f"/events/{i}", {"number": i}) for i in range(5)]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Requested(Observer):
    def __init__(self) -> None:
        self.codes: list[str] = []

    def requested(self, verb: str, code: str, seconds: float) -> None:
        self.codes.append(code)


def created(serve: Serve, times: int = 1) -> tuple[list[list[bool]], list[str]]:
    """What comes of it where every connection is served so, and which codes were told."""

    async def run() -> tuple[list[list[bool]], list[str]]:
        served: set[asyncio.Task[object] | None] = set()

        async def to_its_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            served.add(asyncio.current_task())
            with suppress(OSError, asyncio.IncompleteReadError):
                await serve(reader, writer)
            with suppress(OSError):
                writer.close()
                await writer.wait_closed()

        server, told = await asyncio.start_server(to_its_end, "127.0.0.1"), Requested()
        connection = Connection(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", None, no_headers)
        async with server, ApiClient(connection, qps=0, observer=told) as client:
            taken = [await client.create_all(ITEMS) for _ in range(times)]
        await asyncio.wait([each for each in served if each is not None])
        return taken, told.codes

    return asyncio.run(run())


def test_each_is_asked_for_in_order_on_one_connection() -> None:
    seen: list[tuple[str, str, object]] = []

    async def answer(request: web.Request) -> web.Response:
        peer = request.transport and request.transport.get_extra_info("peername")
        seen.append((request.method, request.path, await request.json()))
        peers.add(peer)
        return web.json_response({"much": "x" * 70_000}, status=201)

    peers: set[object] = set()
    assert asked(answer, lambda client: client.create_all(ITEMS)) == [True] * 5
    assert seen == [("POST", path, body) for path, body in ITEMS]
    assert len(peers) == 1


def test_what_is_there_already_was_created_and_what_is_refused_was_not() -> None:
    async def answer(request: web.Request) -> web.Response:
        codes = {"/events/1": 409, "/events/2": 429, "/events/3": 403}
        return web.Response(status=codes.get(request.path, 201), headers={"Retry-After": "1"})

    assert asked(answer, lambda client: client.create_all(ITEMS)) == [True, True, False, False, True]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_answers_are_told_apart_however_they_are_cut(size: int) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            for _ in ITEMS:
                await reader.readuntil(b"}")
            one = b"HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\n{ }"
            other = b"HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{ \r\n1\r\n}\r\n0\r\n\r\n"
            answers = one + other + b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n" + other + one
            for place in range(0, len(answers), size):
                writer.write(answers[place : place + size])
                await writer.drain()
                await asyncio.sleep(0)
        await reader.read()

    taken, codes = created(serve, times=2)
    assert taken == [[True, True, False, True, True]] * 2
    assert codes == ["201", "409", "500", "409", "201"] * 2


@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", b"SSH-2.0\r\n\r\n"])
def test_where_the_connection_breaks_nothing_is_taken_for_created(first: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}")
        writer.write(first)
        await writer.drain()

    assert created(serve, times=2) == ([[False] * 5] * 2, [])


def test_more_than_was_asked_for_is_not_taken_for_the_next_answer() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in ITEMS:
            await reader.readuntil(b"}")
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n" * 6)
        await writer.drain()
        await reader.read()

    taken, codes = created(serve, times=3)
    assert (taken, codes) == ([[True] * 5] * 3, ["201"] * 15)


def test_through_a_proxy_they_are_asked_for_one_by_one() -> None:
    async def run() -> list[bool]:
        connection = Connection("http://127.0.0.1:1", None, no_headers, proxy="http://127.0.0.1:1")
        async with ApiClient(connection, qps=0) as client:
            return await client.create_all(ITEMS)

    assert asyncio.run(run()) == [False] * 5
