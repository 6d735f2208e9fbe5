"""What the API server refuses in kinds besides pods and workloads, in its words."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.api.validation.other_kinds import check_other


def messages(kind: str, name: str = "a", **fields: Any) -> list[str]:
    metadata = {"name": name, "namespace": "default"} | fields.pop("metadata", {})
    return [each.message for each in check_other(kind, {"metadata": metadata, **fields})]


@pytest.mark.parametrize(
    "kind", ["Node", "Namespace", "Service", "PodDisruptionBudget", "PriorityClass", "StorageClass"]
)
def test_names_and_labels_are_checked_in_every_kind(kind: str) -> None:
    assert messages(kind) == []
    assert [each.split(":")[0] for each in messages(kind, "A_b")] == ["metadata.name"]
    assert [each.split(":")[0] for each in messages(kind, metadata={"labels": {"a": "b c"}})] == ["metadata.labels"]


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
    [("high", 1_000_000_000, 0), ("high", 1_000_000_001, 1), ("system-a", 2_000_000_000, 0)],
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
