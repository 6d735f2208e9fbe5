"""Environment variables and their sources."""

from __future__ import annotations

import pytest

from tests.unit.api.validation.builders import pod_of, refusals
from tests.unit.api.validation.test_containers import PATH, fields


@pytest.mark.parametrize(
    ("variable", "found"),
    [
        ({"name": "my.VAR 1", "value": "x"}, []),
        ({"value": "x"}, ["name"]),
        ({"name": "a=b"}, ["name"]),
        ({"name": "A", "valueFrom": {}}, ["valueFrom"]),
        ({"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, ["valueFrom"]),
        ({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}}, []),
        ({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}, ["valueFrom.fieldRef.fieldPath"]),
        ({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}, ["valueFrom.fieldRef.fieldPath"]),
        (
            {"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}}},
            ["valueFrom.fieldRef.fieldPath"],
        ),
        ({"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}, []),
        (
            {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1Mi"}}},
            ["valueFrom.resourceFieldRef.divisor"],
        ),
        ({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m"}}}, ["valueFrom.configMapKeyRef.key"]),
        (
            {"name": "A", "valueFrom": {"fileKeyRef": {"key": "K", "volumeName": "gone", "path": "../x"}}},
            ["valueFrom.fileKeyRef.path", "valueFrom.fileKeyRef.volumeName"],
        ),
    ],
)
def test_variables(variable, found):
    assert fields(pod_of(env=[variable])) == [f"{PATH}.env[0].{field}" for field in found]


def test_variables_from_a_whole_object_name_the_list():
    assert refusals(pod_of(envFrom=[{"prefix": "P_", "configMapRef": {"name": "m"}}, {}])) == [
        f'{PATH}.envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'
    ]
    assert fields(pod_of(envFrom=[{"prefix": "=", "secretRef": {}}])) == [
        f"{PATH}.envFrom[0].prefix",
        f"{PATH}.envFrom[0].secretRef.name",
    ]
