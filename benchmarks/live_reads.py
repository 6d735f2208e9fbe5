"""How long a live cluster takes to be read, beside ``kubectl get -o json``, on a real API server full of pods.

python -m benchmarks.live_reads --nodes 5000 --pods 100000

Prints a table; `docs/performance.md` has it. Filling the server takes most of the time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.live import connected, create
from benchmarks.live_objects import node, pod
from topospread.api.kinds import KINDS
from topospread.sources.snapshot_lists import ListRequest

PROGRAMS = Path(__file__).parent.parent / "build" / "live"
_READ = 'import topospread; print(len(topospread.Session("live").inventory.pods))'
_EVERYTHING = ",".join(ListRequest(kind).resource for kind in KINDS)


@dataclass(frozen=True, slots=True)
class Took:
    """What a command took.

    Attributes:
        seconds: until its end.
        processor: seconds of processor time of its own; the API server's are not in it.
        memory: the most that it held, in MB.
    """

    seconds: float
    processor: float
    memory: float


def took(words: list[str], environment: dict[str, str], output: Path) -> Took:
    """Run a command to its end."""
    begun = time.monotonic()
    with output.open("wb") as file:
        running = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=file)
        _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(words)} failed: {running.returncode}")
    return Took(time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def commands(folder: Path) -> dict[str, list[str]]:
    """What is measured, by its name in the table."""
    topospread = str(Path(sys.executable).parent / "topospread")
    snapshot = str(folder / "cluster.json")
    return {
        "`kubectl get nodes,pods -A -o json`": ["kubectl", "get", "nodes,pods", "-A", "-o", "json"],
        "`kubectl get` of all that a snapshot has": ["kubectl", "get", _EVERYTHING, "-A", "-o", "json"],
        "`read_cluster()`, all that a snapshot has": [sys.executable, "-c", _READ],
        "`topospread dump`": [topospread, "dump", snapshot],
    }


async def measured(nodes: int, pods: int, times: int) -> None:
    """Fill a server, and print a line for each command: the best of several times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with connected(PROGRAMS, folder / "plane") as client:
            await create(client, "/api/v1/nodes", map(node, range(nodes)))
            bound = (pod(f"web-{i}", i, "hard", f"node-{i % nodes:05}") for i in range(pods))
            await create(client, "/api/v1/namespaces/default/pods", bound)
            environment = {
                **os.environ,
                "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
                "KUBECONFIG": str(folder / "plane" / "kubeconfig"),
            }
            print(f"{nodes:,} nodes, {pods:,} pods; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
            print("| | seconds | processor time | memory, MB |\n|---|---|---|---|", flush=True)
            for title, words in commands(folder).items():
                found = [await asyncio.to_thread(took, words, environment, folder / "output") for _ in range(times)]
                best = min(found, key=lambda each: each.seconds)
                print(f"| {title} | {best.seconds:.1f} | {best.processor:.1f} | {best.memory:.0f} |", flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=2)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asyncio.run(measured(given.nodes, given.pods, given.times))


if __name__ == "__main__":
    main()
