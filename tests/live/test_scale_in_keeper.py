"""``topospread run scale-in-keeper`` beside the real ReplicaSet controller: fifty scale-ins keep each constraint."""

from __future__ import annotations

import asyncio
import random
import signal
from collections import Counter
from functools import partial
from pathlib import Path

from tests.live.api_server import free_port
from tests.live.conftest import ControlPlane
from tests.live.kubelets import Kubelets
from tests.live.processes import TOPOSPREAD, ZONE, Process
from tests.live.running import Api, Json, eventually, in_cluster, node, spread
from tests.live.test_drills import controllers

_HOST = "kubernetes.io/hostname"
_ZONES = "aaaaaabbbbbbcccccc"
_WORKLOADS, _ROUNDS = 10, 5
_PODS = "/api/v1/namespaces/default/pods"
_COST = "controller.kubernetes.io/pod-deletion-cost"
_LIMITS = ({ZONE: 1}, {ZONE: 1, _HOST: 1}, {ZONE: 2, _HOST: 1})


def _limits(name: str) -> dict[str, int]:
    """Return topology key → maxSkew of a workload's hard constraints."""
    return _LIMITS[int(name.removeprefix("web-")) % len(_LIMITS)]


def _deployment(name: str) -> Json:
    labels = {"app": name}
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "10m"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": "default",
            "annotations": {"topospread.dev/scale-in": "keep-spread"},
        },
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": [container],
                    "terminationGracePeriodSeconds": 0,
                    "topologySpreadConstraints": [spread(key, skew, **labels) for key, skew in _limits(name).items()],
                },
            },
        },
    }


def test_fifty_random_scale_ins_keep_every_constraint(own_plane: ControlPlane, tmp_path: Path) -> None:
    port = free_port()
    words = [str(TOPOSPREAD), "run", "scale-in-keeper", "--kubeconfig", str(own_plane.kubeconfig), "--port", str(port)]
    # More requests than by default, as everything happens at once here.
    keeper = Process([*words, "--kube-api-qps", "200", "--kube-api-burst", "400", "-v", "3"], tmp_path / "log", port)
    kubelets = Kubelets(own_plane.kubeconfig)

    async def scenario(api: Api) -> None:
        await api.create(*[node(f"node-{number}", f"zone-{zone}", cpu="64") for number, zone in enumerate(_ZONES)])
        kubelets.nodes = {f"node-{number}" for number in range(len(_ZONES))}
        await api.create(*[_deployment(f"web-{number}") for number in range(_WORKLOADS)])
        await eventually(lambda: keeper.is_ready and keeper.leads)
        draw = random.Random(33)
        for _ in range(_ROUNDS):
            before = {f"web-{number}": draw.randint(4, 12) for number in range(_WORKLOADS)}
            await _scale(api, before)
            await eventually(partial(_settled, api, before, keeper))
            after = {name: draw.randint(1, replicas - 1) for name, replicas in before.items()}
            await _scale(api, after)
            await eventually(partial(_run, api, after))
            await _check(api)
        keeper.signal(signal.SIGTERM)
        assert await keeper.end() == 0
        assert "released lease" in keeper.log.read_text()

    which = ("deployment-controller", "replicaset-controller")
    try:
        with controllers(own_plane, tmp_path, which), kubelets.at_work():
            in_cluster(str(own_plane.kubeconfig), scenario)
    finally:
        keeper.stop()


async def _scale(api: Api, replicas: dict[str, int]) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    await asyncio.gather(
        *[api.patch(f"{path}/{name}/scale", {"spec": {"replicas": count}}) for name, count in replicas.items()]
    )


async def _run(api: Api, replicas: dict[str, int]) -> bool:
    """Return whether there are as many pods as wanted, each of them ready."""
    pods = await api.items(_PODS)
    ready = [each for each in pods if any(c["type"] == "Ready" and c["status"] == "True" for c in _conditions(each))]
    counted = Counter(each["metadata"]["labels"]["app"] for each in ready)
    return len(ready) == len(pods) and counted == replicas


def _conditions(pod: Json) -> list[Json]:
    found: list[Json] = pod["status"].get("conditions") or []
    return found


async def _settled(api: Api, replicas: dict[str, int], keeper: Process) -> bool:
    """Return whether all pods run, and the keeper has nothing left to write for half a second."""
    if not await _run(api, replicas):
        return False
    costs = Counter((each["metadata"]["labels"]["app"], _cost(each)) for each in await api.items(_PODS))
    written = keeper.metric("topospread_scale_in_costs_total")
    await asyncio.sleep(0.5)
    changed = keeper.metric("topospread_scale_in_changed_replica_sets")
    return max(costs.values()) == 1 and not changed and written == keeper.metric("topospread_scale_in_costs_total")


def _cost(pod: Json) -> int:
    return int((pod["metadata"].get("annotations") or {}).get(_COST, 0))


async def _check(api: Api) -> None:
    nodes = {each["metadata"]["name"]: each["metadata"]["labels"] for each in await api.items("/api/v1/nodes")}
    pods = await api.items(_PODS)
    for name in sorted({each["metadata"]["labels"]["app"] for each in pods}):
        on = [nodes[each["spec"]["nodeName"]] for each in pods if each["metadata"]["labels"]["app"] == name]
        for key, limit in _limits(name).items():
            counted = Counter(dict.fromkeys((each[key] for each in nodes.values()), 0))
            counted.update(each[key] for each in on)
            assert max(counted.values()) - min(counted.values()) <= limit, (name, key, counted)
