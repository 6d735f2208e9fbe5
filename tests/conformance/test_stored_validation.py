"""The API server's stored answers to pods and workloads, object by object, beside ours.

``invalid`` and ``refused`` are random pods, ``tables`` the pods of Kubernetes' own validation tests
(pkg/apis/core/validation/validation_test.go, Apache-2.0); the program `validate` judged them. ``workloads`` were judged
by `workloads`, which allows privileged containers and knows the objects' uid.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.objects import judge_object
from conformance.stored import stored
from tests.unit.api.validation.builders import decode_problem
from topospread.api.validation import validate_object

Json = dict[str, Any]


def _errors(answer: Json) -> set[tuple[str, str, str]]:
    return {(error["type"], error["field"], error["message"]) for error in answer["errors"]}


def _shown(differing: dict[str, tuple[set[Any], set[Any]]]) -> str:
    lines = [f"{name}: ours only {ours}, theirs only {theirs}" for name, (ours, theirs) in differing.items()]
    return f"{len(lines)} objects differ\n" + "\n".join(lines[:3])


@pytest.mark.parametrize("name", ["invalid", "refused", "tables", "others"])
def test_pods_are_refused_as_the_api_server_refuses_them(name: str) -> None:
    differing = {}
    for pod, answer in zip(*stored(name), strict=True):
        ours = judge_object(pod)
        mine, theirs = _errors(ours), _errors(answer)
        if mine != theirs or ("decode" in ours) != ("decode" in answer):
            differing[pod["metadata"]["name"]] = (mine - theirs, theirs - mine)
    assert not differing, _shown(differing)


def test_workloads_are_refused_as_the_api_server_refuses_them() -> None:
    differing = {}
    for workload, answer in zip(*stored("workloads"), strict=True):
        workload["metadata"]["uid"] = "uid"
        if "decode" in answer:
            assert decode_problem(workload)
            continue
        ours = {(each.type, each.field, each.message) for each in validate_object(workload)}
        if ours != _errors(answer):
            differing[workload["metadata"]["name"]] = (ours - _errors(answer), _errors(answer) - ours)
    assert not differing, _shown(differing)


def test_the_stored_answers_hold_what_is_worth_comparing() -> None:
    for name in ("invalid", "refused", "tables", "workloads"):
        _, answers = stored(name)
        assert sum(len(answer["errors"]) for answer in answers) > 900
        assert any(not answer["errors"] for answer in answers)
    assert any("decode" in answer for answer in stored("refused")[1])
