"""Parts of many drills as they were written by ``-o json``, read again; how they are put together is `each.merged`."""

from __future__ import annotations

import msgspec

from topospread.answer import Unjudged
from topospread.api.meta import KubeStruct
from topospread.base import Word
from topospread.errors import InputError, Place

from .each import EachDrill, EachKind, EachOutcome
from .saved_part import SavedMark, read_saved


class _Outcome(KubeStruct):
    target: str
    step: str
    pending: int
    lost: int
    gone: tuple[str, ...]
    broken: tuple[str, ...]
    stuck: bool
    settled: float
    not_replaced: tuple[str, ...] = ()
    unjudged: int = 0
    verdict: Word = "yes"


class _Each(KubeStruct):
    kind: str
    each: EachKind
    outcomes: tuple[_Outcome, ...]
    warnings: tuple[str, ...]
    partial: str
    part: SavedMark | None
    unjudged: tuple[Unjudged, ...] = ()


def read_each(path: str) -> EachDrill:
    """Read the result that ``topospread drill --each … --shard … -o json`` wrote.

    Raises:
        InputError: the file cannot be read, or is something else.
    """
    read = read_saved(path, _Each, "--each")
    if read.kind != "DrillEach":
        raise InputError(f"it is a {read.kind}, not a DrillEach", Place(source=path))
    return EachDrill(
        read.each,
        tuple(_outcome(outcome) for outcome in read.outcomes),
        read.warnings,
        read.partial,
        None if read.part is None else read.part.mark,
        read.unjudged,
    )


def _outcome(read: _Outcome) -> EachOutcome:
    fields = msgspec.structs.asdict(read)
    verdict = fields.pop("verdict")
    return EachOutcome(**fields, assumed_harm=verdict == "no")
