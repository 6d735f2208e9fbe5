"""Many drills on the workers of an existing Dask cluster (the extra ``dask``); what a drill comes to is `each`'s.

Dask's executor gives the parts out, and gives those out again whose worker dies. A part is played by a process that the
worker starts, as what plays drills copies itself, which a worker's threads do not allow.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from topospread.api.inventory import Inventory
from topospread.errors import TopospreadError, UsageError
from topospread.simulation.run import SimulationOptions
from topospread.version import __version__

from .each import EachDrill, EachKind, drill_each, merged
from .shards import Shard

_PATIENCE = 10
"""Seconds until a scheduler has to have answered."""
_PARTS = 4
"""For each thread of a worker: the last ones to be at work have little left to do."""
_COMMAND = "from topospread.drills.dask_workers import main; main()"


@dataclass(frozen=True, slots=True)
class SharedWork:
    """What is played, whole; every worker gets it once."""

    inventory: Inventory
    kind: EachKind
    options: SimulationOptions
    version: str = __version__


def drill_each_on_dask(work: SharedWork, address: str, progress: Callable[[int, int], None] | None = None) -> EachDrill:
    """The same as `drill_each`, played by the workers of a Dask scheduler.

    Args:
        work: what is played.
        address: of the scheduler, ``tcp://HOST:PORT``.
        progress: told how many parts of how many are over.

    Raises:
        UsageError: the extra is not installed, nobody answers there, there are no workers, or they have another
            version.
    """
    try:
        from distributed import Client, as_completed
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
        number = threads * _PARTS
        given = client.scatter(pickle.dumps(work), broadcast=True, hash=False)
        parts = [client.submit(play_part, given, index, number, pure=False) for index in range(number)]
        if progress is not None:
            for over, _ in enumerate(as_completed(parts), 1):
                progress(over, number)
        return merged([(str(part.key), _read(part.result())) for part in parts])


def _read(written: bytes) -> EachDrill:
    """What a process wrote.

    Raises:
        TopospreadError: what was wrong with the part.
    """
    found: EachDrill | TopospreadError = pickle.loads(written)
    if isinstance(found, TopospreadError):
        raise found
    return found


def play_part(work: bytes, index: int, number: int) -> bytes:
    """One part, played in a process of its own.

    Raises:
        RuntimeError: the process died.
    """
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND],
        input=pickle.dumps((Shard(index, number), work)),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace")[-2000:])
    return done.stdout


def main() -> None:
    """What the process of a part does."""
    shard, data = pickle.loads(sys.stdin.buffer.read())
    work: SharedWork = pickle.loads(data)
    sys.stdout.buffer.write(pickle.dumps(_played(work, shard)))


def _played(work: SharedWork, shard: Shard) -> EachDrill | TopospreadError:
    """The part, or what was wrong with it."""
    if work.version != __version__:
        return UsageError(f"--dask: the worker has topospread {__version__}, not {work.version}")
    try:
        return drill_each(work.inventory, work.kind, work.options, 1, shard=shard)
    except TopospreadError as error:
        return error
