"""New workloads after mutating policies, and workloads whose policies are not evaluated."""

from __future__ import annotations

import pytest

from tests.unit.admission.test_mutating import policy
from tests.unit.controllers.manifests import Json, inventory, workload
from topospread.controllers.planner import plan

RULE = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["*"]}


@pytest.mark.parametrize(
    ("metadata", "marked"),
    [
        ({}, True),
        ({"resourceVersion": "1"}, False),
        ({"uid": "stored"}, False),
        (
            {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "controller": True}]},
            False,
        ),
        ({"ownerReferences": [{"apiVersion": "other/v1", "kind": "Odd", "name": "d", "controller": True}]}, True),
    ],
)
@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
def test_only_new_workloads_of_users_meet_the_policies(kind: str, metadata: Json, marked: bool) -> None:
    item = workload(kind, "web", replicas=1)
    item["metadata"] |= metadata
    rule = RULE | {"resources": ["replicasets", "statefulsets"]}
    found = plan(inventory(*policy("Object{}", rule=rule), item), kube_version="1.35").inventory
    (made,) = found.replica_sets or found.stateful_sets
    opened = made.spec.template.spec.unjudged_admission or ()
    assert [each.partition(" (")[0] for each in opened] == ["MutatingAdmissionPolicy p"] * marked
