"""`topospread run extender` called by the real kube-scheduler: pods land as their annotations say."""

from __future__ import annotations

import asyncio
import json
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.live.api_server import free_port
from tests.live.conftest import ControlPlane
from tests.live.processes import TOPOSPREAD, Process
from tests.live.running import Api, Json, eventually, in_cluster, node, pod
from tests.live.test_scheduler_command import as_reader
from topospread.extender.declared import HIERARCHY, MAX_PER_DOMAIN, SHARES

_ZONE, _RACK, _HOST = "topology.kubernetes.io/zone", "example.com/rack", "kubernetes.io/hostname"
_RACKS = {"zone-a": ("1", "2"), "zone-b": ("3",), "zone-c": ("4", "5", "6")}
_NODES_A_RACK = 2


def _nodes() -> list[Json]:
    return [
        node(f"rack{rack}-{number}", zone, **{_RACK: rack})
        for zone, racks in _RACKS.items()
        for rack in racks
        for number in range(_NODES_A_RACK)
    ]


def _asking(name: str, app: str, **annotations: str) -> Json:
    made = pod(name, "50m", {"app": app})
    made["metadata"]["annotations"] = annotations
    return made


@asynccontextmanager
async def _extended(plane: ControlPlane, folder: Path, *, cached: bool) -> AsyncIterator[Process]:
    """kube-scheduler with our extender, which may read nodes and pods and nothing else."""
    reader = as_reader(plane, folder)
    plane.kubectl("create", "clusterrole", "extender", "--verb=get,list,watch", "--resource=nodes,pods")
    plane.kubectl("create", "clusterrolebinding", "extender", "--clusterrole=extender", "--user=reader")
    port = free_port()
    ours = [str(TOPOSPREAD), "run", "extender", "--kubeconfig", str(reader), "--port", str(port), "-v", "2"]
    extender = Process(ours, folder / "extender.log", port)
    config = folder / "kube.yaml"
    asked = {"urlPrefix": f"http://127.0.0.1:{port}", "filterVerb": "filter", "prioritizeVerb": "prioritize"}
    written = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(plane.kubeconfig), "qps": 1000, "burst": 1000},
        "leaderElection": {"leaderElect": False},
        "extenders": [{**asked, "weight": 5, "nodeCacheCapable": cached}],
    }
    config.write_text(json.dumps(written))
    kube = None
    try:
        await eventually(lambda: extender.is_ready)
        command = [str(plane.programs / "kube-scheduler"), f"--config={config}", "--secure-port=0"]
        kube = Process(command, folder / "kube.log", free_port())
        yield extender
        extender.signal(signal.SIGTERM)
        assert await extender.end() == 0
    finally:
        extender.stop()
        if kube is not None:
            kube.stop()


async def _where(api: Api, app: str, pods: int) -> list[Json]:
    """The nodes of an application's pods, when so many have one."""

    async def bound() -> bool:
        return len(await _nodes_of(api, app)) >= pods

    await eventually(bound)
    names = await _nodes_of(api, app)
    labels = {each["metadata"]["name"]: each["metadata"]["labels"] for each in await api.items("/api/v1/nodes")}
    return [labels[name] for name in names]


async def _nodes_of(api: Api, app: str) -> list[str]:
    pods = await api.items("/api/v1/namespaces/default/pods")
    found = [each["spec"].get("nodeName") for each in pods if each["metadata"]["labels"].get("app") == app]
    return [name for name in found if name]


@pytest.mark.parametrize("cached", [True, False])
def test_pods_land_as_their_annotations_say(own_plane: ControlPlane, tmp_path: Path, cached: bool) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*_nodes())
        async with _extended(own_plane, tmp_path, cached=cached):
            await asyncio.gather(_shares(api), _caps(api), _hierarchy(api), _malformed(api))

    in_cluster(str(own_plane.kubeconfig), scenario)


async def _shares(api: Api) -> None:
    """60/30/10 of 20 pods that come at once; kube-scheduler alone would put a third into each zone."""
    wanted = {SHARES: f"{_ZONE}: zone-a=60, zone-b=30, zone-c=10"}
    await api.create(*[_asking(f"shared-{number}", "shared", **wanted) for number in range(20)])
    where = await _where(api, "shared", 20)
    assert Counter(each[_ZONE] for each in where) == {"zone-a": 12, "zone-b": 6, "zone-c": 2}


async def _caps(api: Api) -> None:
    """The pods beyond the caps stay pending, and their event says why."""
    wanted = {MAX_PER_DOMAIN: f"{_HOST}: 1; {_ZONE}: zone-c=0, *=3"}
    await api.create(*[_asking(f"capped-{number}", "capped", **wanted) for number in range(7)])
    where = await _where(api, "capped", 5)
    assert Counter(each[_ZONE] for each in where) == {"zone-a": 3, "zone-b": 2}
    assert max(Counter(each[_HOST] for each in where).values()) == 1

    async def told() -> bool:
        said = [await api.condition(f"capped-{number}") for number in range(7)]
        words = [each["message"] for each in said if each.get("reason") == "Unschedulable"]
        return len(words) == 2 and all(f"{_ZONE}=zone-c holds 0 pod(s), of at most 0" in each for each in words)

    await eventually(told)


async def _hierarchy(api: Api) -> None:
    """Even over zones, and in each zone over its racks, of which each zone has another number."""
    wanted = {HIERARCHY: f"{_ZONE} > {_RACK}"}
    await api.create(*[_asking(f"deep-{number}", "deep", **wanted) for number in range(18)])
    where = await _where(api, "deep", 18)
    racks = Counter((each[_ZONE], each[_RACK]) for each in where)
    assert racks == {(zone, rack): 6 // len(every) for zone, every in _RACKS.items() for rack in every}


async def _malformed(api: Api) -> None:
    """What cannot be read is told in the pod's condition, and lets it on no node."""
    await api.create(_asking("malformed", "malformed", **{SHARES: f"{_ZONE}: zone-a=60"}))

    async def told() -> bool:
        return f"{SHARES}: {_ZONE}: the shares are 60 %" in (await api.condition("malformed")).get("message", "")

    await eventually(told)
