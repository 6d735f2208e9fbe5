"""A pool of HTTP/1.1 connections for writes.

A binding takes a third as much CPU time as with aiohttp. Only the needed parts of HTTP are supported. Responses are
parsed as bytes arrive, without a task per response, and one timer watches all connections.

A connection has one request at a time, or several pipelined requests (RFC 9112, 9.3.2) for writes that can be repeated.
Pipelining takes less than half the CPU time.
"""

from __future__ import annotations

import asyncio
import socket
import ssl as tls
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .direct_socket import DirectSocket, connected
from .http_head import END, LONGEST_HEAD, HttpServer, header_of, status_of

IDLE = 60.0
"""Seconds after which an idle connection is not used again, because servers close it."""
_NO_BODY = (204, 304)
_LOOK = 0.5
"""Seconds between two checks for overdue responses."""


class BrokenConnection(ConnectionError):  # noqa: N818 - it is what is broken
    """Raised if a connection breaks; ``unanswered`` if the server had closed it, idle, before any response."""

    def __init__(self, words: str, *, unanswered: bool = False) -> None:
        super().__init__(words)
        self.unanswered = unanswered


@dataclass(frozen=True, slots=True)
class Request:
    """A request to send. ``lines`` are the headers; see `header_lines`."""

    method: str
    path: str
    params: Mapping[str, str] | None
    lines: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a request; ``head`` has the headers in lower case, each after ``\r\n``."""

    status: int
    head: bytes
    body: bytes

    def header(self, name: bytes) -> str:
        """Return the value of a header, given in lower case; "" if it is missing."""
        return header_of(self.head, name).decode("latin-1")


class _Line:
    """A connection of the pool.

    Attributes:
        used: time at which its last response was complete; 0 before.
        deadline: time limit of the awaited response.
    """

    def __init__(self) -> None:
        self.used = self.deadline = 0.0
        self.closed = False
        self._socket: DirectSocket | None = None
        self._came = bytearray()
        self._awaited: asyncio.Future[list[Answer]] | None = None
        self._answers: list[Answer] = []
        self._asked = 0

    def open(self, sock: socket.socket) -> None:
        """Start to use this socket."""
        self._socket = DirectSocket(sock, self)

    def ask(self, requests: bytes, count: int) -> asyncio.Future[list[Answer]]:
        """Send pipelined requests. Return a future of their responses."""
        assert self._socket is not None, "it is connected"
        self._awaited = asyncio.get_running_loop().create_future()
        self._answers, self._asked = [], count
        self._socket.write(requests)
        return self._awaited

    def data_received(self, data: bytes) -> bool:
        """See SocketListener."""
        self._came += data
        if self._awaited is None:  # data without a request would be read as the next response
            self.close()
            return False
        self._read(ended=False, broken="no HTTP")
        return self._awaited is not None

    def connection_lost(self, exc: Exception | None) -> None:
        """See SocketListener."""
        self.closed = True
        if self._awaited is None or self._awaited.done():
            return
        if not self._came and not self._answers:
            words = str(exc) if exc is not None else "closed without an answer"
            self._fail(BrokenConnection(words, unanswered=self.used > 0))
            return
        self._read(ended=True, broken="broke in the midst of an answer")

    def _read(self, *, ended: bool, broken: str) -> None:
        """Complete the responses if all bytes arrived; ``broken`` is the message for invalid or incomplete ones."""
        came, answers = self._came, self._answers
        try:
            while len(answers) < self._asked and (found := _answer(came, ended=ended)) is not None:
                answer, end = found
                answers.append(answer)
                del came[:end]
        except ValueError as error:
            self._fail(BrokenConnection(f"{broken}: {error}"))
            return
        if len(answers) == self._asked:
            self._succeed(answers)
        elif ended:
            self._fail(BrokenConnection(broken))

    def overdue(self, now: float) -> bool:
        """Fail an overdue response. Return whether a response is still awaited."""
        if self._awaited is None or self._awaited.done():
            return False
        if now < self.deadline:
            return True
        self._fail(TimeoutError())
        return False

    def close(self) -> None:
        """Close the connection. Awaited responses fail."""
        self.closed = True
        if self._socket is not None:
            self._socket.close()

    def _succeed(self, answers: list[Answer]) -> None:
        awaited, self._awaited = self._awaited, None
        self.used = time.monotonic()
        if self._came or header_of(answers[-1].head, b"connection") == b"close":
            self.close()
        if awaited is not None and not awaited.done():
            awaited.set_result(answers)

    def _fail(self, error: Exception) -> None:
        awaited, self._awaited = self._awaited, None
        self.close()
        if awaited is not None and not awaited.done():
            awaited.set_exception(error)


class WriteConnections:
    """A pool of connections to one server, opened on demand.

    Args:
        ssl: TLS context; None for plain HTTP.
        name: expected name in the certificate; None for the URL's host.
        most: maximum number of connections. Requests wait in order.
    """

    def __init__(self, server: str, ssl: tls.SSLContext | None, name: str | None, most: int) -> None:
        self._server = HttpServer(server, ssl, name)
        self._idle: list[_Line] = []
        self._busy: set[_Line] = set()
        self._turns = asyncio.Semaphore(most)
        self._watch: asyncio.TimerHandle | None = None
        self._closed = False

    async def send(self, requests: Sequence[Request], *, timeout: float) -> list[Answer]:
        """Send pipelined requests and return their responses. ``timeout`` is in seconds, plus a margin.

        Raises:
            OSError: if the connection fails, or breaks (`BrokenConnection`) before all responses arrived.
            TimeoutError: if it takes too long.
        """
        sent = b"".join([self._bytes(each) for each in requests])
        async with self._turns:
            line = self._free() or await self._connected(timeout)
            line.deadline = time.monotonic() + timeout
            self._busy.add(line)
            self._look_later()
            try:
                answers = await line.ask(sent, len(requests))
            except BaseException:
                line.close()
                raise
            finally:
                self._busy.discard(line)
            if self._closed:
                line.close()
            elif not line.closed:
                self._idle.append(line)
            return answers

    def _bytes(self, request: Request) -> bytes:
        head = self._server.head(request.method, request.path, request.params, request.lines)
        return f"{head}Content-Length: {len(request.body)}\r\n\r\n".encode("latin-1") + request.body

    def close(self) -> None:
        """Close idle connections at once, and other connections after their response."""
        self._closed = True
        for each in self._idle:
            each.close()
        self._idle.clear()

    def _free(self) -> _Line | None:
        while self._idle:
            line = self._idle.pop()
            if not line.closed and time.monotonic() - line.used < IDLE:
                return line
            line.close()
        return None

    async def _connected(self, timeout: float) -> _Line:
        line, server = _Line(), self._server
        async with asyncio.timeout(timeout):
            line.open(await connected(server.host, server.port, server.ssl, server.name))
        return line

    def _look_later(self) -> None:
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(_LOOK, self._look)

    def _look(self) -> None:
        self._watch = None
        now = time.monotonic()
        if [each for each in list(self._busy) if each.overdue(now)]:
            self._look_later()


def _answer(came: bytearray, *, ended: bool) -> tuple[Answer, int] | None:
    """Parse the first response in the bytes. Return it with its end; None if it is incomplete.

    ``ended``: no more bytes will arrive.

    Raises:
        ValueError: if the bytes are not a response.
    """
    end = came.find(END)
    if end < 0:
        if len(came) > LONGEST_HEAD:
            raise ValueError("a head without an end")
        return None
    head = bytes(came[:end]).lower()
    status = status_of(head)
    start = end + len(END)
    if status in _NO_BODY:
        return Answer(status, head, b""), start
    length = header_of(head, b"content-length")
    if length:
        until = start + int(length)
        return (Answer(status, head, bytes(came[start:until])), until) if len(came) >= until else None
    if header_of(head, b"transfer-encoding") != b"chunked":
        return (Answer(status, head, bytes(came[start:])), len(came)) if ended else None
    joined = _joined(came, start)
    return None if joined is None else (Answer(status, head, joined[0]), joined[1])


def _joined(came: bytearray, place: int) -> tuple[bytes, int] | None:
    """Join the chunks that start at a position. Return them and their end; None while the last chunk is missing."""
    parts: list[bytes] = []
    while True:
        end = came.find(b"\r\n", place)
        if end < 0:
            return None
        size = int(bytes(came[place:end]).split(b";")[0], 16)
        place = end + 2 + size + 2
        if len(came) < place:
            return None
        if not size:
            return b"".join(parts), place
        parts.append(bytes(came[end + 2 : place - 2]))
