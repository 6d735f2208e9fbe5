"""Many drills on the workers of an existing Dask cluster (the extra ``dask``); what each comes to is not decided here.

Dask's executor gives the parts out, and gives those out again whose worker dies. A part is played by a process that the
worker starts, as what plays drills copies itself, which a worker's threads do not allow. Files are read here: workers
are other machines.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from topospread.api.inventory import Inventory
from topospread.errors import InputError, TopospreadError, UsageError
from topospread.simulation.options import SimulationOptions
from topospread.version import __version__

from .checking import DrillCheck, DrillOfFile, ReadDrill, counted_drills, read_drill
from .drill_file import DrillFile
from .each import EachDrill, EachKind, drill_each, merged, over_so_far
from .interruption import Interrupted
from .shards import Shard

_PATIENCE = 10
"""Seconds until a scheduler has to have answered."""
_PARTS = 4
"""For each thread of a worker: the last ones to be at work have little left to do."""
_COMMAND = "from topospread.drills.dask_workers import main; main()"
Progress = Callable[[int, int], None]
"""Told how many parts of how many are over."""


class SharedWork(Protocol):
    """The input of a worker."""

    @property
    def version(self) -> str:
        """The topospread version that wrote it."""

    def play(self, shard: Shard) -> object:
        """A part of it.

        Raises:
            TopospreadError: what is wrong with it.
        """


@dataclass(frozen=True, slots=True)
class SharedEach:
    """The same drill for everything of a kind, whole; every worker gets it once."""

    inventory: Inventory
    kind: EachKind
    options: SimulationOptions
    version: str = __version__

    def play(self, shard: Shard) -> EachDrill:
        """Some of them."""
        return drill_each(self.inventory, self.kind, self.options, 1, shard=shard)


@dataclass(frozen=True, slots=True)
class SharedCheck:
    """One drill of a file."""

    drill: ReadDrill
    version: str = __version__

    def play(self, shard: Shard) -> DrillOfFile:
        """All of it: it is a part of its own."""
        return self.drill.checked()


def drill_each_on_dask(work: SharedEach, address: str, progress: Progress | None = None) -> EachDrill:
    """The same as `drill_each`, played by the workers of a Dask scheduler.

    Args:
        work: what is played.
        address: of the scheduler, ``tcp://HOST:PORT``.
        progress: told how many parts of how many are over.

    Raises:
        UsageError: the extra is not installed, nobody answers there, there are no workers, or they have another
            version.
        Interrupted: Ctrl-C; with what was over.
    """
    with _workers(address) as (client, threads):
        number = threads * _PARTS
        given = _kept_by_scheduler(pickle.dumps(work), client)
        parts = [client.submit(play_part, given, index, number, pure=False) for index in range(number)]
        try:
            _wait_for(parts, progress)
        except KeyboardInterrupt:
            over = [_read(each.result()) for each in parts if each.status == "finished"]
            if not over:
                raise
            raise Interrupted(over_so_far(over)) from None
        return merged([(str(part.key), _read(part.result())) for part in parts])


def check_drills_on_dask(
    files: Sequence[DrillFile], cluster: str | None, address: str, progress: Progress | None = None
) -> DrillCheck:
    """The same as `checking.check_drills`, played by the workers of a Dask scheduler.

    Args:
        files: the drills; what they name is read here.
        cluster: in place of their own.
        address: of the scheduler, ``tcp://HOST:PORT``.
        progress: told how many drills of how many are over.

    Raises:
        InputError: what a drill names cannot be used; of several, the first.
        UsageError: as of `drill_each_on_dask`.
        Interrupted: Ctrl-C; with the drills that were over.
    """
    with _workers(address) as (client, _):
        parts, unread = _given_out(files, cluster, client)
        try:
            _wait_for(parts, progress)
        except KeyboardInterrupt:
            over = tuple(_read(each.result()) for each in parts if each.status == "finished")
            partial = f"ended after {len(over)} of {counted_drills(files)}"
            raise Interrupted(DrillCheck(over, partial)) from None
        found = tuple(_read(each.result()) for each in parts)
        if unread is not None:
            raise unread
        return DrillCheck(found)


def _given_out(files: Sequence[DrillFile], cluster: str | None, client: Any) -> tuple[list[Any], InputError | None]:
    """Drills that are given out, up to the first that cannot be read, and why.

    Each goes with its task, which the scheduler keeps: what lies on workers may be lost with one.
    """
    parts: list[Any] = []
    with _large_tasks():
        for each in files:
            try:
                data = pickle.dumps(SharedCheck(read_drill(each, cluster)))
            except InputError as error:
                return parts, error
            parts.append(client.submit(play_part, data, 0, 1, pure=False))
    return parts, None


def _kept_by_scheduler(data: bytes, client: Any) -> Any:
    """Keep the common input as the result of a task: if every worker that has it dies, it is computed again.

    Scattered data would be lost with the last worker that has them; a copy in each part's task is too much for large
    clusters.
    """
    with _large_tasks():
        return client.submit(whole, data, pure=False)


@contextmanager
def _large_tasks() -> Iterator[None]:
    """Tasks are large on purpose: no warning of it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        yield


@contextmanager
def _workers(address: str) -> Iterator[tuple[Any, int]]:
    """A client of the scheduler, and how many threads its workers have.

    Raises:
        UsageError: the extra is not installed, nobody answers there, or there are no workers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--dask needs the extra dask: pip install 'topospread[dask]'") from None
    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise UsageError(f"--dask {address}: no Dask scheduler answers there ({error})") from None
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise UsageError(f"--dask {address}: the scheduler has no workers")
        yield client, threads


def _wait_for(parts: Sequence[Any], progress: Progress | None) -> None:
    from distributed import as_completed

    for over, _ in enumerate(as_completed(parts), 1):
        if progress is not None:
            progress(over, len(parts))


def _read(written: bytes) -> Any:
    """Read the output of a process.

    Raises:
        TopospreadError: what was wrong with the part.
    """
    found = pickle.loads(written)
    if isinstance(found, TopospreadError):
        raise found
    return found


def whole(data: bytes) -> bytes:
    """Return the common input, on the worker."""
    return data


def play_part(work: bytes, index: int, number: int) -> bytes:
    """One part, played in a process of its own.

    Raises:
        RuntimeError: the process died.
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", _COMMAND],
        input=pickle.dumps((Shard(index, number), work)),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace")[-2000:])
    return done.stdout


def main() -> None:
    """Play one part, as a process of its own."""
    shard, data = pickle.loads(sys.stdin.buffer.read())
    work: SharedWork = pickle.loads(data)
    sys.stdout.buffer.write(pickle.dumps(_played(work, shard)))


def _played(work: SharedWork, shard: Shard) -> object:
    """The part, or what was wrong with it."""
    if work.version != __version__:
        return UsageError(f"--dask: the worker has topospread {__version__}, not {work.version}")
    try:
        return work.play(shard)
    except TopospreadError as error:
        return error
