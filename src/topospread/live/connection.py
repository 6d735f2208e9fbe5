"""How an API server is reached and who asks it; it sends nothing itself."""

from __future__ import annotations

import ssl as tls
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Connection:
    """Where the API server is, and how to prove who one is.

    Attributes:
        server: its URL, without a slash at the end.
        ssl: what is trusted and the client's certificate; ``None`` for plain HTTP.
        headers: asked before every request, as tokens expire: ``Authorization`` and the like.
        proxy: URL of an HTTP proxy, if there is one.
    """

    server: str
    ssl: tls.SSLContext | None
    headers: Callable[[], Awaitable[dict[str, str]]]
    proxy: str | None = None
