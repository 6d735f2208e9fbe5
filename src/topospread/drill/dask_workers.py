"""Run many drills on an existing Dask cluster (extra ``dask``).

Dask distributes the parts and repeats the parts of dead workers. A drill forks, which is unsafe in a worker's threads,
so each part runs in a new process. The caller reads all files first, because workers are other machines.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

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
"""Seconds to wait for the scheduler's answer."""
_PARTS = 4
"""Parts per worker thread. Several small parts keep all workers busy until the end."""
_COMMAND = "from topospread.drill.dask_workers import main; main()"
Progress = Callable[[int, int], None]
"""Receives the number of finished parts and the total."""


@dataclass(frozen=True, slots=True)
class SharedEach:
    """The input of `drill_each`, which each worker receives once."""

    inventory: Inventory
    kind: EachKind
    options: SimulationOptions
    version: str = __version__
    namespace: str | None = None

    def play(self, shard: Shard) -> EachDrill:
        """Run the drills of a shard."""
        return drill_each(self.inventory, self.kind, self.options, 1, shard=shard, namespace=self.namespace)


@dataclass(frozen=True, slots=True)
class SharedCheck:
    """The input of one drill from a file."""

    drill: ReadDrill
    version: str = __version__

    def play(self, shard: Shard) -> DrillOfFile:
        """Run the drill."""
        return self.drill.checked()


SharedWork = SharedEach | SharedCheck
"""The input of a part, for a worker."""


def drill_each_on_dask(work: SharedEach, address: str, progress: Progress | None = None) -> EachDrill:
    """Run `drill_each` on the workers of a Dask scheduler.

    Args:
        work: the drills.
        address: the scheduler's address, ``tcp://HOST:PORT``.
        progress: receives the number of finished parts and the total.

    Raises:
        UsageError: if the extra is missing, the scheduler does not answer, or it has no workers of this version.
        Interrupted: on Ctrl-C, with the finished drills.
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
    """Run `checking.check_drills` on the workers of a Dask scheduler.

    Args:
        files: the drills; their input is read by this process.
        cluster: cluster that replaces the clusters in the files.
        address: the scheduler's address, ``tcp://HOST:PORT``.
        progress: receives the number of finished drills and the total.

    Raises:
        InputError: if a drill's input is unusable; the first such error is raised.
        UsageError: like `drill_each_on_dask`.
        Interrupted: on Ctrl-C, with the finished drills.
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
    """Submit the drills up to the first unreadable one; return the tasks and that error.

    A drill's input is part of its task, which the scheduler keeps. Data on a worker would be lost with the worker.
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
    """Store the common input as a task's result, which Dask recomputes if workers die.

    Scattered data would be lost with its last worker, and a copy in every task is too large.
    """
    with _large_tasks():
        return client.submit(whole, data, pure=False)


@contextmanager
def _large_tasks() -> Iterator[None]:
    """Suppress Dask's warning about large tasks, which are intended."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        yield


@contextmanager
def _workers(address: str) -> Iterator[tuple[Any, int]]:
    """Yield a client of the scheduler, and the number of its workers' threads.

    Raises:
        UsageError: if the extra is missing, the scheduler does not answer, or it has no workers.
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
    """Decode the output of a process.

    Raises:
        TopospreadError: if the part failed.
    """
    found = pickle.loads(written)
    if isinstance(found, TopospreadError):
        raise found
    return found


def whole(data: bytes) -> bytes:
    """Return the common input unchanged. As a task's result, Dask computes it again if its worker dies."""
    return data


def play_part(work: bytes, index: int, number: int) -> bytes:
    """Run one part in a new process.

    Raises:
        RuntimeError: if the process died.
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
    """Run one part from standard input."""
    shard, data = pickle.loads(sys.stdin.buffer.read())
    work: SharedWork = pickle.loads(data)
    sys.stdout.buffer.write(pickle.dumps(_played(work, shard)))


def _played(work: SharedWork, shard: Shard) -> object:
    """Return the result of the part, or the exception that it raised."""
    if work.version != __version__:
        return UsageError(f"--dask: the worker has topospread {__version__}, not {work.version}")
    try:
        return work.play(shard)
    except TopospreadError as error:
        return error
