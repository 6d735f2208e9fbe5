"""What counts as the same verdict, and what does not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from conformance.compare import agreeing_verdicts, validation_differences, verdict_differences

ANSWER: dict[str, Any] = {
    "name": "case",
    "verdicts": [
        {
            "pod": "default/a",
            "feasible": ["n0", "n1"],
            "rejected": {
                "n2": {
                    "code": "Unschedulable",
                    "plugin": "NodeResourcesFit",
                    "reasons": ["Insufficient cpu", "Insufficient memory"],
                }
            },
            "scores": {"n0": {"ImageLocality": 0, "NodeResourcesFit": 40}, "n1": {"NodeResourcesFit": 30}},
            "total": {"n0": 40, "n1": 30},
            "best": ["n0"],
        },
        {"pod": "default/b", "feasible": [], "message": "no nodes available to schedule pods"},
    ],
}


def changed(path: list[Any], value: object) -> dict[str, Any]:
    answer = copy.deepcopy(ANSWER)
    *steps, last = path
    target: Any = answer
    for step in steps:
        target = target[step]
    target[last] = value
    return answer


def test_an_answer_agrees_with_itself() -> None:
    assert verdict_differences(ANSWER, copy.deepcopy(ANSWER)) == []
    assert agreeing_verdicts(ANSWER, copy.deepcopy(ANSWER)) == 2


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(["verdicts", 0, "scores", "n0"], {"NodeResourcesFit": 40}, id="no score instead of zero"),
        pytest.param(["verdicts", 0, "scores", "n1", "TaintToleration"], 0, id="zero instead of no score"),
        pytest.param(
            ["verdicts", 0, "rejected", "n2", "reasons"],
            ["Insufficient memory", "Insufficient cpu"],
            id="reasons in another order",
        ),
    ],
)
def test_means_the_same(path: list[Any], value: object) -> None:
    assert verdict_differences(changed(path, value), ANSWER) == []
    assert verdict_differences(ANSWER, changed(path, value)) == []


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (["verdicts", 0, "scores", "n1", "NodeResourcesFit"], 31, "verdicts[0].scores.n1.NodeResourcesFit"),
        (["verdicts", 0, "scores", "n1", "NodeResourcesFit"], 0, "verdicts[0].scores.n1.NodeResourcesFit"),
        (["verdicts", 0, "total", "n0"], 41, "verdicts[0].total.n0"),
        (["verdicts", 0, "feasible"], ["n1", "n0"], "verdicts[0].feasible"),
        (["verdicts", 0, "best"], ["n0", "n1"], "verdicts[0].best"),
        (["verdicts", 0, "rejected", "n2", "reasons"], ["Insufficient cpu"], "verdicts[0].rejected.n2.reasons"),
        (["verdicts", 0, "rejected", "n2", "plugin"], "NodePorts", "verdicts[0].rejected.n2.plugin"),
        (["verdicts", 0, "rejected"], {}, "verdicts[0].rejected.n2"),
        (["verdicts", 1, "message"], "0/3 nodes are available", "verdicts[1].message"),
        (["verdicts", 1, "rejected"], {}, "verdicts[1].rejected"),
        (["error"], "panic", "error"),
        (["name"], "another", "name"),
    ],
)
def test_is_another_answer(path: list[Any], value: object, where: str) -> None:
    assert [difference.path for difference in verdict_differences(changed(path, value), ANSWER)] == [where]


def test_of_a_failure_only_the_error_counts() -> None:
    ours = changed(["verdicts", 0], {"pod": "default/a", "feasible": [], "error": "a plugin failed"})
    theirs = changed(["verdicts", 0, "error"], "a plugin failed")
    assert not verdict_differences(ours, theirs)
    theirs["verdicts"][0]["error"] = "another did"
    assert [each.path for each in verdict_differences(ours, theirs)] == ["verdicts[0].error"]


def test_another_number_of_verdicts_is_another_answer() -> None:
    short = changed(["verdicts"], ANSWER["verdicts"][:1])
    assert [difference.path for difference in verdict_differences(short, ANSWER)] == ["verdicts"]
    assert agreeing_verdicts(short, ANSWER) == 0


def test_no_answer_agrees_with_nothing() -> None:
    assert verdict_differences({}, ANSWER)
    assert agreeing_verdicts({}, ANSWER) == 0


def test_counts_verdicts_not_cases() -> None:
    assert agreeing_verdicts(changed(["verdicts", 1, "message"], "other"), ANSWER) == 1


REQUIRED = {"type": "FieldValueRequired", "field": "spec.a", "message": "spec.a: Required value"}
INVALID = {"type": "FieldValueInvalid", "field": "spec.b", "message": 'spec.b: Invalid value: "x"'}


def test_validation_errors_are_a_set() -> None:
    ours = {"errors": [REQUIRED, INVALID, INVALID]}
    assert validation_differences(ours, {"errors": [INVALID, REQUIRED]}) == []


@pytest.mark.parametrize("field", ["type", "field", "message"])
def test_validation_errors_agree_in_type_field_and_message(field: str) -> None:
    assert validation_differences({"errors": [{**REQUIRED, field: "other"}]}, {"errors": [REQUIRED]})


def test_a_missing_validation_error_is_named() -> None:
    (difference,) = validation_differences({"errors": [REQUIRED]}, {"errors": [INVALID, REQUIRED]})
    assert INVALID["message"] in difference.path


def test_words_of_a_decoding_error_are_our_own() -> None:
    theirs = {"errors": [], "decode": "json: cannot unmarshal"}
    assert validation_differences({"errors": [], "decode": "spec is no object"}, theirs) == []
    assert validation_differences({"errors": []}, theirs)


def test_errors_of_a_dry_run_of_preemption_come_in_no_order() -> None:
    def failed(message: str) -> dict[str, Any]:
        return changed(["verdicts", 1, "preemption"], {"candidates": {}, "picked": [], "message": message})

    assert verdict_differences(failed("[a is lost, b is lost]"), failed("[b is lost, a is lost]")) == []
    assert verdict_differences(failed("[a is lost, b is lost]"), failed("[a is lost, c is lost]"))
