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
        (TARGET | {"minReplicas": 0, "maxReplicas": 3, "metrics": [{"type": "External"}]}, []),
    ],
)
def test_autoscalers(spec: dict[str, Any], refused: list[str]) -> None:
    assert messages("HorizontalPodAutoscaler", spec=spec) == refused


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
