"""A page of a list as an API server answers it → its objects, and where the list goes on. It asks nobody."""

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
    """The part of a list's metadata with the continue token."""

    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _ListPage(KubeStruct):
    metadata: _PageMeta = msgspec.field(default_factory=_PageMeta)


_PAGE: Final = msgspec.json.Decoder(_ListPage)


class ListedPage(NamedTuple):
    """The content of a page.

    Attributes:
        objects: of the kind that was asked for, in the server's order; they hold nothing of the page's text.
        left: how many are still to come, as far as the server says.
    """

    objects: list[ReadObject]
    left: int | None


def continue_token(data: bytes) -> str:
    """Return the continue token of a list; "" if it ends here, or if this is no list."""
    try:
        return _PAGE.decode(data).metadata.continue_
    except msgspec.DecodeError:
        return ""


def read_page(data: bytes, kind: str, name: str, reader: ObjectReader) -> ListedPage:
    """The objects of a page.

    Args:
        data: the server's answer, a ``…List``.
        kind: key in `KINDS`; objects of others are left out.
        name: of whom it was asked, for errors.
        reader: tells kinds and versions apart.

    Raises:
        DecodeError: it is no list.
        InputError: an object in it cannot be used.
    """
    text = Text(name, data)
    items = JsonList.at(Location(text, start=0, end=len(data)))
    if items is None:
        begin = data[:60].decode("utf-8", "replace")
        raise DecodeError(f"the answer is no list of objects: {begin!r}", Place(name))
    found = [
        each._replace(location=None, position=None)
        for each in reader.read_json_list(items, lambda done: None)
        if each.kind == kind
    ]
    return ListedPage(found, _PAGE.decode(data).metadata.remaining_item_count)
