"""Pods that are bound get their node's zone and region as labels, and selectors count by them."""

from __future__ import annotations

from pathlib import Path

import pytest

import topospread
from topospread.config.gates import gates_for
from topospread.simulation.options import SimulationOptions
from topospread.simulation.result import Simulation
from topospread.simulation.run import prepare
from topospread.simulation.simulate import simulate

GATE = "PodTopologyLabelsAdmission"
FIRST = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 10
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: first}
spec:
  replicas: 2
  selector: {matchLabels: {app: first}}
  template:
    metadata: {labels: {app: first}}
    spec:
      priorityClassName: high
      nodeSelector: {topology.kubernetes.io/zone: zone-b}
      containers: [{name: c, image: c}]
"""
SECOND = """
---
apiVersion: v1
kind: Pod
metadata: {name: second}
spec:
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {app: first}
          matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [ZONE]}]
  containers: [{name: c, image: c}]
"""


def simulated(folder: Path, zone: str, version: str = "1.37", gate: bool | None = None) -> Simulation:
    file = folder / "web.yaml"
    file.write_text(FIRST.replace("      priorityClassName: high\n", "") + SECOND.replace("ZONE", zone))
    inventory = topospread.load(str(file), cluster="zones=2,nodes=4")
    gates = None if gate is None else gates_for(version, {GATE: gate}, component="apiserver")
    return simulate(inventory, options=SimulationOptions(kube_version=version, apiserver_gates=gates))


@pytest.mark.parametrize(
    ("zone", "version", "gate", "pending"),
    [
        ("zone-b", "1.37", None, 0),
        ("zone-a", "1.37", None, 1),
        ("zone-b", "1.34", None, 1),
        ("zone-b", "1.34", True, 0),
        ("zone-b", "1.37", False, 1),
    ],
)
def test_bound_pods_carry_their_zone(tmp_path: Path, zone: str, version: str, gate: bool | None, pending: int) -> None:
    assert len(simulated(tmp_path, zone, version, gate).pending) == pending


def test_nothing_is_labelled_where_nothing_selects_by_it(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(FIRST)
    run = prepare(topospread.load(str(file), cluster="zones=2,nodes=4"), SimulationOptions())
    assert run.scheduler.topology_labels is None
