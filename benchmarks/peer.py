"""The peer: kube-scheduler's own cycle (`schedbench`), built from the conformance oracle's sources when Go is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from benchmarks.engine import Work

_ROOT = Path(__file__).parent.parent
_LINE = re.compile(r": ([0-9.]+) pods/s")


def schedbench() -> Path | None:
    """The program, built if it has to be; ``None`` without Go."""
    folder = Path(os.environ.get("ORACLE_BIN", _ROOT / "build" / "oracle"))
    program = folder / "schedbench"
    if not program.exists() and shutil.which("go"):
        subprocess.run(["bash", _ROOT / "conformance" / "oracle" / "build.sh", folder, "1.37"], check=True)
    return program if program.exists() else None


def pods_per_second(program: Path, work: Work, percentage: int, pods: int) -> float | None:
    """kube-scheduler's speed at the same work with fewer pods; ``None`` where it has no such kind of pod.

    ``percentage``: percentageOfNodesToScore, 0 for its adaptive default.
    """
    command = [program, "--nodes", work.nodes, "--init", work.init, "--measure", pods, "--apps", work.apps]
    command += ["--kind", work.kind, "--pct", percentage]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    found = _LINE.search(done.stdout)
    return float(found.group(1)) if done.returncode == 0 and found else None
