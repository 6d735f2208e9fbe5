"""What a command leaves unread of a live cluster decides nothing: its answer is that which all kinds give."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.plain_inventory import inventory
from tests.property.explained import clusters
from topospread.answers.capacity import capacity_answer
from topospread.answers.lint import lint_answer
from topospread.answers.rebalance import rebalance_answer
from topospread.answers.status import status
from topospread.answers.why import why_answer
from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.pod import PodSpec, Volume
from topospread.api.storage import VOLUME_KINDS
from topospread.capacity.capacity import capacity
from topospread.drill.drill import drill
from topospread.drill.steps import Drain, Fail, NodeChoice
from topospread.errors import TopospreadError
from topospread.lint.run import lint
from topospread.rebalance.rebalance import rebalance
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate
from topospread.sources.needed_kinds import (
    ALL,
    PLACEMENT,
    PLACEMENT_AND_RUNS,
    NeededKinds,
    lint_needs,
    uses_volumes,
)
from topospread.why.explain import explain

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
PATIENT = drawn(15, suppress_health_check=[HealthCheck.too_slow])


def made(kind: str, name: str, spec: Json | None = None, **more: Any) -> Json:
    where = {"namespace": "default"} if kind in NAMESPACED else {}
    metadata = {"name": name, "uid": f"{kind}-{name}", "resourceVersion": "1"} | where | more.pop("metadata", {})
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata} | ({} if spec is None else {"spec": spec}) | more


NAMESPACED = {name for name, kind in KINDS.items() if kind.namespaced}


@st.composite
def beside(draw: st.DrawFn) -> list[Json]:
    """Budgets, limits, runs and storage: what some commands do not read."""
    selector = {"matchLabels": draw(st.sampled_from([{"app": "a"}, {"app": "b"}, {"app": "other"}]))}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "500m"}}}
    job = {"template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container]}}}
    limit = {"type": "Container", "defaultRequest": {"cpu": draw(st.sampled_from(["100m", "1"])), "memory": "1Gi"}}
    disk = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    disk |= {"csi": {"driver": "disk", "volumeHandle": "h"}, "storageClassName": "now"}
    zone = draw(st.sampled_from(["zone-a", "zone-b"]))
    where = {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]}
    claim: Json = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    drivers = [{"name": "disk", "nodeID": "n", "allocatable": {"count": draw(st.integers(0, 2))}}]
    bound = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    every = [
        made("PodDisruptionBudget", "web", {"minAvailable": draw(st.integers(0, 3)), "selector": selector}),
        made("LimitRange", "defaults", {"limits": [limit]}),
        made("CronJob", "web", {"schedule": "0 * * * *", "jobTemplate": {"spec": job}}),
        made("Service", "web", {"selector": selector["matchLabels"]}),
        made("StorageClass", "wait", provisioner="disk", volumeBindingMode="WaitForFirstConsumer"),
        made("PersistentVolume", "disk", disk | {"nodeAffinity": {"required": where}, "claimRef": CLAIM}),
        made(
            "PersistentVolumeClaim", "disk", claim | {"storageClassName": "now", "volumeName": "disk"}, metadata=bound
        ),
        made("PersistentVolumeClaim", "new", claim | {"storageClassName": "wait"}),
        made("CSINode", "node-0", {"drivers": drivers}),
        made("CSIDriver", "disk", {"storageCapacity": True}),
        made("CSIStorageCapacity", "room", storageClassName="wait", capacity=draw(st.sampled_from(["1Mi", "9Gi"]))),
        made("VolumeAttachment", "a", {"attacher": "disk", "nodeName": "node-0", "source": {"inlineVolumeSpec": {}}}),
        made("PriorityClass", "high", value=10),
        made("DeviceClass", "gpu", {"extendedResourceName": "example.com/gpu"}),
    ]
    return [each for each in every if draw(st.integers(0, 5))]


CLAIM = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "disk", "uid": "PersistentVolumeClaim-disk"}


@st.composite
def whole_clusters(draw: st.DrawFn) -> tuple[Inventory, str]:
    """A cluster with objects of every kind; in some of them pods claim volumes."""
    cluster, target = draw(clusters())
    more = inventory(*draw(beside()))
    names = {kind.attribute for kind in KINDS.values()}
    cluster = replace(cluster, **{name: [*getattr(cluster, name), *getattr(more, name)] for name in names})
    cluster.priority_classes = list({each.name: each for each in cluster.priority_classes}.values())
    if draw(st.booleans()):
        volume = {"name": "v", "persistentVolumeClaim": {"claimName": draw(st.sampled_from(["disk", "new"]))}}
        for each in specs(cluster):
            if draw(st.booleans()):
                each.volumes = [msgspec.convert(volume, Volume)]
    if draw(st.booleans()):
        for each in specs(cluster):
            for container in each.containers if not each.node_name else ():
                container.resources = None  # a LimitRange says what it asks for
    return cluster, target


def specs(cluster: Inventory) -> Iterator[PodSpec]:
    """Of all pods and templates."""
    yield from (each.spec for each in cluster.pods)
    for each in (*cluster.deployments, *cluster.replica_sets, *cluster.stateful_sets, *cluster.jobs):
        if each.spec.template is not None:
            yield each.spec.template.spec


def read(cluster: Inventory, needed: NeededKinds) -> Inventory:
    """What is read of a cluster."""
    kinds = {kind for kind in needed.kinds if needed.volumes or kind not in VOLUME_KINDS}
    others = [each for each in cluster.objects() if type(each).__name__ in needed.kinds]
    if any(uses_volumes(each) for each in others if type(each).__name__ not in VOLUME_KINDS):
        kinds |= VOLUME_KINDS & set(needed.kinds)
    return replace(cluster, **{kind.attribute: [] for name, kind in KINDS.items() if name not in kinds})


def answer(ask: Callable[[], Any]) -> Any:
    """What is answered, or why nothing is."""
    try:
        return ask().to_dict()
    except TopospreadError as error:
        return str(error)


STEPS = [Fail(NodeChoice("zone", "zone-a")), Drain(NodeChoice("node", "node-0"))]
ASKED: dict[str, tuple[NeededKinds, Callable[[Inventory, str], Any]]] = {
    "status": (PLACEMENT, lambda cluster, _: status(cluster)),
    "simulate": (PLACEMENT, lambda cluster, _: simulate(cluster)),
    "simulate --run-cron-job": (
        PLACEMENT_AND_RUNS,
        lambda cluster, _: simulate(cluster, options=SimulationOptions(run_cron_jobs=["default/web"])),
    ),
    "why": (PLACEMENT, lambda cluster, target: why_answer(explain(cluster, target))),
    "capacity": (
        PLACEMENT,
        lambda cluster, target: capacity_answer(capacity(cluster, target, limit=9, workers=1, seconds=0.0)),
    ),
    "drill": (PLACEMENT, lambda cluster, _: drill(cluster, STEPS)),
    "rebalance": (PLACEMENT, lambda cluster, _: rebalance_answer(rebalance(cluster, seconds=0.0))),
}


@pytest.mark.parametrize("command", ASKED)
def test_the_answer_rests_on_what_is_read(command: str) -> None:
    needed, ask = ASKED[command]

    @PATIENT
    @given(given_=whole_clusters())
    def holds(given_: tuple[Inventory, str]) -> None:
        cluster, target = given_
        whole = answer(lambda: ask(cluster, target))
        assert answer(lambda: ask(read(cluster, needed), target)) == whole

    holds()


@PATIENT
@given(given_=whole_clusters(), manifests=whole_clusters())
def test_lint_rests_on_what_is_read(
    given_: tuple[Inventory, str], manifests: tuple[Inventory, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    judged = [each for each in manifests[0].objects() if not each.metadata.uid or type(each).__name__ == "Deployment"]
    kinds = [{"apiVersion": "apps/v1", "kind": type(each).__name__} for each in judged]
    written = [kind | msgspec.to_builtins(each) for kind, each in zip(kinds, judged, strict=True)]
    path = Path(tmp_path_factory.mktemp("lint")) / "app.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": written}))
    cluster = given_[0]
    some = read(cluster, lint_needs(judged))
    assert answer(lambda: lint_answer(lint(str(path), cluster=some))) == answer(
        lambda: lint_answer(lint(str(path), cluster=cluster))
    )


def test_pods_with_claims_ask_for_all_that_volumes_rest_on() -> None:
    pod = made("Pod", "web", {"containers": [], "volumes": [{"name": "v", "ephemeral": {}}]})
    assert set(ALL.kinds) - set(PLACEMENT.kinds) == {"CronJob", "PodGroup", "Workload"}
    assert not any(map(uses_volumes, inventory(made("Pod", "bare", {"containers": []})).pods))
    assert uses_volumes(inventory(pod).pods[0])
    assert PLACEMENT.beside(inventory(pod).pods).volumes
    assert "CronJob" in PLACEMENT.beside(inventory(made("CronJob", "run", CRON_JOB)).cron_jobs).kinds


CRON_JOB: Json = {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": {"spec": {"containers": []}}}}}
