"""A connected socket, plain or TLS, for short requests and responses.

asyncio's TLS layer has its own buffers. Here OpenSSL reads and writes the socket directly, which takes less than half
the CPU time for messages as short as a binding.
"""

from __future__ import annotations

import asyncio
import socket
import ssl as tls
from collections.abc import Callable
from typing import Protocol

_MOST = 1 << 17
"""Bytes per read: more than a TLS record, so that no decrypted data stays behind unnoticed."""
_LATER = (BlockingIOError, tls.SSLWantReadError, tls.SSLWantWriteError)


class SocketListener(Protocol):
    """Receives the data of a socket."""

    def data_received(self, data: bytes) -> bool:
        """Receive data. Return whether more may be available, because a read returns one TLS record."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Called at the end; ``exc`` is None if the peer closed. Not called after `close`."""


class DirectSocket:
    """Reads a connected non-blocking socket, after its handshake, until it is closed."""

    def __init__(self, sock: socket.socket, listener: SocketListener) -> None:
        self._sock = sock
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._unsent = b""
        self._open = True
        self._loop.add_reader(sock, self._readable)

    def write(self, data: bytes) -> None:
        """Send data. The rest is sent once the socket is writable. Errors are reported later."""
        if self._unsent:
            self._unsent += data
            return
        self._unsent = self._sent(data)
        if self._unsent:
            self._loop.add_writer(self._sock, self._writable)

    def close(self) -> None:
        """Close the connection."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._sock)
            self._loop.remove_writer(self._sock)
            self._sock.close()

    def _sent(self, data: bytes) -> bytes:
        """Send as much as the socket accepts. Return the rest."""
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
    """Connect to the first address of a host that answers, and complete the handshake.

    Args:
        host: name or address.
        ssl: TLS context; None for plain.
        name: expected name in the certificate.

    Raises:
        OSError: if no address answers, or the handshake fails.
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
    """Return the socket with TLS. It is closed if the handshake fails."""
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
    ready = asyncio.get_running_loop().create_future()
    add(sock, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        remove(sock)
