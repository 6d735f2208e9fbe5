"""Connections for writes: HTTP/1.1, one request at a time on each, a few of them. It knows nothing of Kubernetes.

A binding costs a third of the processor time that it costs through aiohttp. What is asked of HTTP is little: a method,
a target, headers and a body that is there; answers with a length, in chunks, or up to the end.
"""

from __future__ import annotations

import asyncio
import ssl as tls
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

IDLE = 60.0
"""Seconds after which a connection is not used again: servers close them some time."""
_LONGEST_HEAD = 1 << 16
_NO_BODY = (204, 304)


class BrokenConnection(ConnectionError):  # noqa: N818 - it is what is broken
    """The connection broke.

    Attributes:
        unanswered: it had been used before and was closed without a byte of an answer, as idle ones are.
    """

    def __init__(self, words: str, *, unanswered: bool = False) -> None:
        super().__init__(words)
        self.unanswered = unanswered


@dataclass(frozen=True, slots=True)
class Answer:
    """What came; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True, eq=False)
class _Line:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: float = 0.0


class WriteConnections:
    """A few connections to one server, made as they are needed.

    Args:
        server: its URL.
        ssl: for every connection, ``None`` for plain HTTP.
        name: that its certificate is for, ``None`` for the host of the URL.
        most: so many connections at a time; requests wait for one in their order.
    """

    def __init__(self, server: str, ssl: tls.SSLContext | None, name: str | None, most: int) -> None:
        parts = urlsplit(server)
        self._host = parts.hostname or ""
        self._port = parts.port or (80 if ssl is None else 443)
        self._prefix = parts.path
        self._ssl = ssl
        self._name = (name or self._host) if ssl is not None else None
        self._head = f"HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        self._idle: list[_Line] = []
        self._turns = asyncio.Semaphore(most)

    async def send(
        self, method: str, path: str, params: Mapping[str, str] | None, headers: Mapping[str, str], body: bytes
    ) -> Answer:
        """The answer to one request.

        Raises:
            OSError: no connection could be made, or it broke (`BrokenConnection`).
        """
        target = f"{self._prefix}{path}?{urlencode(params)}" if params else f"{self._prefix}{path}"
        lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        head = f"{method} {target} {self._head}{lines}Content-Length: {len(body)}\r\n\r\n"
        async with self._turns:
            line = await self._line()
            try:
                line.writer.write(head.encode("latin-1") + body)
                answer = await self._answer(line)
            except BaseException:
                line.writer.close()
                raise
            if answer.headers.get("connection", "") == "close":
                line.writer.close()
            else:
                line.used = time.monotonic()
                self._idle.append(line)
            return answer

    def close(self) -> None:
        """Close those that are not in use; the others are closed when their answer has come, or fails to."""
        for each in self._idle:
            each.writer.close()
        self._idle.clear()

    async def _line(self) -> _Line:
        while self._idle:
            line = self._idle.pop()
            if time.monotonic() - line.used < IDLE and not line.reader.at_eof():
                return line
            line.writer.close()
        pair = await asyncio.open_connection(
            self._host, self._port, ssl=self._ssl, server_hostname=self._name, limit=_LONGEST_HEAD
        )
        return _Line(*pair)

    async def _answer(self, line: _Line) -> Answer:
        reader = line.reader
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            raise BrokenConnection(
                "closed without an answer", unanswered=not error.partial and line.used > 0
            ) from error
        except ConnectionError as error:
            raise BrokenConnection(str(error), unanswered=line.used > 0) from error
        except asyncio.LimitOverrunError as error:
            raise BrokenConnection("no HTTP") from error
        try:
            status, headers = _read_head(head)
            return Answer(status, headers, b"" if status in _NO_BODY else await _body(reader, headers))
        except (asyncio.IncompleteReadError, ValueError) as error:
            raise BrokenConnection(f"broke in the midst of an answer: {error}") from error


def _read_head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, found, value = line.partition(":")
        if found:
            headers[name.lower()] = value.strip()
    return int(first.split(" ", 2)[1]), headers


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    length = headers.get("content-length")
    if length is not None:
        return await reader.readexactly(int(length))
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.read()
    parts: list[bytes] = []
    while True:
        size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
        chunk = await reader.readexactly(size + 2)
        if not size:
            return b"".join(parts)
        parts.append(chunk[:-2])
