"""How far workloads are spread, as figures."""

from __future__ import annotations

from typing import Any

from topospread.api.decoding import decode
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_configuration
from topospread.live import spread_figures
from topospread.live.spread_figures import ConstraintOf, SpreadFigures
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
HARD = ConstraintOf("default", "Deployment/web", ZONE, "DoNotSchedule")


def scheduler(zones: str = "aab") -> Scheduler:
    cluster = Cluster()
    for i, zone in enumerate(zones):
        labels = {HOST: f"n{i}", ZONE: zone}
        status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
        cluster.apply("ADDED", decode({"metadata": {"name": f"n{i}", "labels": labels}, "status": status}, Node))
    (profile,) = default_configuration().profiles
    return Scheduler(cluster, {profile.scheduler_name: Framework(profile, gates_for("1.37"))})


def pod(name: str, *constraints: dict[str, Any], owner: str = "web-1", **spec: Any) -> Pod:
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}]
    wanted = [{"maxSkew": 1, "labelSelector": {"matchLabels": {"app": "web"}}, **each} for each in constraints]
    metadata = {"name": name, "namespace": "default", "labels": {"app": "web"}, "ownerReferences": owners}
    containers = [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]
    return decode(
        {"metadata": metadata, "spec": {"containers": containers, "topologySpreadConstraints": wanted, **spec}}, Pod
    )


def hard(key: str = ZONE) -> dict[str, Any]:
    return {"topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}


def soft(key: str = ZONE) -> dict[str, Any]:
    return {"topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"}


def deployment(namespace: str, name: str) -> str:
    return name.partition("-")[0] if namespace == "default" else ""


def test_the_skew_is_the_fullest_domain_less_the_emptiest() -> None:
    ours = scheduler()
    for name in "xyz":
        assert ours.schedule(pod(name, hard())).node
    assert SpreadFigures(ours, deployment).skews() == {HARD: 1}


def test_a_soft_constraint_over_hostnames_is_counted_node_by_node() -> None:
    ours = scheduler()
    for name in "wxyz":
        assert ours.schedule(pod(name, soft(HOST), nodeSelector={ZONE: "b"})).node
    wanted = ConstraintOf("default", "Deployment/web", HOST, "ScheduleAnyway")
    assert SpreadFigures(ours, deployment).skews()[wanted] == 0, "only the node that the selector names takes part"
    for name in "wxyz":
        assert ours.schedule(pod(f"other-{name}", soft(HOST), owner="all-1")).node
    other = ConstraintOf("default", "Deployment/all", HOST, "ScheduleAnyway")
    assert SpreadFigures(ours, deployment).skews()[other] == 2, "four on n2, two on each of the others"


def test_revisions_of_a_deployment_are_one_workload_and_pods_without_an_owner_have_no_name() -> None:
    ours = scheduler()
    ours.schedule(pod("x", hard(), owner="web-1"))
    ours.schedule(pod("y", hard(), owner="web-2"))
    figures = SpreadFigures(ours, deployment)
    assert figures.skews() == {HARD: 0}
    alone = msgspec_without_owner(pod("z", hard()))
    ours.schedule(alone)
    assert ConstraintOf("default", "", ZONE, "DoNotSchedule") in figures.skews()


def msgspec_without_owner(item: Pod) -> Pod:
    from msgspec.structs import replace

    return replace(item, metadata=replace(item.metadata, owner_references=None))


def test_waiting_pods_count_for_the_constraints_that_refuse_a_domain() -> None:
    ours = scheduler()
    blocking = [hard(), {**hard(HOST), "maxSkew": 9}]
    for name in "xyz":
        ours.schedule(pod(name, *blocking))
    for row in (2,):
        ours.cluster.apply("DELETED", decode({"metadata": {"name": ours.cluster.nodes.names[row]}}, Node))
    figures = SpreadFigures(ours, deployment)
    waits = ours.cluster.shared_class(pod("waits", {**hard(), "minDomains": 2}, hard(HOST)))
    found = figures.blocked([waits] * 3)
    assert found == {HARD: 3}, "one zone of the two wanted is left; on hosts the skew is within bounds"


def test_however_many_workloads_there_are_the_series_are_bounded(monkeypatch: Any) -> None:
    monkeypatch.setattr(spread_figures, "MOST", 3)
    ours = scheduler()
    for i in range(5):
        ours.schedule(pod(f"p{i}", hard(), owner=f"w{i}-1"))
    found = SpreadFigures(ours, deployment).skews()
    assert len(found) == 3
    assert min(found.values()) >= 0
