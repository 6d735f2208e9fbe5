"""Plain data against the fields of Kubernetes: types, nulls, unknown fields, and where something is wrong."""

from __future__ import annotations

import copy

import pytest

from tests.unit.api.validation.builders import decode_problem, pod, workload
from topospread.api.quantity import NumberText, parse_quantity
from topospread.api.validation.schema import STRUCT_OF, WrongTypeError, decoded, unknown_fields


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"spec": []}, "spec: expected an object, got a list"),
        ({"spec": {"nodeName": 5}}, "spec.nodeName: expected a string, got the number 5"),
        ({"spec": {"hostNetwork": "yes"}}, 'spec.hostNetwork: expected true or false, got the string "yes"'),
        ({"spec": {"containers": {}}}, "spec.containers: expected a list, got an object"),
        ({"spec": {"containers": ["x"]}}, 'spec.containers[0]: expected an object, got the string "x"'),
        ({"spec": {"priority": 2**31}}, "spec.priority: expected an integer from -2147483648 to 2147483647, got"),
        ({"spec": {"priority": 1.5}}, "spec.priority: expected an integer, got the number 1.5"),
        ({"spec": {"priority": True}}, "spec.priority: expected an integer, got true"),
        ({"metadata": {"labels": {"a": 1}}}, "metadata.labels[a]: expected a string, got the number 1"),
        ({"metadata": {"labels": {1: "a"}}}, "metadata.labels[1]: expected a string, got the number 1"),
        ({"metadata": {"creationTimestamp": "today"}}, "metadata.creationTimestamp: expected a time like"),
        ({"metadata": {"creationTimestamp": "2026-02-30T00:00:00Z"}}, "metadata.creationTimestamp: expected a time"),
        ({"spec": {"overhead": {"cpu": "x"}}}, 'spec.overhead[cpu]: the string "x" is no quantity: quantities must'),
        ({"spec": {"overhead": {"cpu": {}}}}, "spec.overhead[cpu]: expected a quantity, got an object"),
        (
            {"spec": {"containers": [{"livenessProbe": {"httpGet": {"port": 1.5}}}]}},
            "spec.containers[0].livenessProbe.httpGet.port: expected an integer or a string, got the number 1.5",
        ),
        ({"spec": {"nodeName": "x" * 41, "hostname": ["x"]}}, "spec.hostname: expected a string, got a list"),
    ],
)
def test_the_first_wrong_type_is_named_with_its_path(fields, problem):
    made = {"apiVersion": "v1", "kind": "Pod", **fields}
    found = decode_problem(made)
    assert found is not None
    assert found.startswith(problem)


def test_numbers_of_workloads_are_looked_at_too():
    assert decode_problem(workload("Deployment", replicas="3")) == (
        'spec.replicas: expected an integer, got the string "3"'
    )


@pytest.mark.parametrize("obj", [pod(), *[workload(kind) for kind in STRUCT_OF if kind != "Pod"]])
def test_good_objects_decode_and_stay_as_they_were(obj):
    before = copy.deepcopy(obj)
    assert decode_problem(obj) is None
    assert obj == before


def test_null_leaves_fields_unset_and_is_zero_in_lists_and_maps():
    read = decoded(
        {
            "metadata": {"labels": {"a": None}, "annotations": None},
            "spec": {
                "nodeName": None,
                "containers": [None, {"args": [None]}],
                "overhead": {"cpu": None},
                "securityContext": {"supplementalGroups": [None]},
            },
        },
        "Pod",
    )
    assert read["metadata"] == {"labels": {"a": ""}}
    assert read["spec"]["containers"] == [{}, {"args": [""]}]
    assert read["spec"]["overhead"] == {"cpu": parse_quantity("0")}
    assert read["spec"]["securityContext"] == {"supplementalGroups": [0]}
    assert "nodeName" not in read["spec"]


def test_unknown_fields_are_dropped_and_the_case_counts():
    assert decoded({"spec": {"nodename": 5, "NodeName": 5}, "extra": 1}, "Pod") == {"spec": {}}


def test_half_a_surrogate_pair_is_the_replacement_character():
    assert decoded({"metadata": {"name": "a\ud800"}}, "Pod") == {"metadata": {"name": "a\ufffd"}}


def test_a_number_kept_as_text_is_a_number():
    assert decoded({"overhead": {"cpu": NumberText("1e3")}}, "PodSpec")["overhead"]["cpu"].value() == 1000
    with pytest.raises(WrongTypeError, match=r"nodeName: expected a string, got the number 1\.0"):
        decoded({"nodeName": NumberText("1.0")}, "PodSpec")


def test_unknown_fields_are_found_at_any_depth():
    made = pod(metadata={"lables": {}}, nodeSelecter={}, containers=[{"name": "c", "resources": {"request": {}}}])
    assert unknown_fields(made, "Pod") == [
        "metadata.lables",
        "spec.containers[0].resources.request",
        "spec.nodeSelecter",
    ]
    assert unknown_fields(workload("CronJob", shedule="x"), "CronJob") == ["spec.shedule"]
