"""Selectors that no API server lets through and the scheduler has to read all the same: where it fails, and how."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case

Json = dict[str, Any]

UNKNOWN: Json = {"key": "disk", "operator": "Like", "values": ["x"]}
EMPTY: Json = {"key": "disk", "operator": "In"}
NO_VALUES = "Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
NODE_WORDS = '"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'


def verdict(spec: Json, version: str = "1.37") -> Json:
    case = {
        "kubeVersion": version,
        "nodes": [
            {"metadata": {"name": name, "labels": {"zone": name}}, "status": {"allocatable": {"pods": 9}}}
            for name in "ab"
        ],
        "incoming": [{"metadata": {"name": "new", "namespace": "ns", "labels": {"app": "web"}}, "spec": spec}],
    }
    judged: Json = judge_case(case)["verdicts"][0]
    return judged


def preferring(*requirements: Json, part: str = "matchExpressions") -> Json:
    good = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    weightless = {"weight": 0, "preference": {"matchExpressions": [UNKNOWN]}}
    bad = {"weight": 2, "preference": {part: list(requirements)}}
    terms = [{"weight": 1, "preference": good}, weightless, bad]
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}}


def spreading(when: str) -> Json:
    selector = {"matchExpressions": [{"key": "app", "operator": "Like"}]}
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when, "labelSelector": selector}
    return {"topologySpreadConstraints": [constraint]}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            preferring(UNKNOWN),
            f'[2].matchExpressions[0].operator: Unsupported value: "Like": supported values: {NODE_WORDS}',
        ),
        (
            preferring(UNKNOWN, part="matchFields"),
            '[2].matchFields[0].operator: Unsupported value: "Like": supported values: "In", "NotIn"',
        ),
        (
            preferring(EMPTY, part="matchFields"),
            "[2].matchFields[0].values: Invalid value: null: must have one element",
        ),
        (
            preferring(EMPTY, {**EMPTY, "key": "tier"}),
            f"[[2].matchExpressions[0].values: {NO_VALUES}, [2].matchExpressions[1].values: {NO_VALUES}]",
        ),
    ],
)
def test_preferred_terms_are_read_before_nodes_are_scored(spec: Json, words: str) -> None:
    assert verdict(spec)["error"] == f'running PreScore plugin "NodeAffinity": {words}'


@pytest.mark.parametrize("spec", [preferring(UNKNOWN), spreading("ScheduleAnyway")])
def test_what_only_scores_is_not_read_where_no_node_is_feasible(spec: Json) -> None:
    judged = verdict({**spec, "nodeSelector": {"zone": "c"}})
    assert "error" not in judged
    assert judged["message"] == "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."


@pytest.mark.parametrize(
    ("when", "version", "begins"),
    [
        ("ScheduleAnyway", "1.37", 'running PreScore plugin "PodTopologySpread": calculating preScoreState: obtaining'),
        ("DoNotSchedule", "1.37", 'running PreFilter plugin "PodTopologySpread": get constraints from pod: obtaining'),
        ("DoNotSchedule", "1.29", 'running PreFilter plugin "PodTopologySpread": obtaining'),
    ],
)
def test_a_constraints_selector_fails_where_it_is_read_first(when: str, version: str, begins: str) -> None:
    kind = "soft" if when == "ScheduleAnyway" else "hard"
    words = f'{begins} pod\'s {kind} topology spread constraints: "Like" is not a valid label selector operator'
    assert verdict(spreading(when), version)["error"] == words
