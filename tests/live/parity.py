"""The same faults before ours and kube-scheduler: attempts, time and the order of bindings, side by side.

    python -m tests.live.parity [--pods N] [--only WORDS] [--minutes M] [--document] [--programs DIR]

Each scheduler has a control plane of its own and reaches it through the fault proxy alone. For each script
(tests/faults/scripts.py) all pods are created while the fault lasts. The exit code is 1 if ours is worse than
kube-scheduler by more than a fifth, in seconds or in failed attempts. ``--document`` writes the table into
docs/explanation/live.md. Scripts that would begin after ``--minutes`` are left out and named.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import ssl
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.faults.fault_proxy import FaultProxy, fault_proxy, is_binding
from tests.faults.scripts import SCRIPTS, Script
from tests.live.api_server import api_server, free_port
from tests.live.processes import TOPOSPREAD, Process, address, all_bound, nodes, pods, sound, summed, with_server
from tests.live.running import Api, eventually
from topospread.live.api_error import ApiUnreachable
from topospread.live.client import ApiClient
from topospread.live.connection import connect
from topospread.live.run_or_terminate import run_or_terminate

ROOT = Path(__file__).resolve().parents[2]
OURS, THEIRS = SCHEDULERS = ("topospread", "kube-scheduler")
PATIENCE = 180.0
"""Seconds in which all pods have to be bound."""
NODES = 12
SLACK_SECONDS, SLACK_ATTEMPTS = 1.5, 15
"""Differences that are no finding: a backoff is a second, and a busy machine is late."""
_ATTEMPT = re.compile(r'"Attempting to schedule pod" pod="([^"]+)"')
_ANY = ssl._create_unverified_context()
_BEGIN, _END = "<!-- parity -->", "<!-- end of parity -->"


@dataclass(frozen=True)
class Outcome:
    """The result of one script with one scheduler.

    Attributes:
        seconds: from the first creation of a pod to the last binding.
        failed: scheduling attempts that ended without a binding.
        requests: binding requests that the proxy received.
        over: bindings that exceeded maxSkew in the order of bindings.
        decided_over: the same in the order of decisions: of the last attempts in the log.
    """

    seconds: float
    failed: int
    requests: int
    over: int
    decided_over: int


@dataclass(frozen=True)
class Row:
    """Both outcomes of a script."""

    name: str
    ours: Outcome
    theirs: Outcome

    @property
    def worse(self) -> str:
        """In what ours is worse by more than a fifth, "" if in nothing."""
        found = []
        if self.ours.seconds > 1.2 * self.theirs.seconds + SLACK_SECONDS:
            found.append("time")
        if self.ours.failed > 1.2 * self.theirs.failed + SLACK_ATTEMPTS:
            found.append("failed attempts")
        return " and ".join(found)

    def cells(self) -> list[str]:
        """The row of the table in the documentation."""
        ours, theirs = self.ours, self.theirs
        return [
            self.name,
            f"{ours.seconds:.1f} / {theirs.seconds:.1f}",
            f"{ours.failed} / {theirs.failed}",
            f"{ours.requests} / {theirs.requests}",
            f"{ours.over} / {theirs.over}",
        ]


class BindingOrder:
    """Watches pods at the API server itself, and notes when and in which order they get a node."""

    def __init__(self) -> None:
        self.zones: dict[str, str] = {}
        self.bound: dict[str, float] = {}

    async def follow(self, api: Api, version: str) -> None:
        """Follow until cancelled. A watch that ends or breaks is resumed, so no binding is missed."""
        while True:
            with suppress(ApiUnreachable):
                async for kind, raw in api.client.watch("/api/v1/namespaces/default/pods", version):
                    pod = json.loads(bytes(raw))
                    version = pod["metadata"]["resourceVersion"]
                    node = pod.get("spec", {}).get("nodeName")
                    if kind != "MODIFIED" or not node or pod["metadata"]["uid"] in self.bound:
                        continue
                    self.bound[pod["metadata"]["uid"]] = time.monotonic()
                    self.zones[f"default/{pod['metadata']['name']}"] = f"zone-{int(node.rpartition('-')[2]) % 3}"


def over(zones: Iterable[str]) -> int:
    """Return how many pods exceed maxSkew when they come to these zones one after the other."""
    counts: Counter[str] = Counter({f"zone-{number}": 0 for number in range(3)})
    found = 0
    for zone in zones:
        counts[zone] += 1
        found += counts[zone] - min(counts.values()) > 1
    return found


@asynccontextmanager
async def running(which: str, programs: Path, plane: Path, proxy: FaultProxy) -> AsyncIterator[Process]:
    """A scheduler that reaches the API server through the proxy, ready."""
    folder = Path(tempfile.mkdtemp(dir=plane))
    kubeconfig, port = with_server(plane / "kubeconfig", folder, proxy.url), free_port()
    config = folder / "config.yaml"
    config.write_text(
        json.dumps(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "leaderElection": {"leaderElect": False},
                "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 1000},
            }
        )
    )
    common = [f"--config={config}", f"--secure-port={port}", "--v=3"]
    if which == OURS:
        command = [str(TOPOSPREAD), "run", "scheduler", *common]
    else:
        own = plane / "kubeconfig"
        paths = "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics"
        asks = [f"--authentication-kubeconfig={own}", f"--authorization-kubeconfig={own}", paths]
        command = [str(programs / "kube-scheduler"), *common, *asks]
    process = Process(command, folder / "scheduler.log", port)
    try:
        try:
            await eventually(lambda: _ready(which, process))
        except AssertionError:
            print(process.log.read_text()[-3000:], file=sys.stderr)
            raise
        yield process
    finally:
        process.stop()


async def _ready(which: str, process: Process) -> bool:
    with suppress(OSError):
        await asyncio.to_thread(_page, which, process, "/readyz")
        return True
    assert process.ended is None, process.log.read_text()[-3000:]
    return False


def _page(which: str, process: Process, path: str) -> str:
    scheme = "http" if which == OURS else "https"
    with urllib.request.urlopen(f"{scheme}://127.0.0.1:{process.port}{path}", timeout=10, context=_ANY) as answer:
        text: str = answer.read().decode()
        return text


def _token(kubeconfig: Path) -> str:
    user: dict[str, str] = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]
    return user["token"]


async def outcome(which: str, programs: Path, plane: Path, script: Script, count: int) -> Outcome:
    """Play a script with a scheduler."""
    async with ApiClient(await connect(str(plane / "kubeconfig")), qps=0) as client:
        api = Api(client)
        await api.wipe()
        await api.create(*nodes(NODES, cpu="8"))
        async with (
            fault_proxy(address(plane / "kubeconfig"), _token(plane / "kubeconfig")) as proxy,
            running(which, programs, plane, proxy) as process,
        ):
            version = (await api.get("/api/v1/namespaces/default/pods"))["metadata"]["resourceVersion"]
            order = BindingOrder()
            following = asyncio.create_task(order.follow(api, version))
            fault = asyncio.create_task(script.play(proxy, script.seconds))
            await asyncio.sleep(0.2)
            started = time.monotonic()
            await api.create(*pods(count))
            await eventually(lambda: len(order.bound) == count or following.done(), PATIENCE)
            if following.done():
                following.result()
            if script.seconds < PATIENCE:
                await fault
            fault.cancel()
            proxy.faults.end()
            following.cancel()
            assert await all_bound(api, count)
            await sound(api, count)
            text = await asyncio.to_thread(_page, which, process, "/metrics")
            attempts = summed(text, "scheduler_schedule_attempts_total")
            requests = sum(1 for each in proxy.faults.received if is_binding(*each))
            last = {pod: place for place, pod in enumerate(_ATTEMPT.findall(process.log.read_text()))}
            decided = sorted(order.zones, key=last.__getitem__)
            return Outcome(
                max(order.bound.values()) - started,
                int(attempts) - count,
                requests,
                over(order.zones.values()),
                over(map(order.zones.__getitem__, decided)),
            )


async def compare(scripts: Sequence[Script], programs: Path, folder: Path, count: int, until: float) -> list[Row]:
    """Play scripts with both schedulers, one after the other, until a moment of the monotonic clock."""
    rows = []
    with (
        api_server(programs, folder / OURS),
        api_server(programs, folder / THEIRS),
    ):
        for script in scripts:
            if time.monotonic() > until:
                print(f"left out: {script.name}", flush=True)
                continue
            ours, theirs = [await outcome(each, programs, folder / each, script, count) for each in SCHEDULERS]
            rows.append(Row(script.name, ours, theirs))
            print(" | ".join(rows[-1].cells()), f"worse in {rows[-1].worse}" if rows[-1].worse else "")
            print(f"  over maxSkew in the order of decisions: {ours.decided_over} / {theirs.decided_over}", flush=True)
    return rows


def table(rows: Sequence[Row], count: int) -> str:
    """The table for the documentation."""
    head = [
        f"fault while {count} pods are created",
        "seconds until all are bound",
        "failed attempts",
        "binding requests",
        "bindings over maxSkew",
    ]
    lines = [head, ["---"] * len(head), *[each.cells() for each in rows]]
    return "\n".join("| " + " | ".join(each) + " |" for each in lines)


def main() -> None:
    """Compare, and print what is worse."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=300)
    parser.add_argument("--only", default="", help="scripts whose name contains these words")
    parser.add_argument("--minutes", type=float, default=25.0, help="no script begins later")
    parser.add_argument("--document", action="store_true", help="write the table into docs/explanation/live.md")
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "live")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the control planes end with this process
    chosen = [each for each in SCRIPTS if given.only in each.name]
    until = time.monotonic() + given.minutes * 60
    with tempfile.TemporaryDirectory() as made:
        rows = run_or_terminate(lambda: compare(chosen, given.programs, Path(made), given.pods, until))
    if given.document:
        page = ROOT / "docs" / "explanation" / "live.md"
        text = page.read_text()
        before, after = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
        page.write_text(f"{text[:before]}\n\n{table(rows, given.pods)}\n\n{text[after:]}")
    worse = [f"{each.name}: worse in {each.worse}" for each in rows if each.worse]
    print("\n".join(worse) or f"{len(rows)} faults: ours is never worse by more than a fifth")
    sys.exit(1 if worse or not rows else 0)


if __name__ == "__main__":
    main()
