"""Answers that are read while they come, in TLS and plain, however their bytes are cut."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.live.test_certificate import make
from topospread.live.answer_stream import AnswerStream, BrokenAnswer, _Chunks, answer_from
from topospread.live.http_head import HttpServer

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: "
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def read(
    serve: Serve,
    ask: Callable[[AnswerStream], Awaitable[object]],
    *,
    contexts: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
    silence: float = 30.0,
) -> object:
    """What comes of an answer that a server gives."""

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    async def run() -> object:
        theirs, ours = contexts or (None, None)
        server = await asyncio.start_server(serve_one, "127.0.0.1", ssl=theirs)
        port = server.sockets[0].getsockname()[1]
        url = f"http{'s' if contexts else ''}://127.0.0.1:{port}/behind"
        async with (
            server,
            answer_from(HttpServer(url, ours, "webhook"), "/x", {"a": "b"}, [("K", "v")], silence) as answer,
        ):
            return await ask(answer)

    return asyncio.run(run())


@pytest.fixture(params=["plain", "tls"])
def contexts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[ssl.SSLContext, ssl.SSLContext] | None]:
    if request.param == "plain":
        yield None
        return
    make(tmp_path)
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ours.load_verify_locations(tmp_path / "tls.crt")
    ours.check_hostname = False
    yield theirs, ours


def test_an_answer_is_read_while_it_comes(contexts: tuple[ssl.SSLContext, ssl.SSLContext] | None) -> None:
    asked: list[bytes] = []
    go_on = asyncio.Event()
    long = b"x" * 300_000

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(CHUNKED + b"3\r\none\r\n")
        await go_on.wait()
        writer.write(b"%x\r\n" % len(long) + long + b"\r\n0\r\n\r\n")
        await writer.drain()

    async def ask(answer: AnswerStream) -> object:
        first = await answer.read()
        go_on.set()
        rest = b""
        while piece := await answer.read():
            rest += piece
        return answer.status, first, rest == long, await answer.read()

    assert read(serve, ask, contexts=contexts) == (200, b"one", True, b"")
    assert asked[0].startswith(b"GET /behind/x?a=b HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nK: v\r\n" in asked[0]


@pytest.mark.parametrize(
    "given_answer",
    [
        CHUNKED + b"5\r\nhal",
        HEAD + b"Content-Length: 9\r\n\r\nhalf",
        CHUNKED + b"zz\r\nx",
        b"SSH-2.0\r\n\r\n",
        b"HTTP/1.1",
    ],
)
def test_what_is_cut_short_or_no_http_is_broken(
    given_answer: bytes, contexts: tuple[ssl.SSLContext, ssl.SSLContext] | None
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(given_answer)

    with pytest.raises(BrokenAnswer):
        read(serve, AnswerStream.whole, contexts=contexts)


@pytest.mark.parametrize(
    "given_answer",
    [HEAD + b"\r\nwhole", HEAD + b"Content-Length: 5\r\n\r\nwhole", CHUNKED + b"5;a=b\r\nwhole\r\n0\r\n\r\n"],
)
def test_a_body_ends_where_its_head_says(given_answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(given_answer)

    assert read(serve, AnswerStream.whole) == b"whole"


def test_silence_is_an_end(contexts: tuple[ssl.SSLContext, ssl.SSLContext] | None) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED + b"1\r\na\r\n")
        await reader.read()

    async def ask(answer: AnswerStream) -> object:
        first = await answer.read()
        with pytest.raises(TimeoutError):
            await answer.read()
        return first

    assert read(serve, ask, contexts=contexts, silence=0.2) == b"a"


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    make(tmp_path)
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise AssertionError("nothing is asked of it")

    with pytest.raises(ssl.SSLCertVerificationError):
        read(serve, AnswerStream.whole, contexts=(theirs, ssl.create_default_context()))


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), st.lists(st.integers(1, 12), min_size=1, max_size=60))
def test_chunks_are_put_together_wherever_they_are_cut(chunks: list[bytes], cuts: list[int]) -> None:
    wire = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in chunks) + b"0\r\n\r\n"
    body, came, place = _Chunks(), b"", 0
    while not body.ended:
        size = cuts[place % len(cuts)]
        came += body.take(wire[:size])
        wire, place = wire[size:], place + 1
        assert wire or body.ended
    assert came == b"".join(chunks)
