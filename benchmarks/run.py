"""Run the benchmarks and print a table: our figure, kube-scheduler's at its sampling default and at 100 %, the ratio.

    python -m benchmarks.run [--quick] [--json FILE]

Engine rows time placements in memory; command rows time a whole process from files to answer.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import clusters, peer
from benchmarks.engine import Work, measure
from topospread.version import __version__

ROWS: dict[str, Work] = {
    "hard zone": Work("hard"),
    "soft zone": Work("soft"),
    "hard zone + soft hostname": Work("hard2"),
    "hard zone + soft hostname, 100,000 pods there": Work("hard2", init=100_000),
    "50 workloads interleaved": Work("hard2", apps=50),
}
QUICK = ("hard zone", "hard zone + soft hostname")
_PEER_PODS = 300


def main() -> int:
    """Measure, print, and write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rows, under a minute")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    program = peer.schedbench()
    if program is None:
        print("kube-scheduler's column is empty: Go is not there to build schedbench", file=sys.stderr)
    results: dict[str, Any] = {
        "date": date.today().isoformat(),
        "topospread": __version__,
        "python": platform.python_version(),
        "rows": [_engine_row(name, work, program) for name, work in ROWS.items() if not options.quick or name in QUICK],
        "commands": [_command_row(5_000, 5_000)] + ([] if options.quick else [_command_row(5_000, 100_000)]),
    }
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


def _engine_row(name: str, work: Work, program: Path | None) -> dict[str, Any]:
    timing = measure(work)
    theirs = [peer.pods_per_second(program, work, pct, _PEER_PODS) if program else None for pct in (0, 100)]
    text = " ".join(f"{'-' if each is None else f'{each:.0f}':>8}" for each in theirs)
    ratio = f"{timing.pods_per_second / theirs[0]:.0f}×" if theirs[0] else "-"
    print(
        f"{name:<48}{timing.pods_per_second:>9.0f} pods/s  p50 {timing.median:>5.0f} µs  p99 {timing.p99:>6.0f} µs"
        f"   kube-scheduler {text}   {ratio:>6}",
        flush=True,
    )
    return {"name": name, **asdict(work), **asdict(timing), "kubeScheduler": theirs[0], "kubeScheduler100": theirs[1]}


def _command_row(nodes: int, pods: int) -> dict[str, Any]:
    """`topospread simulate` on a JSON snapshot and a Deployment of 5,000, the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        snapshot, app = Path(folder) / "cluster.json", Path(folder) / "app.json"
        clusters.write_snapshot(snapshot, nodes, pods)
        clusters.write_deployment(app, "hard2", 5_000)
        command = [Path(sys.executable).parent / "topospread", "simulate", snapshot, app, "-o", "name"]
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=False)
            seconds.append(time.perf_counter() - start)
            if done.returncode not in (0, 1):
                raise RuntimeError(f"{command} ended with {done.returncode}")
    name = f"topospread simulate, {nodes:,} nodes, {pods:,} pods there, 5,000 replicas"
    print(f"{name:<80}{sorted(seconds)[1]:>6.2f} s (of {min(seconds):.2f} … {max(seconds):.2f})", flush=True)
    return {"name": name, "seconds": sorted(seconds)}


if __name__ == "__main__":
    sys.exit(main())
