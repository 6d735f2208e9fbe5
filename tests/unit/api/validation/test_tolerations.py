"""Tolerations: keys, operators, values, effects."""

from __future__ import annotations

import pytest

from tests.unit.api.validation.builders import pod, refusals
from topospread.api.validation import validate_object

PATH = "spec.tolerations[0]"


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"key": "a", "value": "b"},
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1},
    ],
)
def test_good_tolerations(toleration):
    assert refusals(pod(tolerations=[toleration])) == []


@pytest.mark.parametrize(
    ("toleration", "message"),
    [
        (
            {"operator": "Equal"},
            'operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means '
            '"match all values and all keys"',
        ),
        (
            {"key": "a", "operator": "Exists", "value": "b"},
            "operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'",
        ),
        (
            {"key": "a", "operator": "Gt", "value": "5"},
            'operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"',
        ),
        (
            {"key": "a", "operator": "equal"},
            'operator: Unsupported value: "equal": supported values: "Equal", "Exists"',
        ),
        (
            {"key": "a", "effect": "Never"},
            'effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
        ),
        (
            {"key": "a", "tolerationSeconds": 5},
            "effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
    ],
)
def test_a_wrong_toleration_is_refused_at_its_place(toleration, message):
    assert refusals(pod(tolerations=[toleration])) == [f"{PATH}.{message}"]


def test_a_wrong_key_has_its_reasons_and_a_wrong_value_has_them_together():
    messages = refusals(pod(tolerations=[{"key": "A/", "value": "-" * 64}]))
    assert [message.partition(": ")[0] for message in messages] == [f"{PATH}.key"] * 3 + [f"{PATH}.operator"]
    assert "must be no more than 63 bytes;a valid label must be" in messages[-1]


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        ("5", []),
        ("-9223372036854775808", []),
        (
            "",
            [
                'Invalid value: "": must be non-empty',
                'Invalid value: "": strconv.ParseInt: parsing "": invalid syntax',
            ],
        ),
        ("007", ['Invalid value: "007": must be a valid decimal integer in canonical form']),
        (
            "five",
            [
                'Invalid value: "five": must be a valid decimal integer in canonical form',
                'Invalid value: "five": strconv.ParseInt: parsing "five": invalid syntax',
            ],
        ),
        (
            "9223372036854775808",
            [
                'Invalid value: "9223372036854775808": strconv.ParseInt: parsing "9223372036854775808": value out of '
                "range"
            ],
        ),
    ],
)
def test_comparison_with_its_gate_on_wants_an_integer(value: str, problems: list[str]) -> None:
    made = pod(tolerations=[{"key": "a", "operator": "Lt", "value": value}])
    found = validate_object(made, comparison_operators=True)
    assert [each.message for each in found] == [f"{PATH}.value: {problem}" for problem in problems]
