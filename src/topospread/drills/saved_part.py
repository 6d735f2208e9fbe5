"""The header that every saved part of many drills has. Its drills are read elsewhere."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from topospread.api.meta import KubeStruct
from topospread.errors import InputError, Place
from topospread.sources.files import Source, read_text

from .shards import Shard, ShardMark

Saved = TypeVar("Saved")


class SavedMark(KubeStruct):
    """A `ShardMark` as it is written."""

    index: int
    of: int
    targets: int
    digest: str

    @property
    def mark(self) -> ShardMark:
        """As it was before."""
        return ShardMark(Shard(self.index, self.of), self.targets, self.digest)


def read_saved(path: str, form: type[Saved], option: str) -> Saved:
    """Read the result that ``topospread drill OPTION … --shard … -o json`` wrote.

    Raises:
        InputError: the file cannot be read, or is something else.
    """
    try:
        return msgspec.json.decode(read_text(Source(path, None)).data, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        what = f"it is not what drill {option} --shard -o json writes: {error}"
        raise InputError(what, Place(source=path)) from None
