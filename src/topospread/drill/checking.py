"""Run the drills in Drill files and compare the results with their expectations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from msgspec import Meta

from topospread.base import Base, Word
from topospread.errors import InputError, UsageError
from topospread.plain_data import PlainData
from topospread.simulation.options import SimulationOptions
from topospread.simulation.unscored import unscored
from topospread.sources.configuration import read_configuration
from topospread.sources.pools import read_pools

from .drill import BegunDrill, applied_manifests, play_runs
from .drill_file import DrillFile
from .expectations import Shortfall, shortfalls
from .forked import answers, can_fork, cores
from .interruption import Interrupted
from .placed_pods import without_pods_of
from .shards import DrillPart, Shard, mark, whole_marks

Progress = Callable[[int, int], None]
"""Receives the number of finished drills and the total."""


class DrillShortfall(Base, frozen=True):
    """An expectation that a drill does not meet."""

    path: Annotated[str, Meta(description="Field of the expectation.")]
    line: Annotated[int | None, Meta(description="Line of the expectation; null if it is not known.")]
    message: Annotated[str, Meta(description="The actual value.")]
    column: Annotated[int | None, Meta(description="Column of the expectation; null if it is not known.")]


class DrillOfFile(Base, frozen=True):
    """A drill from a file, with its result."""

    name: Annotated[str, Meta(description="Name of the drill.")]
    file: Annotated[str, Meta(description="File of the drill.")]
    document: Annotated[int, Meta(description="Number of the drill in its file.")]
    verdict: Annotated[Word, Meta(description="Whether it meets its expectations.")]
    shortfalls: Annotated[tuple[DrillShortfall, ...], Meta(description="Expectations that it does not meet.")]
    result: Annotated[dict[str, Any], Meta(description="The drill itself, as in `kind: DrillResult`.")]


@dataclass(frozen=True)
class DrillCheck(PlainData):
    """All drills that ran, in the order of their files.

    Attributes:
        partial: where the run was interrupted; "" if it is complete.
        part: the shard, if only one was requested.
    """

    drills: tuple[DrillOfFile, ...]
    partial: str = ""
    part: DrillPart | None = None

    @property
    def passed(self) -> bool:
        """True if every drill meets its expectations."""
        return all(each.verdict == "yes" for each in self.drills)


def check_drills(
    files: Sequence[DrillFile],
    cluster: str | None = None,
    progress: Progress | None = None,
    *,
    workers: int | None = None,
    shard: Shard | None = None,
) -> DrillCheck:
    """Run drills and compare the results with their expectations.

    Args:
        files: the drills.
        cluster: cluster that replaces the clusters in the files.
        progress: receives the number of finished drills and the total.
        workers: number of parallel processes; by default one for each core.
        shard: run only this shard; `merged_checks` merges shards.

    Raises:
        InputError: if a drill's input is unusable. The error's place is in the first such drill.
        Interrupted: on Ctrl-C, with the finished drills.
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
    """Return ``1 drill`` or ``3 drills``."""
    return f"{len(files)} drill{'s' * (len(files) != 1)}"


def merged_checks(parts: Sequence[tuple[str, DrillCheck]]) -> DrillCheck:
    """Merge shards, each with its file name, into the result of a single run.

    Raises:
        UsageError: if the shards do not belong together, or one is incomplete.
    """
    marks = whole_marks(parts)
    by_index = {mark.shard.index: each for (_, mark), (_, each) in zip(marks, parts, strict=True)}
    of, targets = marks[0][1].shard.of, marks[0][1].targets
    return DrillCheck(tuple(by_index[number % of].drills[number // of] for number in range(targets)))


def _checked(file: DrillFile, cluster: str | None) -> DrillOfFile:
    return read_drill(file, cluster).checked()


@dataclass(frozen=True, slots=True)
class ReadDrill:
    """A drill with all its input already read, so that another machine can run it."""

    file: DrillFile
    begun: BegunDrill

    def checked(self) -> DrillOfFile:
        """Run the drill and compare the result with its expectations.

        Raises:
            InputError: if its input is unusable.
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
    """Read all input of a drill. ``cluster`` replaces the file's cluster.

    Raises:
        InputError: if the input cannot be read or used.
    """
    how = file.settings
    try:
        inventory = file.manifests.read(cluster, how.apiserver_gates)
        for each in how.fresh:
            namespace, kind, name = each.split("/")
            inventory = without_pods_of(inventory, (kind, namespace, name))
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
        by = unscored(options) if how.any_node else options
        return ReadDrill(file, BegunDrill(inventory, file.steps, manifests, by, placed=how.placed))
    except UsageError as error:
        raise InputError(str(error), file.place("spec.steps")) from None


def _placed(file: DrillFile, shortfall: Shortfall) -> DrillShortfall:
    place = file.place(shortfall.path)
    return DrillShortfall(shortfall.path, place.line, shortfall.message, place.column)
