"""The cost of a placement, in operations counted by the engine: what it reads, evaluates and compares."""

from __future__ import annotations

import sys
from types import FrameType

import msgspec
import pytest
from msgspec.structs import astuple, replace

from topospread.api.meta import OwnerReference
from topospread.api.node import Node
from topospread.api.node_selection import Affinity
from topospread.api.pod import PersistentVolumeClaimVolumeSource, Pod, Volume
from topospread.api.storage import PersistentVolumeClaim, StorageClass
from topospread.api.workload import Service
from topospread.cluster import Cluster, PodClass
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.controllers.daemon_set import affinity_to_node
from topospread.plugins.inter_pod_affinity import Affinities
from topospread.plugins.interface import Listener
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.node_local import Work

ZONES = 3
POD_NAME = "statefulset.kubernetes.io/pod-name"
SPREAD = [("topology.kubernetes.io/zone", "DoNotSchedule"), ("kubernetes.io/hostname", "ScheduleAnyway")]


def cluster_of(nodes: int, pods: int = 0) -> Scheduler:
    """Nodes in three zones, and pods there before that no constraint counts."""
    cluster = Cluster()
    for i in range(nodes):
        name = f"node-{i:05d}"
        labels = {"topology.kubernetes.io/zone": f"zone-{i % ZONES}", "kubernetes.io/hostname": name}
        allocatable = {"cpu": "64", "memory": "512Gi", "pods": "500"}
        cluster.add_node(
            msgspec.convert(
                {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": allocatable}}, Node
            )
        )
    there = cluster.pod_class(replica_of("there", constraints=[]))
    for i in range(pods):
        cluster.bind(f"default/there-{i}", there, i % nodes)
    return Scheduler(cluster, {"default-scheduler": Framework(default_profile(), gates_for())})


def replica_of(app: str, constraints: list[tuple[str, str]] | None = None) -> Pod:
    labels = {"app": app}
    spread = [
        {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": {"matchLabels": labels}}
        for key, when in (SPREAD if constraints is None else constraints)
    ]
    container = {"name": "c", "resources": {"requests": {"cpu": "10m", "memory": "1Mi"}}}
    pod = {
        "metadata": {"name": app, "namespace": "default", "labels": labels},
        "spec": {"containers": [container], "topologySpreadConstraints": spread},
    }
    return msgspec.convert(pod, Pod)


def of_daemon_set(template: Pod, node: str) -> Pod:
    owner = OwnerReference(api_version="apps/v1", kind="DaemonSet", name="agent", controller=True)
    return replace(
        template,
        metadata=replace(template.metadata, owner_references=[owner]),
        spec=replace(template.spec, affinity=affinity_to_node(None, node)),
    )


def place(scheduler: Scheduler, app: str, count: int, constraints: list[tuple[str, str]] | None = None) -> Work:
    """The operations that so many placements took."""
    template = replica_of(app, constraints)
    before = astuple(scheduler.work)
    begin = len(scheduler.cluster.placed)
    for i in range(begin, begin + count):
        assert scheduler.schedule(template, f"{app}-{i}").node is not None
    return Work(*(now - then for now, then in zip(astuple(scheduler.work), before, strict=True)))


def calls(scheduler: Scheduler, template: Pod, count: int) -> float:
    """How many Python functions a placement calls, on average."""
    made = 0

    def count_call(frame: FrameType, event: str, arg: object) -> None:
        nonlocal made
        made += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        for i in range(count):
            scheduler.schedule(template, f"{template.metadata.name}-more-{i}")
    finally:
        sys.setprofile(before)
    return made / count


@pytest.mark.parametrize(
    ("constraints", "most"), [(SPREAD[:1], 61), (SPREAD, 77), ([(key, "ScheduleAnyway") for key, _ in SPREAD], 75)]
)
def test_a_placement_makes_few_calls(constraints: list[tuple[str, str]], most: int) -> None:
    """Most of a placement's time is calls of Python functions; clocks on a busy machine do not show a tenth more."""
    scheduler = cluster_of(600)
    place(scheduler, "web", 100, constraints)
    assert calls(scheduler, replica_of("web", constraints), 400) < most


@pytest.mark.parametrize(("nodes", "pods"), [(60, 0), (60, 3000), (600, 0), (600, 3000)])
def test_a_placement_evaluates_the_row_that_changed_and_compares_a_head_a_group(nodes: int, pods: int) -> None:
    scheduler = cluster_of(nodes, pods)

    first = place(scheduler, "web", 1)
    rest = place(scheduler, "web", 50)

    assert first.built == 1
    assert first.rows <= 2 * nodes
    assert rest == Work(built=0, changes=50, rows=50, heads=rest.heads, full=0)
    assert rest.heads <= 50 * 2 * ZONES, "zones, each with nodes that hold a replica and nodes that hold none"


def test_what_a_placement_compares_does_not_grow_with_nodes_or_pods() -> None:
    heads = {place(cluster_of(nodes, pods), "web", 40).heads for nodes in (150, 600) for pods in (0, 600)}

    assert len(heads) == 1


def test_the_pods_of_a_daemon_set_share_one_view() -> None:
    scheduler = cluster_of(200)
    template = replica_of("agent", constraints=[])
    for i in range(200):
        pod = of_daemon_set(template, f"node-{i:05d}")
        assert scheduler.schedule(pod, f"agent-{i}").node == f"node-{i:05d}"

    assert scheduler.work.built == 1
    assert len(scheduler.cluster.classes) == 2, "one for all of them, besides that of the pods there before"


def test_pods_of_a_daemon_set_with_a_hard_constraint_count_on_their_own_node_alone() -> None:
    scheduler = cluster_of(ZONES)
    template = replica_of("agent", [("topology.kubernetes.io/zone", "DoNotSchedule")])
    placed = [scheduler.schedule(of_daemon_set(template, "node-00000"), f"agent-{i}").node for i in range(4)]

    assert placed == ["node-00000"] * 4, "a domain that is the only one is never skewed"


def test_pods_with_ordinals_share_one_view() -> None:
    scheduler = cluster_of(30)
    for i in range(40):
        assert scheduler.schedule(with_ordinal(i)).node is not None

    assert scheduler.work.built == 1
    assert len(scheduler.cluster.classes) == 41, "on their nodes they are a class each, besides that of the pods there"
    assert scheduler.work.full == 0


def test_pods_with_ordinals_are_told_apart_where_a_service_selects_one() -> None:
    scheduler = cluster_of(30)
    one = {"metadata": {"name": "one", "namespace": "default"}, "spec": {"selector": {POD_NAME: "db-1"}}}
    scheduler.cluster.apply("ADDED", msgspec.convert(one, Service))
    for i in range(4):
        scheduler.schedule(with_ordinal(i))

    assert scheduler.work.built == 4


def test_pods_that_differ_in_claims_go_on_with_what_was_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[PodClass] = []
    listener = Affinities.listener

    def counted(affinities: Affinities, pod_class: PodClass) -> Listener | None:
        asked.append(pod_class)
        return listener(affinities, pod_class)

    monkeypatch.setattr(Affinities, "listener", counted)
    scheduler = cluster_of(30)
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
    preferred = [{"weight": 1, "podAffinityTerm": term}]
    apart = msgspec.convert(
        {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}, Affinity
    )
    waits = {"metadata": {"name": "waits"}, "provisioner": "e", "volumeBindingMode": "WaitForFirstConsumer"}
    scheduler.cluster.apply("ADDED", msgspec.convert(waits, StorageClass))
    for i in range(40):
        claim = {"metadata": {"name": f"data-{i}", "namespace": "default"}, "spec": {"storageClassName": "waits"}}
        scheduler.cluster.apply("ADDED", msgspec.convert(claim, PersistentVolumeClaim))
        pod = with_ordinal(i, claim=f"data-{i}")
        assert scheduler.schedule(replace(pod, spec=replace(pod.spec, affinity=apart))).node is not None

    assert 40 <= len(asked) <= 3 * 40, "each class is listened to once, not once for each that comes after it"


def with_ordinal(number: int, claim: str = "") -> Pod:
    pod = replica_of("db")
    volume = Volume(name="data", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=claim))
    name = f"db-{number}"
    metadata = replace(pod.metadata, name=name, labels={**pod.labels, POD_NAME: name})
    return replace(pod, metadata=metadata, spec=replace(pod.spec, volumes=[volume] if claim else None))
