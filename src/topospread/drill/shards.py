"""Split many drills into shards, and check that shards can be merged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, TypeVar

from msgspec import Meta

from topospread.base import Base
from topospread.errors import UsageError

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of ``of`` shards. Numbers start at 0, like the completion indexes of a Kubernetes Indexed Job."""

    index: int
    of: int

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    def share(self, items: Sequence[Item]) -> list[Item]:
        """Return the items of this shard: every ``of``-th item, so that shards take about equally long."""
        return list(items[self.index :: self.of])


class DrillPart(Base, frozen=True):
    """The shard of a partial result (``--shard``)."""

    index: Annotated[int, Meta(description="Number of the part, from 0.")]
    of: Annotated[int, Meta(description="Number of parts.")]
    targets: Annotated[int, Meta(description="Number of drills of all parts together.")]
    digest: Annotated[str, Meta(description="Digest of the names of all drills.")]

    @property
    def shard(self) -> Shard:
        """The shard's number, and the number of shards."""
        return Shard(self.index, self.of)


class Part(Protocol):
    """A complete or partial result of many drills."""

    @property
    def partial(self) -> str:
        """The reason why the run is incomplete; "" if it is complete."""

    @property
    def part(self) -> DrillPart | None:
        """The shard; None for the complete result."""


def read_shard(text: str, where: str) -> Shard:
    """Parse a shard such as ``0/4``.

    Raises:
        UsageError: if it is malformed or out of range.
    """
    index, slash, of = text.partition("/")
    if not slash or not (index.isascii() and index.isdecimal() and of.isascii() and of.isdecimal()):
        raise UsageError(f"{where} {text}: write INDEX/NUMBER, for example 0/4, the first of four")
    if int(index) >= int(of):
        last = f"; the parts are 0/{of} to {int(of) - 1}/{of}" if int(of) else ""
        raise UsageError(f"{where} {text}: this part does not exist{last}")
    return Shard(int(index), int(of))


def mark(shard: Shard, names: Sequence[str]) -> DrillPart:
    """Return the description of a shard. ``names`` are the names of all drills, so that other runs' shards differ."""
    return DrillPart(shard.index, shard.of, len(names), hashlib.sha256("\n".join(names).encode()).hexdigest()[:16])


def whole_marks(parts: Iterable[tuple[str, Part]]) -> list[tuple[str, DrillPart]]:
    """Return (file name, shard) pairs if the shards can be merged.

    Raises:
        UsageError: if they cannot be merged.
    """
    marks = []
    for name, each in parts:
        if each.part is None:
            raise UsageError(f"--merge: {name} is a complete result, not the output of one shard")
        if each.partial:
            raise UsageError(f"--merge: {name} {each.partial}")
        marks.append((name, each.part))
    _check_whole(marks)
    return marks


def _check_whole(marks: Iterable[tuple[str, DrillPart]]) -> None:
    """Check that the shards, each with its file name, form one complete run.

    Raises:
        UsageError: if they are of different runs, or a shard is missing or repeated.
    """
    known: dict[int, str] = {}
    first: tuple[str, DrillPart] | None = None
    for name, each in marks:
        first = first or (name, each)
        if (each.shard.of, each.targets, each.digest) != (first[1].shard.of, first[1].targets, first[1].digest):
            raise UsageError(f"--merge: {first[0]} and {name} are parts of different drills")
        if each.shard.index in known:
            raise UsageError(f"--merge: {known[each.shard.index]} and {name} are the same part, {each.shard}")
        known[each.shard.index] = name
    if first is None:
        raise UsageError("--merge: name the files of all parts")
    missing = [str(Shard(index, first[1].shard.of)) for index in range(first[1].shard.of) if index not in known]
    if missing:
        raise UsageError(f"--merge: {', '.join(missing[:6])}{' …' * (len(missing) > 6)} missing")
