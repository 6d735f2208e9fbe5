"""When a CSIStorageCapacity without capacity, and a StorageClass that does not exist, are told of."""

from __future__ import annotations

from io import BytesIO

import pytest

from topospread.lint.rules import BY_ID
from topospread.lint.run import lint

RULE = BY_ID["storage-capacity-missing"]


@pytest.mark.parametrize(("version", "found"), [("1.36", []), ("1.37", [RULE.id])])
def test_pools_are_scored_since_1_37(version: str, found: list[str]) -> None:
    report = lint(["-"], stdin=BytesIO(RULE.wrong.manifests.encode()), kube_version=version)
    assert [each.rule for each in report] == found


def test_a_pool_that_says_nothing_fits_no_volume_and_is_not_told_of() -> None:
    manifests = RULE.wrong.manifests.replace("maximumVolumeSize: 100Gi\n", "")
    assert not list(lint(["-"], stdin=BytesIO(manifests.encode())))


MISSING = BY_ID["storage-class-missing"]
STATEFUL_SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: i}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: free}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
"""
VOLUME = """\
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, capacity: {storage: 1Gi}, hostPath: {path: /mnt}}
"""
NODE = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: 4}}\n"


def missing(manifests: str, cluster: str | None) -> list[str]:
    report = lint(["-"], stdin=BytesIO(manifests.encode()), cluster=cluster)
    return [each.message for each in report if each.rule == MISSING.id]


def test_claims_and_templates_of_claims_are_told_of() -> None:
    assert missing(STATEFUL_SET, "nodes=3") == ["no StorageClass fast: there is only standard"] * 2
    assert missing(STATEFUL_SET, "nodes=3,storage-class=none") == ["no StorageClass fast: there are none"] * 2
    assert missing(STATEFUL_SET, "nodes=3,storage-class=fast") == []


def test_a_class_of_a_volume_that_is_there_needs_no_object() -> None:
    assert missing(STATEFUL_SET + VOLUME, "nodes=3") == []


def test_without_any_class_in_the_input_nothing_is_told() -> None:
    assert missing(STATEFUL_SET + NODE, None) == []
