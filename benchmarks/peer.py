"""The peer: kube-scheduler's own cycle (`schedbench`), built from the conformance oracle's sources when Go is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from benchmarks.engine import Work

_ROOT = Path(__file__).parent.parent
_LINE = re.compile(r": ([0-9.]+) pods/s ([0-9.]+) pods/CPU-s")
_PODS = 300
_SECONDS = 6
"""So many pods are measured, or as many as there are in so many seconds: its speed does not change after that."""


def schedbench() -> Path | None:
    """The program, built if it has to be; ``None`` without Go."""
    folder = Path(os.environ.get("ORACLE_BIN", _ROOT / "build" / "oracle"))
    program = folder / "schedbench"
    if not program.exists() and shutil.which("go"):
        subprocess.run(["bash", _ROOT / "conformance" / "oracle" / "build.sh", folder, "1.37"], check=True)
    return program if program.exists() else None


class Speed(NamedTuple):
    """How fast pods were placed: by the clock, and by CPU time of all threads."""

    pods_per_second: float
    pods_per_cpu_second: float


def speed(program: Path, work: Work, percentage: int) -> Speed:
    """Return kube-scheduler's speed at the same work, of which it places fewer pods.

    ``percentage``: percentageOfNodesToScore, 0 for its adaptive default.
    """
    command = [program, "--nodes", work.nodes, "--init", work.init, "--measure", _PODS, "--seconds", _SECONDS]
    command += ["--apps", work.apps, "--kind", work.kind, "--pct", percentage]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    found = _LINE.search(done.stdout)
    if found is None:
        raise RuntimeError(f"{command} said {done.stdout!r}")
    return Speed(float(found.group(1)), float(found.group(2)))
