"""Drills on a real Dask cluster of two worker processes: the same result, also when one of them is killed midway."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from topospread.drills.dask_workers import SharedWork, drill_each_on_dask
from topospread.drills.each import drill_each
from topospread.errors import UsageError
from topospread.simulation.run import SimulationOptions

from .builders import Json, inventory, nodes, spread, workload

SPREAD = {"topologySpreadConstraints": [spread()]}
OBJECTS: list[Json] = [*nodes(*"aaaabbbbcccc"), workload("Deployment", replicas=9, spec=SPREAD)]
PATIENCE = 120.0


def _started(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for each in processes:
        each.kill()
        each.wait()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Dask scheduler without workers."""
    file = tmp_path_factory.mktemp("dask") / "scheduler.json"
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    running = _started("distributed.cli.dask_scheduler", *words)
    try:
        until = time.monotonic() + PATIENCE
        while not file.exists() or not file.read_text().strip():
            assert time.monotonic() < until
            assert running.poll() is None
            time.sleep(0.1)
        address: str = json.loads(file.read_text())["address"]
        yield address
    finally:
        _stop([running])


@pytest.fixture
def workers(scheduler: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two worker processes of a thread each, which the scheduler knows."""
    from distributed import Client

    words = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1"]
    running = [_started("distributed.cli.dask_worker", scheduler, *words) for _ in range(2)]
    try:
        with Client(scheduler, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
        yield running
    finally:
        _stop(running)


def test_without_a_scheduler_or_workers_nothing_is_played(scheduler: str) -> None:
    work = SharedWork(inventory(*OBJECTS), "node", SimulationOptions())
    with pytest.raises(UsageError, match="has no workers"):
        drill_each_on_dask(work, scheduler)
    with pytest.raises(UsageError, match="no Dask scheduler answers there"):
        drill_each_on_dask(work, "tcp://127.0.0.1:1")
    with pytest.raises(UsageError, match="no Dask scheduler answers there"):
        drill_each_on_dask(work, "nonsense://x")


def test_workers_come_to_the_same_when_one_is_killed_midway(
    scheduler: str, workers: list[subprocess.Popen[bytes]]
) -> None:
    told: list[tuple[int, int]] = []

    def kill_one(done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == 2:
            workers[0].kill()
            workers[0].wait()

    work = SharedWork(inventory(*OBJECTS), "node", SimulationOptions())
    found = drill_each_on_dask(work, scheduler, kill_one)
    assert workers[0].poll() is not None
    assert told[-1] == (8, 8)
    assert found.to_json() == drill_each(inventory(*OBJECTS), "node", SimulationOptions()).to_json()


def test_what_the_drills_are_refused_for_is_said(scheduler: str, workers: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(UsageError, match="--each zone: there is none"):
        drill_each_on_dask(SharedWork(inventory(*nodes("")), "zone", SimulationOptions()), scheduler)


def test_workers_of_another_version_are_refused(scheduler: str, workers: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(UsageError, match=r"the worker has topospread .*, not 0\.0"):
        drill_each_on_dask(SharedWork(inventory(*OBJECTS), "node", SimulationOptions(), "0.0"), scheduler)
