"""A socket from which much is read with one call, in TLS or plain. It knows nothing of HTTP.

OpenSSL that reads from a socket itself makes two calls to the system for each record, and a watch delivers an object in
one or more of them. Here all that has come is read at once and decrypted in memory. `direct_socket` is for the other
case: one short answer to one short request.
"""

from __future__ import annotations

import asyncio
import socket
import ssl as tls
from collections.abc import Callable

from .direct_socket import connected
from .rest import Rest

_MOST = 1 << 16
_RECORD = 1 << 14
"""The longest content of a TLS record."""
_SOON, _MUCH = 0.02, 1 << 12
"""Waits that end so soon, in seconds, make a stream of what comes. It is one for as long as a rest brings so many
bytes."""


class BulkSocket:
    """Reads when it is asked to; what comes meanwhile waits with the system, so that the other side is held up.

    Args:
        silence: seconds without a byte after which it is taken for broken, while somebody waits for one.

    Attributes:
        rest: in which more may come once all was read, before it is waited for: to be woken for every record costs more
            than to read it. What comes rarely is read at once nevertheless.
    """

    def __init__(self, sock: socket.socket, silence: float) -> None:
        self.rest: Rest | None = None
        self._sock = sock
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._buffer = memoryview(bytearray(_MOST))
        self._tls: _TlsInMemory | None = None
        self._ended = self._listening = self._closed = False
        self._waiter: asyncio.Future[None] | None = None
        self._since = 0.0
        self._soon = 0
        self._look: asyncio.TimerHandle | None = None

    @classmethod
    async def to(cls, host: str, port: int, ssl: tls.SSLContext | None, name: str | None, silence: float) -> BulkSocket:
        """One that is connected, its handshake done; ``name``: that the certificate is for.

        Raises:
            OSError: no address answers, or the handshake fails.
        """
        made = cls(await connected(host, port, None, None), silence)
        try:
            if ssl is not None:
                made._tls = _TlsInMemory(ssl, name)
                await made._shake(made._tls)
        except BaseException:
            made.close()
            raise
        return made

    async def read(self) -> bytes:
        """Return the bytes that have come, at least one; b"" once the other side has closed.

        Raises:
            OSError: it broke, or was closed here.
            TimeoutError: nothing came for so long.
        """
        while not self._ended:
            came = await self._some()
            if self._tls is None:
                self._ended = not came
                return bytes(came)
            data, self._ended = self._tls.decrypted(came)
            if self._tls.to_send.pending:  # a few bytes that answer the other side's new key
                self._sock.send(self._tls.to_send.read())
            if data:
                return data
        return b""

    async def write(self, data: bytes) -> None:
        """Send.

        Raises:
            OSError: it broke.
        """
        await self._loop.sock_sendall(self._sock, data if self._tls is None else self._tls.encrypted(data))

    def close(self) -> None:
        """End it; who waits is told that it broke."""
        if self._closed:
            return
        self._closed = True
        if self._listening:
            self._loop.remove_reader(self._sock)
        if self._look is not None:
            self._look.cancel()
        self._sock.close()
        self._tell(ConnectionError("closed"))

    async def _shake(self, ours: _TlsInMemory) -> None:
        while not ours.shaken():
            await self._loop.sock_sendall(self._sock, ours.to_send.read())
            ours.take(await self._some())
        await self._loop.sock_sendall(self._sock, ours.to_send.read())

    async def _some(self) -> memoryview:
        """The bytes that have come, as soon as there are any; none at the end."""
        rested = False
        while True:
            if self._closed:
                raise ConnectionError("closed")
            try:
                size = self._sock.recv_into(self._buffer)
                if rested and size < _MUCH:
                    self._soon = 0
                return self._buffer[:size]
            except BlockingIOError:
                if rested or self.rest is None or self._soon < self.rest.earned:
                    await self._readable()
                    came_soon = not rested and self._loop.time() - self._since < _SOON
                    self._soon = self._soon + 1 if came_soon else 0
                else:
                    rested = await self.rest.lasts()

    async def _readable(self) -> None:
        if not self._listening:
            self._loop.add_reader(self._sock, self._came)
            self._listening = True
        self._since = self._loop.time()
        if self._look is None:
            self._look = self._loop.call_at(self._since + self._silence, self._look_at_time)
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _came(self) -> None:
        """There is something to read; where nobody wants it now, that is not to be told again and again."""
        if self._waiter is None or self._waiter.done():
            self._loop.remove_reader(self._sock)
            self._listening = False
        else:
            self._waiter.set_result(None)

    def _look_at_time(self) -> None:
        """Give up where it has been silent for too long; else look again when it may have been."""
        due = self._loop.time() if self._waiter is None else self._since
        self._look = self._loop.call_at(due + self._silence, self._look_at_time)
        if self._waiter is not None and self._loop.time() >= self._since + self._silence:
            self._tell(TimeoutError())

    def _tell(self, error: Exception) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)


class _TlsInMemory:
    """One end of a TLS connection without a socket.

    Attributes:
        to_send: what is to be sent to the other side.
    """

    def __init__(self, context: tls.SSLContext, name: str | None) -> None:
        self.to_send = tls.MemoryBIO()
        self._came = tls.MemoryBIO()
        self._object = context.wrap_bio(self._came, self.to_send, server_hostname=name)
        self._buffer = memoryview(bytearray(_MOST + 2 * _RECORD))  # what comes at once, after the part of a record

    def shaken(self) -> bool:
        """Go on with the handshake; whether it is done.

        Raises:
            OSError: it fails.
        """
        try:
            self._object.do_handshake()
        except tls.SSLWantReadError:
            return False
        return True

    def take(self, came: memoryview) -> None:
        """Bytes came, none at the end."""
        if came:
            self._came.write(came)
        else:
            self._came.write_eof()

    def decrypted(self, came: memoryview) -> tuple[bytes, bool]:
        """Decrypt the whole records in these bytes; also return whether the stream ended.

        Raises:
            OSError: it is no TLS, or somebody changed it.
        """
        self.take(came)
        size, buffer = 0, self._buffer
        read: Callable[[int, memoryview], int] = self._object.read  # type: ignore[assignment]  # as it is documented
        try:
            while more := read(_RECORD, buffer[size:]):
                size += more
        except tls.SSLWantReadError:
            return bytes(buffer[:size]), False
        except tls.SSLEOFError:
            pass
        return bytes(buffer[:size]), True

    def encrypted(self, data: bytes) -> bytes:
        """The bytes that are to be sent for these."""
        self._object.write(data)
        return self.to_send.read()
