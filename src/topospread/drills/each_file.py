"""Parts of many drills as they were written by ``-o json``, read again; how they are put together is `each.merged`."""

from __future__ import annotations

import msgspec

from topospread.api.meta import KubeStruct
from topospread.errors import InputError, Place
from topospread.sources.files import Source, read_text

from .each import EachDrill, EachKind, EachOutcome
from .shards import Shard, ShardMark


class _SavedPart(KubeStruct):
    index: int
    of: int
    targets: int
    digest: str


class _Outcome(KubeStruct):
    target: str
    step: str
    pending: int
    lost: int
    gone: tuple[str, ...]
    broken: tuple[str, ...]
    stuck: bool
    settled: float


class _Each(KubeStruct):
    kind: str
    each: EachKind
    outcomes: tuple[_Outcome, ...]
    warnings: tuple[str, ...]
    partial: str
    part: _SavedPart | None


def read_each(path: str) -> EachDrill:
    """What ``topospread drill --each … --shard … -o json`` wrote.

    Raises:
        InputError: the file cannot be read, or is something else.
    """
    try:
        read = msgspec.json.decode(read_text(Source(path, None)).data, type=_Each)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"it is not what drill --each --shard -o json writes: {error}", Place(source=path)) from None
    if read.kind != "DrillEach":
        raise InputError(f"it is a {read.kind}, not a DrillEach", Place(source=path))
    part = read.part
    return EachDrill(
        read.each,
        tuple(EachOutcome(**msgspec.structs.asdict(outcome)) for outcome in read.outcomes),
        read.warnings,
        read.partial,
        None if part is None else ShardMark(Shard(part.index, part.of), part.targets, part.digest),
    )
