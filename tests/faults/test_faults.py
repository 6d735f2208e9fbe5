"""The live scheduler behind a proxy that goes wrong, on a small API server: pods are neither lost nor bound twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.faults.fault_proxy import FaultProxy, fault_proxy, is_binding
from tests.faults.mini_api_server import MiniApiServer, mini_api_server
from tests.faults.scripts import SCRIPTS, Script
from topospread.config.load import default_configuration
from topospread.live import cache_comparer
from topospread.live.client import ApiClient
from topospread.live.connection import Connection
from topospread.live.observer import Observer
from topospread.live.scheduler import LiveScheduler
from topospread.live.settings import LiveSettings
from topospread.scheduling.backoff_queue import BackoffSettings

# Connections that are cut on purpose are closed when the loop that knew them is gone.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
PODS, MORE = 40, 9
PATIENCE = 40.0
SHORT = 1.0
"""Seconds that a fault lasts here."""
_BACKOFF = BackoffSettings(100_000_000, 500_000_000)


@dataclass
class Scene:
    """A scheduler at work, behind a proxy."""

    api: MiniApiServer
    proxy: FaultProxy
    scheduler: LiveScheduler

    def all_bound(self) -> bool:
        """Return whether all pods of the scheduler have a node."""
        return all(
            each["spec"].get("nodeName") or each["spec"]["schedulerName"] != "default-scheduler"
            for each in self.api.objects["pods"].values()
        )

    async def caught_up(self) -> None:
        """Wait until the scheduler knows what the API server has, and check it."""
        api, scheduler = self.api, self.scheduler
        await eventually(self.all_bound)
        expected = {
            f"{namespace}/{name}": each["metadata"]["uid"]
            for (namespace, name), each in api.objects["pods"].items()
            if each["spec"].get("nodeName") and each["status"]["phase"] == "Pending"
        }
        await eventually(lambda: scheduler.pods.assigned == expected and not scheduler.pods.assumed)
        assert not scheduler.pods.waiting
        assert all(len(nodes) == 1 for nodes in api.bound.values())
        zones: Counter[str] = Counter(dict.fromkeys("abc", 0))
        for each in api.objects["pods"].values():
            if each["metadata"]["labels"].get("app") == "web":
                zones[api.objects["nodes"]["", each["spec"]["nodeName"]]["metadata"]["labels"][ZONE]] += 1
        assert max(zones.values()) - min(zones.values()) <= 1


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    """Six nodes in three zones, and a scheduler that is ready."""
    async with mini_api_server() as api, fault_proxy(api.url) as proxy:
        for number in range(6):
            api.put("nodes", node(f"node-{number}", "abc"[number % 3]))
        async with ApiClient(Connection(proxy.url, None, _no_headers), qps=0) as client:
            stop, settings = asyncio.Event(), LiveSettings(drain=2.0, backoff=_BACKOFF)
            scheduler = LiveScheduler(client, default_configuration(), observer=Observer(), settings=settings)
            running = asyncio.create_task(scheduler.run(stop))
            try:
                await eventually(lambda: scheduler.ready or running.done())
                yield Scene(api, proxy, scheduler)
            finally:
                proxy.faults.end()
                stop.set()
                await running


async def _no_headers() -> dict[str, str]:
    return {}


def played(act: Callable[[Scene], Awaitable[None]]) -> None:
    """Play something with a scheduler."""

    async def play() -> None:
        async with scene() as made:
            await act(made)

    asyncio.run(play())


async def eventually(check: Callable[[], bool], seconds: float = PATIENCE) -> None:
    until = asyncio.get_running_loop().time() + seconds
    while not check():
        assert asyncio.get_running_loop().time() < until, "it did not come to be"
        await asyncio.sleep(0.02)


def node(name: str, zone: str, cpu: str = "4") -> Json:
    resources = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, ZONE: zone}
    return {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": {"allocatable": resources}}


def pod(name: str, cpu: str = "100m", app: str = "", **spec: Any) -> Json:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app}},
        "spec": {"schedulerName": "default-scheduler", "containers": [container]} | spec,
        "status": {"phase": "Pending"},
    }


def web(name: str) -> Json:
    """Return a pod with a hard constraint over the zones."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    return pod(name, app="web", topologySpreadConstraints=[constraint])


@pytest.mark.parametrize("script", SCRIPTS, ids=[each.name for each in SCRIPTS])
def test_all_pods_are_bound_once_during_and_after(script: Script) -> None:
    async def act(made: Scene) -> None:
        ends_by_itself = script.seconds < PATIENCE
        seconds = min(SHORT, script.seconds) if ends_by_itself else script.seconds
        fault = asyncio.create_task(script.play(made.proxy, seconds))
        await asyncio.sleep(0)
        for number in range(PODS):
            made.api.put("pods", web(f"web-{number}"))
        await eventually(made.all_bound)
        if ends_by_itself:
            await fault
        else:
            fault.cancel()
            made.proxy.faults.end()
        for number in range(MORE):
            made.api.put("pods", web(f"more-{number}"))
        await made.caught_up()

    played(act)


Change = Callable[[MiniApiServer], None]
"""Something that happens while the watch is away."""


def _deleted(api: MiniApiServer) -> None:
    api.remove("pods", "web-0")


def _replaced(**spec: Any) -> Change:
    def change(api: MiniApiServer) -> None:
        api.remove("pods", "web-0")
        api.put("pods", pod("web-0", "3", **spec))

    return change


def _finished(api: MiniApiServer) -> None:
    done = api.pod("web-0")
    api.put("pods", done | {"status": {"phase": "Succeeded"}})


def _terminating(api: MiniApiServer) -> None:
    going = api.pod("web-0")
    api.put("pods", going | {"metadata": going["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:00Z"}})


def _node_replaced(api: MiniApiServer) -> None:
    api.remove("nodes", "node-0")
    api.put("nodes", node("node-0", "b", "8"))


GAPS: dict[str, Change] = {
    "a bound pod is deleted": _deleted,
    "a bound pod is replaced by ours": _replaced(),
    "a bound pod is replaced by another scheduler's": _replaced(schedulerName="other"),
    "a bound pod is replaced on another node": _replaced(nodeName="node-5"),
    "a bound pod is replaced by a gated one": _replaced(schedulingGates=[{"name": "example.com/wait"}]),
    "a bound pod finishes": _finished,
    "a bound pod is terminating": _terminating,
    "a node is replaced": _node_replaced,
}


@pytest.mark.parametrize("ends", ["watch", "410"])
@pytest.mark.parametrize("gap", GAPS)
def test_what_happens_while_the_watch_is_away_is_known_after_it(gap: str, ends: str) -> None:
    async def act(made: Scene) -> None:
        api, proxy, cluster = made.api, made.proxy, made.scheduler.cluster
        api.put("pods", pod("web-0", "3"))
        await made.caught_up()
        proxy.faults.closed = True
        proxy.faults.cut_watches()
        GAPS[gap](api)
        if ends == "410":
            api.compact()
        proxy.faults.closed = False
        expected = {
            f"default/{name}": each["spec"]["nodeName"]
            for (_, name), each in api.objects["pods"].items()
            if each["spec"].get("nodeName") and each["status"]["phase"] == "Pending"
        }
        if gap == "a bound pod is replaced by ours":
            await eventually(lambda: api.node_of("web-0") != "")
            expected["default/web-0"] = api.node_of("web-0")
        names = cluster.nodes.names
        await eventually(lambda: {key: names[row] for key, row in cluster.placed.items()} == expected)
        # The freed room is free for others: one pod of 3 CPUs fits on each node without another one.
        free = 6 - sum(1 for _ in expected)
        for number in range(free):
            api.put("pods", pod(f"fill-{number}", "3"))
        await eventually(lambda: all(api.node_of(f"fill-{number}") for number in range(free)))

    played(act)


def test_a_pod_replaced_during_its_binding_is_bound_under_its_own_uid() -> None:
    async def act(made: Scene) -> None:
        api, faults = made.api, made.proxy.faults
        faults.matches, faults.slow = is_binding, 0.5
        first = api.put("pods", pod("web-0"))["metadata"]["uid"]
        await eventually(lambda: any(is_binding(*each) for each in faults.received))
        api.remove("pods", "web-0")
        api.put("pods", pod("web-0"))
        await made.caught_up()
        assert first not in api.bound

    played(act)


def test_a_comparison_corrects_what_a_silent_watch_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_comparer, "SETTLE", 0.1)

    async def act(made: Scene) -> None:
        api = made.api
        with api.silent_watches():
            api.put("pods", pod("web-0"))
            api.remove("nodes", "node-5")
        made.scheduler.compare_now()
        await made.caught_up()
        await eventually(lambda: "node-5" not in made.scheduler.cluster.nodes.row_of)

    played(act)


def test_every_bound_pod_has_one_event_after_lost_answers() -> None:
    async def act(made: Scene) -> None:
        faults = made.proxy.faults
        faults.matches, faults.lose_answers = is_binding, PODS
        for number in range(PODS):
            made.api.put("pods", pod(f"{'x' * 240}-{number}"))
        await made.caught_up()
        await eventually(lambda: len(made.api.events("Scheduled")) == PODS)
        regarding = Counter(each["regarding"]["uid"] for each in made.api.events("Scheduled"))
        assert set(regarding.values()) == {1}

    played(act)
