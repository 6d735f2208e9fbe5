"""The head of an HTTP/1.1 answer, as it stands in the bytes that came: status and headers. It reads from no socket."""

from __future__ import annotations

LONGEST_HEAD = 1 << 16
END = b"\r\n\r\n"


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
