"""Groups of pods as structs."""

from __future__ import annotations

from tests.unit.api.test_devices import Json, read
from topospread.api.pod_groups import PodGroup, Workload


def test_groups_of_pods_are_read() -> None:
    policy: Json = {"schedulingPolicy": {"gang": {"minCount": 4}}}
    group = read("scheduling.k8s.io/v1beta1", "PodGroup", policy)
    assert isinstance(group, PodGroup)
    assert group.namespace == "default"
    assert group.spec.scheduling_policy.gang is not None
    assert group.spec.scheduling_policy.gang.min_count == 4
    workload = read("scheduling.k8s.io/v1alpha3", "Workload", {"podGroupTemplates": [{"name": "t", **policy}]})
    assert isinstance(workload, Workload)
    assert [each.name for each in workload.spec.pod_group_templates or ()] == ["t"]
