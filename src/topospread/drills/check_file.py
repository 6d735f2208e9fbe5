"""Parts of checks as they were written by ``-o json``, read again; how they are put together is `checking`'s."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.meta import KubeStruct
from topospread.base import Word
from topospread.sources.files import Source, read_text

from .checking import CheckedDrill, DrillCheck, PlacedShortfall
from .saved_part import SavedMark, read_saved


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
    verdict: Word = "yes"


class _SavedCheck(KubeStruct):
    drills: tuple[_SavedDrill, ...]
    partial: str
    part: SavedMark | None


class _WrittenKind(KubeStruct):
    kind: str = ""


def is_check(path: str) -> bool:
    """Return whether a file was written by ``topospread drill --check -o json``; one that is none of ours is not.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        return msgspec.json.decode(read_text(Source(path, None)).data, type=_WrittenKind).kind == "DrillCheck"
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def read_check(path: str) -> DrillCheck:
    """Read the result that ``topospread drill --check … --shard … -o json`` wrote.

    Raises:
        InputError: the file cannot be read, or is something else.
    """
    read = read_saved(path, _SavedCheck, "--check")
    return DrillCheck(
        tuple(
            CheckedDrill(
                each.name,
                each.file,
                each.document,
                tuple(PlacedShortfall(**msgspec.structs.asdict(shortfall)) for shortfall in each.shortfalls),
                each.result,
                each.verdict,
            )
            for each in read.drills
        ),
        read.partial,
        None if read.part is None else read.part.mark,
    )
