"""Node selectors as masks of rows: operators, fields, terms that are invalid, and values that come later."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from tests.unit.plugins.storage_builders import cluster, node, pod
from topospread.api.node_selection import NodeSelector
from topospread.plugins.interface import PluginError
from topospread.plugins.node_matching import matches_node, required_mask, requires_node, selector_mask, term_problems

Json = dict[str, Any]
NODES: dict[str, Json] = {"a": {"zone": "x", "size": "3"}, "b": {"zone": "y", "size": "10"}, "c": {}}


def label(operator: str, *values: str, key: str = "zone") -> Json:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def field(operator: str, *values: str, key: str = "metadata.name") -> Json:
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


def selector(*terms: Json) -> NodeSelector:
    return msgspec.convert({"nodeSelectorTerms": list(terms)}, NodeSelector)


def matched(*terms: Json) -> str:
    made = cluster(NODES)
    mask = selector_mask(selector(*terms), made.nodes)
    by_slice, by_rows = mask(slice(0, made.nodes.size)), mask(np.arange(made.nodes.size))
    assert by_slice.tolist() == by_rows.tolist()
    return "".join(made.nodes.names[row] for row in np.flatnonzero(by_slice))


@pytest.mark.parametrize(
    ("terms", "names"),
    [
        ([label("In", "x")], "a"),
        ([label("In", "x", "y")], "ab"),
        ([label("NotIn", "x")], "bc"),
        ([label("Exists")], "ab"),
        ([label("DoesNotExist")], "c"),
        ([label("Gt", "3", key="size")], "b"),
        ([label("Lt", "10", key="size")], "a"),
        ([label("In", "x"), label("In", "y")], "ab"),
        ([label("In", "x") | field("In", "b")], ""),
        ([label("Exists") | field("In", "b")], "b"),
        ([field("In", "b")], "b"),
        ([field("In", "away")], ""),
        ([field("NotIn", "b")], "ac"),
        ([field("In", "", key="spec.other")], "abc"),
        ([field("NotIn", "", key="spec.other")], ""),
        ([field("In", "x", key="spec.other")], ""),
        ([{}], ""),
        ([], ""),
        ([label("Odd", "x")], ""),
        ([label("Odd", "x"), label("In", "y")], "b"),
        ([field("Exists")], ""),
        ([field("In", "a", "b")], ""),
    ],
)
def test_nodes_that_a_selector_matches(terms: list[Json], names: str) -> None:
    assert matched(*terms) == names


def test_values_that_come_later_and_renumbered_ones_are_matched() -> None:
    made = cluster(NODES)
    mask = selector_mask(selector(label("NotIn", "x")), made.nodes)
    assert mask(slice(0, 3)).tolist() == [False, True, True]
    made.add_node(node("d", {"zone": "z"}))
    made.add_node(node("e", {"zone": "x"}))
    assert mask(slice(0, 5)).tolist() == [False, True, True, True, False]
    for number in range(400):
        made.apply("MODIFIED", node("d", {"zone": f"z{number}"}))
    assert made.nodes.numbering > 0
    assert mask(slice(0, 5)).tolist() == [False, True, True, True, False]


def test_one_node_and_what_is_wrong_with_a_selector_that_does_not_match_it() -> None:
    given = node("a", NODES["a"])
    assert matches_node(selector(label("In", "x")), given)
    assert not matches_node(selector(label("In", "y")), given)
    assert matches_node(selector(label("Odd"), label("In", "x")), given)
    with pytest.raises(
        PluginError, match=r'operator: Unsupported value: "Odd": supported values: "In", "NotIn", "Exists"'
    ):
        matches_node(selector(label("Odd"), label("In", "y")), given)


def test_problems_have_their_path() -> None:
    (term,) = selector(label("Odd") | field("Exists")).node_selector_terms or ()
    (other,) = selector(field("In", "a", "b")).node_selector_terms or ()
    odd, exists = term_problems(term, "term")
    assert odd.startswith('term.matchExpressions[0].operator: Unsupported value: "Odd"')
    assert exists == 'term.matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"'
    (values,) = term_problems(other, "term")
    assert values.startswith("term.matchFields[0].values: Invalid value: ")
    assert values.endswith("must have one element")


def affinity(*terms: Json) -> Json:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ({}, "abc"),
        ({"affinity": {}}, "abc"),
        ({"nodeSelector": {"zone": "x"}}, "a"),
        ({"nodeSelector": {"zone": "x", "size": "10"}}, ""),
        ({"affinity": affinity(label("In", "y"))}, "b"),
        ({"nodeSelector": {"zone": "x"}, "affinity": affinity(label("In", "y"))}, ""),
        ({"nodeSelector": {"zone": "x"}, "affinity": affinity(label("Exists"))}, "a"),
    ],
)
def test_what_a_pod_requires(spec: Json, names: str) -> None:
    made, given = cluster(NODES), pod(**spec).spec
    assert "".join(name for name in NODES if requires_node(given, node(name, NODES[name]))) == names
    mask = required_mask(given, made.nodes)
    assert (mask is None) == (not spec.get("nodeSelector") and not spec.get("affinity"))
    if mask is not None:
        assert "".join(made.nodes.names[row] for row in np.flatnonzero(mask(slice(0, 3)))) == names
