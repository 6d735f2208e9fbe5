"""Parts of checks as they were written by ``-o json``, read again; how they are put together is `checking`'s."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.meta import KubeStruct
from topospread.errors import InputError, Place
from topospread.sources.files import Source, read_text

from .checking import CheckedDrill, DrillCheck, PlacedShortfall
from .shards import Shard, ShardMark


class _SavedMark(KubeStruct):
    index: int
    of: int
    targets: int
    digest: str


class _SavedShortfall(KubeStruct):
    path: str
    line: int | None
    message: str
    column: int | None


class _SavedDrill(KubeStruct):
    name: str
    file: str
    document: int
    shortfalls: tuple[_SavedShortfall, ...]
    result: dict[str, Any]


class _SavedCheck(KubeStruct):
    drills: tuple[_SavedDrill, ...]
    partial: str
    part: _SavedMark | None


class _WrittenKind(KubeStruct):
    kind: str = ""


def is_check(path: str) -> bool:
    """Whether a file was written by ``topospread drill --check -o json``; one that is none of ours is not.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        return msgspec.json.decode(read_text(Source(path, None)).data, type=_WrittenKind).kind == "DrillCheck"
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def read_check(path: str) -> DrillCheck:
    """What ``topospread drill --check … --shard … -o json`` wrote.

    Raises:
        InputError: the file cannot be read, or is something else.
    """
    try:
        read = msgspec.json.decode(read_text(Source(path, None)).data, type=_SavedCheck)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"it is not what drill --check --shard -o json writes: {error}", Place(source=path)) from None
    part = read.part
    return DrillCheck(
        tuple(
            CheckedDrill(
                each.name,
                each.file,
                each.document,
                tuple(PlacedShortfall(**msgspec.structs.asdict(shortfall)) for shortfall in each.shortfalls),
                each.result,
            )
            for each in read.drills
        ),
        read.partial,
        None if part is None else ShardMark(Shard(part.index, part.of), part.targets, part.digest),
    )
