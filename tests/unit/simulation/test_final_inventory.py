"""The cluster that a simulation leaves: another simulation starts from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

import topospread
from tests.parted import parted
from tests.unit.controllers.manifests import Json, inventory, pod, workload
from topospread.answers.status import status
from topospread.api.meta import ObjectMeta
from topospread.api.storage import PersistentVolume
from topospread.simulation.final_inventory import inventory_after
from topospread.simulation.options import SimulationOptions
from topospread.simulation.placing import place_all
from topospread.simulation.result import Simulation
from topospread.simulation.run import prepare
from topospread.simulation.simulate import simulate
from topospread.sources.snapshot_file import save
from topospread.why.explain import explain

SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def node(name: str, cpu: str = "4") -> Json:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    metadata = {"name": name, "labels": {"zone": f"zone-{name}", "kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": amounts}}


def web(kind: str = "Deployment", replicas: int = 4, cpu: str = "1", **more: Any) -> Json:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    return workload(kind, "web", replicas=replicas, pod={"containers": containers, **more.pop("pod", {})}, **more)


def again(first: Simulation, **options: Any) -> Simulation:
    """Another simulation from where the first ended."""
    assert first.after is not None
    return simulate(first.after, keep_after=True, **parted(options))


def nodes_of(simulation: Simulation) -> dict[str, str | None]:
    assert simulation.after is not None
    return {each.name: each.spec.node_name for each in simulation.after.pods}


def test_what_was_placed_stays_and_nothing_is_placed_twice() -> None:
    first = simulate(inventory(node("a"), node("b"), web(pod={"topologySpreadConstraints": [SPREAD]})), keep_after=True)
    second = again(first)
    assert (first.pending, second.pending, second.placements) == ((), (), ())
    assert nodes_of(second) == {each.name: each.node for each in first.placements}
    (row,) = second.workloads
    assert (row.kind, row.name, row.replicas, row.existing) == ("Deployment", "web", 4, 4)


def test_it_is_not_kept_unless_asked_for() -> None:
    assert simulate(inventory(node("a"), web())).after is None


def test_pending_pods_stay_pending_with_their_message() -> None:
    first = simulate(inventory(node("a", "2"), web()), keep_after=True)
    second = again(first)
    (before,), (after,) = first.pending, second.pending
    assert (sorted(before.pods), before.message) == (sorted(after.pods), after.message)
    assert len(after.pods) == 2


def test_replicas_that_were_asked_for_are_the_workloads_own() -> None:
    objects = node("a"), web(), *(pod(f"web-{i}", "ReplicaSet/web", "a", labels={"app": "web"}) for i in range(3))
    scaled = again(simulate(inventory(*objects), options=SimulationOptions(scale={"deploy/web": 1}), keep_after=True))
    (row,) = (each for each in scaled.workloads if each.kind == "Deployment")
    assert row.replicas == 1
    down = simulate(
        inventory(node("a"), web("ReplicaSet", 3), *objects[2:]),
        options=SimulationOptions(scale={"rs/web": 1}),
        keep_after=True,
    )
    assert len(down.removed) == 2
    assert len(nodes_of(down)) == 1
    assert again(down).removed == {}


def test_the_pods_of_a_stateful_set_that_were_not_created_are_not_there() -> None:
    stateful = web("StatefulSet", 3, "2", serviceName="web")
    first = simulate(inventory(node("a", "3"), stateful), keep_after=True)
    assert nodes_of(first) == {"web-0": "a", "web-1": None}
    assert [each.message for each in again(first).pending] == [each.message for each in first.pending]


def test_claims_stay_bound_where_their_pods_are() -> None:
    template = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
    stateful = web("StatefulSet", 2, serviceName="web", volumeClaimTemplates=[template])
    run = prepare(inventory(node("a"), node("b"), stateful), SimulationOptions())
    place_all(run)
    claim = run.cluster.objects.persistent_volume_claims["default", "data-web-0"]
    bound = msgspec.structs.replace(claim, spec=msgspec.structs.replace(claim.spec, volume_name="pv"))
    run.cluster.objects.bind_claim(bound, PersistentVolume(metadata=ObjectMeta(name="pv")))
    after = inventory_after(run)
    claims = {each.name: each.spec.volume_name for each in after.persistent_volume_claims}
    assert claims["data-web-0"] == "pv"
    assert all(claims.values()), "what is taken as provisionable and not bound is made again"
    assert "pv" in {each.name for each in after.persistent_volumes}
    assert simulate(after).placements == ()


def test_evicted_pods_are_gone() -> None:
    important = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    old = pod("old", node_name="a", containers=[{"name": "c", "image": "i", "resources": {"requests": {"cpu": "4"}}}])
    objects = node("a"), important, old, web(replicas=1, pod={"priorityClassName": "high"})
    first = simulate(inventory(*objects), keep_after=True)
    assert len(first.evictions) == 1
    assert "old" not in nodes_of(first)
    assert not again(first).pending


def test_everything_is_as_an_api_server_would_have_stored_it() -> None:
    first = simulate(inventory(node("a"), web()), keep_after=True)
    assert first.after is not None
    assert all(each.metadata.uid for each in first.after.objects())
    ready = [{each.type: each.status for each in pod.status.conditions or ()} for pod in first.after.pods if pod.status]
    assert ready == [{"PodScheduled": "True", "Ready": "True"}] * 4


def test_a_saved_file_is_read_as_a_snapshot(tmp_path: Path) -> None:
    first = simulate(inventory(node("a"), node("b"), web()), keep_after=True)
    assert first.after is not None
    path = str(tmp_path / "after.json.gz")
    facts = save(first.after, path, kube_version="1.37")
    assert (facts.counts["Node"], facts.counts["Pod"], facts.counts["Deployment"]) == (2, 4, 1)
    read = topospread.load(path)
    assert simulate(read).placements == ()
    assert status(read).workloads[0].name == "web"
    explained = explain(read, "deploy/web")
    assert (explained.state, explained.node in ("a", "b")) == ("bound", True)
    assert any(note.endswith("Z") and "the result of a simulation" in note for note in read.notes)
    assert read.warnings == []


def test_claims_on_devices_stay_with_their_pods_and_go_with_them() -> None:
    slices = {"driver": "gpu", "nodeName": "a", "pool": {"name": "a", "resourceSliceCount": 1}}
    asked = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    version, made = {"apiVersion": "resource.k8s.io/v1"}, {"name": "t", "namespace": "default"}
    objects = [
        {**version, "kind": "DeviceClass", "metadata": {"name": "gpu"}},
        {**version, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {**slices, "devices": [{"name": "d"}]}},
        {**version, "kind": "ResourceClaimTemplate", "metadata": made, "spec": {"spec": asked}},
    ]
    claims = [{"name": "g", "resourceClaimTemplateName": "t"}]
    first = simulate(inventory(node("a"), *objects, web(replicas=2, pod={"resourceClaims": claims})), keep_after=True)
    assert first.after is not None
    (claim,) = first.after.resource_claims
    (owner,) = claim.metadata.owner_references or ()
    (user,) = claim.status.reserved_for or ()
    (placed,) = [each for each in first.after.pods if each.spec.node_name]
    assert (owner.name, owner.uid) == (user.name, user.uid) == (placed.name, placed.metadata.uid)
    assert placed.status is not None
    assert [each.resource_claim_name for each in placed.status.resource_claim_statuses or ()] == [claim.name]

    second = again(first)
    assert nodes_of(second) == nodes_of(first), "the device is in use"
    # One replica less: the claim of the pod that goes is deleted, and its device is free.
    less = again(first, scale={"Deployment/web": 1})
    assert less.after is not None
    assert len(less.after.resource_claims) <= 1


def test_a_claim_that_nobody_uses_moves_to_where_its_pod_fits() -> None:
    where = {"driver": "gpu", "nodeName": "a", "pool": {"name": "a", "resourceSliceCount": 1}}
    asked = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    result = {"request": "r", "driver": "gpu", "pool": "gone", "device": "d"}
    only = [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]
    held = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [{"matchFields": only}]}}
    version, named = {"apiVersion": "resource.k8s.io/v1"}, {"name": "c", "namespace": "default"}
    objects = [
        {**version, "kind": "DeviceClass", "metadata": {"name": "gpu"}},
        {**version, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {**where, "devices": [{"name": "d"}]}},
        {**version, "kind": "ResourceClaim", "metadata": named, "spec": asked, "status": {"allocation": held}},
    ]
    claims = [{"name": "g", "resourceClaimName": "c"}]
    found = simulate(inventory(node("a"), *objects, web(replicas=1, pod={"resourceClaims": claims})))
    assert [each.node for each in found.placements] == ["a"]
