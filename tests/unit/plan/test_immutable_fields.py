"""Updates that the API server refuses make plan's answer a no; what is equal after defaults is no change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.plan.test_weakenings import answer_of

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tier: front}}
    spec: {containers: [{name: web, image: web}]}
"""
STATEFUL_SET = DEPLOYMENT.replace("Deployment", "StatefulSet").replace(
    "  template:",
    """\
  serviceName: web
  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
  template:""",
)
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: web}
spec:
  parallelism: 1
  template:
    metadata: {labels: {app: web}}
    spec: {restartPolicy: Never, containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: web}]}
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {clusterIP: None, ports: [{port: 80}]}\n"
CLASS = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: web}\nvalue: 1\n"
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: web}
spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
FORCED = "{name: web, annotations: {argocd.argoproj.io/sync-options: 'Force=true,Replace=true'}}"
SELECTOR = "matchLabels: {app: web}"


@pytest.mark.parametrize(
    ("old", "text", "other", "path"),
    [
        (DEPLOYMENT, SELECTOR, "matchLabels: {app: web, tier: front}", "spec.selector"),
        (DEPLOYMENT.replace("Deployment", "ReplicaSet"), SELECTOR, "matchLabels: {tier: front}", "spec.selector"),
        (STATEFUL_SET, "serviceName: web", "serviceName: other", "spec.serviceName"),
        (STATEFUL_SET, "replicas: 1", "podManagementPolicy: Parallel", "spec.podManagementPolicy"),
        (STATEFUL_SET, "storage: 1Gi", "storage: 2Gi", "spec.volumeClaimTemplates"),
        (JOB, "image: web", "image: web2", "spec.template"),
        (JOB, "parallelism: 1", "completionMode: Indexed\n  completions: 1", "spec.completionMode"),
        (
            JOB,
            "metadata: {name: web}\nspec:",
            f"metadata: {FORCED}\nspec:\n  managedBy: a/b",
            "spec.managedBy",
        ),
        (POD, "spec: {", "spec: {nodeSelector: {disk: ssd}, ", "spec"),
        (POD.replace("image: web}", "image: web, imagePullPolicy: Always}"), "Always", "Never", "spec"),
        (SERVICE, "None", "10.0.0.9", "spec.clusterIP"),
        (CLASS, "value: 1", "value: 2", "value"),
        (CLAIM, "storageClassName: fast, ", "", "spec.storageClassName"),
    ],
)
def test_a_changed_immutable_field_is_named(tmp_path: Path, old: str, text: str, other: str, path: str) -> None:
    assert text in old
    answer = answer_of(tmp_path, old, old.replace(text, other))
    assert answer["verdict"] == "no"
    assert f"the API server refuses the update of {'' if old == CLASS else 'default'}/web: {path}" in answer["says"]
    assert f"{path} is immutable" in answer["causes"][0]["says"]
    assert f"{path} is immutable" in answer["says"].partition(";")[0]
    assert answer["causes"][0]["code"] == "update-refused"


@pytest.mark.parametrize(
    ("old", "text", "changed"),
    [
        (STATEFUL_SET, "replicas: 1", "replicas: 1\n  podManagementPolicy: OrderedReady\n  minReadySeconds: 1"),
        (STATEFUL_SET, "spec: {accessModes", "apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes"),
        (STATEFUL_SET, "storage: 1Gi", "storage: 1024Mi"),
        (JOB, "cpu: 100m", 'cpu: "0.1"'),
        (JOB, "restartPolicy: Never", "restartPolicy: Never, hostNetwork: false, dnsPolicy: ClusterFirst"),
        (JOB.replace("parallelism", "suspend: true\n  parallelism"), "cpu: 100m", "cpu: 200m"),
        (JOB.replace("{name: web}", FORCED), "image: web", "image: web2"),
        (POD, "image: web", "image: web2"),
        (POD, "image: web", "image: web, imagePullPolicy: Always"),
        (JOB, "image: web", "image: web, imagePullPolicy: Always"),
        (SERVICE, "clusterIP: None, ", ""),
        (SERVICE.replace("None", "10.0.0.9"), "clusterIP: 10.0.0.9, ", ""),
        (CLAIM.replace("storageClassName: fast, ", ""), "spec: {", "spec: {storageClassName: fast, "),
        (CLASS, "value: 1", "value: 1\npreemptionPolicy: PreemptLowerPriority"),
    ],
)
def test_what_the_api_server_accepts_is_no_refusal(tmp_path: Path, old: str, text: str, changed: str) -> None:
    assert text in old
    new = old.replace(text, changed)
    other = "---\n" + DEPLOYMENT.replace("name: web}", "name: other}")
    assert "refuses" not in answer_of(tmp_path, old + other, new + other)["says"]
