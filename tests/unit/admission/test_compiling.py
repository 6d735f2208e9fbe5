"""Policies that the API server would deny."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.admission import test_mutating, test_validating
from topospread.admission.compiling import problems
from topospread.api.admission_policy import MutatingAdmissionPolicy, ValidatingAdmissionPolicy

OBJECT, PATCH = "Object{}", "[JSONPatch{}]"


def found(policy: dict[str, Any], kind: type[Any]) -> list[str]:
    return [path for path, _ in problems(msgspec.convert(policy, kind))]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({}, []),
        ({"failurePolicy": "Ignore"}, []),
        ({"failurePolicy": "Sometimes"}, ["failurePolicy"]),
        ({"matchConstraints": {}}, ["matchConstraints"]),
        ({"variables": [{"name": "a", "expression": "1"}, {"name": "b", "expression": "variables.a"}]}, []),
        ({"variables": [{"name": "b", "expression": "variables.a"}]}, ["variables[0].expression"]),
        ({"variables": [{"name": "a-b", "expression": "1"}]}, ["variables[0].name"]),
        ({"variables": [{"name": "a", "expression": "1"}] * 2}, ["variables[1].name"]),
        ({"matchConditions": [{"name": "a", "expression": "true"}] * 2}, ["matchConditions[1].name"]),
        ({"matchConditions": [{"name": "a", "expression": "'x'"}]}, ["matchConditions[0].expression"]),
        ({"validations": [{"expression": "params.a"}]}, ["validations[0].expression"]),
        ({"validations": [{"expression": "params.a"}], "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}, []),
        ({"validations": [{"expression": "true", "messageExpression": "1"}]}, ["validations[0].messageExpression"]),
        ({"auditAnnotations": [{"key": "a", "valueExpression": "1"}]}, ["auditAnnotations[0].valueExpression"]),
    ],
)
def test_fields_of_a_validating_policy(spec: dict[str, Any], paths: list[str]) -> None:
    policy, _ = test_validating.policy("true", **spec)
    assert found(policy, ValidatingAdmissionPolicy) == [f"spec.{each}" for each in paths]


@pytest.mark.parametrize(
    ("expression", "spec", "paths"),
    [
        (OBJECT, {}, []),
        (PATCH, {}, []),
        (OBJECT, {"reinvocationPolicy": "Always"}, ["reinvocationPolicy"]),
        ("1", {}, ["mutations[0].applyConfiguration.expression"]),
        ("[1]", {}, ["mutations[0].jsonPatch.expression"]),
        ("", {"mutations": [{"patchType": "JSONPatch"}]}, ["mutations[0].patchType"]),
    ],
)
def test_fields_of_a_mutating_policy(expression: str, spec: dict[str, Any], paths: list[str]) -> None:
    policy, _ = test_mutating.policy(expression, **spec)
    assert found(policy, MutatingAdmissionPolicy) == [f"spec.{each}" for each in paths]
