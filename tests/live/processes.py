"""``topospread run scheduler`` as processes, API servers that can be killed and frozen, and what holds after all."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live.api_server import free_port
from tests.live.running import Api, eventually, node, pod, spread

TOPOSPREAD = Path(sys.executable).parent / "topospread"
ZONE = "topology.kubernetes.io/zone"
RECOVERY = 15.0
"""Seconds in which all has to be as if nothing had happened."""


class Process:
    """A scheduler of its own, ours or kube-scheduler, with its log in a file."""

    def __init__(self, command: list[str], log: Path, port: int) -> None:
        self.log, self.port = log, port
        with log.open("w") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=out, env=dict(os.environ))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> int | None:
        return self._process.poll()

    def signal(self, which: signal.Signals) -> None:
        self._process.send_signal(which)

    async def end(self, seconds: float = 20.0) -> int:
        """Wait for the end; the exit code."""
        await eventually(lambda: self.ended is not None, seconds)
        code = self.ended
        assert code is not None
        return code

    def stop(self) -> None:
        if self.ended is None:
            self._process.kill()
            self._process.wait()

    def get(self, path: str) -> tuple[int, str]:
        """What it serves."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    @property
    def is_ready(self) -> bool:
        assert self.ended is None, self.log.read_text()
        return self.get("/readyz")[0] == 200

    def metric(self, name: str) -> float:
        """The sum of a metric's series."""
        return summed(self.get("/metrics")[1], name)

    @property
    def leads(self) -> bool:
        return self.metric("leader_election_master_status") == 1


def summed(text: str, name: str) -> float:
    """The sum of a metric's series in a scrape."""
    lines = text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((f"{name} ", f"{name}{{")))


@asynccontextmanager
async def scheduler(
    kubeconfig: Path, folder: Path, *flags: str, name: str = "ours", program: Sequence[str] = (str(TOPOSPREAD),)
) -> AsyncIterator[Process]:
    """Ours, ready; without an election unless the flags say so."""
    port = free_port()
    chosen = flags if any(each.startswith("--leader-elect") for each in flags) else ("--leader-elect=false", *flags)
    fixed = ["--kubeconfig", str(kubeconfig), "--secure-port", str(port), "--kube-api-qps", "1000", "-v", "3"]
    process = Process([*program, "run", "scheduler", *fixed, *chosen], folder / f"{name}.log", port)
    try:
        await eventually(lambda: process.is_ready)
        yield process
    finally:
        process.stop()


@contextmanager
def part(kubeconfig: Path, name: str) -> Iterator[Part]:
    """A program of the control plane of a kubeconfig."""
    found = Part(kubeconfig.parent / f"{name}.pid")
    try:
        yield found
    finally:
        found.end()


@dataclass
class Part:
    """A program of the control plane, which can be killed and started again as it was."""

    pidfile: Path
    started: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return int(self.pidfile.read_text())

    def signal(self, which: signal.Signals) -> None:
        os.kill(self.pid, which)

    def kill(self) -> list[str]:
        """Kill it at once, and wait until its ports are free; the command that starts it again."""
        process = Path(f"/proc/{self.pid}")
        command = (process / "cmdline").read_text().split("\0")[:-1]
        self.signal(signal.SIGKILL)
        until = time.monotonic() + 30
        while _has_files(process):
            assert time.monotonic() < until, f"{command[0]} does not end"
            time.sleep(0.01)
        return command

    def start(self, command: list[str]) -> None:
        with self.pidfile.with_suffix(".again.log").open("w") as log:
            self.started = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        self.pidfile.write_text(str(self.started.pid))

    def end(self) -> None:
        """Kill what was started here, and take note that it is gone."""
        if self.started is not None:
            self.started.kill()
            self.started.wait()


def _has_files(process: Path) -> bool:
    """Whether a process may hold files and ports: it is there, and not only the entry that its parent has to read."""
    try:
        threads = list((process / "task").iterdir())
        return len(threads) > 1 or (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def nodes(count: int = 6, cpu: str = "4") -> list[dict[str, Any]]:
    return [node(f"node-{i}", zone=f"zone-{i % 3}", cpu=cpu) for i in range(count)]


def pods(count: int, prefix: str = "web", cpu: str = "100m", **spec: Any) -> list[dict[str, Any]]:
    """Pods with a hard constraint over the zones."""
    constraint = spread(ZONE, 1, app=prefix)
    return [
        pod(f"{prefix}-{i:04}", cpu, {"app": prefix}, topologySpreadConstraints=[constraint], **spec)
        for i in range(count)
    ]


async def all_bound(api: Api, count: int) -> bool:
    """Whether so many pods are there, each with a node."""
    listed = await api.items("/api/v1/namespaces/default/pods")
    return len(listed) == count and all(each["spec"].get("nodeName") for each in listed)


async def recovered(api: Api, count: int) -> float:
    """Seconds until all pods are bound, at most `RECOVERY`; what has to hold is checked then."""
    started = time.monotonic()
    await eventually(lambda: all_bound(api, count), RECOVERY)
    took = time.monotonic() - started
    await sound(api, count)
    return took


async def sound(api: Api, count: int) -> None:
    """Nothing lost, nothing over what nodes have, each hard constraint kept, no pod bound twice."""
    listed = await api.items("/api/v1/namespaces/default/pods")
    assert len(listed) == count
    room = {
        each["metadata"]["name"]: _millis(each["status"]["allocatable"]["cpu"])
        for each in await api.items("/api/v1/nodes")
    }
    taken: Counter[str] = Counter()
    zones: dict[str, Counter[str]] = {}
    for each in listed:
        on = each["spec"].get("nodeName")
        if on:
            taken[on] += _millis(each["spec"]["containers"][0]["resources"]["requests"]["cpu"])
            app = each["metadata"]["labels"].get("app", "")
            zones.setdefault(app, Counter())[str(int(on.rpartition("-")[2]) % 3)] += 1
    over = {name: (used, room[name]) for name, used in taken.items() if used > room.get(name, used)}
    assert over == {}
    for app, counts in zones.items():
        if app:
            assert max(counts.values()) - min(counts[str(i)] for i in range(3)) <= 1, (app, counts)
    said = Counter(
        each["regarding"]["uid"]
        for each in await api.items("/apis/events.k8s.io/v1/namespaces/default/events")
        if each["reason"] == "Scheduled"
    )
    assert [uid for uid, times in said.items() if times > 1] == []


def _millis(cpu: str) -> int:
    return int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000


def with_server(kubeconfig: Path, folder: Path, server: str, **user: str) -> Path:
    """A copy of a kubeconfig with another server, or another way to say who one is."""
    made = folder / f"kubeconfig-{len(list(folder.iterdir()))}"
    text = kubeconfig.read_text()
    start = text.index('server: "') + len('server: "')
    changed = text[:start] + server + text[text.index('"', start) :]
    if server.startswith("http:"):
        left = changed.index(", certificate-authority")
        changed = changed[:left] + changed[changed.index("}", left) :]
    if user:
        left = changed.index("user: {token: ") + len("user: ")
        changed = changed[:left] + json.dumps(user) + changed[changed.index("}", left) + 1 :]
    made.write_text(changed)
    return made


def address(kubeconfig: Path) -> str:
    """``https://…`` of the API server."""
    text = kubeconfig.read_text()
    start = text.index('server: "') + len('server: "')
    return text[start : text.index('"', start)]


async def settle(seconds: float) -> None:
    """Let something go on that a test can only wait for."""
    await asyncio.sleep(seconds)
