"""A live scheduler beside kube-scheduler on a real API server: pods bound a second, processor time of everybody.

    python -m benchmarks.live [--case N] [--only WHICH] [--seconds S] [--minutes M] [--document] [--programs DIR]

Each case has an API server of its own, on which first ours and then kube-scheduler binds a batch of pods: created
before the scheduler starts, or while it runs. kube-scheduler runs with QPS 5000, as its default of 50 would be what is
measured. A third batch is bound by a program that decides nothing (`tests/live/unthinking`, on kube-scheduler's
client): no scheduler that writes events, too, comes to much more on this machine. A scheduler that has not bound its
batch after ``--seconds`` is stopped, and its rate is of those that it bound; cases that would begin after ``--minutes``
are left out, so that the whole of it ends. ``--document`` writes the table into docs/performance.md. DIR holds etcd,
kube-apiserver, kubectl (`tests/live/controlplane.sh build DIR`) and kube-scheduler, built from the same module; the
program that decides nothing is built there, too.
"""

from __future__ import annotations

import argparse
import asyncio
import compileall
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

import topospread
from benchmarks.bound_pods import BATCH_NAME, PODS, BoundPods
from benchmarks.live_objects import Json, node, pod
from tests.live.api_server import api_server
from topospread.live.client import ApiClient
from topospread.live.connection import connect
from topospread.live.run_or_terminate import run_or_terminate

ROOT = Path(__file__).resolve().parent.parent
UNTHINKING = "unthinking"
SCHEDULERS = ("topospread", "kube-scheduler", UNTHINKING)
TICKS = os.sysconf("SC_CLK_TCK")
SETTLING = 5.0
FILLING = 180.0
"""Seconds that pods which are there beforehand may take to be made; what is not made by then is not there."""
_AT_ONCE = 16


@dataclass(frozen=True)
class Case:
    """What is measured.

    Attributes:
        there: pods that have a node beforehand.
    """

    nodes: int
    pods: int
    constraint: str
    while_created: bool = False
    there: int = 0

    def title(self, there: int) -> str:
        """In words; ``there``: how many pods were made beforehand."""
        before = f", {there:,} pods there" if there else ""
        how = "created meanwhile" if self.while_created else "waiting"
        kind = "hard zone" if self.constraint == "hard" else "no constraint"
        return f"{self.nodes:,} nodes{before}, {self.pods:,} pods {how}, {kind}"


CASES = (
    Case(1000, 3000, "none"),
    Case(1000, 3000, "hard"),
    Case(1000, 3000, "hard", while_created=True),
    Case(5000, 1500, "hard", there=44_000),
    Case(5000, 1500, "hard", while_created=True, there=44_000),
)


@dataclass
class Figures:
    """What came of it.

    Attributes:
        bound: pods; ``wanted`` of them, where time was enough.
        seconds: from the first binding to the last.
        created_a_second: how fast the batch was made.
        first: seconds from the scheduler's start to the first binding, -1 where it had been started before.
        start, own: processor seconds of the scheduler up to the first binding, and from there until all is said.
        server: processor seconds of API server and etcd.
    """

    wanted: int
    bound: int = 0
    seconds: float = 0.0
    created_a_second: float = 0.0
    first: float = -1.0
    start: float = 0.0
    own: float = 0.0
    server: float = 0.0

    @property
    def rate(self) -> float:
        """Pods bound a second."""
        return self.bound / self.seconds if self.seconds else 0.0

    def line(self, name: str) -> str:
        """For people who wait for it."""
        each = (self.bound or 1) / 1e3
        short = "" if self.bound == self.wanted else f" of {self.wanted}"
        first = f"first binding after {self.first:4.1f} s  " if self.first >= 0 else ""
        return (
            f"{name:15} {self.bound:5} bound{short}  {self.rate:6.0f}/s  created at {self.created_a_second:5.0f}/s  "
            f"{first}start {self.start:4.1f} s  own {self.own / each:5.2f} ms a pod  "
            f"API server and etcd {self.server / each:5.2f} ms a pod"
        )


async def create(client: ApiClient, path: str, items: Iterable[Json], seconds: float = float("inf")) -> int:
    """Create objects, sixteen at a time, for so many seconds at most; how many were."""
    left, made, until = iter(items), 0, time.monotonic() + seconds

    async def work() -> None:
        nonlocal made
        for item in left:
            await client.request("POST", path, body=item)
            made += 1
            if time.monotonic() > until:
                return

    await asyncio.gather(*[work() for _ in range(_AT_ONCE)])
    return made


def processor_time(pid: int) -> float:
    """User and system seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@asynccontextmanager
async def connected(programs: Path, folder: Path) -> AsyncIterator[ApiClient]:
    """An API server with nothing in it."""
    with api_server(programs, folder) as kubeconfig:
        async with ApiClient(await connect(str(kubeconfig)), qps=0) as client:
            yield client


def compiled() -> None:
    """Compile the program, as pip does when it installs one: a start is not to be measured with the compiler in it."""
    compileall.compile_dir(Path(topospread.__file__).parent, quiet=1)


def build_unthinking(programs: Path) -> None:
    """Build the program that decides nothing."""
    module = ROOT / "tests" / "live"
    go = os.environ | {"GOFLAGS": "-mod=readonly", "GOSUMDB": "off"}
    subprocess.run(
        ["go", "build", "-o", programs.resolve() / UNTHINKING, f"./{UNTHINKING}"], cwd=module, env=go, check=True
    )


def command(which: str, programs: Path, folder: Path) -> list[str]:
    """How a scheduler is started."""
    if which == UNTHINKING:
        return [str(programs / which), str(folder / "kubeconfig")]
    config = folder / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"clientConnection: {{kubeconfig: {folder / 'kubeconfig'}, qps: 5000, burst: 5000}}\n"
        "leaderElection: {leaderElect: false}\n"
    )
    own = [Path(sys.executable).with_name(which), "run", "scheduler"]
    program = own if which == "topospread" else [programs / which]
    return [*map(str, program), f"--config={config}", "--secure-port=0"]


class Measurement:
    """One scheduler at work on one batch."""

    def __init__(self, client: ApiClient, case: Case, batch: int, seconds: float) -> None:
        self._client = client
        self._case = case
        self._batch = batch
        self._seconds = seconds
        self._figures = Figures(case.pods)

    async def of(self, which: str, programs: Path, folder: Path) -> Figures:
        """Start it, wait until all is bound and said, or the time is over, and end it."""
        figures, case = self._figures, self._case
        if not case.while_created:
            await self._create()
        bound = BoundPods(self._batch, case.pods)
        watching = asyncio.create_task(bound.watch(self._client))
        await bound.begun.wait()
        log = folder / f"{which}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(command(which, programs, folder), stdout=out, stderr=out)
        started, servers = (
            time.monotonic(),
            [int((folder / f"{each}.pid").read_text()) for each in ("apiserver", "etcd")],
        )
        try:
            if case.while_created:
                await asyncio.sleep(SETTLING)
                await _until_quiet(process.pid)
            before = sum(map(processor_time, servers))
            creating = asyncio.create_task(self._create()) if case.while_created else None
            await self._until_bound(bound, process, log)
            if creating is not None:
                await creating
            elif bound.first:
                figures.first = bound.first - started
            await _until_quiet(process.pid)
            figures.own = processor_time(process.pid) - figures.start
            figures.server = sum(map(processor_time, servers)) - before
        finally:
            watching.cancel()
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        figures.bound, figures.seconds = len(bound.names), bound.last - bound.first
        return figures

    async def _create(self) -> None:
        began = time.monotonic()
        names = (BATCH_NAME.format(self._batch, i) for i in range(self._case.pods))
        pods = (pod(name, i, self._case.constraint) for i, name in enumerate(names))
        made = await create(self._client, PODS, pods)
        self._figures.created_a_second = made / (time.monotonic() - began)

    async def _until_bound(self, bound: BoundPods, process: subprocess.Popen[bytes], log: Path) -> None:
        """Wait until all pods are bound, or the time is over, as long as the scheduler runs."""
        until, first = time.monotonic() + self._seconds, False
        while not bound.done.is_set() and time.monotonic() < until:
            assert process.poll() is None, log.read_text()[-2000:]
            if bound.first and not first:
                first = True
                self._figures.start = processor_time(process.pid)
            await asyncio.sleep(0.02)


async def _until_quiet(pid: int) -> None:
    """Wait until a process has no more to say of what it did: it takes little time for a second."""
    spent = processor_time(pid)
    for _ in range(15):
        await asyncio.sleep(1.0)
        before, spent = spent, processor_time(pid)
        if spent - before < 0.02:
            return


async def measured(case: Case, which: Iterable[str], programs: Path, seconds: float) -> tuple[str, dict[str, Figures]]:
    """The schedulers' figures, one after the other on one API server, under the case's title."""
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        async with connected(programs, folder) as client:
            await create(client, "/api/v1/nodes", (node(i) for i in range(case.nodes)))
            pods = (pod(f"old-{i:06}", i, case.constraint, f"node-{i % case.nodes:05}") for i in range(case.there))
            title = case.title(await create(client, PODS, pods, FILLING) if case.there else 0)
            print(title, flush=True)
            for batch, each in enumerate(which):
                found[each] = await Measurement(client, case, batch, seconds).of(each, programs, folder)
                print("   ", found[each].line(each), flush=True)
    return title, found


def row(title: str, found: dict[str, Figures]) -> str:
    """A row of the table in docs/performance.md."""
    ours, theirs, unthinking = (found[each] for each in SCHEDULERS)
    ratio = f"{ours.rate / theirs.rate:.1f}×" if theirs.rate else "–"
    first = f"{ours.first:.1f} s / {theirs.first:.1f} s" if ours.first >= 0 else "–"
    return (
        f"| {title} | {ours.rate:,.0f}/s | {theirs.rate:,.0f}/s | {ratio} | {unthinking.rate:,.0f}/s "
        f"| {ours.own / max(1, ours.bound) * 1e3:.2f} ms "
        f"| {theirs.own / max(1, theirs.bound) * 1e3:.2f} ms | {first} |"
    )


def document(rows: list[str], load: float) -> None:
    """Write the table between its marks in docs/performance.md."""
    page = ROOT / "docs" / "performance.md"
    text = page.read_text()
    begin, end = "<!-- live: written by make bench-live -->", "<!-- end of live -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise RuntimeError(f"{page} has no place for the live figures")
    said = f"Measured on {date.today()}, {os.cpu_count()} processors, load {load:.1f} before it began."
    columns = "case | topospread | kube-scheduler | ratio | no decision | own, a pod | theirs, a pod | first binding"
    table = [f"| {columns} |", f"|---|{'--:|' * 7}", *rows]
    page.write_text("\n".join([before + begin, "", said, "", *table, "", end]) + after)


def main() -> None:
    """Measure both, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", type=int, choices=range(len(CASES)), action="append", help="by number, several times")
    parser.add_argument("--only", choices=SCHEDULERS)
    parser.add_argument("--seconds", type=float, default=60.0, help="that a scheduler has for a batch")
    parser.add_argument("--minutes", type=float, default=9.0, help="after which no further case is begun")
    parser.add_argument("--document", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "live")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started here is ended
    compiled()
    if given.only in (None, UNTHINKING):
        build_unthinking(given.programs)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard) if soft < hard else soft, hard))
    load, until = os.getloadavg()[0], time.monotonic() + given.minutes * 60
    print(f"load {load:.1f} on {os.cpu_count()} processors")
    rows = []
    for number in given.case or range(len(CASES)):
        if time.monotonic() > until:
            print(f"left out, as time is over: {CASES[number].title(CASES[number].there)}")
            continue
        which = SCHEDULERS if given.only is None else (given.only,)
        case = partial(measured, CASES[number], which, given.programs, given.seconds)
        title, found = run_or_terminate(case)
        rows += [row(title, found)] if given.only is None else []
    if given.document:
        document(rows, load)


if __name__ == "__main__":
    main()
