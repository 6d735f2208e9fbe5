"""Extract the objects of a list from the bytes of one response as they arrive.

A list of 150,000 pods is 300 MB; in parts it only needs the memory of its objects. The end of an object is not searched
byte by byte. The bytes before a likely separator are decoded as an array. If the separator was inside an object,
decoding fails and is repeated with more bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

_HEAD = re.compile(rb'\{"kind":"[^"]*","apiVersion":"[^"]*","metadata":\{"resourceVersion":"(\d+)"\},"items":\[')
"""Matches the start of an unpaged list as Go writes it."""
_LONGEST_HEAD = 4096
_BETWEEN = b'},{"metadata":{'
_OPENS, _COMMA, _CLOSES = b"[,]"
_PART = 1 << 17
"""Bytes to wait for before objects are decoded."""


class IrregularList(Exception):  # noqa: N818 - it says what is the case
    """Raised if the response cannot be read in parts; request it in another way."""


class WholeList:
    """Extracts the objects of one list.

    Args:
        decode: decodes a JSON array to objects without references to the bytes; raises ``msgspec.DecodeError``.

    Attributes:
        version: resource version of the list; "" before its start has arrived.
    """

    def __init__(self, decode: Callable[[bytes | memoryview], list[Any]]) -> None:
        self.version = ""
        self._decode = decode
        self._came = bytearray()
        self._wanted = _PART

    def feed(self, piece: bytes) -> list[Any]:
        """Add a piece, and return the objects it completes. Raise IrregularList if it does not start like a list."""
        self._came += piece
        if (not self.version and not self._begins()) or len(self._came) < self._wanted:
            return []
        cut = self._came.rfind(_BETWEEN)
        if cut < 0:
            self._wanted = 2 * len(self._came)
            return []
        comma = cut + 1
        self._came[comma] = _CLOSES  # turn it into an array in place: copying 300 MB is slow
        try:
            with memoryview(self._came) as whole, whole[: comma + 1] as array:
                items = self._decode(array)
        except msgspec.DecodeError:
            self._came[comma] = _COMMA
            self._wanted = 2 * len(self._came)
            return []
        del self._came[:comma]
        self._came[0] = _OPENS
        self._wanted = _PART
        return items

    def end(self) -> list[Any]:
        """Return the last objects. Raise IrregularList if the list is incomplete."""
        rest = bytes(self._came).rstrip()
        if not self.version or not rest.endswith(b"]}"):
            raise IrregularList("a list without an end")
        try:
            return self._decode(rest[:-1])
        except msgspec.DecodeError as error:
            raise IrregularList(str(error)) from error

    def _begins(self) -> bool:
        found = _HEAD.match(self._came)
        if found is not None:
            self.version = found[1].decode()
            del self._came[: found.end() - 1]
        elif len(self._came) > _LONGEST_HEAD:
            raise IrregularList("not the beginning of a list")
        return found is not None
