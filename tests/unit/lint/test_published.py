"""Manifests as projects publish them: nothing worse than a hint, whatever they are held against."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from topospread.lint.run import lint
from topospread.simulation.simulate import simulate
from topospread.sources.load import load
from topospread.why.explain import explain

PUBLISHED = Path(__file__).parents[2] / "data" / "published"
CLUSTERS = ("", "zones=3,nodes=6", "nodes=3", "zones=3,nodes=3+1+1,cpu=32,memory=64Gi")
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"

# In our own words what add-ons of managed clusters look like: DNS with a hard constraint by node and a soft one by
# zone, a controller for high availability with required anti-affinity and its budget, an agent on every node, tasks.
ADD_ONS = f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: dns
  namespace: kube-system
  labels: {{k8s-app: kube-dns}}
spec:
  selector:
    matchLabels: {{k8s-app: kube-dns}}
  template:
    metadata:
      labels: {{k8s-app: kube-dns}}
    spec:
      priorityClassName: system-cluster-critical
      tolerations:
      - {{key: CriticalAddonsOnly, operator: Exists}}
      nodeSelector: {{kubernetes.io/os: linux}}
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: {ZONE}
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels: {{k8s-app: kube-dns}}
      - maxSkew: 1
        topologyKey: {HOSTNAME}
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {{k8s-app: kube-dns}}
      containers:
      - name: dns
        image: registry.k8s.io/coredns/coredns:v1.12.0
        resources: {{requests: {{cpu: 100m, memory: 70Mi}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: dns, namespace: kube-system}}
spec:
  maxUnavailable: 50%
  selector:
    matchLabels: {{k8s-app: kube-dns}}
---
apiVersion: v1
kind: Service
metadata: {{name: dns, namespace: kube-system}}
spec:
  selector: {{k8s-app: kube-dns}}
  ports: [{{port: 53, protocol: UDP}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: controller, namespace: mesh}}
spec:
  replicas: 3
  strategy:
    rollingUpdate: {{maxUnavailable: 1}}
  selector:
    matchLabels: {{component: controller}}
  template:
    metadata:
      labels: {{component: controller, version: stable}}
    spec:
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            podAffinityTerm:
              topologyKey: {ZONE}
              labelSelector:
                matchExpressions: [{{key: component, operator: In, values: [controller]}}]
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: {HOSTNAME}
            labelSelector:
              matchExpressions: [{{key: component, operator: In, values: [controller]}}]
      containers:
      - {{name: controller, image: "example.com/controller:1"}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: controller, namespace: mesh}}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{component: controller}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent, namespace: mesh}}
spec:
  selector:
    matchLabels: {{component: agent}}
  template:
    metadata:
      labels: {{component: agent}}
    spec:
      tolerations: [{{operator: Exists}}]
      hostNetwork: true
      containers:
      - {{name: agent, image: "example.com/agent:1"}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {{name: tidy, namespace: mesh}}
spec:
  schedule: "0 0 * * *"
  jobTemplate:
    spec:
      template:
        metadata:
          labels: {{component: tidy}}
        spec:
          restartPolicy: Never
          containers:
          - {{name: tidy, image: "example.com/tidy:1"}}
"""


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("folder", ["cassandra", "cockroachdb", "etcd"])
def test_manifests_that_kubernetes_publishes_are_not_accused(folder: str, cluster: str) -> None:
    found = lint([str(PUBLISHED / "kubernetes" / folder)], cluster=cluster or None)
    assert [str(each) for each in found if each.severity != "hint"] == []


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_add_ons_as_charts_render_them_are_not_accused(cluster: str) -> None:
    found = lint(["-"], stdin=BytesIO(ADD_ONS.encode()), cluster=cluster or None)
    assert [str(each) for each in found if each.severity != "hint"] == []


@pytest.mark.parametrize("folder", ["cassandra", "cockroachdb", "etcd"])
def test_what_is_published_is_simulated_and_explained(folder: str) -> None:
    inventory = load([str(PUBLISHED / "kubernetes" / folder)], cluster="zones=3,nodes=6,cpu=16,memory=64Gi")
    assert simulate(inventory).pending == ()
    assert explain(inventory, f"sts/{folder}").state == "placed"
