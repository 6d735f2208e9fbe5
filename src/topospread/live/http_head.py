"""Create the heads of HTTP/1.1 requests and parse the heads of responses. A head is the first line and the headers."""

from __future__ import annotations

import ssl as tls
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

Headers = Sequence[tuple[str, str]]
"""Header names and values. A name may occur several times."""

LONGEST_HEAD = 1 << 16
END = b"\r\n\r\n"


@dataclass(slots=True)
class HttpServer:
    """The server for requests.

    Attributes:
        url: URL of the server, perhaps with a path.
        ssl: TLS context; None for plain HTTP.
        name: expected name in the certificate, by default the URL's host; None for plain HTTP.
        host, port: address to connect to.
    """

    url: str
    ssl: tls.SSLContext | None
    name: str | None
    host: str = field(init=False)
    port: int = field(init=False)
    _prefix: str = field(init=False)
    _asked: str = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        self.host = parts.hostname or ""
        self.port = parts.port or (80 if self.ssl is None else 443)
        self.name = (self.name or self.host) if self.ssl is not None else None
        self._prefix = parts.path
        self._asked = f"HTTP/1.1\r\nHost: {parts.netloc}\r\n"

    def head(self, method: str, path: str, params: Mapping[str, str] | None, lines: str) -> str:
        """Return a request's head without the final empty line. ``lines`` are its headers (`header_lines`)."""
        target = f"{self._prefix}{path}?{urlencode(params)}" if params else f"{self._prefix}{path}"
        return f"{method} {target} {self._asked}{lines}"


def header_lines(headers: Headers) -> str:
    """Return headers as lines of a head."""
    return "".join([f"{name}: {value}\r\n" for name, value in headers])


def status_of(head: bytes | bytearray) -> int:
    """Return the status code in a head. Raise ValueError if it is not an HTTP head."""
    words = bytes(head).partition(b"\r\n")[0].split(b" ", 2)
    if len(words) < 2:
        raise ValueError(words[0].decode("latin-1"))
    return int(words[1])


def header_of(head: bytes, name: bytes) -> bytes:
    """Return the value of a header; b"" if it is missing. Both arguments are in lower case."""
    place = head.find(b"\r\n%b:" % name)
    if place < 0:
        return b""
    start = place + len(name) + 3
    end = head.find(b"\r\n", start)
    return head[start : end if end >= 0 else len(head)].strip()
