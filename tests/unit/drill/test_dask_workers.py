"""Drills on a real Dask cluster of two worker processes: the same result, also when one of them is killed midway."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from topospread.cli.drill import drill as drill_command
from topospread.drill.checking import check_drills
from topospread.drill.dask_workers import SharedEach, check_drills_on_dask, drill_each_on_dask, play_part
from topospread.drill.drill_file import find_drills
from topospread.drill.each import drill_each
from topospread.drill.interruption import Interrupted
from topospread.errors import InputError, UsageError
from topospread.simulation.options import SimulationOptions

from .builders import Json, inventory, nodes, spread, workload

SPREAD = {"topologySpreadConstraints": [spread()]}
OBJECTS: list[Json] = [*nodes(*"aaaabbbbcccc"), workload("Deployment", replicas=9, spec=SPREAD)]
PATIENCE = 120.0
WORKER = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1")


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

    running = [_started("distributed.cli.dask_worker", scheduler, *WORKER) for _ in range(2)]
    try:
        with Client(scheduler, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
        yield running
    finally:
        _stop(running)


def test_without_a_scheduler_or_workers_nothing_is_played(scheduler: str) -> None:
    work = SharedEach(inventory(*OBJECTS), "node", SimulationOptions())
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

    work = SharedEach(inventory(*OBJECTS), "node", SimulationOptions())
    found = drill_each_on_dask(work, scheduler, kill_one)
    assert workers[0].poll() is not None
    assert told[-1] == (8, 8)
    assert found.to_json() == drill_each(inventory(*OBJECTS), "node", SimulationOptions()).to_json()


def test_nothing_is_lost_with_all_workers_when_another_comes(
    scheduler: str, workers: list[subprocess.Popen[bytes]]
) -> None:
    """What all parts need lies on workers: with both of them gone it has to come again from elsewhere."""
    told: list[tuple[int, int]] = []

    def kill_all(done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == 1:
            _stop(workers)
            workers.append(_started("distributed.cli.dask_worker", scheduler, *WORKER))

    work = SharedEach(inventory(*OBJECTS), "node", SimulationOptions())
    found = drill_each_on_dask(work, scheduler, kill_all)
    assert told[-1] == (8, 8)
    assert found.to_json() == drill_each(inventory(*OBJECTS), "node", SimulationOptions()).to_json()


def test_what_the_drills_are_refused_for_is_said(scheduler: str, workers: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(UsageError, match="--each zone: there is none"):
        drill_each_on_dask(SharedEach(inventory(*nodes("")), "zone", SimulationOptions()), scheduler)


def test_workers_of_another_version_are_refused(scheduler: str, workers: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(UsageError, match=r"the worker has topospread .*, not 0\.0"):
        drill_each_on_dask(SharedEach(inventory(*OBJECTS), "node", SimulationOptions(), "0.0"), scheduler)


def drill_files(folder: Path, number: int = 4) -> list[str]:
    """Files of two drills each, which name a cluster, manifests, pools and a configuration beside them."""
    kinds = [each["kind"] for each in OBJECTS]
    first = kinds.index("Deployment")
    (folder / "cluster.yaml").write_text("\n---\n".join(map(json.dumps, OBJECTS[:first])))
    (folder / "shop.yaml").write_text("\n---\n".join(map(json.dumps, OBJECTS[first:])))
    (folder / "bare.yaml").write_text(json.dumps(workload("Deployment", replicas=9)))
    (folder / "config.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    )
    files = []
    for index in range(number):
        drills = [
            f"""\
apiVersion: topospread.dev/v1alpha1
kind: Drill
metadata: {{name: number-{index}-{step["name"]}}}
spec:
  cluster: cluster.yaml
  manifests: [shop.yaml]
  config: config.yaml
  seed: {index}
  steps: [{{scale: deploy/web={5 + index}}}, {step["step"]}]
  expect: {{pending: 0, skew: 0}}
"""
            for step in (
                {"name": "lost", "step": "{fail: zone=a}"},
                {"name": "rolled", "step": "{apply: bare.yaml}"},
            )
        ]
        files.append(str(folder / f"drill-{index}.yaml"))
        Path(files[-1]).write_text("---\n".join(drills))
    return files


def test_checks_come_to_the_same_when_a_worker_is_killed_midway(
    scheduler: str, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    files = find_drills(drill_files(tmp_path))
    told: list[tuple[int, int]] = []

    def kill_one(done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == 3:
            workers[1].kill()
            workers[1].wait()

    found = check_drills_on_dask(files, None, scheduler, kill_one)
    assert workers[1].poll() is not None
    assert told[-1] == (8, 8)
    assert not found.passed
    assert found.to_json() == check_drills(files, workers=1).to_json()


def test_the_command_shows_the_same_byte_for_byte(
    scheduler: str, workers: list[subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths are as seen from where the command runs, which no worker knows: files are read here."""
    drill_files(tmp_path, 1)
    monkeypatch.chdir(tmp_path)
    for output in ("json", "junit"):
        words = ["--check", "-f", "drill-0.yaml", "-o", output]
        here = CliRunner().invoke(drill_command, [*words, "--workers", "1"], standalone_mode=False)
        there = CliRunner().invoke(drill_command, [*words, "--dask", scheduler], standalone_mode=False)
        assert here.stdout_bytes
        assert (there.stdout_bytes, there.return_value) == (here.stdout_bytes, 1)


def test_of_drills_that_cannot_be_played_the_first_is_named(
    scheduler: str, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """Whether it cannot be read here, or is refused there."""
    paths = drill_files(tmp_path, 3)
    second, third = Path(paths[1]), Path(paths[2])
    third.write_text(third.read_text().replace("cluster.yaml", "nowhere.yaml"))
    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        check_drills_on_dask(find_drills(paths), None, scheduler)
    second.write_text(second.read_text().replace("zone=a", "zone=nowhere"))
    with pytest.raises(InputError, match=r"number-1-lost.*has .*zone=nowhere"):
        check_drills_on_dask(find_drills(paths), None, scheduler)
    with pytest.raises(InputError, match=r"number-1-lost.*has .*zone=nowhere"):
        check_drills(find_drills(paths), workers=1)


def test_what_was_over_is_kept(scheduler: str, workers: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    def press(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        check_drills_on_dask(find_drills(drill_files(tmp_path)), None, scheduler, press)
    over = len(caught.value.finished.drills)
    assert over >= 2
    assert caught.value.finished.partial == f"ended after {over} of 8 drills"
    with pytest.raises(Interrupted) as caught:
        drill_each_on_dask(SharedEach(inventory(*OBJECTS), "node", SimulationOptions()), scheduler, press)
    over = len(caught.value.finished.outcomes)
    assert over >= 2
    assert caught.value.finished.partial == f"ended after {over} of 12"


def test_the_process_of_a_part_imports_nothing_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker may have been started in a checkout."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pickle.py").write_text("open('proof', 'w')\n")
    with pytest.raises(RuntimeError):
        play_part(b"", 0, 1)
    assert not (tmp_path / "proof").exists()
