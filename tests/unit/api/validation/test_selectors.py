"""Label selectors and node selectors: operators, values, keys, and matchLabelKeys of pod affinity beside them."""

from __future__ import annotations

import pytest

from topospread.api.validation.selectors import (
    check_label_keys,
    check_label_selector,
    check_node_selector,
    check_node_selector_term,
)


def messages(errors):
    return [error.message for error in errors]


def test_no_selector_and_an_empty_one_are_both_fine():
    assert messages(check_label_selector("s", None)) == []
    assert messages(check_label_selector("s", {})) == []


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ({"operator": "In", "values": ["x"]}, None),
        (
            {"operator": "In"},
            "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        ),
        (
            {"operator": "Exists", "values": ["x"]},
            "s.matchExpressions[0].values: Forbidden: "
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
        (
            {"operator": "Gt", "values": ["1"]},
            's.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator',
        ),
        ({}, 's.matchExpressions[0].operator: Invalid value: "": not a valid selector operator'),
    ],
)
def test_an_operator_decides_about_values(requirement, message):
    found = messages(check_label_selector("s", {"matchExpressions": [{"key": "app", **requirement}]}))
    assert found == ([message] if message else [])


def test_labels_are_refused_as_a_whole_and_values_one_by_one():
    selector = {
        "matchLabels": {"-": "web", "app": "-"},
        "matchExpressions": [{"key": "/", "operator": "In", "values": ["a", "-"]}],
    }
    fields = [error.field for error in check_label_selector("s", selector)]
    assert fields == ["s.matchLabels"] * 2 + ["s.matchExpressions[0].key"] * 3 + ["s.matchExpressions[0].values[1]"]


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ({"operator": "Gt", "values": ["1"]}, None),
        ({"operator": "Lt", "values": ["x"]}, None),
        ({"operator": "Gt", "values": ["1", "2"]}, "must be specified single value when `operator` is 'Lt' or 'Gt'"),
        ({"operator": "Lt"}, "must be specified single value when `operator` is 'Lt' or 'Gt'"),
        ({"operator": "NotIn"}, "must be specified when `operator` is 'In' or 'NotIn'"),
    ],
)
def test_node_selectors_compare_with_one_value(requirement, message):
    term = {"matchExpressions": [{"key": "gen", **requirement}]}
    found = messages(check_node_selector("n", {"nodeSelectorTerms": [term]}))
    where = "n.nodeSelectorTerms[0].matchExpressions[0].values: Required value: "
    assert found == ([where + message] if message else [])


def test_a_node_selector_needs_a_term_and_a_term_needs_nothing():
    assert messages(check_node_selector("n", {})) == [
        "n.nodeSelectorTerms: Required value: must have at least one node selector term"
    ]
    assert messages(check_node_selector("n", {"nodeSelectorTerms": [{}]})) == []


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ({"key": "metadata.name", "operator": "In", "values": ["n1"]}, []),
        (
            {"key": "metadata.name", "operator": "NotIn", "values": ["a", "b"]},
            [
                "t.matchFields[0].values: Required value: "
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            ],
        ),
        (
            {"key": "metadata.name", "operator": "Exists"},
            ['t.matchFields[0].operator: Invalid value: "Exists": not a valid selector operator'],
        ),
        (
            {"key": "metadata.namespace", "operator": "In", "values": ["x"]},
            ['t.matchFields[0].key: Invalid value: "metadata.namespace": not a valid field selector key'],
        ),
    ],
)
def test_fields_of_nodes_are_their_names_alone(field, found):
    assert messages(check_node_selector_term("t", {"matchFields": [field]})) == found


def test_names_of_nodes_are_checked():
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["N_1"]}]}
    assert [error.field for error in check_node_selector_term("t", term)] == ["t.matchFields[0].values[0]"]


def test_values_of_preferred_terms_may_be_anything():
    term = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a b"]}]}
    assert len(list(check_node_selector_term("t", term))) == 1
    assert list(check_node_selector_term("t", term, any_values=True)) == []


def test_a_key_cannot_match_and_mismatch():
    term = {"labelSelector": {}, "matchLabelKeys": ["a", "b"], "mismatchLabelKeys": ["b"]}
    assert messages(check_label_keys("t", term)) == [
        't.matchLabelKeys[1]: Invalid value: "b": exists in both matchLabelKeys and mismatchLabelKeys'
    ]


def test_label_keys_without_a_selector_are_forbidden_each():
    assert messages(check_label_keys("t", {"matchLabelKeys": ["a"], "mismatchLabelKeys": ["-"]})) == [
        "t.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
        "t.mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
    ]
