"""This tree beside another commit: the rows that both have, run in turn, in processor time. It judges no target.

    python -m benchmarks.beside REF [--seconds 420] [--most 9] [--rows WORD]

Each row is run by both trees one after the other, the first of a pair by turns, so that what else the machine does
falls on both. What counts is processor time: of the measured placements (the benchmark's clock is replaced), or of a
whole command. A row is slower where its median is more than a twentieth above the other's and its fastest run above
the other's median; then the exit code is 1. It ends within its seconds and the last pair: rows not reached are said.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.commands import Command, commands, in_yaml
from benchmarks.rows import ROWS
from benchmarks.rows import Row as EngineRow

_ROOT = Path(__file__).parent.parent
_ENGINE = (
    "import runpy, time; time.perf_counter = time.process_time; runpy.run_module('benchmarks.engine', None, '__main__')"
)
_PROGRAM = "import sys; from topospread.cli.main import main; sys.argv[0] = 'topospread'; sys.exit(main())"
_AT_MOST = 100_000
"""Pods that an engine row places here: of a million, the first ones."""
_LARGE = 50_000
"""Nodes of a cluster that takes seconds to be made."""
_NOT_KNOWN = 2
"""The exit code of a command or an option that a tree does not have."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One of the two: its name, and the folder that has its `src` and `benchmarks`."""

    name: str
    folder: Path

    def run(self, code: str, words: tuple[str, ...]) -> tuple[bytes, float] | None:
        """What a process of this tree printed, and its processor time in seconds; ``None``: it has no such row.

        Raises:
            RuntimeError: it failed.
        """
        known = {**os.environ, "PYTHONPATH": f"{self.folder / 'src'}{os.pathsep}{self.folder}"}
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [sys.executable, "-c", code, *words], cwd=self.folder, env=known, stdout=printed, stderr=errors
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            printed.seek(0)
            errors.seek(0)
            if process.returncode == _NOT_KNOWN:
                return None
            if process.returncode not in (0, 1):
                raise RuntimeError(f"{self.name}: {words} ended with {process.returncode}: {errors.read().decode()}")
            return printed.read(), usage.ru_utime + usage.ru_stime


@dataclass(frozen=True, slots=True)
class Row:
    """One row: how a tree answers it, in seconds of processor time, and what these are divided by to be shown."""

    name: str
    seconds: Callable[[Tree], float | None]
    per: int = 0


@dataclass(slots=True)
class Beside:
    """What was measured of a row, run by run; empty where a tree does not have it."""

    row: Row
    theirs: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Our median over theirs."""
        return median(self.ours) / median(self.theirs)

    @property
    def slower(self) -> bool:
        """Whether it is slower beyond what runs differ by; two pairs of runs do not say."""
        return len(self.ours) > 2 and self.ratio > 1.05 and min(self.ours) > median(self.theirs)

    def line(self) -> str:
        """The medians with the fastest and the slowest run."""
        if not self.ours or not self.theirs:
            return f"{self.row.name:<76} not in both"
        shown = f"{self._shown(self.theirs)}  {self._shown(self.ours)}  {self.ratio:>5.2f}"
        return f"{self.row.name:<76}{shown}  of {len(self.ours)}{'  SLOWER' if self.slower else ''}"

    def _shown(self, runs: list[float]) -> str:
        scale, unit = (1e6 / self.row.per, "µs") if self.row.per else (1e3, "ms")
        low, middle, high = (value * scale for value in (min(runs), median(runs), max(runs)))
        return f"{middle:>9,.1f} {unit} ({low:,.1f} … {high:,.1f})"


def main() -> int:
    """Measure row by row and print each as it is there; 1 if any is slower."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ref", help="the other commit")
    parser.add_argument("--seconds", type=float, default=420, help="how long it may take in all")
    parser.add_argument("--most", type=int, default=9, help="pairs of runs of a row at the most")
    parser.add_argument("--rows", default="", help="only rows whose name has this in it")
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        other, this = Tree(options.ref, _unpacked(options.ref, folder / "other")), Tree("this tree", _ROOT)
        print(f"{'median (fastest … slowest), processor time':<76}{options.ref}, this tree, ratio", flush=True)
        measured = []
        for row, share in _shares(list(_rows(folder, options.rows)), until):
            measured.append(_pairs(Beside(row), (other, this), time.monotonic() + share, options.most))
            print(measured[-1].line(), flush=True)
    slower = [each.row.name for each in measured if each.slower]
    print(f"slower: {'; '.join(slower) or 'none'}, of {len(measured)} rows")
    return 1 if slower else 0


def _unpacked(ref: str, folder: Path) -> Path:
    """The commit's files in a folder, compiled, so that its first run is like the others."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", ref, "src", "benchmarks"], cwd=_ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    subprocess.run([sys.executable, "-m", "compileall", "-q", folder, _ROOT / "src"], check=True)
    return folder


def _shares(rows: list[Row], until: float) -> Iterator[tuple[Row, float]]:
    """Each row with the seconds it may take: what is left, divided by the rows that are left."""
    for at, row in enumerate(rows):
        left = until - time.monotonic()
        if left <= 0:
            print(f"not reached: {'; '.join(each.name for each in rows[at:])}")
            return
        yield row, left / (len(rows) - at)


def _pairs(found: Beside, trees: tuple[Tree, Tree], until: float, most: int) -> Beside:
    """Run both by turns until the row's time is used up, at least once each."""
    for at in range(most):
        begin = time.monotonic()
        sides = [(trees[0], found.theirs), (trees[1], found.ours)]
        for tree, runs in sides if at % 2 == 0 else reversed(sides):
            seconds = found.row.seconds(tree)
            if seconds is None:
                return found
            runs.append(seconds)
        if time.monotonic() + (time.monotonic() - begin) > until:
            break
    return found


def _rows(folder: Path, word: str) -> Iterator[Row]:
    """The rows that have the word in their names; those of large clusters last, of which few runs find room."""
    engine = [row for row in ROWS if word in row.name]
    yield from (_engine_row(row) for row in engine if row.work.nodes < _LARGE)
    for command in _commands(folder):
        if word in command.name:
            yield Row(command.name, partial(_command, words=command.words))
    yield from (_engine_row(row) for row in engine if row.work.nodes >= _LARGE)


def _engine_row(row: EngineRow) -> Row:
    work = replace(row.work, measure=min(row.work.measure, _AT_MOST))
    return Row(row.name, partial(_placements, work=json.dumps(asdict(work))), per=work.measure)


def _placements(tree: Tree, work: str) -> float | None:
    done = tree.run(_ENGINE, (work,))
    return None if done is None else float(json.loads(done[0])["seconds"])


def _command(tree: Tree, words: tuple[str, ...]) -> float | None:
    done = tree.run(_PROGRAM, words)
    return None if done is None else done[1]


def _commands(folder: Path) -> Iterator[Command]:
    """The commands of a full run; the YAML is of the smaller cluster, which is as telling and written in seconds."""
    yield from commands(folder, quick=False)
    yield from in_yaml(folder, 5_000)


if __name__ == "__main__":
    sys.exit(main())
