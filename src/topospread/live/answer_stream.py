"""An answer of HTTP/1.1 whose body is read while it comes: a list, a watch. Each has a connection of its own.

What it is asked for is little: a target and headers; a body in chunks, of a length, or up to the end of the connection.
A watch of heartbeats costs half of what it costs through aiohttp.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from .bulk_socket import BulkSocket
from .http_head import END, LONGEST_HEAD, Headers, HttpServer, header_lines, header_of, status_of
from .rest import Rest

_CONNECTING = 10.0
_LONGEST_SIZE = 1 << 10
_TO_THE_END = 1 << 62


class BrokenAnswer(ConnectionError):  # noqa: N818 - it is what is broken
    """It ended before its end, or is no HTTP."""


@asynccontextmanager
async def answer_from(
    server: HttpServer, path: str, params: Mapping[str, str], headers: Headers, silence: float
) -> AsyncIterator[AnswerStream]:
    """Ask, with a connection that lasts as long as the block; ``silence``: seconds after which it is broken.

    Raises:
        OSError: no connection could be made, or it broke, also while it is read.
        TimeoutError: nothing came for too long.
    """
    async with asyncio.timeout(_CONNECTING):
        sock = await BulkSocket.to(server.host, server.port, server.ssl, server.name, silence)
    try:
        head = server.head("GET", path, params, header_lines(headers))
        await sock.write(f"{head}Connection: close\r\n\r\n".encode("latin-1"))
        answer = AnswerStream(sock)
        await answer.begin()
        yield answer
    finally:
        sock.close()


class AnswerStream:
    """One answer.

    Attributes:
        status: of it.
    """

    def __init__(self, sock: BulkSocket) -> None:
        self.status = 0
        self._sock = sock
        self._head = b""
        self._body: _Chunks | _Plain = _Plain(_TO_THE_END)
        self._first = b""

    def header(self, name: bytes) -> str:
        """The value of a header, its name in lower case; "" where it is not there."""
        return header_of(self._head, name).decode("latin-1")

    async def begin(self) -> None:
        """Read its head.

        Raises:
            OSError: there is none, or it is no HTTP.
        """
        came = b""
        while (end := came.find(END)) < 0:
            data = await self._sock.read()
            came += data
            if not data or len(came) > LONGEST_HEAD:
                raise BrokenAnswer("closed without an answer" if not data else "a head without an end")
        self._head, self._first = came[:end].lower(), came[end + len(END) :]
        try:
            self.status = status_of(self._head)
            length = self.header(b"content-length")
            if self.header(b"transfer-encoding") == "chunked":
                self._body = _Chunks()
            elif length:
                self._body = _Plain(int(length))
        except ValueError as error:
            raise BrokenAnswer(f"no HTTP: {error}") from error

    async def read(self) -> bytes:
        """The next bytes of the body; b"" at its end.

        Raises:
            OSError: it broke.
            TimeoutError: nothing came for too long.
        """
        while not self._body.ended:
            data, self._first = self._first or await self._sock.read(), b""
            if not data:
                if self._body.may_end:
                    return b""
                raise BrokenAnswer("broke in the midst of an answer")
            try:
                piece = self._body.take(data)
            except ValueError as error:
                raise BrokenAnswer(f"no HTTP: {error}") from error
            if piece:
                return piece
        return b""

    async def pieces(self, rest: Rest | None = None) -> AsyncIterator[bytes]:
        """The body as it comes; ``rest``: in which more may come once all was handed on.

        Raises:
            OSError: it broke.
            TimeoutError: nothing came for too long.
        """
        self._sock.rest = rest
        while piece := await self.read():
            yield piece

    async def whole(self, most: int = 1 << 20) -> bytes:
        """The body, as far as it is of use: for words that say why something is refused."""
        came = b""
        async for piece in self.pieces():
            came += piece
            if len(came) > most:
                break
        return came


class _Plain:
    """A body as it is.

    Attributes:
        ended: all of it is there.
        may_end: where the connection ends, the body does.
    """

    def __init__(self, length: int) -> None:
        self._left = length
        self.may_end = length == _TO_THE_END
        self.ended = not length

    def take(self, data: bytes) -> bytes:
        """Return the part of the body in these bytes."""
        piece = data[: self._left]
        self._left -= len(piece)
        self.ended = not self._left
        return piece


class _Chunks:
    """A body in chunks, each after its size; see `_Plain`."""

    may_end = False

    def __init__(self) -> None:
        self.ended = False
        self._left = 0
        self._after_chunk = False
        self._rest = b""

    def take(self, data: bytes) -> bytes:
        """Return the part of the body in these bytes.

        Raises:
            ValueError: they are no chunks.
        """
        if self._rest:
            data = self._rest + data
        content, place, parts = memoryview(data), 0, []
        while True:
            if self._left:
                piece = content[place : place + self._left]
                parts.append(piece)
                place += len(piece)
                self._left -= len(piece)
                self._after_chunk = True
            start = place + 2 if self._after_chunk else place
            end = -1 if self._left else data.find(b"\r\n", start)
            if end < 0:
                break
            self._after_chunk = False
            self._left = int(data[start:end].partition(b";")[0], 16)
            place = end + 2
            if not self._left:
                self.ended = True
                break
        self._rest = data[place:]
        if len(self._rest) > _LONGEST_SIZE and not self.ended:
            raise ValueError("a chunk without a size")
        return b"".join(parts)
