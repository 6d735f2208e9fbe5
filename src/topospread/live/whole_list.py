"""Takes the objects of a list from the bytes of one answer as they come. It asks for nothing and keeps no object.

A list of 150,000 pods is 300 MB; read in parts it takes no more memory than its objects do. Where one object ends is
not looked for byte by byte: what lies before a mark between two objects is decoded as an array, and where the mark
stood within an object, that array has no end, is no JSON, and is tried again with more of the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

_HEAD = re.compile(rb'\{"kind":"[^"]*","apiVersion":"[^"]*","metadata":\{"resourceVersion":"(\d+)"\},"items":\[')
"""How Go writes the beginning of a list that is whole."""
_LONGEST_HEAD = 4096
_BETWEEN = b'},{"metadata":{'
_OPENS, _COMMA, _CLOSES = b"[,]"
_PART = 1 << 17
"""Bytes that are waited for before objects are decoded."""


class IrregularList(Exception):  # noqa: N818 - it says what is the case
    """The answer is none that can be taken in parts; it is well to ask in another way."""


class WholeList:
    """The objects of one list.

    Args:
        decode: the objects of a JSON array; ``msgspec.DecodeError`` where it is none. It keeps nothing of the bytes.

    Attributes:
        version: of the list, "" before its beginning has come.
    """

    def __init__(self, decode: Callable[[bytes | memoryview], list[Any]]) -> None:
        self.version = ""
        self._decode = decode
        self._came = bytearray()
        self._wanted = _PART

    def feed(self, piece: bytes) -> list[Any]:
        """The objects that are whole with this piece.

        Raises:
            IrregularList: it does not begin as a list does.
        """
        self._came += piece
        if (not self.version and not self._begins()) or len(self._came) < self._wanted:
            return []
        cut = self._came.rfind(_BETWEEN)
        if cut < 0:
            self._wanted = 2 * len(self._came)
            return []
        comma = cut + 1
        self._came[comma] = _CLOSES  # made an array where it is: 300 MB are not copied once more
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
        """The last objects.

        Raises:
            IrregularList: the list has no end.
        """
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
