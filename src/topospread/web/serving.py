"""Serve an ASGI application on a socket, with bounds on connections and on the time for a request's headers."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from topospread.errors import UsageError

MOST_CONNECTIONS: Final = 100
"""Maximum number of connections: a browser has six, and one more for the events of each tab."""
HEADER_SECONDS: Final = 10.0
"""Seconds for a request's headers to arrive, from the connection or from the first byte after an answer."""
_WAITING = 64
_PATIENCE = 2


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 that closes connections beyond `MOST_CONNECTIONS`, and connections whose headers take too long."""

    _headers_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """See asyncio.Protocol."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._expect_headers()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        if self._headers_due is None:
            self._headers_due = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._headers_due is not None:
            self._headers_due.cancel()
            self._headers_due = None


@dataclass(frozen=True, slots=True)
class Listening:
    """A bound socket; ``address`` is ``HOST:PORT`` in a URL."""

    socket: socket.socket
    address: str

    @property
    def port(self) -> int:
        """The actual port, also if port 0 was requested."""
        return int(self.socket.getsockname()[1])


def listen(host: str, port: int) -> Listening:
    """Listen on an address; port 0 takes a free one. Raise UsageError if it is not valid or in use."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_WAITING)
    except OSError as error:
        raise UsageError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    shown = f"[{host}]" if ":" in host else host
    return Listening(made, f"{shown}:{made.getsockname()[1]}")


def configuration(made: ASGIApp) -> uvicorn.Config:
    """Return uvicorn's configuration for an application. It has no access log, because the token is in a URL."""
    bounds = {"http": BoundedProtocol, "ws": "none", "timeout_graceful_shutdown": _PATIENCE}
    return uvicorn.Config(made, log_level="warning", access_log=False, server_header=False, **bounds)  # type: ignore[arg-type]


def run(made: ASGIApp, listening: Listening) -> None:
    """Serve until Ctrl-C or SIGTERM. Open event streams end soon afterwards."""
    with suppress(KeyboardInterrupt):
        uvicorn.Server(configuration(made)).run(sockets=[listening.socket])
