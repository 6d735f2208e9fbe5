"""Churn at a steady rate through a live scheduler for as long as one likes; what the process holds is sampled.

    python -m tests.live.soak --seconds 1800 --rate 120 [--out samples.jsonl]

Pods come and go, of an application that is another one every few seconds; one in twenty fits nowhere, one in fifty has
a gate that is never opened; nodes are replaced; an important pod evicts another. It judges nothing: the test of the
same name does, in a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.live.api_server import api_server
from tests.live.processes import Process, scheduler, summed
from tests.live.running import PATIENCE, Api, eventually, in_cluster, node, pod, spread
from topospread.live.api_error import RequestError

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
PROGRAMS = Path(__file__).parent.parent.parent / "build" / "live"
NODES = 30
STAYS = 8.0
"""Seconds from a pod's creation to its deletion, bound or not."""
_PERIOD = 0.1
_ROLLOUT = 5.0
"""Seconds for which new pods are of one application."""
_REPLACED = 10.0
"""Seconds from one replaced node, and one eviction, to the next."""
_AT_ONCE = 16
"""Requests at a time."""
_BACKLOG = 64
"""Pods at most that wait to be created."""


@dataclass(frozen=True)
class Sample:
    """What the process holds at a moment: seconds since the churn began, KiB, and numbers of things."""

    seconds: float
    resident: int
    files: int
    connections: int
    tasks: int
    cached_pods: int
    bound: int


def sample(process: Process, seconds: float) -> Sample | None:
    """Look at the process, and ask it for its metrics; nothing where it does not answer in time."""
    code, text = process.get("/metrics")
    if code != 200:
        return None
    status = Path(f"/proc/{process.pid}/status").read_text()
    links = []
    for each in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            links.append(str(each.readlink()))
    return Sample(
        round(seconds, 1),
        int(status.split("VmRSS:")[1].split()[0]),
        len(links),
        sum(each.startswith("socket:") for each in links),
        int(summed(text, "topospread_tasks")),
        int(summed(text, "scheduler_cache_size")),
        int(summed(text, "scheduler_pod_scheduling_attempts_count")),
    )


class Churn:
    """What is created and deleted.

    Attributes:
        created: pods so far.
    """

    def __init__(self, api: Api, rate: float) -> None:
        self._api = api
        self._rate = rate
        self._turn = asyncio.Semaphore(_AT_ONCE)
        self._sent = self._waiting = 0
        self.created = 0

    async def begin(self) -> None:
        """The nodes, and what the evictions need."""
        important = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000}
        await self._api.create({**important, "metadata": {"name": "important"}})
        # In a zone of its own, which takes none of the others, it would hold them to five a zone.
        tight = node("tight", zone="zone-0", cpu="1", tight="yes")
        tight["spec"] = {"taints": [{"key": "tight", "effect": "NoSchedule"}]}
        await self._api.create(*[_node(i) for i in range(NODES)], tight)

    async def run(self, seconds: float) -> None:
        """Let pods come and go for so long; all are gone at the end."""
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._replace(began + seconds))
            while (passed := time.monotonic() - began) < seconds:
                due = int(passed * self._rate)
                for number in range(self._sent, min(due, self._sent + _BACKLOG - self._waiting)):
                    group.create_task(self._live(_pod(number, int(passed / _ROLLOUT))))
                    self._waiting += 1
                self._sent = due  # what a busy API server cannot take is left out
                await asyncio.sleep(_PERIOD)

    async def _live(self, item: Json, seconds: float = STAYS) -> None:
        async with self._turn:
            await self._api.create(item)
        self._waiting -= 1
        self.created += 1
        await asyncio.sleep(seconds)
        async with self._turn:
            await self._api.delete_pod(item["metadata"]["name"])

    async def _replace(self, until: float) -> None:
        number = 0
        while time.monotonic() < until:
            await asyncio.sleep(_REPLACED)
            with suppress(RequestError):
                await self._api.delete(f"/api/v1/nodes/node-{number}")
                await self._api.create(_node(number + NODES))
            names = (f"filler-{number}", f"urgent-{number}")
            await self._api.create(_tight(names[0]))
            await self._in_time(names[0])
            await self._api.create(_tight(names[1], priorityClassName="important"))
            await self._in_time(names[1])
            for name in names:
                await self._api.delete_pod(name)
            number += 1

    async def _in_time(self, name: str) -> None:
        await eventually(lambda: self._api.has_node(name), 10 * PATIENCE)


def _node(number: int) -> Json:
    return node(f"node-{number}", zone=f"zone-{number % 3}", cpu="64")


def _tight(name: str, **spec: Any) -> Json:
    tolerations = [{"key": "tight", "operator": "Exists"}]
    return pod(name, "800m", {"app": "tight"}, nodeSelector={"tight": "yes"}, tolerations=tolerations, **spec)


def _pod(number: int, rollout: int) -> Json:
    name, labels = f"web-{rollout}-{number}", {"app": "web", "revision": f"r{rollout}"}
    if number % 20 == 7:
        return pod(name, "1000", labels)
    if number % 50 == 9:
        return pod(name, "10m", labels, schedulingGates=[{"name": "example.com/never"}])
    constraint = spread(ZONE, 5, app="web", revision=f"r{rollout}")
    return pod(name, "10m", labels, topologySpreadConstraints=[constraint])


async def soak(
    churn: Churn, ours: Process, seconds: float, tell: Callable[[Sample], None], every: float = 10.0
) -> None:
    """Churn, and tell samples: one before it, some during it, one after all of it has gone."""
    await churn.begin()
    await eventually(lambda: ours.metric("scheduler_cache_size") == NODES + 1)
    began = time.monotonic()

    async def look() -> bool:
        found = await asyncio.to_thread(sample, ours, time.monotonic() - began)
        if found is not None:
            tell(found)
        return found is not None

    await eventually(look)
    running = asyncio.create_task(churn.run(seconds))
    while not running.done():
        await asyncio.wait((running,), timeout=every)
        await look()
    running.result()
    await eventually(lambda: ours.metric("scheduler_cache_size") == NODES + 1)
    await eventually(lambda: is_idle(ours))
    await asyncio.sleep(every)
    await eventually(look)


def is_idle(ours: Process) -> bool:
    """Whether no pod waits, and none is being bound."""
    code, text = ours.get("/metrics")
    return code == 200 and summed(text, "scheduler_pending_pods") == summed(text, "scheduler_goroutines") == 0


def main() -> None:
    """Run it as the command line says."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--seconds", type=float, default=1800.0)
    options.add_argument("--rate", type=float, default=120.0, help="pods a second")
    options.add_argument("--out", type=Path, default=Path("build/soak.jsonl"), help="where samples go, one a line")
    chosen = options.parse_args()
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chosen.out.open("w") as out:

        def tell(each: Sample) -> None:
            print(json.dumps(asdict(each)), file=out, flush=True)

        with api_server(PROGRAMS, Path(folder) / "plane") as kubeconfig:

            async def scenario(api: Api) -> None:
                async with scheduler(kubeconfig, Path(folder), "-v", "1") as ours:
                    await soak(Churn(api, chosen.rate), ours, chosen.seconds, tell)

            in_cluster(str(kubeconfig), scenario)


if __name__ == "__main__":
    main()
