"""Constraints that hold each other up: found by placing the pods, for as many as do not fit."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import constraint, deployment

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
OWN = "labelSelector:\n  matchLabels: {app: web}"
ZONES = constraint(OWN)
NODES = constraint(OWN, key=HOSTNAME).removeprefix("topologySpreadConstraints:\n")


@pytest.mark.parametrize(
    ("cluster", "replicas", "said"),
    [
        (
            "zones=2,nodes=3+1",
            6,
            [f"3 of 6 pods stay pending on these nodes: the constraints over {ZONE} and {HOSTNAME} block each other"],
        ),
        (
            "zones=2,nodes=3+1",
            4,
            [f"a pod stays pending on these nodes: the constraints over {ZONE} and {HOSTNAME} block each other"],
        ),
        ("zones=2,nodes=3+1", 3, []),
        ("zones=2,nodes=2+2", 6, []),
    ],
)
def test_even_by_zone_and_by_node_at_once(cluster: str, replicas: int, said: list[str]) -> None:
    found = messages(deployment(ZONES + NODES, replicas=replicas), "constraints-deadlock", cluster=cluster)
    assert [each.partition("; without")[0] for each in found] == said


@pytest.mark.parametrize(
    ("spec", "cluster"),
    [
        (ZONES + NODES.replace("DoNotSchedule", "ScheduleAnyway"), "zones=2,nodes=3+1"),
        (ZONES, "zones=2,nodes=3+1"),
        (ZONES + NODES, "zones=2,nodes=3+3,cordon=zone-b"),
        (ZONES + NODES, "zones=2,nodes=2+2,pods=1"),
    ],
    ids=["one is soft", "one alone", "one alone is to blame", "no room"],
)
def test_what_one_constraint_or_the_room_decides_is_no_deadlock(spec: str, cluster: str) -> None:
    assert messages(deployment(spec), "constraints-deadlock", cluster=cluster) == []


def test_pods_of_the_workload_that_are_there_are_created_anew() -> None:
    owner = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: b, controller: true}]"
    replica_set = (
        "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: web-1\n  labels: {app: web}\n"
        "  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: a, controller: true}]\n"
        "spec:\n  selector: {matchLabels: {app: web}}\n"
        "  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: a}]}}\n"
    )
    pods = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web-1-{number}\n  labels: {{app: web}}\n  {owner}\n"
        "spec:\n  nodeName: node-1\n  containers: [{name: a, image: a}]\n"
        for number in range(3)
    )
    manifests = deployment(ZONES + NODES, replicas=3) + replica_set + pods
    assert messages(manifests, "constraints-deadlock", cluster="zones=2,nodes=3+1") == []


def test_a_workload_that_cannot_be_read_does_not_hide_another() -> None:
    broken = deployment("priorityClassName: nobody-knows\n" + ZONES + NODES, name="broken").replace("web", "broken")
    found = findings(broken + "---\n" + deployment(ZONES + NODES), "constraints-deadlock", cluster="zones=2,nodes=3+1")
    assert [each.place.object for each in found] == ["Deployment default/web"]
