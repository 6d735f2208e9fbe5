"""How often selectors are asked about labels: as often as there are workloads, not as workloads times workloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from topospread.answers.status import status
from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.labels import Requirement
from topospread.scheduling.view import View
from topospread.simulation.simulate import simulate
from topospread.status import refused

ZONE = "topology.kubernetes.io/zone"
Json = dict[str, Any]


def node(i: int) -> Json:
    name = f"node-{i}"
    labels = {"kubernetes.io/hostname": name, ZONE: f"zone-{i % 3}"}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"cpu": "8", "pods": "110"}}}


def workload(name: str, nodes: int, constraint: bool) -> list[tuple[str, Json]]:
    """A ReplicaSet with a pod on each node, its Service, and a budget without a status."""
    labels = {"app": name}
    spec: Json = {"containers": [{"name": "c", "image": "i"}]}
    if constraint:
        selector = {"matchLabels": labels}
        spec["topologySpreadConstraints"] = [
            {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        ]
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}"}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": f"uid-{name}", "controller": True}
    pods = [
        {
            "metadata": {"name": f"{name}-{i}", "namespace": "shop", "labels": labels, "ownerReferences": [owner]},
            "spec": spec | {"nodeName": f"node-{i}"},
        }
        for i in range(nodes)
    ]
    template = {"metadata": {"labels": labels}, "spec": spec}
    replica_set = {"replicas": nodes, "selector": {"matchLabels": labels}, "template": template}
    budget = {"maxUnavailable": 1, "selector": {"matchLabels": labels}}
    return [
        ("ReplicaSet", {"metadata": metadata, "spec": replica_set}),
        ("Service", {"metadata": metadata, "spec": {"selector": labels}}),
        ("PodDisruptionBudget", {"metadata": metadata, "spec": budget}),
        *(("Pod", each) for each in pods),
    ]


def cluster(workloads: int, nodes: int, *, constraint: bool) -> Inventory:
    made = Inventory()
    objects = [("Node", node(i)) for i in range(nodes)]
    for i in range(workloads):
        objects += workload(f"app-{i}", nodes, constraint)
    for kind, each in objects:
        getattr(made, KINDS[kind].attribute).append(msgspec.convert(each, KINDS[kind].struct))
    return made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A key for each time that a requirement was held against labels."""
    keys: list[str] = []
    matches = Requirement.matches

    def counted(self: Requirement, labels: Mapping[str, str]) -> bool:
        keys.append(self.key)
        return matches(self, labels)

    monkeypatch.setattr(Requirement, "matches", counted)
    return keys


@pytest.mark.parametrize("constraint", [True, False])
@pytest.mark.parametrize("command", [status, simulate])
def test_selectors_are_asked_in_proportion_to_workloads(
    command: Callable[[Inventory], object], constraint: bool, asked: list[str]
) -> None:
    counts = []
    for workloads in (10, 40):
        asked.clear()
        command(cluster(workloads, 3, constraint=constraint))
        counts.append(len(asked))

    assert counts[1] <= 6 * counts[0], "in proportion; their square would be 16 times as many"


def test_of_nodes_that_look_the_same_to_a_pod_one_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []
    rejection_on = refused.rejection_on

    def counted(row: int, pod: str, view: View) -> object:
        rows.append(row)
        return rejection_on(row, pod, view)

    monkeypatch.setattr(refused, "rejection_on", counted)
    given = cluster(1, 31, constraint=True)  # zone-0 has one node more than the others

    assert not status(given).workloads[0].refused
    assert not rows

    given.pods = [each for each in given.pods if each.spec.node_name not in ("node-1", "node-2")]

    assert len(status(given).workloads[0].refused) == 11
    assert len(rows) == 1
