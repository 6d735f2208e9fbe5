"""A live scheduler that starts on a large cluster, and stands idle in it, on a real API server.

    python -m benchmarks.live_standing [--nodes 5000] [--pods 150000] [--idle 60] [--programs DIR]

The server is filled first, which takes some minutes. Then the scheduler starts with a hundred pods waiting: how long it
takes up to the first binding, in seconds and in processor time, and its memory at most; then its processor time while
nothing happens, and while every node's status is reported every ten seconds, or as often as the API server manages.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.bound_pods import BATCH_NAME, PODS, BoundPods
from benchmarks.live import SETTLING, command, compiled, connected, create, processor_time
from benchmarks.live_objects import Json, node, pod
from topospread.live.client import ApiClient

PROGRAMS = Path(__file__).resolve().parent.parent / "build" / "live"
WAITING = 100
_PERIOD = 10.0
_AT_ONCE = 32
_CONDITIONS = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")


def memory(pid: int) -> float:
    """The most that a process held, in MB."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None, "Linux says it"
    return int(found[1]) / 1024


async def heartbeats(client: ApiClient, nodes: int, seconds: float) -> int:
    """Report the status of every node every ten seconds as a kubelet does; how many reports were taken."""
    begun, sent, done = time.monotonic(), 0, 0

    async def report() -> None:
        nonlocal sent, done
        while (now := time.monotonic()) < begun + seconds:
            due = begun + sent * _PERIOD / nodes
            number, sent = sent % nodes, sent + 1
            await asyncio.sleep(max(0.0, due - now))
            path = f"/api/v1/nodes/node-{number:05}/status"
            await client.request("PATCH", path, body=_report(), content_type="application/strategic-merge-patch+json")
            done += 1

    await asyncio.gather(*[report() for _ in range(_AT_ONCE)])
    return done


def _report() -> Json:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = [
        {"type": each, "status": "True" if each == "Ready" else "False", "lastHeartbeatTime": now}
        for each in _CONDITIONS
    ]
    return {"status": {"conditions": conditions}}


async def started(client: ApiClient, process: subprocess.Popen[bytes], bound: BoundPods, log: Path) -> None:
    """Wait for the first binding, and say what it took."""
    begun = time.monotonic()
    while not bound.first:
        assert process.poll() is None, log.read_text()[-2000:]
        await asyncio.sleep(0.02)
    print(
        f"first binding after {bound.first - begun:.1f} s and {processor_time(process.pid):.1f} s of processor time, "
        f"{memory(process.pid):.0f} MB at most",
        flush=True,
    )
    await bound.done.wait()
    await asyncio.sleep(SETTLING)


async def stood(client: ApiClient, pid: int, nodes: int, idle: float) -> None:
    """Say what a process takes while nothing happens, and with heartbeats."""
    before = processor_time(pid)
    await asyncio.sleep(idle)
    print(f"idle: {(processor_time(pid) - before) / idle:.2%} of a core", flush=True)
    await heartbeats(client, nodes, _PERIOD)  # the first of each node changes its conditions
    await asyncio.sleep(SETTLING)
    before, begun = processor_time(pid), time.monotonic()
    count = await heartbeats(client, nodes, idle)
    lasted = time.monotonic() - begun
    await asyncio.sleep(SETTLING)
    took = processor_time(pid) - before
    print(
        f"{count / lasted:.0f} heartbeats a second: {took / (lasted + SETTLING):.2%} of a core, "
        f"{took / count * 1e6:.0f} µs a heartbeat; {memory(pid):.0f} MB at most",
        flush=True,
    )


async def measured(nodes: int, pods: int, idle: float, programs: Path) -> None:
    """Fill a server, and measure on it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        async with connected(programs, folder) as client:
            await create(client, "/api/v1/nodes", map(node, range(nodes)))
            there = (pod(f"old-{i:06}", i, "hard", f"node-{i % nodes:05}") for i in range(pods))
            await create(client, PODS, there)
            await standing(client, folder, programs, nodes, idle)


async def standing(client: ApiClient, folder: Path, programs: Path, nodes: int, idle: float) -> None:
    """Measure on a server that is filled."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
    await create(client, PODS, (pod(BATCH_NAME.format(0, i), i, "hard") for i in range(WAITING)))
    bound, log = BoundPods(0, WAITING), folder / "topospread.log"
    watching = asyncio.create_task(bound.watch(client))
    await bound.begun.wait()
    with log.open("wb") as out:
        process = subprocess.Popen(command("topospread", programs, folder), stdout=out, stderr=out)
    try:
        await started(client, process, bound, log)
        await stood(client, process.pid, nodes, idle)
    finally:
        watching.cancel()
        process.terminate()
        process.wait(30)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000, help="that have a node")
    parser.add_argument("--idle", type=float, default=60.0, help="seconds of each measurement")
    parser.add_argument("--programs", type=Path, default=PROGRAMS)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    compiled()
    asyncio.run(measured(given.nodes, given.pods, given.idle, given.programs))


if __name__ == "__main__":
    main()
