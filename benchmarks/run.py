"""Run the benchmarks and print a table: our figures, and kube-scheduler's own at its sampling default and at 100 %.

    python -m benchmarks.run [--quick] [--json FILE] [--document]

Engine rows time placements in memory; command rows time a whole process from files to answer.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import peer, state
from benchmarks.commands import Command, commands, in_yaml
from benchmarks.commands import measure as measure_command
from benchmarks.engine import Timing, Work, measure
from benchmarks.report import command_line, engine_line, state_lines, write_documentation
from benchmarks.rows import (
    GROWTH_NODES,
    GROWTH_PODS,
    GROWTH_PODS_NODES,
    PEER_UP_TO_NODES,
    PEER_UP_TO_PODS,
    ROWS,
    Row,
)
from topospread.version import __version__

_ROOT = Path(__file__).parent.parent
_RUNS = 3


def main() -> int:
    """Measure, print, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few rows, under a minute")
    parser.add_argument("--json", type=Path, default=_ROOT / "build" / "bench.json", help="where results are written")
    parser.add_argument("--document", action="store_true", help="write the results into docs/performance.md")
    options = parser.parse_args()
    if options.quick and options.document:
        parser.error("--document needs every row; leave --quick away")
    program = peer.schedbench()
    if program is None:
        print("kube-scheduler's columns are empty: Go is not there to build schedbench", file=sys.stderr)
    results = _measure_all(program, quick=options.quick)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1) + "\n")
    print(f"written to {options.json}", file=sys.stderr)
    if options.document:
        write_documentation(results, _ROOT / "docs")
    return 0


def _measure_all(program: Path | None, *, quick: bool) -> dict[str, Any]:
    results: dict[str, Any] = {
        "date": date.today().isoformat(),
        "topospread": __version__,
        "python": platform.python_version(),
        "machine": f"{os.cpu_count()} shared cores, {platform.machine()}, {platform.system()}",
        "rows": [],
        "commands": [],
    }
    for row in ROWS:
        if row.quick or not quick:
            results["rows"].append(_engine_row(row, program))
            print(engine_line(results["rows"][-1]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for command in _commands(Path(folder), quick=quick):
            runs = measure_command(command)
            results["commands"].append({"name": command.name, "target": command.target, **asdict(runs)})
            print(command_line(results["commands"][-1]), flush=True)
    if not quick:
        results["state"] = state.measured()
        print(*state_lines(results["state"]), sep="\n", flush=True)
        results["growth"] = _growth(program)
    return results


def _commands(folder: Path, *, quick: bool) -> Iterator[Command]:
    yield from commands(folder, quick=quick)
    if not quick:
        yield from in_yaml(folder, 100_000)


def _engine_row(row: Row, program: Path | None) -> dict[str, Any]:
    runs = [measure(row.work) for _ in range(_RUNS if row.work.measure <= 20_000 else 1)]
    timing = sorted(runs, key=lambda each: each.pods_per_cpu_second)[len(runs) // 2]
    theirs = [peer.speed(program, row.work, pct) if program and row.peer else None for pct in (0, 100)]
    return {
        "name": row.name,
        "target": row.target,
        "work": asdict(row.work),
        **asdict(timing),
        "runs": [each.pods_per_second for each in runs],
        "kubeScheduler": theirs[0] and theirs[0].pods_per_second,
        "kubeScheduler100": theirs[1] and theirs[1].pods_per_second,
        "kubeSchedulerCpu": theirs[0] and theirs[0].pods_per_cpu_second,
        "kubeSchedulerCpu100": theirs[1] and theirs[1].pods_per_cpu_second,
    }


def _growth(program: Path | None) -> dict[str, list[dict[str, Any]]]:
    """Pods per second against nodes, and against pods there; what is built once for a workload is not counted."""
    by_nodes = [Work("hard2", nodes=nodes, init=1_000, measure=2_000) for nodes in GROWTH_NODES]
    by_pods = [Work("hard2", nodes=GROWTH_PODS_NODES, init=pods, measure=2_000) for pods in GROWTH_PODS]
    return {
        "nodes": [_growth_point(work, program, work.nodes <= PEER_UP_TO_NODES) for work in by_nodes],
        "init": [_growth_point(work, program, work.init <= PEER_UP_TO_PODS) for work in by_pods],
    }


def _growth_point(work: Work, program: Path | None, with_peer: bool) -> dict[str, Any]:
    timing: Timing = measure(work)
    theirs = peer.speed(program, work, 0).pods_per_second if program and with_peer else None
    print(f"{work.nodes:>9,} nodes {work.init:>9,} pods there {timing.pods_per_second:>9,.0f} pods/s", flush=True)
    return {**asdict(work), **asdict(timing), "kubeScheduler": theirs}


if __name__ == "__main__":
    sys.exit(main())
