"""What the API server refuses in kinds besides pods and workloads, in its words."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.api.quantity import parse_quantity
from topospread.api.validation.other_kinds import check_other


def messages(kind: str, name: str = "a", **fields: Any) -> list[str]:
    metadata = {"name": name, "namespace": "default"} | fields.pop("metadata", {})
    return [each.message for each in check_other(kind, {"metadata": metadata, **fields})]


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        ("Node", {}, "A_b"),
        ("Namespace", {}, "A_b"),
        ("Service", {}, "A_b"),
        ("PodDisruptionBudget", {}, "a/b"),
        ("PriorityClass", {}, "A_b"),
        ("StorageClass", {"provisioner": "example.com/nfs"}, "A_b"),
    ],
)
def test_names_and_labels_are_checked_in_every_kind(kind: str, fields: dict[str, Any], name: str) -> None:
    assert messages(kind, **fields) == []
    assert [each.split(":")[0] for each in messages(kind, name, **fields)] == ["metadata.name"]
    labelled = messages(kind, metadata={"labels": {"a": "b c"}}, **fields)
    assert [each.split(":")[0] for each in labelled] == ["metadata.labels"]


@pytest.mark.parametrize(("kind", "taken"), [("Node", True), ("Service", False), ("Namespace", False)])
def test_only_some_names_have_dots(kind: str, taken: bool) -> None:
    assert (messages(kind, "a.b") == []) == taken


@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        ({"minAvailable": 2, "selector": {"matchLabels": {"a": "b"}}}, []),
        ({"maxUnavailable": "100%"}, []),
        ({"maxUnavailable": "120%"}, ['spec.maxUnavailable: Invalid value: "120%": must not be greater than 100%']),
        ({"minAvailable": -1}, ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"]),
        (
            {"minAvailable": 2, "maxUnavailable": "50%", "selector": {"matchLabels": {"b": "1", "a": "2"}}},
            [
                'spec: Invalid value: {"MinAvailable":2,"Selector":{"matchLabels":{"a":"2","b":"1"}},'
                '"MaxUnavailable":"50%","UnhealthyPodEvictionPolicy":null}: '
                "minAvailable and maxUnavailable cannot be both set"
            ],
        ),
        (
            {"unhealthyPodEvictionPolicy": "Never"},
            [
                'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": '
                'supported values: "AlwaysAllow", "IfHealthyBudget"'
            ],
        ),
    ],
)
def test_budgets(spec: dict[str, Any], refused: list[str]) -> None:
    assert messages("PodDisruptionBudget", spec=spec) == refused


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("high", 1_000_000_000, 0),
        ("high", 1_000_000_001, 1),
        ("system-a", 2_000_000_000, 1),
        ("system-cluster-critical", 2_000_000_000, 0),
        ("system-cluster-critical", 2_000_000_001, 1),
    ],
)
def test_priorities_end_where_those_of_the_system_begin(name: str, value: int, refused: int) -> None:
    assert len(messages("PriorityClass", name, value=value)) == refused


def metric(kind: str, **sources: Any) -> dict[str, Any]:
    return {"type": kind, **sources}


CPU = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
METRIC = {"metric": {"name": "m"}, "target": {"type": "Value", "value": parse_quantity(1)}}
TARGET = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}


@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        (TARGET | {"maxReplicas": 3}, []),
        (TARGET, ["spec.maxReplicas: Required value: must be set and greater than 0"]),
        (
            TARGET | {"minReplicas": 5, "maxReplicas": 3},
            ["spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"],
        ),
        ({"maxReplicas": 3}, ["spec.scaleTargetRef.kind: Required value", "spec.scaleTargetRef.name: Required value"]),
        (
            TARGET | {"minReplicas": 0, "maxReplicas": 3},
            [
                "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to "
                "zero replicas"
            ],
        ),
        (TARGET | {"minReplicas": 0, "maxReplicas": 3, "metrics": [metric("External", external=METRIC)]}, []),
    ],
)
def test_autoscalers(spec: dict[str, Any], refused: list[str]) -> None:
    assert messages("HorizontalPodAutoscaler", spec=spec) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (metric("Resource", resource=CPU), []),
        (metric("ContainerResource", containerResource={**CPU, "container": "a"}), []),
        (metric("Object", object={**METRIC, "describedObject": {"kind": "Service", "name": "a"}}), []),
        (
            metric("Foo"),
            [
                'type: Unsupported value: "Foo": supported values: "ContainerResource", "External", "Object", "Pods", '
                '"Resource"'
            ],
        ),
        (metric("Pods"), ["pods: Required value: must populate information for the given metric source"]),
        (
            metric("Resource", resource={"name": "cpu", "target": {"type": "Utilization"}}),
            [
                "resource.target.averageUtilization: Required value: must set either a target raw value or a target "
                "utilization"
            ],
        ),
        (
            metric("Resource", resource={"name": "", "target": {"type": "No", "averageUtilization": 0}}),
            [
                "resource.name: Required value: must specify a resource name",
                "resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
                'resource.target.type: Invalid value: "No": must be either Utilization, Value, or AverageValue',
            ],
        ),
        (
            metric("Resource", resource=CPU, external=METRIC),
            ["external: Forbidden: must populate the given metric source only"],
        ),
        (
            metric("External", external={"target": {"type": "Value", "value": parse_quantity(0)}}),
            [
                "external.metric.name: Required value: must specify a metric name",
                'external.target.value: Invalid value: "0": must be positive',
            ],
        ),
        (
            metric("ContainerResource", containerResource=CPU),
            ["containerResource.container: Required value: must specify a container"],
        ),
    ],
)
def test_metrics_of_autoscalers(given: dict[str, Any], refused: list[str]) -> None:
    spec = TARGET | {"maxReplicas": 3, "metrics": [given]}
    assert messages("HorizontalPodAutoscaler", spec=spec) == [f"spec.metrics[0].{each}" for each in refused]


POLICY = {"type": "Pods", "value": 1, "periodSeconds": 15}


@pytest.mark.parametrize(
    ("rules", "refused"),
    [
        ({"policies": [POLICY], "selectPolicy": "Disabled", "stabilizationWindowSeconds": 3600}, []),
        ({}, []),
        ({"policies": []}, ["policies: Required value: must specify at least one Policy"]),
        (
            {"stabilizationWindowSeconds": 3601},
            ["stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600"],
        ),
        (
            {"selectPolicy": "No"},
            ['selectPolicy: Unsupported value: "No": supported values: "Disabled", "Max", "Min"'],
        ),
        (
            {"policies": [{"type": "No", "value": 0, "periodSeconds": 1801}]},
            [
                "policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
                'policies[0].type: Unsupported value: "No": supported values: "Percent", "Pods"',
                "policies[0].value: Invalid value: 0: must be greater than zero",
            ],
        ),
        (
            {"tolerance": parse_quantity("-1")},
            ['tolerance: Invalid value: "-1": must be greater than or equal to 0'],
        ),
    ],
)
def test_behavior_of_autoscalers(rules: dict[str, Any], refused: list[str]) -> None:
    spec = TARGET | {"maxReplicas": 3, "behavior": {"scaleUp": rules}}
    found = messages("HorizontalPodAutoscaler", spec=spec)
    assert found == [f"spec.behavior.scaleUp.{each}" for each in refused]


@pytest.mark.parametrize(
    ("item", "refused"),
    [
        ({"type": "Container", "default": 2, "max": 3}, []),
        (
            {"type": "Container", "default": 2, "max": 1},
            ['default[cpu]: Invalid value: "1": default value 2 is greater than max value 1'],
        ),
        (
            {"type": "Container", "min": 2, "max": 1},
            ['min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
        ),
        ({"type": "Pod", "default": 1}, ["default: Forbidden: may not be specified when `type` is 'Pod'"]),
    ],
)
def test_limit_ranges(item: dict[str, Any], refused: list[str]) -> None:
    limits = {name: {"cpu": parse_quantity(each)} if name != "type" else each for name, each in item.items()}
    found = messages("LimitRange", spec={"limits": [limits]})
    assert found == [f"spec.limits[0].{each}" for each in refused]


def test_a_quota_is_not_negative() -> None:
    hard = {"requests.cpu": parse_quantity(-1), "pods": parse_quantity(1)}
    words = 'spec.hard[requests.cpu]: Invalid value: "-1": must be greater than or equal to 0'
    assert messages("ResourceQuota", spec={"hard": hard}) == [words]


@pytest.mark.parametrize(
    ("taints", "refused"),
    [
        ([{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}], []),
        (
            [{"key": "a", "effect": "NoSchedul"}],
            [
                'metadata.taints[0].effect: Unsupported value: "NoSchedul": supported values: "NoSchedule", '
                '"PreferNoSchedule", "NoExecute"'
            ],
        ),
        (
            [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "b", "effect": "NoSchedule"}],
            [
                'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"b","Effect":"NoSchedule","TimeAdded":null}: '
                "taints must be unique by key and effect pair"
            ],
        ),
    ],
)
def test_taints(taints: list[dict[str, Any]], refused: list[str]) -> None:
    assert messages("Node", spec={"taints": taints}) == refused


def test_resources_of_nodes_are_not_negative() -> None:
    words = 'Invalid value: "-1": must be greater than or equal to 0'
    found = messages("Node", status={"allocatable": {"cpu": parse_quantity("-1")}})
    assert found == [f"status.allocatable.cpu: {words}"]


def test_selectors_of_services_have_keys_that_labels_have() -> None:
    assert [each.split(":")[0] for each in messages("Service", spec={"selector": {"a b": "c"}})] == ["spec.selector"]


@pytest.mark.parametrize(("mode", "refused"), [("Immediate", 0), ("Later", 1), ("", 1)])
def test_volumes_are_bound_in_one_of_two_ways(mode: str, refused: int) -> None:
    assert len(messages("StorageClass", provisioner="example.com/nfs", volumeBindingMode=mode)) == refused
