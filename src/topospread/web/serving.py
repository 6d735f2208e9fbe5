"""The socket and the loop that serve an application; what it answers is not known here."""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from topospread.errors import UsageError

_WAITING = 64
_PATIENCE = 2


@dataclass(frozen=True, slots=True)
class Listening:
    """A socket that is bound.

    Attributes:
        address: ``HOST:PORT`` as it stands in a URL.
    """

    socket: socket.socket
    address: str

    @property
    def port(self) -> int:
        """The port, whichever it was that was free."""
        found: int = self.socket.getsockname()[1]
        return found


def listen(host: str, port: int) -> Listening:
    """Listen on an address; port 0 takes a free one.

    Raises:
        UsageError: the address is none, or somebody listens there.
    """
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


def run(made: ASGIApp, listening: Listening) -> None:
    """Serve until Ctrl-C or a termination; a page that still listens to events is not waited for long."""
    config = uvicorn.Config(
        made, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=_PATIENCE
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening.socket])
