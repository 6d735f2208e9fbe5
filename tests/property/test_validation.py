"""What holds of every object that is judged: it gets an answer, the same one each time, and stays as it was."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.generators.refused.pods import pod
from conformance.generators.refused.words import Words
from conformance.generators.refused.workloads import workload
from conformance.judging.objects import judge_object
from tests.unit.api.validation.builders import decode_problem
from topospread.api.validation import validate_object
from topospread.api.validation.schema import STRUCT_OF, unknown_fields

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
FIELDS = st.sampled_from(["metadata", "spec", "status", "labels", "containers", "template", "selector", "affinity"])
NESTED = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner, max_size=3))
SEEDS = st.integers(0, 10**9)


@given(JSON)
def test_anything_is_answered(value: Any) -> None:
    answer = judge_object(value)
    assert answer["errors"] == []
    assert answer["decode"]


@given(st.sampled_from(sorted(STRUCT_OF)), st.dictionaries(FIELDS, NESTED, max_size=3))
def test_objects_of_our_kinds_are_answered_whatever_they_hold(kind: str, fields: dict[str, Any]) -> None:
    group = {"Pod": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}.get(kind, "apps/v1")
    made = {"apiVersion": group, "kind": kind, **fields}
    errors = validate_object(made)
    problem = decode_problem(made)
    if problem is not None:
        assert [error.message for error in errors] == [problem]
    else:
        assert errors
        assert all(error.message.startswith(error.field) for error in errors)


@given(SEEDS)
def test_a_pod_is_answered_twice_alike_and_stays_as_it_was(seed: int) -> None:
    made = pod(Words(seed), 0)
    before = copy.deepcopy(made)
    first = judge_object(made)
    assert judge_object(made) == first
    assert made == before
    messages = [error["message"] for error in first["errors"]]
    assert messages == sorted(set(messages))
    assert all(message.startswith(error["field"]) for message, error in zip(messages, first["errors"], strict=True))


@given(SEEDS)
def test_a_workload_stays_as_it_was_and_fields_nobody_knows_change_nothing(seed: int) -> None:
    made = workload(Words(seed), 0)
    before = copy.deepcopy(made)
    errors = validate_object(made)
    assert made == before
    if isinstance(made["spec"], dict):
        made["spec"]["nobodyKnows"] = {"x": [1]}
        assert "spec.nobodyKnows" in unknown_fields(made, STRUCT_OF[made["kind"]])
    assert validate_object(made) == errors
