"""The page's server: connections and the time for headers are bounded, and the token is in no log."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from topospread.web import serving
from topospread.web.serving import MOST_CONNECTIONS, Listening, configuration, listen

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def answer(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def running() -> Iterator[Listening]:
    """A server in a thread."""
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(configuration(answer))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening.socket]})
    thread.start()
    try:
        yield listening
    finally:
        server.should_exit = True
        thread.join(60)


async def connected(listening: Listening, sent: bytes = b"") -> Connection:
    reader, writer = await asyncio.open_connection("127.0.0.1", listening.port)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def ended(reader: asyncio.StreamReader) -> bool:
    """Whether the server ends the connection."""
    try:
        return await asyncio.wait_for(reader.read(1 << 16), 30) == b""
    except ConnectionResetError:
        return True


async def trickled(writer: asyncio.StreamWriter) -> None:
    """Send a byte at a time for half a minute."""
    for _ in range(600):
        writer.write(b"G")
        await writer.drain()
        await asyncio.sleep(0.05)


REQUEST = b"GET /?token=s3cret HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: local"], ids=["nothing", "half of the headers"])
def test_headers_that_do_not_arrive_end_the_connection(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(serving, "HEADER_SECONDS", 0.2)

    async def scenario(listening: Listening) -> None:
        reader, writer = await connected(listening, sent)
        assert await ended(reader)
        writer.close()

    with running() as listening:
        asyncio.run(scenario(listening))


def test_bytes_that_trickle_in_do_not_extend_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEADER_SECONDS", 0.5)

    async def scenario(listening: Listening) -> None:
        reader, writer = await connected(listening, REQUEST)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        with pytest.raises(OSError):  # noqa: PT011 - reset or a broken pipe
            await trickled(writer)
        writer.close()

    with running() as listening:
        asyncio.run(scenario(listening))


def test_a_connection_too_many_is_ended_and_the_others_are_answered() -> None:
    async def scenario(listening: Listening) -> None:
        there = [await connected(listening) for _ in range(MOST_CONNECTIONS)]
        reader, writer = await connected(listening)
        assert await ended(reader)
        writer.close()
        there[0][1].write(REQUEST)
        assert await there[0][0].readuntil(b"ok")
        for _, each in there:
            each.close()

    with running() as listening:
        asyncio.run(scenario(listening))


def test_the_token_is_in_no_log(capfd: pytest.CaptureFixture[str]) -> None:
    async def scenario(listening: Listening) -> None:
        for sent in (REQUEST, REQUEST.replace(b"HTTP/1.1", b"HTTP/9"), REQUEST.replace(b"Host", b"Ho st")):
            reader, writer = await connected(listening, sent)
            assert await reader.read(1 << 16)
            writer.close()

    with running() as listening:
        asyncio.run(scenario(listening))
    out, err = capfd.readouterr()
    assert "Invalid HTTP request" in err
    assert "s3cret" not in out + err
