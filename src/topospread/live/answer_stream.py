"""Stream an HTTP/1.1 response, for lists and watches. Each response has its own connection.

Only the needed parts of HTTP are supported: request headers, and a response body that is chunked, has a length, or ends
with the connection. Reading node heartbeats takes half as much CPU time as with aiohttp.
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
    """Raised if the response is incomplete or not HTTP."""


@asynccontextmanager
async def answer_from(
    server: HttpServer, path: str, params: Mapping[str, str], headers: Headers, silence: float
) -> AsyncIterator[AnswerStream]:
    """Send a request over a new connection, which is closed at the end of the block.

    ``silence`` is the time in seconds without data after which the connection counts as broken.

    Raises:
        OSError: if the connection fails, also while reading.
        TimeoutError: if no data arrived within the time limit.
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
    """A streamed response."""

    def __init__(self, sock: BulkSocket) -> None:
        self.status = 0
        self._sock = sock
        self._head = b""
        self._body: _Chunks | _Plain = _Plain(_TO_THE_END)
        self._first = b""

    def header(self, name: bytes) -> str:
        """Return the value of a header, given in lower case; "" if it is missing."""
        return header_of(self._head, name).decode("latin-1")

    async def begin(self) -> None:
        """Read the status line and headers. Raise OSError if they are missing or not HTTP."""
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
        """Return the next bytes of the body; b"" at the end.

        Raises:
            OSError: if the connection breaks.
            TimeoutError: if no data arrives for too long.
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
        """Yield the body in pieces. ``rest`` is a pause after each piece, in which more data can gather.

        Raises:
            OSError: if the connection breaks.
            TimeoutError: if no data arrives for too long.
        """
        self._sock.rest = rest
        while piece := await self.read():
            yield piece

    async def whole(self, most: int = 1 << 20) -> bytes:
        """Return the body, at most `most` bytes, for error messages."""
        came = b""
        async for piece in self.pieces():
            came += piece
            if len(came) > most:
                break
        return came


class _Plain:
    """Decodes a body without transfer encoding.

    Attributes:
        ended: whether the body is complete.
        may_end: whether the end of the connection ends the body.
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
    """Decodes a chunked body; see `_Plain`."""

    may_end = False

    def __init__(self) -> None:
        self.ended = False
        self._left = 0
        self._after_chunk = False
        self._rest = b""

    def take(self, data: bytes) -> bytes:
        """Return the part of the body in these bytes.

        Raises:
            ValueError: if the bytes are not chunks.
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
            raise ValueError("the size of a chunk of the answer has no end")
        return b"".join(parts)
