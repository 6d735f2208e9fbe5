"""Whole commands, from files to the answer, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from benchmarks import clusters, manifests

_ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, how often it is run, and how many seconds it may take."""

    name: str
    words: tuple[str, ...]
    target: float
    runs: int = 3


def commands(folder: Path, *, quick: bool) -> Iterator[Command]:
    """The commands; what they read is written to a folder when their turn comes."""
    yield Command("topospread --help", ("--help",), 0.15, runs=7)
    example = _ROOT / "examples" / "conflicting-constraints"
    yield Command(
        "simulate, an example of three nodes",
        ("simulate", str(example / "cluster.yaml"), str(example / "app.yaml")),
        0.35,
        runs=7,
    )
    manifests.write_manifests(folder / "manifests", 2_000)
    yield Command("lint, 2,000 manifests", ("lint", str(folder / "manifests")), 10)
    held = ("lint", str(folder / "manifests"), "--cluster", "zones=3,nodes=30")
    yield Command("lint, the same against 30 nodes", held, 10)
    app = folder / "app.json"
    clusters.write_deployment(app, "hard2", 5_000)
    for pods in (5_000,) if quick else (5_000, 100_000):
        snapshot = folder / f"cluster-{pods}.json"
        clusters.write_snapshot(snapshot, 5_000, pods)
        name = f"simulate, JSON of 5,000 nodes and {pods:,} pods, 5,000 replicas"
        yield Command(name, ("simulate", str(snapshot), str(app), "-o", "name"), 4)
    if not quick:
        in_yaml = folder / "cluster.yaml"
        with in_yaml.open("w") as file:
            yaml.dump(json.loads(snapshot.read_text()), file, Dumper=yaml.CSafeDumper)
        name = "simulate, the same cluster as YAML"
        yield Command(name, ("simulate", str(in_yaml), str(app), "-o", "name"), 120, runs=1)


def seconds(command: Command) -> list[float]:
    """How long each run took, sorted."""
    program = Path(sys.executable).parent / "topospread"
    taken = []
    for _ in range(command.runs):
        start = time.perf_counter()
        done = subprocess.run([str(program), *command.words], capture_output=True, check=False)
        taken.append(time.perf_counter() - start)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{command.words} ended with {done.returncode}: {done.stderr.decode()}")
    return sorted(taken)
