"""Read shards of drills that ``-o json`` wrote. `each` and `checking` merge them."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from topospread.answer import Unjudged
from topospread.base import Base
from topospread.errors import InputError, Place
from topospread.sources.files import Source, read_text

from .checking import DrillCheck, DrillOfFile
from .each import DrillOutcome, EachDrill, EachKind
from .shards import DrillPart

Saved = TypeVar("Saved")


class _Each(Base, frozen=True):
    kind: str
    each: EachKind
    outcomes: tuple[DrillOutcome, ...]
    warnings: tuple[str, ...]
    partial: str
    part: DrillPart | None
    unjudged: tuple[Unjudged, ...] = ()
    namespace: str | None = None


class _Check(Base, frozen=True):
    drills: tuple[DrillOfFile, ...]
    partial: str
    part: DrillPart | None


class _WrittenKind(Base, frozen=True):
    kind: str = ""


def read_each(path: str) -> EachDrill:
    """Read the result that ``topospread drill --each … --shard … -o json`` wrote.

    Raises:
        InputError: if the file cannot be read, or is another kind of file.
    """
    read = _read(path, _Each, "--each")
    if read.kind != "DrillEach":
        raise InputError(f"it is a {read.kind}, not a DrillEach", Place(source=path))
    return EachDrill(read.each, read.outcomes, read.warnings, read.partial, read.part, read.unjudged, read.namespace)


def is_check(path: str) -> bool:
    """Return whether ``topospread drill --check -o json`` wrote a file.

    Raises:
        InputError: if the file cannot be read.
    """
    try:
        return msgspec.json.decode(read_text(Source(path, None)).data, type=_WrittenKind).kind == "DrillCheck"
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def read_check(path: str) -> DrillCheck:
    """Read the result that ``topospread drill --check … --shard … -o json`` wrote.

    Raises:
        InputError: if the file cannot be read, or is another kind of file.
    """
    read = _read(path, _Check, "--check")
    return DrillCheck(read.drills, read.partial, read.part)


def _read(path: str, form: type[Saved], option: str) -> Saved:
    try:
        return msgspec.json.decode(read_text(Source(path, None)).data, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        what = f"it is not what drill {option} --shard -o json writes: {error}"
        raise InputError(what, Place(source=path)) from None
