"""The scale-in keeper behind a proxy that goes wrong: in the end the ReplicaSet controller would keep the spread."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
import pytest

from tests.faults.fault_proxy import FaultProxy, fault_proxy
from tests.faults.mini_api_server import MiniApiServer, mini_api_server
from tests.faults.test_faults import eventually, node, web
from topospread.api.pod import Pod
from topospread.controllers.removal import removal_order
from topospread.live import scale_in_keeper
from topospread.live.client import ApiClient
from topospread.live.connection import Connection
from topospread.live.daemon import DONE, Stop, background, lead
from topospread.live.election import Timing
from topospread.live.follow_state import KindStates
from topospread.live.followed_cluster import FollowedCluster
from topospread.live.lease import LeaderElection, LeaseLock
from topospread.live.scale_in_keeper import ScaleInKeeper
from topospread.live.scale_in_metrics import ScaleInMetrics
from topospread.live.scale_in_plan import KINDS, ScaleInPlans

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

Json = dict[str, Any]
COST = scale_in_keeper.COST
SHORT = 0.7


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale_in_keeper, "_AGAIN", 0.2)


@dataclass
class SnapshotRefresher:
    """A keeper that follows."""

    plans: ScaleInPlans = field(default_factory=ScaleInPlans)
    metrics: ScaleInMetrics = field(default_factory=ScaleInMetrics)

    @asynccontextmanager
    async def at_work(self, url: str, *, dry_run: bool = False) -> AsyncIterator[tuple[ScaleInKeeper, ApiClient]]:
        connection, states = Connection(url, None, _no_headers), KindStates(self.metrics)
        async with ApiClient(connection, qps=0, observer=states) as client:
            followed = FollowedCluster(client, connection, states, kinds=KINDS, listener=self.plans)
            async with background(followed.run()):
                yield ScaleInKeeper(client, self.plans, followed, self.metrics, dry_run=dry_run), client

    @property
    def written(self) -> int:
        return self.metrics.costs[("written",)]


async def _no_headers() -> dict[str, str]:
    return {}


def pod(name: str, on: str) -> Json:
    made = web(name)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "rs", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    made["spec"]["nodeName"] = on
    made["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return made


def filled(api: MiniApiServer, pods: str = "000111222") -> None:
    """Three zones with a node each, and a ReplicaSet that opted in."""
    for number, zone in enumerate("abc"):
        api.put("nodes", node(f"node-{number}", zone))
    annotations = {"topospread.dev/scale-in": "keep-spread"}
    api.put(
        "replicasets", {"metadata": {"name": "web-1", "namespace": "default", "uid": "rs", "annotations": annotations}}
    )
    for number, on in enumerate(pods):
        api.put("pods", pod(f"web-{number}", f"node-{on}"))


def holds(api: MiniApiServer) -> bool:
    """Return whether each scale-in by the controller's ranking keeps maxSkew 1."""
    pods = [msgspec.convert(each, Pod) for each in api.objects["pods"].values()]
    counted = Counter(dict.fromkeys(("node-0", "node-1", "node-2"), 0))
    counted.update(each.spec.node_name or "" for each in pods)
    skews = []
    for each in removal_order(pods, pods, None):
        counted[each.spec.node_name or ""] -= 1
        skews.append(max(counted.values()) - min(counted.values()))
    return max(skews) <= 1


def costs(api: MiniApiServer) -> int:
    """Return the number of different costs."""
    return len({(each["metadata"].get("annotations") or {}).get(COST) for each in api.objects["pods"].values()})


def played(act: Callable[[MiniApiServer, FaultProxy, SnapshotRefresher], Awaitable[None]]) -> SnapshotRefresher:
    """Play something with a keeper that may write."""
    keeper = SnapshotRefresher()

    async def play() -> None:
        async with mini_api_server() as api, fault_proxy(api.url) as proxy:
            filled(api)
            async with keeper.at_work(proxy.url) as (running, _):
                end = asyncio.Event()
                task = asyncio.create_task(running.run(end))
                try:
                    await act(api, proxy, keeper)
                finally:
                    proxy.faults.end()
                    end.set()
                    await task

    asyncio.run(play())
    return keeper


def is_patch(method: str, path: str) -> bool:
    return method == "PATCH"


@pytest.mark.parametrize(
    "faults",
    [
        {"status": 500},
        {"status": 503, "retry_after": 1},
        {"status": 429, "retry_after": 1},
        {"status": 403},
        {"lose_answers": 4},
        {"cut_before": 4},
        {"closed": True},
        {"expired": True},
        {"halved": True},
    ],
    ids=str,
)
def test_costs_are_written_during_a_fault_or_after_it(faults: Json) -> None:
    async def act(api: MiniApiServer, proxy: FaultProxy, keeper: SnapshotRefresher) -> None:
        proxy.faults.matches = is_patch if not {"expired", "closed"} & faults.keys() else proxy.faults.matches
        for name, value in faults.items():
            setattr(proxy.faults, name, value)
        await asyncio.sleep(SHORT)
        proxy.faults.end()
        await eventually(lambda: costs(api) == 9 and not keeper.plans.changed)
        assert holds(api)

    played(act)


def test_a_watch_that_missed_pods_is_made_up_for() -> None:
    async def act(api: MiniApiServer, proxy: FaultProxy, keeper: SnapshotRefresher) -> None:
        await eventually(lambda: costs(api) == 9)
        with api.silent_watches():
            api.remove("pods", "web-0")
            for number in range(9, 14):
                api.put("pods", pod(f"web-{number}", f"node-{number % 3}"))
        api.compact()
        await eventually(lambda: costs(api) == 13 and holds(api) and not keeper.plans.changed)

    played(act)


def test_a_quiet_cluster_gets_no_more_writes() -> None:
    async def act(api: MiniApiServer, proxy: FaultProxy, keeper: SnapshotRefresher) -> None:
        await eventually(lambda: costs(api) == 9)
        await asyncio.sleep(SHORT)
        for name in ("web-0", "web-1"):
            heard = api.pod(name)
            api.put("pods", heard | {"status": heard["status"] | {"startTime": "2026-01-01T00:00:00Z"}})
        await asyncio.sleep(SHORT)

    assert played(act).written == 8


def test_a_pod_of_the_same_name_keeps_its_own_cost() -> None:
    async def act(api: MiniApiServer, proxy: FaultProxy, keeper: SnapshotRefresher) -> None:
        await eventually(lambda: costs(api) == 9)
        proxy.faults.matches, proxy.faults.slow = is_patch, 0.5
        api.put("pods", pod("web-9", "node-0"))
        api.put("pods", pod("web-10", "node-1"))
        await eventually(lambda: any(method == "PATCH" for method, _ in proxy.faults.received[-3:]))
        for name, on in (("web-9", "node-0"), ("web-10", "node-1")):
            api.remove("pods", name)
            api.put("pods", pod(name, on))
        await eventually(lambda: costs(api) == 11 and not keeper.plans.changed)
        assert holds(api)

    played(act)


def test_a_pod_that_may_not_be_changed_holds_up_no_other() -> None:
    async def act(api: MiniApiServer, proxy: FaultProxy, keeper: SnapshotRefresher) -> None:
        await eventually(lambda: costs(api) == 9)
        proxy.faults.matches, proxy.faults.status = lambda method, path: path.endswith("/web-9"), 403
        for number in (9, 10, 11):
            api.put("pods", pod(f"web-{number}", f"node-{number % 3}"))
        await eventually(lambda: keeper.metrics.costs[("failed",)] > 1)
        unset = [name for (_, name), each in api.objects["pods"].items() if "annotations" not in each["metadata"]]
        assert len(unset) <= 2
        proxy.faults.end()
        await eventually(lambda: costs(api) == 12 and holds(api))

    played(act)


def test_a_replica_set_may_go_while_costs_of_another_are_written() -> None:
    async def act(api: MiniApiServer, proxy: FaultProxy, keeper: SnapshotRefresher) -> None:
        await eventually(lambda: costs(api) == 9)
        proxy.faults.matches, proxy.faults.slow = is_patch, 0.4
        annotations = {"topospread.dev/scale-in": "keep-spread"}
        other = {"name": "zzz", "namespace": "default", "uid": "zzz", "annotations": annotations}
        api.put("replicasets", {"metadata": other})
        api.put("pods", pod("web-9", "node-0"))
        api.put("pods", pod("web-10", "node-1"))
        await eventually(lambda: "PATCH" in [method for method, _ in proxy.faults.received[-2:]])
        api.remove("replicasets", "zzz")
        await eventually(lambda: costs(api) == 11 and not keeper.plans.changed)

    played(act)


def test_a_dry_run_writes_nothing() -> None:
    keeper = SnapshotRefresher()

    async def play() -> None:
        async with mini_api_server() as api:
            filled(api)
            async with keeper.at_work(api.url, dry_run=True) as (running, _):
                end = asyncio.Event()
                task = asyncio.create_task(running.run(end))
                await eventually(lambda: keeper.metrics.costs[("dry-run",)] == 8)
                await asyncio.sleep(SHORT)
                end.set()
                await task
            assert {method for method, _ in api.requests} == {"GET"}
            assert keeper.metrics.costs == {("dry-run",): 8}

    asyncio.run(play())


def test_only_the_leader_writes_and_the_other_takes_over() -> None:
    async def play() -> None:
        async with mini_api_server() as api:
            filled(api)
            first, second = SnapshotRefresher(), SnapshotRefresher()
            stops = [Stop(), Stop()]
            async with first.at_work(api.url) as one, second.at_work(api.url) as two:
                tasks = []
                for keeper, (running, client), stop, name in zip((first, second), (one, two), stops, "ab", strict=True):
                    lock = LeaseLock(client, "kube-system", "keeper", 1.0)
                    election = LeaderElection(lock, name, Timing(2.0, 1.5, 0.1), keeper.metrics)
                    running.allowed = partial(getattr, election.election, "may_bind")
                    tasks.append(asyncio.create_task(lead(running.run, election, stop)))
                    if keeper is first:
                        await eventually(lambda: costs(api) == 9)
                api.put("pods", pod("web-9", "node-0"))
                await eventually(lambda: costs(api) == 10)
                await asyncio.sleep(0.3)
                assert second.written == 0
                stops[0].asked.set()
                assert await tasks[0] == DONE
                written = first.written
                api.put("pods", pod("web-10", "node-1"))
                await eventually(lambda: costs(api) == 11 and holds(api))
                assert second.written > 0
                assert first.written == written
                stops[1].asked.set()
                assert await tasks[1] == DONE

    asyncio.run(play())


def test_the_metrics_say_what_is_kept() -> None:
    async def act(api: MiniApiServer, proxy: FaultProxy, keeper: SnapshotRefresher) -> None:
        await eventually(lambda: costs(api) == 9)
        await asyncio.sleep(0.3)
        found = {
            each.name: {sample.labels.get("result", ""): sample.value for sample in each.samples}
            for each in keeper.metrics.collect()
        }
        assert found["topospread_scale_in_replica_sets"] == {"": 1}
        assert found["topospread_scale_in_costs"] == {"written": 8}
        assert found["topospread_scale_in_unordered_replica_sets"] == {"": 0}
        assert found["topospread_scale_in_exceeding_replica_sets"] == {"": 0}

    played(act)
