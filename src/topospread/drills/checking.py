"""Drills of files played, and held to what they expect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from msgspec import Meta

from topospread.base import Base, Word
from topospread.errors import InputError, UsageError
from topospread.plain_data import PlainData
from topospread.simulation.options import SimulationOptions
from topospread.sources.configuration import read_configuration
from topospread.sources.pools import read_pools

from .drill import BegunDrill, applied_manifests, play_runs
from .drill_file import DrillFile
from .expectations import Shortfall, shortfalls
from .forked import answers, can_fork, cores
from .interruption import Interrupted
from .shards import DrillPart, Shard, mark, whole_marks

Progress = Callable[[int, int], None]
"""Told how many drills of how many are over."""


class DrillShortfall(Base, frozen=True):
    """An expectation that a drill does not meet."""

    path: Annotated[str, Meta(description="Field of the expectation.")]
    line: Annotated[int | None, Meta(description="Line of the expectation; null if it is not known.")]
    message: Annotated[str, Meta(description="What is the case.")]
    column: Annotated[int | None, Meta(description="Column of the expectation; null if it is not known.")]


class DrillOfFile(Base, frozen=True):
    """A drill of a file, and its result."""

    name: Annotated[str, Meta(description="Name of the drill.")]
    file: Annotated[str, Meta(description="File of the drill.")]
    document: Annotated[int, Meta(description="Number of the drill in its file.")]
    verdict: Annotated[Word, Meta(description="Whether it meets its expectations.")]
    shortfalls: Annotated[tuple[DrillShortfall, ...], Meta(description="Expectations that it does not meet.")]
    result: Annotated[dict[str, Any], Meta(description="The drill itself, as in `kind: DrillResult`.")]


@dataclass(frozen=True)
class DrillCheck(PlainData):
    """All drills that were played, in the order of their files.

    Attributes:
        partial: where it was ended before its end, in words; "" where all are there.
        part: which part of a whole this is, where only that was asked for.
    """

    drills: tuple[DrillOfFile, ...]
    partial: str = ""
    part: DrillPart | None = None

    @property
    def passed(self) -> bool:
        """True if all came to what was expected."""
        return all(each.verdict == "yes" for each in self.drills)


def check_drills(
    files: Sequence[DrillFile],
    cluster: str | None = None,
    progress: Progress | None = None,
    *,
    workers: int | None = None,
    shard: Shard | None = None,
) -> DrillCheck:
    """Play drills, and hold them to what they expect.

    Args:
        files: the drills.
        cluster: in place of their own.
        progress: told how many of how many are over.
        workers: how many processes work at once; by default one for each core.
        shard: only this part of them, to be put together with the others by `merged_checks`.

    Raises:
        InputError: what a drill names cannot be used; of several, the first. Its place says which drill.
        Interrupted: Ctrl-C; with the drills that were over.
    """
    part = mark(shard, [f"{each.text.name}#{each.document}" for each in files]) if shard is not None else None
    own = shard.share(files) if shard is not None else list(files)
    number = min(workers or cores(), len(own))

    def ask(file: DrillFile) -> DrillOfFile | InputError:
        try:
            return _checked(file, cluster)
        except InputError as error:
            return error

    def all_of(found: Iterable[DrillOfFile | InputError], partial: str = "") -> DrillCheck:
        checked: list[DrillOfFile] = []
        for each in found:
            if isinstance(each, InputError):
                raise each
            checked.append(each)
        return DrillCheck(tuple(checked), partial, part)

    if number > 1 and can_fork():
        try:
            return all_of(answers(ask, own, number, progress))
        except Interrupted as interrupted:
            done: list[DrillOfFile | InputError] = interrupted.finished
            raise Interrupted(all_of(done, f"ended after {len(done)} of {counted_drills(own)}")) from None
    over: list[DrillOfFile | InputError] = []
    for file in own:
        try:
            over.append(_checked(file, cluster))
        except KeyboardInterrupt:
            raise Interrupted(all_of(over, f"ended after {len(over)} of {counted_drills(own)}")) from None
        if progress is not None:
            progress(len(over), len(own))
    return all_of(over)


def counted_drills(files: Sequence[DrillFile]) -> str:
    """``1 drill``, ``3 drills``."""
    return f"{len(files)} drill{'s' * (len(files) != 1)}"


def merged_checks(parts: Sequence[tuple[str, DrillCheck]]) -> DrillCheck:
    """The whole of some parts, each with the name of where it was read: the same as if it had been played at once.

    Raises:
        UsageError: they are not the parts of one whole, or one is not whole itself.
    """
    marks = whole_marks(parts)
    by_index = {mark.shard.index: each for (_, mark), (_, each) in zip(marks, parts, strict=True)}
    of, targets = marks[0][1].shard.of, marks[0][1].targets
    return DrillCheck(tuple(by_index[number % of].drills[number // of] for number in range(targets)))


def _checked(file: DrillFile, cluster: str | None) -> DrillOfFile:
    return read_drill(file, cluster).checked()


@dataclass(frozen=True, slots=True)
class ReadDrill:
    """A drill of a file, and everything that the file names, read: it can be played where its files are not."""

    file: DrillFile
    begun: BegunDrill

    def checked(self) -> DrillOfFile:
        """Play the drill and compare it with what is expected.

        Raises:
            InputError: what it names cannot be used.
        """
        file = self.file
        try:
            found = play_runs(self.begun, file.settings.runs)
        except UsageError as error:
            raise InputError(str(error), file.place("spec.steps")) from None
        placed = tuple(_placed(file, each) for each in shortfalls(found, file.expect))
        verdict: Word = "no" if placed else "yes"
        if found.assumed is not None and bool(shortfalls(found.assumed, file.expect)) != bool(placed):
            verdict = "unknown"
        plain = replace(found, begun=None).to_dict()
        return DrillOfFile(file.name, file.text.name, file.document, verdict, placed, plain)


def read_drill(file: DrillFile, cluster: str | None = None) -> ReadDrill:
    """Read everything that a drill names; ``cluster``: in place of its own.

    Raises:
        InputError: something cannot be read or used.
    """
    how = file.settings
    try:
        inventory = file.manifests.read(cluster, how.apiserver_gates)
        options = SimulationOptions(
            read_configuration(how.config, how.gates) if how.config else None,
            seed=how.seed,
            kube_version=how.kube_version,
            gates=how.gates,
            preemption=how.preemption,
            apiserver_gates=how.apiserver_gates,
            pools=read_pools(how.pools) if how.pools else (),
        )
        manifests = applied_manifests(file.steps, file.manifests.namespace)
        return ReadDrill(file, BegunDrill(inventory, file.steps, manifests, options))
    except UsageError as error:
        raise InputError(str(error), file.place("spec.steps")) from None


def _placed(file: DrillFile, shortfall: Shortfall) -> DrillShortfall:
    place = file.place(shortfall.path)
    return DrillShortfall(shortfall.path, place.line, shortfall.message, place.column)
