"""A connected socket, in TLS or plain, whose bytes are handed on as they come. It knows nothing of HTTP.

asyncio puts a TLS protocol with its own buffers between the socket and our protocol. Here OpenSSL reads and writes the
socket directly, which takes less than half the processor time for messages as short as a binding.
"""

from __future__ import annotations

import asyncio
import socket
import ssl as tls
from collections.abc import Callable
from typing import Protocol

_MOST = 1 << 17
"""Bytes read at a time: more than a TLS record holds, so that none waits where nobody is told of it."""
_LATER = (BlockingIOError, tls.SSLWantReadError, tls.SSLWantWriteError)


class SocketListener(Protocol):
    """Takes what comes."""

    def data_received(self, data: bytes) -> bool:
        """Bytes came; whether more may have come already: one read takes one TLS record."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing will come any more; ``None``: the other side ended it. Not told of one that was closed here."""


class DirectSocket:
    """Reads as long as it is open.

    Args:
        sock: connected, without blocking, its handshake done.
        listener: told of everything, one call after another in the loop.
    """

    def __init__(self, sock: socket.socket, listener: SocketListener) -> None:
        self._sock = sock
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._unsent = b""
        self._open = True
        self._loop.add_reader(sock, self._readable)

    def write(self, data: bytes) -> None:
        """Send; what the socket does not take at once follows when it can. A broken connection is told later."""
        if self._unsent:
            self._unsent += data
            return
        self._unsent = self._sent(data)
        if self._unsent:
            self._loop.add_writer(self._sock, self._writable)

    def close(self) -> None:
        """End it."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._sock)
            self._loop.remove_writer(self._sock)
            self._sock.close()

    def _sent(self, data: bytes) -> bytes:
        """Send what the socket takes; return the rest of the bytes."""
        try:
            return data[self._sock.send(data) :]
        except _LATER:
            return data
        except OSError as error:
            self._loop.call_soon(self._lost, error)
            return b""

    def _writable(self) -> None:
        self._unsent = self._sent(self._unsent)
        if not self._unsent and self._open:
            self._loop.remove_writer(self._sock)

    def _readable(self) -> None:
        more = True
        while more and self._open:
            try:
                data = self._sock.recv(_MOST)
            except _LATER:
                return
            except OSError as error:
                self._lost(error)
                return
            if not data:
                self._lost(None)
                return
            more = self._listener.data_received(data)

    def _lost(self, error: OSError | None) -> None:
        if self._open:
            self.close()
            self._listener.connection_lost(error)


async def connected(host: str, port: int, ssl: tls.SSLContext | None, name: str | None) -> socket.socket:
    """A socket that is connected to the first address of a host that answers, its handshake done.

    Args:
        host: its name or address.
        port: there.
        ssl: for TLS; ``None`` for plain.
        name: that its certificate is for.

    Raises:
        OSError: no address answers, or the handshake fails.
    """
    loop = asyncio.get_running_loop()
    failed: OSError = ConnectionError(f"{host} has no address")
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(sock, address)
            return sock if ssl is None else await _shaken(sock, ssl, name)
        except OSError as error:
            sock.close()
            failed = error
        except BaseException:
            sock.close()
            raise
    raise failed


async def _shaken(sock: socket.socket, ssl: tls.SSLContext, name: str | None) -> tls.SSLSocket:
    """The socket in TLS; it is closed where that fails."""
    loop = asyncio.get_running_loop()
    wrapped = ssl.wrap_socket(sock, server_hostname=name, do_handshake_on_connect=False)
    try:
        while True:
            try:
                wrapped.do_handshake()
            except tls.SSLWantReadError:
                await _until(wrapped, loop.add_reader, loop.remove_reader)
            except tls.SSLWantWriteError:
                await _until(wrapped, loop.add_writer, loop.remove_writer)
            else:
                return wrapped
    except BaseException:
        wrapped.close()
        raise


async def _until(sock: socket.socket, add: Callable[..., object], remove: Callable[[socket.socket], object]) -> None:
    """Wait until the loop says that a socket can be read, or written."""
    ready = asyncio.get_running_loop().create_future()
    add(sock, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        remove(sock)
