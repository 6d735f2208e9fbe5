"""Preemption on a real API server: who is evicted, what is said of it, and when the pod is tried again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.live.running import Api, eventually, in_cluster, node, pod, scheduling

Json = dict[str, Any]


def priority_class(name: str, value: int) -> Json:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def test_a_more_important_pod_evicts_and_takes_the_place(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(priority_class("high", 1000), node("one", cpu="1"))
        await api.create(pod("low-1", "400m", nodeName="one"), pod("low-2", "400m", nodeName="one"))
        async with scheduling(api) as running:
            await api.create(pod("important", "500m", priorityClassName="high"))
            await eventually(lambda: api.is_on("important", "one"))
            await eventually(lambda: api.has_event("important", "Scheduled"))
            assert running.told.failures == []
        failed = await api.events("important", "FailedScheduling")
        assert [each["note"] for each in failed] == [
            "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node one, "
            "preempting 1 victims"
        ]
        left = [each["metadata"]["name"] for each in await api.items("/api/v1/namespaces/default/pods")]
        (gone,) = {"low-1", "low-2"} - set(left)
        (told,) = await api.events(gone, "Preempted")
        uid = (await api.pod("important"))["metadata"]["uid"]
        assert told["note"] == f"Preempted by pod {uid} on node one"
        assert (told["type"], told["action"]) == ("Normal", "Preempting")
        assert "related" not in told

    in_cluster(str(empty_plane), scenario)


def test_the_nominated_node_is_told_while_a_victim_takes_its_time(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(priority_class("high", 1000), priority_class("higher", 2000), node("one", cpu="1"))
        slow = pod("slow", "800m", nodeName="one", terminationGracePeriodSeconds=30)
        slow["metadata"]["finalizers"] = ["example.com/slow"]
        await api.create(slow)
        async with scheduling(api):
            await api.create(pod("important", "500m", priorityClassName="high"))
            await eventually(lambda: api.is_nominated("important", "one"))
            await eventually(lambda: is_target(api, "slow"))
            marked = await api.condition("slow", "DisruptionTarget")
            assert (marked["status"], marked["reason"]) == ("True", "PreemptionByScheduler")
            assert marked["message"] == "default-scheduler: preempting to accommodate a higher priority pod"
            assert (await api.pod("slow"))["metadata"]["deletionTimestamp"]
            assert await api.node_of("important") == ""

            await api.create(pod("urgent", "500m", priorityClassName="higher"))
            await eventually(lambda: api.is_nominated("urgent", "one"))
            assert await api.is_nominated("important", "one")  # whose victims go already asks for nothing
            await api.patch("/api/v1/namespaces/default/pods/slow", {"metadata": {"finalizers": None}})
            await api.delete_pod("slow")
            await eventually(lambda: api.is_on("urgent", "one"))
            await eventually(lambda: api.is_nominated("urgent", ""))

    in_cluster(str(empty_plane), scenario)


def test_a_pod_that_may_not_preempt_waits(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        patient = priority_class("patient", 1000) | {"preemptionPolicy": "Never"}
        await api.create(patient, node("one", cpu="1"), pod("low", "800m", nodeName="one"))
        async with scheduling(api):
            await api.create(pod("waits", "500m", priorityClassName="patient"))
            await eventually(lambda: api.has_event("waits", "FailedScheduling"))
            (told,) = await api.events("waits", "FailedScheduling")
            assert told["note"] == (
                "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."
            )
            await api.delete_pod("low")
            await eventually(lambda: api.is_on("waits", "one"))

    in_cluster(str(empty_plane), scenario)


async def is_target(api: Api, name: str) -> bool:
    return (
        bool(await api.condition(name, "DisruptionTarget")) and "deletionTimestamp" in (await api.pod(name))["metadata"]
    )
