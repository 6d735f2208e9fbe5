"""The live scheduler on a real API server: hard constraints of pods that opt in are soft while a zone is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.live.running import Api, eventually, in_cluster, node, pod, scheduling, spread

ZONE = "topology.kubernetes.io/zone"
AFTER = 2.0
UNREACHABLE = [{"key": "node.kubernetes.io/unreachable", "effect": each} for each in ("NoSchedule", "NoExecute")]


def web(name: str, *, opts_in: bool = True) -> dict[str, Any]:
    made = pod(name, "10m", {"app": "web"}, topologySpreadConstraints=[spread(ZONE, 1, app="web")])
    if opts_in:
        made["metadata"]["annotations"] = {"topospread.dev/fallback": f"after={AFTER:.0f}s"}
    return made


def test_pods_fall_back_after_their_time_and_not_when_the_zone_is_back(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*[node(f"node-{i}", zone="abc"[i]) for i in range(3)])
        async with scheduling(api) as running:
            nodes = running.scheduler.cluster.nodes.nodes
            await api.create(*[web(f"web-{i}") for i in range(3)])
            await eventually(lambda: len(running.told.bound_pods) == 3)
            await api.patch("/api/v1/nodes/node-0", {"spec": {"taints": UNREACHABLE}})
            lost = asyncio.get_running_loop().time()
            await eventually(lambda: any(each is not None and bool(each.spec.taints) for each in nodes))
            await api.create(web("hard", opts_in=False), *[web(f"more-{i}") for i in range(4)])
            await eventually(lambda: len(running.told.bound_pods) > 5)
            assert asyncio.get_running_loop().time() - lost >= AFTER
            await eventually(lambda: all(f"default/more-{i}" in running.told.bound_pods for i in range(4)))
            told: list[dict[str, Any]] = []

            async def some_fell_back() -> bool:
                for number in range(4):
                    told.extend(await api.events(f"more-{number}", "SpreadFallback"))
                return bool(told)

            await eventually(some_fell_back)
            assert f"{ZONE}=a since" in told[0]["note"]
            assert not await api.has_event("hard", "SpreadFallback")
            await api.patch("/api/v1/nodes/node-0", {"spec": {"taints": None}})
            await eventually(lambda: not any(each is not None and bool(each.spec.taints) for each in nodes))
            await api.create(*[web(f"after-{i}") for i in range(2)])
            await eventually(lambda: len(running.told.bound_pods) == 10)
            assert [await api.node_of(f"after-{i}") for i in range(2)] == ["node-0", "node-0"]
            assert running.told.failures == []

    in_cluster(str(empty_plane), scenario)
