"""Whole commands, from files to the answer, each in a process of its own."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import clusters, drills, manifests

_ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, how often it is run, how many seconds it may take, and how much memory (0: is not held to it)."""

    name: str
    words: tuple[str, ...]
    target: float
    runs: int = 3
    megabytes: int = 0


@dataclass(frozen=True, slots=True)
class Runs:
    """How long each run took, sorted, and the largest resident size of any, in MB."""

    seconds: list[float]
    peak_mb: float


def commands(folder: Path, *, quick: bool) -> Iterator[Command]:
    """The commands; what they read is written to a folder when their turn comes."""
    yield Command("topospread --help", ("--help",), 0.15, runs=7)
    example = _ROOT / "examples" / "conflicting-constraints"
    yield Command(
        "simulate, an example of three nodes",
        ("simulate", "-f", str(example / "cluster.yaml"), "-f", str(example / "app.yaml")),
        0.35,
        runs=7,
    )
    manifests.write_manifests(folder / "manifests", 2_000)
    yield Command("lint, 2,000 manifests", ("lint", str(folder / "manifests")), 10)
    held = ("lint", str(folder / "manifests"), "--on", "zones=3,nodes=30")
    yield Command("lint, the same against 30 nodes", held, 10)
    many = folder / "deployments.json"
    manifests.write_deployments(many, 5_000)
    name = "lint, 5,000 Deployments of one namespace against 30 nodes"
    yield Command(name, ("lint", str(many), "--on", "zones=3,nodes=30"), 5)
    daemons = folder / "daemons.json"
    clusters.write_daemon_sets(daemons, 5_000, 20)
    name = "simulate, 20 DaemonSets on 5,000 nodes, each with a Service"
    yield Command(name, ("simulate", "-f", str(daemons)), 10, megabytes=1_000)
    app = folder / "app.json"
    clusters.write_deployment(app, "hard2", 5_000)
    for pods in (5_000,) if quick else (5_000, 100_000):
        snapshot = folder / f"cluster-{pods}.json"
        clusters.write_list(snapshot, clusters.snapshot(5_000, pods))
        name = f"simulate, JSON of 5,000 nodes and {pods:,} pods, 5,000 replicas"
        yield Command(name, ("simulate", "-f", str(snapshot), "-f", str(app), "-o", "name"), 4)
    if not quick:
        full = folder / "workloads.json"
        clusters.write_workloads(full, 5_000, 1_000, 50)
        name = "5,000 nodes, 50,000 pods of 1,000 Deployments with Services and budgets"
        yield Command(f"status, {name}", ("status", "-f", str(full)), 6)
        yield Command(
            f"simulate, {name}, 5,000 replicas more", ("simulate", "-f", str(full), "-f", str(app), "-o", "name"), 5
        )
        yield Command("status, 5,000 nodes, 100,000 bare pods", ("status", "--on", str(snapshot)), 20)
        yield Command(
            "capacity after each zone's loss, 1,000 nodes, 20,000 pods of 200 Deployments", _losses(folder), 120, 1
        )
        snapshots = list(_snapshots(folder / "fleet", 60))
        name = "status, 60 snapshots of 100 nodes and 2,000 pods, a third of them skewed"
        yield Command(name, ("status", "--on", *snapshots), 36, runs=1)
        skewed = folder / "skewed.json"
        clusters.write_skewed(skewed, 1_000, 200, 100)
        name = "rebalance, 1,000 nodes, 20,000 pods of 200 Deployments that stand anywhere"
        yield Command(name, ("rebalance", "-f", str(skewed), "--exit-zero"), 60, runs=1)


def in_yaml(folder: Path, pods: int) -> Iterator[Command]:
    """The cluster of so many pods that `commands` wrote, read as YAML."""
    written = folder / f"cluster-{pods}.yaml"
    clusters.write_yaml_list(written, clusters.snapshot(5_000, pods))
    name = f"simulate, YAML of 5,000 nodes and {pods:,} pods, 5,000 replicas"
    words = ("simulate", "-f", str(written), "-f", str(folder / "app.json"), "-o", "name")
    yield Command(name, words, 10, runs=1, megabytes=400)


def _snapshots(folder: Path, number: int) -> Iterator[str]:
    """Write snapshots of 100 nodes, and yield their names; a thousand of them may take ten minutes of CPU."""
    folder.mkdir()
    plain = folder / "plain.json"
    for i in range(number):
        (clusters.write_workloads if i % 3 else clusters.write_skewed)(plain, 100, 40, 50)
        packed = folder / f"prod-{i}.json.gz"
        packed.write_bytes(gzip.compress(plain.read_bytes()))
        yield str(packed)


def _losses(folder: Path) -> tuple[str, ...]:
    """What asks how much fits after each zone's loss, of pods that have to wait then for the sake of their skew."""
    hard = folder / "hard.json"
    items = [*map(clusters.node, range(1_000)), *(drills.deployment(i, 100) for i in range(200))]
    clusters.write_list(hard, items)
    return ("capacity", "-f", str(hard), "deploy/app-0", "--each", "zone", "--exit-zero")


def measure(command: Command) -> Runs:
    """Run the command as often as it wants to be.

    Raises:
        RuntimeError: it failed, or took more memory than it may.
    """
    taken, peak = [], 0.0
    for _ in range(command.runs):
        start = time.perf_counter()
        done, usage = _run(command.words)
        taken.append(time.perf_counter() - start)
        peak = max(peak, usage.ru_maxrss / (1 << 10))
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{command.words} ended with {done.returncode}: {done.stderr.decode()}")
    if command.megabytes and peak > command.megabytes:
        raise RuntimeError(f"{command.name} took {peak:,.0f} MB, more than {command.megabytes:,}")
    return Runs(sorted(taken), peak)


def cost_of(words: Sequence[str]) -> tuple[float, float]:
    """Return the seconds of CPU time of a command, and its largest resident size in MB.

    Raises:
        RuntimeError: if the command fails.
    """
    done, usage = _run(words)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{words} ended with {done.returncode}: {done.stderr.decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (1 << 10)


def _run(words: Sequence[str]) -> tuple[subprocess.CompletedProcess[bytes], resource.struct_rusage]:
    """Return a finished command and what it used; its modules are compiled, as an installed package's are."""
    program = Path(sys.executable).parent / "topospread"
    with tempfile.TemporaryFile() as errors:
        compiled = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
        process = subprocess.Popen([str(program), *words], stdout=subprocess.DEVNULL, stderr=errors, env=compiled)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        done = subprocess.CompletedProcess(words, process.returncode, b"", errors.read())
    return done, usage
