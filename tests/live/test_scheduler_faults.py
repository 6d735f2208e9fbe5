"""Faults under load: afterwards all is bound within seconds, nothing twice, nothing over what nodes have or lost."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.faults.fault_proxy import FaultProxy, fault_proxy, is_binding
from tests.live.conftest import ControlPlane
from tests.live.processes import (
    RECOVERY,
    Part,
    Process,
    address,
    nodes,
    part,
    pods,
    recovered,
    scheduler,
    settle,
    sound,
    with_server,
)
from tests.live.running import Api, eventually, in_cluster, node, pod
from topospread.live.api_error import RequestError

# Connections that are cut on purpose are closed when the loop that knew them is gone.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

SOME = 40


@pytest.fixture
def api_server(own_plane: ControlPlane) -> Iterator[Part]:
    with part(own_plane.kubeconfig, "apiserver") as running:
        yield running


@asynccontextmanager
async def behind_a_proxy(kubeconfig: Path, folder: Path) -> AsyncIterator[tuple[FaultProxy, Process]]:
    """Ours, which reaches the API server through the proxy alone."""
    async with fault_proxy(address(kubeconfig)) as proxy:
        own = with_server(kubeconfig, folder, proxy.url)
        async with scheduler(own, folder) as ours:
            yield proxy, ours


def test_an_api_server_that_is_killed_and_started_again(
    own_plane: ControlPlane, api_server: Part, tmp_path: Path
) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with scheduler(own_plane.kubeconfig, tmp_path) as ours:
            await api.create(*pods(SOME))
            command = api_server.kill()
            await settle(3)
            assert ours.ended is None
            api_server.start(command)
            await eventually(lambda: answers(api))
            await api.create(*pods(SOME, "more"))
            await recovered(api, 2 * SOME)

    in_cluster(str(own_plane.kubeconfig), scenario)


def test_an_api_server_that_is_frozen(own_plane: ControlPlane, api_server: Part, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with scheduler(own_plane.kubeconfig, tmp_path) as ours:
            await api.create(*pods(SOME))
            api_server.signal(signal.SIGSTOP)
            await settle(30)
            assert ours.ended is None
            api_server.signal(signal.SIGCONT)
            await eventually(lambda: answers(api))
            await api.create(*pods(SOME, "more"))
            await recovered(api, 2 * SOME)

    in_cluster(str(own_plane.kubeconfig), scenario)


def test_a_version_that_was_compacted_away_is_listed_anew(
    own_plane: ControlPlane, api_server: Part, tmp_path: Path
) -> None:
    async def scenario(api: Api) -> None:
        plane = own_plane.kubeconfig
        await api.create(*nodes(3))
        async with behind_a_proxy(plane, tmp_path) as (proxy, ours):
            await api.create(*pods(12))
            await recovered(api, 12)
            proxy.faults.closed = True
            proxy.faults.cut_watches()
            await api.delete("/api/v1/nodes/node-0")
            await api.delete_pod("web-0001")
            await api.create(*[node(f"node-{i}", zone=f"zone-{i % 3}") for i in range(3, 9)])
            compact(int(address(plane).rpartition(":")[2]) + 1)
            relists = ours.metric("topospread_relists_total")
            # The API server's own cache of watches goes with it.
            api_server.start(api_server.kill())
            await eventually(lambda: answers(api))
            proxy.faults.closed = False
            # Nodes are listed anew: one is gone, six came. A pod too, which nobody saw go.
            # Of twelve pods one is gone, and four are on no node any more.
            await eventually(lambda: ours.metric("scheduler_cache_size") == 8 + 7, RECOVERY)
            await api.create(*pods(SOME, "more"))
            await recovered(api, 11 + SOME)
            assert ours.metric("topospread_relists_total") > relists

    in_cluster(str(own_plane.kubeconfig), scenario)


def compact(port: int) -> None:
    """Have etcd forget all but the newest version."""

    def ask(path: str, body: dict[str, object]) -> dict[str, dict[str, str]]:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            found: dict[str, dict[str, str]] = json.load(answer)
            return found

    now = ask("/v3/kv/range", {"key": base64.b64encode(b"x").decode()})["header"]["revision"]
    ask("/v3/kv/compaction", {"revision": now, "physical": True})


def test_too_many_requests(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with behind_a_proxy(empty_plane, tmp_path) as (proxy, _):
            proxy.faults.status, proxy.faults.retry_after = 429, 1
            await api.create(*pods(SOME))
            await settle(4)
            assert proxy.faults.bindings(201) == 0
            proxy.faults.status = 0
            await recovered(api, SOME)
            assert proxy.faults.bindings(201) == SOME

    in_cluster(str(empty_plane), scenario)


def test_internal_errors(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with behind_a_proxy(empty_plane, tmp_path) as (proxy, _):
            proxy.faults.status = 500
            proxy.faults.cut_watches()
            await api.create(*pods(SOME))
            await settle(3)
            proxy.faults.status = 0
            await recovered(api, SOME)

    in_cluster(str(empty_plane), scenario)


def test_bindings_that_are_refused_for_a_while_are_tried_again(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with behind_a_proxy(empty_plane, tmp_path) as (proxy, ours):
            proxy.faults.matches, proxy.faults.status = is_binding, 500
            await api.create(*pods(SOME))
            await eventually(lambda: ours.metric("topospread_binding_failures_total") >= SOME)
            proxy.faults.status = 0
            await recovered(api, SOME)
            assert proxy.faults.bindings(201) == SOME

    in_cluster(str(empty_plane), scenario)


def test_connections_that_are_cut_mid_watch_and_mid_bind(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with behind_a_proxy(empty_plane, tmp_path) as (proxy, _):
            proxy.faults.matches, proxy.faults.cut_before = is_binding, SOME // 2
            creating = asyncio.create_task(api.create(*pods(2 * SOME)))
            for _ in range(6):
                proxy.faults.cut_watches()
                await settle(0.3)
            await creating
            await recovered(api, 2 * SOME)
            assert proxy.faults.bindings(201) == 2 * SOME

    in_cluster(str(empty_plane), scenario)


def test_bindings_whose_answer_was_lost_are_not_sent_to_another_node(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with behind_a_proxy(empty_plane, tmp_path) as (proxy, ours):
            proxy.faults.matches, proxy.faults.lose_answers = is_binding, SOME
            await api.create(*pods(2 * SOME))
            await recovered(api, 2 * SOME)
            # Each was bound by one request; those that were sent again met a pod that is bound already.
            assert proxy.faults.bindings(201) == 2 * SOME
            # It is told once a second.
            await eventually(lambda: ours.metric("scheduler_pending_pods") == 0)

    in_cluster(str(empty_plane), scenario)


def test_a_second_scheduler_that_binds_to_the_same_nodes(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        config = tmp_path / "second.yaml"
        config.write_text(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            "profiles: [{schedulerName: second}]\n"
        )
        await api.create(*nodes(6, cpu="4"))
        async with (
            scheduler(empty_plane, tmp_path) as ours,
            scheduler(empty_plane, tmp_path, "--config", str(config), name="second") as second,
        ):
            # Half of the room, so that all fit though the two do not see each other's last placements.
            await api.create(*pods(50, "one"), *pods(50, "two", schedulerName="second"))
            await recovered(api, 100)
            # What one bound the other counts: two at a time would find the same room, one after the other does not.
            await api.create(*[pod(f"big-{i}", "1900m", schedulerName="second") for i in range(6)])
            await eventually(lambda: bound(api, 106), RECOVERY)
            await settle(1)
            await api.create(*[pod(f"late-{i}", "1900m") for i in range(6)])
            await settle(3)
            await sound(api, 112)
            assert ours.metric("scheduler_schedule_attempts_total") > 0
            assert second.metric("scheduler_schedule_attempts_total") > 0

    in_cluster(str(empty_plane), scenario)


def test_pods_that_are_deleted_while_waiting_and_while_being_bound(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with behind_a_proxy(empty_plane, tmp_path) as (proxy, ours):
            # Waiting for room, backing off, gated, and being bound when they go.
            gate = {"schedulingGates": [{"name": "example.com/wait"}]}
            await api.create(
                *[pod(f"huge-{i}", "100") for i in range(5)], *[pod(f"gated-{i}", **gate) for i in range(5)]
            )
            proxy.faults.matches, proxy.faults.status, proxy.faults.retry_after = is_binding, 429, 1
            await api.create(*pods(SOME))
            await settle(2)
            gone = [f"web-{i:04}" for i in range(0, SOME, 2)] + ["huge-0", "huge-1", "gated-0"]
            for name in gone:
                await api.delete_pod(name)
            proxy.faults.status = 0
            left = SOME // 2
            await eventually(lambda: bound(api, left), RECOVERY)
            await settle(2)
            await eventually(lambda: ours.metric("scheduler_pending_pods") == 7)
            assert ours.metric("scheduler_cache_size") == 6 + left
            # What the deleted ones had taken is free again.
            await api.create(*[pod(f"fill-{i}", "3") for i in range(6)])
            await eventually(lambda: bound(api, left + 6), RECOVERY)

    in_cluster(str(empty_plane), scenario)


async def bound(api: Api, count: int) -> bool:
    listed = await api.items("/api/v1/namespaces/default/pods")
    return sum(1 for each in listed if each["spec"].get("nodeName")) == count


def test_10000_events_while_disconnected(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with behind_a_proxy(empty_plane, tmp_path) as (proxy, ours):
            proxy.faults.closed = True
            proxy.faults.cut_watches()
            await api.create(*pods(SOME))
            labels = asyncio.Semaphore(16)

            async def label(turn: int) -> None:
                async with labels:
                    path = f"/api/v1/nodes/node-{turn % 6}"
                    await api.patch(path, {"metadata": {"labels": {"turn": str(turn)}}})

            await asyncio.gather(*[label(turn) for turn in range(10_000)])
            proxy.faults.closed = False
            await recovered(api, SOME)
            assert ours.ended is None

    in_cluster(str(empty_plane), scenario)


def test_a_right_that_is_taken_away_and_given_back(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        rule = ("clusterrolebinding", "reader", "--clusterrole=cluster-admin", "--user=reader")
        own_plane.kubectl("create", *rule)
        reader = tmp_path / "reader"
        reader.write_text(own_plane.kubeconfig.read_text().replace("current-context: local", "current-context: reader"))
        await api.create(*nodes())
        async with scheduler(reader, tmp_path) as ours:
            own_plane.kubectl("delete", *rule[:2])
            await api.create(*pods(SOME))
            await settle(5)
            assert ours.ended is None
            own_plane.kubectl("create", *rule)
            await recovered(api, SOME)

    in_cluster(str(own_plane.kubeconfig), scenario)


async def answers(api: Api) -> bool:
    """Whether the API server is there."""
    try:
        await api.items("/api/v1/nodes")
    except RequestError:
        return False
    return True
