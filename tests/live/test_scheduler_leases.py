"""Replicas and their lease: hand-over, a leader that dies or freezes, and kube-scheduler as the other candidate."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import pytest

from tests.live.api_server import free_port
from tests.live.conftest import ControlPlane
from tests.live.processes import (
    RECOVERY,
    Process,
    all_bound,
    nodes,
    pods,
    recovered,
    scheduler,
    settle,
    sound,
)
from tests.live.running import Api, eventually, in_cluster, node, pod

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
FAST = (
    "--leader-elect",
    "--leader-elect-lease-duration=4s",
    "--leader-elect-renew-deadline=2s",
    "--leader-elect-retry-period=500ms",
)


async def holder(api: Api) -> str:
    held: str = (await api.get(LEASE))["spec"].get("holderIdentity") or ""
    return held


@asynccontextmanager
async def two(plane: Path, folder: Path) -> AsyncIterator[tuple[Process, Process]]:
    """Two replicas, the one that leads first."""
    async with (
        scheduler(plane, folder, *FAST, name="first") as first,
        scheduler(plane, folder, *FAST, name="second") as second,
    ):
        await eventually(lambda: first.leads or second.leads)
        yield (first, second) if first.leads else (second, first)


def test_a_leader_that_is_asked_to_stop_hands_over_within_a_retry(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with two(empty_plane, tmp_path) as (leader, other):
            await api.create(*pods(30))
            leader.signal(signal.SIGTERM)
            assert await leader.end() == 0
            started = time.monotonic()
            await eventually(lambda: other.leads, RECOVERY)
            assert time.monotonic() - started < 3.5
            await api.create(*pods(30, "more"))
            await recovered(api, 60)
            assert (await api.get(LEASE))["spec"]["leaseTransitions"] >= 1

    in_cluster(str(empty_plane), scenario)


def test_a_leader_that_is_killed_is_succeeded_when_its_lease_is_over(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with two(empty_plane, tmp_path) as (leader, _):
            await api.create(*pods(60))
            leader.signal(signal.SIGKILL)
            await recovered(api, 60)

    in_cluster(str(empty_plane), scenario)


def test_a_leader_that_was_frozen_past_its_lease_binds_nothing_and_ends(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with two(empty_plane, tmp_path) as (frozen, other):
            frozen.signal(signal.SIGSTOP)
            await api.create(*pods(40))
            await eventually(lambda: other.leads, RECOVERY)
            await recovered(api, 40)
            other.signal(signal.SIGSTOP)
            # Nobody but the one that wakes could bind these.
            await api.create(*pods(10, "late"))
            frozen.signal(signal.SIGCONT)
            assert await frozen.end() == 1
            assert not any(
                each["spec"].get("nodeName")
                for each in await api.items("/api/v1/namespaces/default/pods")
                if each["metadata"]["name"].startswith("late")
            )
            other.signal(signal.SIGCONT)
            # Frozen itself meanwhile, it may have lost its lease, too: then a third one goes on.
            async with scheduler(empty_plane, tmp_path, *FAST, name="third"):
                await recovered(api, 50)

    in_cluster(str(empty_plane), scenario)


def test_clocks_that_jump_move_no_lease_and_keep_no_pod_waiting(empty_plane: Path, tmp_path: Path) -> None:
    """Hours ahead, then hours behind: who leads leads on, what backs off comes again, the other takes over in turn."""

    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        clock = tmp_path / "ahead"
        clock.write_text("0")
        jumping = (sys.executable, "-m", "tests.live.jumping_clock", str(clock))
        async with scheduler(empty_plane, tmp_path, *FAST, name="first", program=jumping) as leader:
            await eventually(lambda: leader.leads)
            async with scheduler(empty_plane, tmp_path, *FAST, name="second") as other:
                led = await holder(api)
                for count, ahead in enumerate((0, 7200, -7200)):
                    clock.write_text(str(ahead))
                    late = f"late{count}"
                    await api.create(pod(late, "64"), *pods(20, f"web{count}"))
                    await eventually(lambda late=late: api.has_event(late, "FailedScheduling"))  # type: ignore[misc]
                    await eventually(lambda: renewed(api, ahead))  # noqa: B023 - asked in this round
                    await settle(5)  # longer than the lease
                    assert await holder(api) == led
                    assert not other.leads
                    # A node makes the pod come again, which backs off by a steady clock.
                    await api.create(node(f"large-{count * 3}", zone="zone-0", cpu="64500m"))
                    await eventually(lambda late=late: api.has_node(late), RECOVERY)  # type: ignore[misc]
                assert leader.ended is None
                leader.signal(signal.SIGTERM)
                assert await leader.end() == 0
                await eventually(lambda: other.leads, RECOVERY)
                await api.create(*pods(20, "more"))
                await eventually(lambda: all_bound(api, 83), RECOVERY)

    in_cluster(str(empty_plane), scenario)


async def renewed(api: Api, ahead: float) -> bool:
    """Whether the lease was renewed by a clock that is so far ahead."""
    told = (await api.get(LEASE))["spec"]["renewTime"]
    return abs(datetime.fromisoformat(told).timestamp() - time.time() - ahead) < 60


@pytest.mark.parametrize("first", ["kube-scheduler", "ours"])
def test_kube_scheduler_and_ours_take_turns(own_plane: ControlPlane, tmp_path: Path, first: str) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        theirs = [
            str(own_plane.programs / "kube-scheduler"),
            f"--kubeconfig={own_plane.kubeconfig}",
            "--secure-port=0",
            *FAST,
        ]
        if first == "kube-scheduler":
            kube = Process(theirs, tmp_path / "kube.log", free_port())
            try:
                await eventually(lambda: _is_held(api))
                kubes = await holder(api)
                async with scheduler(own_plane.kubeconfig, tmp_path, *FAST) as ours:
                    await api.create(*pods(12))
                    await eventually(lambda: all_bound(api, 12))
                    await settle(5)
                    assert await holder(api) == kubes
                    assert ours.metric("scheduler_schedule_attempts_total") == 0
                    kube.signal(signal.SIGTERM)
                    await eventually(lambda: ours.leads, RECOVERY)
                    await api.create(*pods(12, "more"))
                    await recovered(api, 24)
            finally:
                kube.stop()
            return
        async with scheduler(own_plane.kubeconfig, tmp_path, *FAST) as ours:
            await eventually(lambda: ours.leads)
            kube = Process(theirs, tmp_path / "kube.log", free_port())
            try:
                own = await holder(api)
                await settle(6)
                assert await holder(api) == own
                ours.signal(signal.SIGTERM)
                assert await ours.end() == 0
                await api.create(*pods(12))
                await eventually(lambda: all_bound(api, 12), RECOVERY)
                assert await holder(api) not in ("", own)
                await sound(api, 12)
            finally:
                kube.stop()

    in_cluster(str(own_plane.kubeconfig), scenario)


async def _is_held(api: Api) -> bool:
    leases = await api.items("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")
    return any(each["spec"].get("holderIdentity") and each["metadata"]["name"] == "kube-scheduler" for each in leases)
