"""Nulls where Go reads the zero of a map's values."""

from __future__ import annotations

from topospread.judge import judge_case
from topospread.sequence import judge_sequence


def test_a_null_in_a_map_is_the_zero_of_its_values() -> None:
    node = {"metadata": {"name": "a", "labels": {"x": None}}, "status": {"allocatable": {"pods": "1", "cpu": None}}}
    spec = {"nodeSelector": {"x": ""}, "containers": [{"name": "c", "resources": {"requests": {"cpu": None}}}]}
    case = {"nodes": [node], "pods": [], "incoming": [{"metadata": {"name": "p", "namespace": "d"}, "spec": spec}]}
    assert judge_case(case)["verdicts"][0]["feasible"] == ["a"]


def test_so_it_is_in_the_steps_of_a_sequence() -> None:
    node = {"kind": "Node", "metadata": {"name": "a", "labels": {"x": None}}, "status": {"allocatable": {"pods": "1"}}}
    pod = {"metadata": {"name": "p", "namespace": "d", "labels": {"y": None}}, "spec": {"nodeSelector": {"x": ""}}}
    answer = judge_sequence({"sequence": [{"put": node}, {"schedule": pod}]})
    assert answer["verdicts"][1]["feasible"] == ["a"]
