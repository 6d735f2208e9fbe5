"""The live scheduler on a real API server: pods come, wait, are bound, are deleted."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from tests.live.running import Api, eventually, in_cluster, node, pod, scheduling, spread

ZONE = "topology.kubernetes.io/zone"


def test_500_pods_with_a_hard_constraint_are_spread_over_the_zones(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*[node(f"node-{i:03}", zone=f"zone-{i % 3}") for i in range(100)])
        constraint = spread(ZONE, 1, app="web")
        wanted = [pod(f"web-{i:03}", "10m", {"app": "web"}, topologySpreadConstraints=[constraint]) for i in range(500)]
        async with scheduling(api) as running:
            await api.create(*wanted)
            await eventually(lambda: len(running.told.bound_pods) == 500)
            assert running.told.failures == []
        pods = await api.items("/api/v1/namespaces/default/pods")
        counts = Counter(int(each["spec"]["nodeName"].removeprefix("node-")) % 3 for each in pods)
        assert sum(counts.values()) == 500
        assert max(counts.values()) - min(counts.values()) <= 1

    in_cluster(str(empty_plane), scenario)


def test_a_pod_that_fits_nowhere_says_why_and_is_bound_when_a_node_comes(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(node("small", cpu="1"), pod("big", "2"))
        async with scheduling(api):
            await eventually(lambda: api.has_event("big", "FailedScheduling"))
            words = (
                "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
                "1 Preemption is not helpful for scheduling."
            )
            assert (await api.events("big", "FailedScheduling"))[0]["note"] == words
            await eventually(lambda: api.says("big", words))
            told = await api.condition("big")
            assert (told["status"], told["reason"], told["observedGeneration"]) == ("False", "Unschedulable", 1)
            await api.create(node("large", cpu="4"))
            await eventually(lambda: api.is_on("big", "large"))
            await eventually(lambda: api.has_event("big", "Scheduled"))
        assert (await api.events("big", "Scheduled"))[0]["note"] == "Successfully assigned default/big to large"

    in_cluster(str(empty_plane), scenario)


def test_pods_of_other_schedulers_are_left_and_count(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(node("one", cpu="1"), pod("theirs", "800m", nodeName="one", schedulerName="other"))
        async with scheduling(api):
            await api.create(pod("ours", "500m"), pod("waits", "100m", schedulerName="other"), pod("fits", "100m"))
            await eventually(lambda: api.is_on("fits", "one"))
            await eventually(lambda: api.has_event("ours", "FailedScheduling"))
            assert await api.node_of("waits") == ""
            await api.delete_pod("theirs")
            await eventually(lambda: api.is_on("ours", "one"))

    in_cluster(str(empty_plane), scenario)


def test_a_gated_pod_waits_for_its_last_gate(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(node("one"), pod("gated", schedulingGates=[{"name": "example.com/a"}]))
        async with scheduling(api) as running:
            await eventually(lambda: running.scheduler.pending().gated == 1)
            assert (await api.condition("gated"))["reason"] == "SchedulingGated"
            await api.patch("/api/v1/namespaces/default/pods/gated", {"spec": {"schedulingGates": []}})
            await eventually(lambda: api.is_on("gated", "one"))

    in_cluster(str(empty_plane), scenario)


def test_a_waiting_pod_that_is_deleted_is_forgotten(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(pod("lonely"), pod("gone"))
        async with scheduling(api) as running:
            await eventually(lambda: api.has_event("gone", "FailedScheduling"))
            told = (await api.events("gone", "FailedScheduling"))[0]["note"]
            assert told == "no nodes available to schedule pods"
            await api.delete_pod("gone")
            await eventually(lambda: "default/gone" not in running.scheduler.pods.waiting)
            await api.create(node("one"))
            await eventually(lambda: api.is_on("lonely", "one"))
            assert running.scheduler.pending().active == 0

    in_cluster(str(empty_plane), scenario)


def test_who_may_not_bind_follows_and_takes_over(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(node("one"))
        async with scheduling(api) as running:
            running.scheduler.may_bind = False
            await api.create(pod("waits"))
            await eventually(lambda: running.scheduler.pending().active == 1)
            await asyncio.sleep(1)
            assert await api.node_of("waits") == ""
            running.scheduler.may_bind = True
            await eventually(lambda: api.is_on("waits", "one"))

    in_cluster(str(empty_plane), scenario)
