"""A socket, plain or TLS, that reads large amounts of data with few system calls.

OpenSSL makes two system calls per TLS record, and a watch event takes at least one record. Here all available data is
read at once and decrypted in memory. `direct_socket` is for short requests and responses.
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
"""Maximum content of a TLS record in bytes."""
_SOON, _MUCH = 0.02, 1 << 12
"""Data counts as a stream while each wait takes at most `_SOON` seconds, and a pause gathers `_MUCH` bytes."""


class BulkSocket:
    """Reads on request. Unread data stays in the kernel, which slows the sender down.

    Args:
        silence: seconds without data after which a pending read fails.

    Attributes:
        rest: pause in which data can gather, because waking up for every record costs more than reading it. Rare data
            is read at once.
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
        """Connect, and complete the TLS handshake. ``name`` is the expected name in the certificate.

        Raises:
            OSError: if no address answers, or the handshake fails.
        """
        made = cls(await connected(host, port, None, None), silence)
        try:
            if ssl is not None:
                made._tls = _TlsInMemory(ssl, name)
                while not made._tls.shaken():
                    await made._loop.sock_sendall(made._sock, made._tls.to_send.read())
                    made._tls.take(await made._some())
                await made._loop.sock_sendall(made._sock, made._tls.to_send.read())
        except BaseException:
            made.close()
            raise
        return made

    async def read(self) -> bytes:
        """Return the available bytes, at least one; b"" after the peer closed.

        Raises:
            OSError: if the connection broke or was closed.
            TimeoutError: if no data arrives for too long.
        """
        while not self._ended:
            came = await self._some()
            if self._tls is None:
                self._ended = not came
                return bytes(came)
            data, self._ended = self._tls.decrypted(came)
            if self._tls.to_send.pending:  # the reply to a TLS key update
                self._sock.send(self._tls.to_send.read())
            if data:
                return data
        return b""

    async def write(self, data: bytes) -> None:
        """Send data. Raise OSError if the connection broke."""
        await self._loop.sock_sendall(self._sock, data if self._tls is None else self._tls.encrypted(data))

    def close(self) -> None:
        """Close the connection. A pending read fails."""
        if self._closed:
            return
        self._closed = True
        if self._listening:
            self._loop.remove_reader(self._sock)
        if self._look is not None:
            self._look.cancel()
        self._sock.close()
        self._tell(ConnectionError("closed"))

    async def _some(self) -> memoryview:
        """Return the available bytes as soon as some arrive; empty at the end."""
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
        """Handle readability. If no read is pending, stop watching the socket."""
        if self._waiter is None or self._waiter.done():
            self._loop.remove_reader(self._sock)
            self._listening = False
        else:
            self._waiter.set_result(None)

    def _look_at_time(self) -> None:
        """Fail a read that has waited too long; otherwise check again later."""
        due = self._loop.time() if self._waiter is None else self._since
        self._look = self._loop.call_at(due + self._silence, self._look_at_time)
        if self._waiter is not None and self._loop.time() >= self._since + self._silence:
            self._tell(TimeoutError())

    def _tell(self, error: Exception) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)


class _TlsInMemory:
    """One end of a TLS connection without a socket; ``to_send`` has the data for the peer."""

    def __init__(self, context: tls.SSLContext, name: str | None) -> None:
        self.to_send = tls.MemoryBIO()
        self._came = tls.MemoryBIO()
        self._object = context.wrap_bio(self._came, self.to_send, server_hostname=name)
        self._buffer = memoryview(bytearray(_MOST + 2 * _RECORD))  # room for new data after an incomplete record

    def shaken(self) -> bool:
        """Continue the handshake. Return whether it is complete; raise OSError if it fails."""
        try:
            self._object.do_handshake()
        except tls.SSLWantReadError:
            return False
        return True

    def take(self, came: memoryview) -> None:
        """Add received bytes; empty at the end of the stream."""
        if came:
            self._came.write(came)
        else:
            self._came.write_eof()

    def decrypted(self, came: memoryview) -> tuple[bytes, bool]:
        """Decrypt the whole records in these bytes; also return whether the stream ended.

        Raises:
            OSError: if the data is not TLS, or was tampered with.
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
        """Return the encrypted form of the data."""
        self._object.write(data)
        return self.to_send.read()
