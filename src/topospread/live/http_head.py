"""Heads of HTTP/1.1: of requests to one server, and of answers as they stand in the bytes. It reads from no socket."""

from __future__ import annotations

import ssl as tls
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

Headers = Sequence[tuple[str, str]]
"""Names and values; a name may come more than once."""

LONGEST_HEAD = 1 << 16
END = b"\r\n\r\n"


@dataclass(slots=True)
class HttpServer:
    """The server that requests go to.

    Attributes:
        url: of the server, with a path where it has one.
        ssl: for every connection, ``None`` for plain HTTP.
        name: that its certificate is for, the host of the URL where none is given; ``None`` for plain HTTP.
        host, port: what is connected to.
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
        """The head of a request but for the empty line at its end; ``lines``: its headers (`header_lines`)."""
        target = f"{self._prefix}{path}?{urlencode(params)}" if params else f"{self._prefix}{path}"
        return f"{method} {target} {self._asked}{lines}"


def header_lines(headers: Headers) -> str:
    """Headers as they stand in a head."""
    return "".join([f"{name}: {value}\r\n" for name, value in headers])


def status_of(head: bytes | bytearray) -> int:
    """The status that a head begins with.

    Raises:
        ValueError: it is no head of HTTP.
    """
    words = bytes(head).partition(b"\r\n")[0].split(b" ", 2)
    if len(words) < 2:
        raise ValueError(words[0].decode("latin-1"))
    return int(words[1])


def header_of(head: bytes, name: bytes) -> bytes:
    """The value of a header in a head in lower case, b"" where it is not there; ``name``: in lower case."""
    place = head.find(b"\r\n%b:" % name)
    if place < 0:
        return b""
    start = place + len(name) + 3
    end = head.find(b"\r\n", start)
    return head[start : end if end >= 0 else len(head)].strip()
