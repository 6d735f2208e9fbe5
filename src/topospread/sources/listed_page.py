"""Parse one page of an API server's list: its objects and the continue token."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from topospread.api.meta import KubeStruct
from topospread.errors import DecodeError, Place

from .json_text import JsonList
from .locations import Location
from .objects import ObjectReader, ReadObject
from .text import Text


class _PageMeta(KubeStruct):
    """The list metadata with the continue token."""

    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _ListPage(KubeStruct):
    metadata: _PageMeta = msgspec.field(default_factory=_PageMeta)


_PAGE: Final = msgspec.json.Decoder(_ListPage)


class ListedPage(NamedTuple):
    """The parsed content of a page.

    Attributes:
        objects: objects of the requested kind, in the server's order. They do not keep the page's text in memory.
        left: number of objects on later pages; None if the server does not state it.
    """

    objects: list[ReadObject]
    left: int | None


def continue_token(data: bytes) -> str:
    """Return the continue token of a list; "" if it is the last page or not a list."""
    try:
        return _PAGE.decode(data).metadata.continue_
    except msgspec.DecodeError:
        return ""


def read_page(data: bytes, kind: str, name: str, reader: ObjectReader) -> ListedPage:
    """Parse the objects of a page.

    Args:
        data: the server's answer, a ``…List``.
        kind: key in `KINDS`; objects of other kinds are skipped.
        name: name of the server, for errors.

    Raises:
        DecodeError: if it is not a list.
        InputError: if an object is unusable.
    """
    text = Text(name, data)
    items = JsonList.at(Location(text, start=0, end=len(data)))
    if items is None:
        begin = data[:60].decode("utf-8", "replace")
        raise DecodeError(f"the answer is not a list of objects: {begin!r}", Place(name))
    found = [
        each._replace(location=None, position=None)
        for each in reader.read_json_list(items, lambda done: None)
        if each.kind == kind
    ]
    return ListedPage(found, _PAGE.decode(data).metadata.remaining_item_count)
