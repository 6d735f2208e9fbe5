"""Volumes on a real API server; the test is the PV controller and the provisioner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.live.running import Api, claim, eventually, in_cluster, node, pod, scheduling, storage_class

Json = dict[str, Any]
VOLUME = "/api/v1/persistentvolumes/disk"
CLAIM = "/api/v1/namespaces/default/persistentvolumeclaims/data"


def volume(host: str, name: str = "disk") -> Json:
    reach = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "late",
            "local": {"path": "/disk"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [reach]}},
        },
    }


def with_claim(name: str, claim: str = "data") -> Json:
    return pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}])


async def make(api: Api, host: str) -> None:
    """Somebody makes a volume, and the PV controller finds it to be free."""
    await api.create(volume(host))
    await api.patch(f"{VOLUME}/status", {"status": {"phase": "Available"}})


async def bind(api: Api) -> None:
    """What the PV controller does once a volume names its claim."""
    completed = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    await api.patch(CLAIM, {"metadata": {"annotations": completed}, "spec": {"volumeName": "disk"}})


def test_a_claim_that_waits_gets_the_volume_of_the_node(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(node("one"), node("two"), storage_class("kubernetes.io/no-provisioner"))
        await api.create(claim())
        await make(api, "two")
        async with scheduling(api) as running:
            await api.create(with_claim("user"))
            await eventually(lambda: names_claim(api))
            taken = (await api.get(VOLUME))["metadata"]["annotations"]
            assert taken["pv.kubernetes.io/bound-by-controller"] == "yes"
            assert (await api.get(VOLUME))["spec"]["claimRef"]["uid"] == (await api.get(CLAIM))["metadata"]["uid"]
            assert await api.node_of("user") == ""
            await eventually(lambda: api.is_nominated("user", "two"))
            await bind(api)
            await eventually(lambda: api.is_on("user", "two"))
            assert running.told.failures == []

    in_cluster(str(empty_plane), scenario)


def test_a_claim_is_made_for_the_node_and_given_up_by_the_provisioner(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(node("one"), storage_class("example.com/disks"), claim())
        async with scheduling(api) as running:
            await api.create(with_claim("user"))
            await eventually(lambda: is_for(api, "one"))
            await api.patch(CLAIM, {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": None}}})
            await eventually(lambda: len(running.told.failures) == 1)
            words = 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"'
            assert running.told.failures == [f"default/user on one: {words}"]
            await eventually(lambda: api.says("user", words))
            await eventually(lambda: is_for(api, "one"))
            await make(api, "one")
            await bind(api)
            await eventually(lambda: api.is_on("user", "one"))

    in_cluster(str(empty_plane), scenario)


def test_two_pods_do_not_get_one_volume(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(node("one"), storage_class("kubernetes.io/no-provisioner"))
        await api.create(claim(), claim("more"))
        await make(api, "one")
        async with scheduling(api):
            await api.create(with_claim("first"))
            await eventually(lambda: names_claim(api))
            await api.create(with_claim("second", "more"))
            await eventually(lambda: api.has_event("second", "FailedScheduling"))
            (told,) = await api.events("second", "FailedScheduling")
            assert "1 node(s) didn't find available persistent volumes to bind" in told["note"]

    in_cluster(str(empty_plane), scenario)


def test_a_pod_that_is_deleted_while_its_volume_is_bound_frees_its_node(empty_plane: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(node("one", cpu="1"), storage_class("example.com/disks"), claim())
        async with scheduling(api) as running:
            user = with_claim("user")
            user["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "800m"
            await api.create(user)
            await eventually(lambda: is_for(api, "one"))
            await api.create(pod("other", "800m"))
            await eventually(lambda: api.has_event("other", "FailedScheduling"))
            await api.delete_pod("user")
            await eventually(lambda: api.is_on("other", "one"))
            await eventually(lambda: running.scheduler.in_flight == 0)

    in_cluster(str(empty_plane), scenario)


async def names_claim(api: Api) -> bool:
    return "claimRef" in (await api.get(VOLUME))["spec"]


async def is_for(api: Api, node: str) -> bool:
    annotations = (await api.get(CLAIM))["metadata"].get("annotations") or {}
    return annotations.get("volume.kubernetes.io/selected-node") == node
