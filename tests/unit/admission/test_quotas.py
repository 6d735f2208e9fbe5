"""Pods that the API server refuses for a ResourceQuota or a LimitRange."""

from __future__ import annotations

import pytest

from tests.unit.controllers.manifests import Json, container, inventory, pod
from topospread.controllers.planned import Plan
from topospread.controllers.planner import plan
from topospread.simulation.simulate import simulate

NODE: Json = {
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "99"}},
}


def quota(name: str = "q", **spec: object) -> Json:
    return {"kind": "ResourceQuota", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def owner(kind: str, replicas: int, **resources: Json) -> Json:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container(**resources)]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"kind": kind, "metadata": {"name": "web", "namespace": "default"}, "spec": spec}


def stored(name: str, **fields: object) -> Json:
    item = pod(name, **fields)
    item["metadata"] |= {"uid": name, "namespace": "default"}
    item["spec"]["schedulerName"] = "default-scheduler"
    return item


def refused(planned: Plan) -> list[str]:
    return [each.refused for each in planned.refused]


def test_as_many_are_created_as_the_quota_has_room_for():
    planned = plan(inventory(quota(hard={"requests.cpu": "2"}), owner("Deployment", 5, requests={"cpu": "600m"})))
    assert len(planned.queue) == 3
    said = "exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=1800m, limited: requests.cpu=2"
    assert [each.partition("is forbidden: ")[2] for each in refused(planned)] == [said, said]
    assert refused(planned)[0].startswith('FailedCreate: Error creating: pods "web-')


def test_a_stateful_set_creates_none_after_the_one_that_is_refused():
    planned = plan(inventory(quota(hard={"pods": "1"}), owner("StatefulSet", 3)))
    assert [each.name for each in planned.queue] == ["web-0"]
    assert [each.name for each in planned.refused] == ["web-1", "web-2"]
    assert refused(planned)[0].startswith(
        'FailedCreate: Create Pod web-1 in StatefulSet web failed error: pods "web-1"'
    )


def test_a_bare_pod_has_no_controller_to_say_it():
    planned = plan(inventory(quota(hard={"pods": "0"}), pod("p")))
    said = 'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0'
    assert refused(planned) == [said]


def test_every_container_must_say_what_a_quota_limits():
    given = pod("p", containers=[container(requests={"cpu": "1"})], initContainers=[{"name": "i"}])
    planned = plan(inventory(quota(hard={"cpu": "9", "limits.memory": "1Gi"}), given))
    name = given["spec"]["containers"][0]["name"]
    said = f"failed quota: q: must specify cpu for: i; limits.memory for: {','.join(sorted((name, 'i')))}"
    assert [each.partition("is forbidden: ")[2] for each in refused(planned)] == [said]


def test_pods_that_are_there_are_counted_but_not_refused():
    there = [stored("a", nodeName="n"), stored("b"), stored("c", nodeName="n") | {"status": {"phase": "Succeeded"}}]
    planned = plan(inventory(quota(hard={"pods": "1"}), *there, pod("new")))
    assert [each.name for each in planned.queue] == ["b"]
    assert "used: pods=2, limited: pods=1" in refused(planned)[0]


def test_a_pod_that_should_have_ended_does_not_count():
    node = NODE | {"status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": "2026-01-01T01:00:00Z"}]}}
    going = stored("a", nodeName="n")
    going["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
    assert not refused(plan(inventory(node, quota(hard={"pods": "1"}), going, pod("new"))))
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:59:50Z"
    assert refused(plan(inventory(node, quota(hard={"pods": "1"}), going, pod("new"))))


@pytest.mark.parametrize(
    ("spec", "fields", "concerned"),
    [
        ({"scopes": ["BestEffort"]}, {}, True),
        ({"scopes": ["NotBestEffort"]}, {}, False),
        ({"scopes": ["BestEffort"]}, {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]}, False),
        ({"scopes": ["Terminating"]}, {"activeDeadlineSeconds": 5}, True),
        ({"scopes": ["Terminating"]}, {}, False),
        ({"scopes": ["NotTerminating"]}, {}, True),
        ({"scopes": ["PriorityClass"]}, {"priorityClassName": "system-node-critical"}, True),
        ({"scopes": ["PriorityClass"]}, {}, False),
        ({"scopes": ["CrossNamespacePodAffinity"]}, {}, False),
    ],
)
def test_scopes(spec: Json, fields: Json, *, concerned: bool) -> None:
    planned = plan(inventory(quota(hard={"pods": "0"}, **spec), pod("p", **fields)))
    assert bool(planned.refused) == concerned


@pytest.mark.parametrize(
    ("operator", "values", "concerned"), [("In", ["a"], False), ("NotIn", ["a"], True), ("DoesNotExist", None, True)]
)
def test_scope_selectors(operator: str, values: list[str] | None, *, concerned: bool) -> None:
    expression = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    given = quota(hard={"pods": "0"}, scopeSelector={"matchExpressions": [expression]})
    assert bool(plan(inventory(given, pod("p"))).refused) == concerned


def test_bounds_of_a_limit_range():
    limits = {
        "type": "Container",
        "min": {"cpu": "100m"},
        "max": {"memory": "1Gi"},
        "maxLimitRequestRatio": {"cpu": "2"},
    }
    bounds = {"kind": "LimitRange", "metadata": {"name": "l", "namespace": "default"}, "spec": {"limits": [limits]}}
    given = pod("p", containers=[container(requests={"cpu": "50m"}, limits={"cpu": "200m", "memory": "2Gi"})])
    assert refused(plan(inventory(bounds, given))) == [
        'pods "p" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum memory usage per '
        "Container is 1Gi, but limit is 2Gi, cpu max limit to request ratio per Container is 2, but provided ratio is "
        "4.000000]"
    ]


def test_what_is_refused_is_pending_in_a_simulation():
    given = inventory(NODE, quota(hard={"pods": "3"}), owner("Deployment", 2))
    assert simulate(given).verdict == "yes"
    over = simulate(inventory(NODE, quota(hard={"pods": "1"}), owner("Deployment", 2)))
    assert over.verdict == "no"
    assert [each.node for each in over.placements] == ["n", None]
    assert "exceeded quota: q" in over.pending[0].message
