"""Pods to add: missing replicas first, several workloads in rounds, a pod's manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plain_inventory import inventory
from tests.unit.capacity.test_capacity import Json, asked, verdict
from tests.unit.drill.builders import node, nodes, workload
from topospread.answers.capacity import capacity_answer
from topospread.capacity.capacity import capacity
from topospread.errors import InputError


def test_a_missing_replica_comes_before_more() -> None:
    found = asked([node("a1", "a", cpu="2"), workload("Deployment")])
    target = found.capacity.targets[0]
    assert (target.missing, target.more, target.placed) == (1, 0, 0)
    answer = capacity_answer(found)
    assert (answer.verdict, answer.says) == ("no", "1 current replica of shop/web finds no node")
    big = node("a1", "a", cpu="2")
    big["metadata"]["labels"]["pool"] = "big"
    says = capacity_answer(asked([big, workload("Deployment")], more=4)).says
    assert says.startswith("1 current replica of shop/web finds no node, so none of 4 more replicas fits")
    lines = [
        " ".join(each.split()) for each in capacity_answer(asked([big, workload("Deployment")])).text().splitlines()
    ]
    assert lines[-2:] == ["ONE MORE NODE ZONE PENDING FIT MORE FIT", "like a1 of pool big a 1 of 1 1"]


def test_missing_replicas_of_one_of_two_workloads() -> None:
    closed = workload("Deployment", "api", 3, {"nodeSelector": {"disk": "ssd"}})
    found = asked([*nodes("a"), workload("Deployment", replicas=1), closed], "deploy/web", "deploy/api")
    assert capacity_answer(found).says.startswith("3 current replicas of shop/api find no node")


def test_several_come_in_rounds() -> None:
    found = asked([*nodes("a"), workload("Deployment"), workload("Deployment", "api", 1)], "deploy/web=2,deploy/api")
    assert found.capacity.rounds == 2
    assert [(each.name, each.more) for each in found.capacity.targets] == [("web", 4), ("api", 2)]
    assert found.capacity.placed == 6


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "StatefulSet", "Job"])
def test_whatever_has_replicas_can_have_more(kind: str) -> None:
    made = workload(kind)
    if kind == "ReplicationController":
        made["apiVersion"], made["spec"]["selector"] = "v1", {"app": "web"}
    assert asked([*nodes("a"), made], f"{kind.lower()}/web").capacity.rounds == 7


def test_a_pod_is_placed_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: web}}, spec: {containers: "
        "[{name: c, image: i, resources: {requests: {cpu: 2}}}]}}"
    )
    found = capacity(inventory(*nodes("a", "b")), pod=path)
    assert (found.capacity.rounds, found.capacity.targets[0].kind) == (10, "Pod")
    path.write_text("{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {selector: {app: web}}}")
    with pytest.raises(InputError, match="no pods found"):
        capacity(inventory(*nodes("a", "b")), pod=path)


@pytest.mark.parametrize(
    ("refusing", "rounds", "words"),
    [
        ({"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"pods": "3"}}},
         3, "exceeded quota: q"),
        ({"kind": "Namespace", "metadata": {"name": "default", "labels": {
            "pod-security.kubernetes.io/enforce": "restricted"}}}, 0, 'violates PodSecurity "restricted:latest"'),
    ],
)  # fmt: skip
def test_a_pod_is_refused_as_the_api_server_refuses_it(tmp_path: Path, refusing: Json, rounds: int, words: str) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}")
    found = capacity(inventory(*nodes("a", "b"), refusing), pod=path, more=10)
    assert (found.capacity.rounds, verdict(found)) == (rounds, "no")
    assert found.capacity.pending is not None
    assert words in found.capacity.pending.message
