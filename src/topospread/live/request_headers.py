"""HTTP headers of requests: credentials, content type and user agent, cached while the credentials stay the same."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from topospread.version import __version__

from .connection import Connection
from .http_head import Headers, header_lines

_ALWAYS = {
    "User-Agent": f"topospread/{__version__} ({sys.platform})",  # audit logs identify us up to the slash
    "Accept": "application/json",
    "Accept-Encoding": "identity",
}


class RequestHeaders:
    """The headers of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lines: dict[str, tuple[Mapping[str, str], str]] = {}

    async def of(self, content_type: str = "") -> Headers:
        """Return the headers for a body's content type; "" without a body. Each impersonated group has its own
        header."""
        return self._made(content_type, await self._connection.headers())

    async def lines(self, content_type: str = "") -> str:
        """Return the headers as lines of an HTTP head."""
        said = await self._connection.headers()
        known = self._lines.get(content_type)
        if known is None or known[0] is not said:
            known = self._lines[content_type] = (said, header_lines(self._made(content_type, said)))
        return known[1]

    def _made(self, content_type: str, said: Mapping[str, str]) -> Headers:
        own = {"Content-Type": content_type} if content_type else {}
        groups = [("Impersonate-Group", each) for each in self._connection.groups]
        return [*{**_ALWAYS, **own, **said}.items(), *groups]
