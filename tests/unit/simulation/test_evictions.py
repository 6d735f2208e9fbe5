"""Evicted pods that their controllers recreate: in the way of the pod that evicted them, or with scheduling gates."""

from __future__ import annotations

from pathlib import Path

from topospread.simulation.evictions import MOST_PREEMPTIONS
from topospread.simulation.placing import IN_VAIN
from topospread.simulation.simulate import simulate
from topospread.sources.load import load

CLUSTER = """
{apiVersion: v1, kind: Node, metadata: {name: a1, labels: {topology.kubernetes.io/zone: a}},
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: a2, labels: {topology.kubernetes.io/zone: a}},
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b1, labels: {topology.kubernetes.io/zone: b}},
  spec: {taints: [{key: full, effect: NoSchedule}]}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: low}
spec:
  replicas: 1
  selector: {matchLabels: {tier: low}}
  template: {metadata: {labels: {app: web, tier: low}}, spec: {containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: low-there, labels: {app: web, tier: low}, ownerReferences: [
  {apiVersion: apps/v1, kind: ReplicaSet, name: low, uid: u, controller: true}]}
spec: {nodeName: a1, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: high, labels: {app: web}}
spec:
  priorityClassName: high
  containers: [{name: c, image: i}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule,
     labelSelector: {matchLabels: {app: web}}}
"""


def test_evicting_what_comes_back_ends_and_is_said(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    result = simulate(load([str(file)]))
    (message,) = [line for line in result.to_json().splitlines() if "times, but recreated pods take the room" in line]
    assert IN_VAIN in message
    assert len(result.evictions) == MOST_PREEMPTIONS


def test_recreated_pods_wait_for_their_gates(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER.replace("}, spec: {containers", "}, spec: {schedulingGates: [{name: wait}], containers"))
    result = simulate(load([str(file)]))
    waiting = [each for each in result.placements if each.node is None]
    assert [each.message for each in waiting] == ["waits for its scheduling gates: wait"]
    assert len(result.evictions) == 1
