import gzip
import json
from pathlib import Path

import msgspec
import pytest

from topospread.api.decoding import decode
from topospread.api.labels import (
    InvalidSelectorError,
    LabelSelector,
    LabelSelectorRequirement,
    Requirement,
    Selector,
    parse_int64,
)

RECORDED = Path(__file__).with_name("recorded_selectors.jsonl.gz")


def selector(**fields: object) -> Selector:
    return Selector.from_label_selector(decode(fields, LabelSelector))


@pytest.mark.parametrize(
    ("operator", "values", "labels", "matches"),
    [
        ("In", ("a", "b"), {"k": "b"}, True),
        ("In", ("a", "b"), {"k": "c"}, False),
        ("In", ("a",), {}, False),
        ("NotIn", ("a",), {"k": "b"}, True),
        ("NotIn", ("a",), {"k": "a"}, False),
        ("NotIn", ("a",), {}, True),
        ("Exists", (), {"k": ""}, True),
        ("Exists", (), {"other": "x"}, False),
        ("DoesNotExist", (), {}, True),
        ("DoesNotExist", (), {"k": "x"}, False),
        ("Gt", ("5",), {"k": "6"}, True),
        ("Gt", ("5",), {"k": "5"}, False),
        ("Gt", ("5",), {"k": "six"}, False),
        ("Gt", ("5",), {}, False),
        ("Lt", ("5",), {"k": "-6"}, True),
        ("Lt", ("five",), {"k": "1"}, False),
        ("Lt", ("5", "6"), {"k": "1"}, False),
    ],
)
def test_requirement_matches_as_in_apimachinery(operator, values, labels, matches):
    assert Requirement("k", operator, values).matches(labels) is matches


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("+7", 7),
        ("-007", -7),
        ("0" * 5000 + "1", 1),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("-9223372036854775808", -(2**63)),
        ("9" * 5000, None),
        ("", None),
        ("+", None),
        ("1_0", None),
        (" 1", None),
        ("1.0", None),
        ("٣", None),
    ],
)
def test_int64_is_parsed_as_strconv_does(text, number):
    assert parse_int64(text) == number


def test_missing_selector_matches_nothing_and_empty_one_everything():
    nothing, everything = Selector.from_label_selector(None), selector()
    assert not nothing.matches({})
    assert not nothing.empty
    assert everything.matches({})
    assert everything.empty
    assert nothing != everything
    assert nothing == Selector.nothing()
    assert everything == Selector.everything()


def test_as_text_without_repeats_a_requirement_stands_once():
    web, also = Requirement("app", "=", ("web",)), Requirement("app", "In", ("web",))
    more = Requirement("tier", "In", ("a", "b"))
    assert Selector((web, also, more, web)).without_repeats() == "app=web,tier in (a,b)"
    assert str(Selector((web, also, web))) == "app=web,app in (web),app=web"
    assert Selector((also, web)).without_repeats() == "app=web"


def test_nothing_stays_nothing_whatever_is_added():
    assert Selector.nothing().with_requirements(Requirement("a", "Exists")) == Selector.nothing()
    assert Selector.nothing().with_match_label_keys(["a"], {"a": "1"}) == Selector.nothing()


def test_null_lists_and_maps_are_none():
    assert selector(matchLabels=None, matchExpressions=None) == Selector.everything()


def test_selectors_that_state_the_same_are_equal_and_hash_alike():
    one = selector(
        matchLabels={"app": "web"},
        matchExpressions=[
            {"key": "tier", "operator": "In", "values": ["b", "a", "a"]},
            {"key": "old", "operator": "DoesNotExist"},
        ],
    )
    other = selector(
        matchExpressions=[
            {"key": "old", "operator": "DoesNotExist"},
            {"key": "app", "operator": "In", "values": ["web"]},
            {"key": "tier", "operator": "In", "values": ["a", "b"]},
        ],
    )
    assert one == other
    assert hash(one) == hash(other)
    assert one != selector(matchLabels={"app": "web"})
    assert one != "app=web"


def test_selector_prints_as_go_does():
    printed = selector(
        matchLabels={"tier": "front"},
        matchExpressions=[
            {"key": "app", "operator": "In", "values": ["b", "a"]},
            {"key": "zone", "operator": "NotIn", "values": ["x"]},
            {"key": "live", "operator": "Exists"},
            {"key": "old", "operator": "DoesNotExist"},
        ],
    )
    assert str(printed) == "app in (a,b),live,!old,tier=front,zone notin (x)"
    assert str(Selector.nothing()) == str(Selector.everything()) == ""
    assert str(Requirement("gen", "Gt", ("3",))) == "gen>3"


@pytest.mark.parametrize("operator", ["Foo", "", "in", "Gt"])
def test_an_operator_that_is_none_is_refused_in_gos_words(operator):
    with pytest.raises(InvalidSelectorError, match=f'^"{operator}" is not a valid label selector operator$'):
        selector(matchExpressions=[{"key": "a", "operator": operator, "values": ["1"]}])


def test_every_broken_rule_of_a_requirement_is_named():
    with pytest.raises(InvalidSelectorError) as caught:
        Requirement.checked("a", "Gt", ["x", "y z"], "terms[0]")
    parts = str(caught.value).removeprefix("[").removesuffix("]").split(", terms")
    assert parts[0] == (
        """terms[0].values: Invalid value: ["x","y z"]: for 'Gt', 'Lt' operators, exactly one value is required"""
    )
    assert len(parts) == 4


def test_match_label_keys_add_the_pods_values_and_drop_what_it_lacks():
    merged = selector(matchLabels={"app": "web"}).with_match_label_keys(["hash", "gone"], {"hash": "1", "app": "web"})
    assert merged == selector(matchLabels={"app": "web", "hash": "1"})
    assert selector().with_match_label_keys(None, {"a": "b"}) == Selector.everything()


def test_from_set_requires_each_label():
    assert Selector.from_set({"a": "1", "b": "2"}).matches({"a": "1", "b": "2", "c": "3"})
    assert not Selector.from_set({"a": "1", "b": "2"}).matches({"a": "1"})
    assert Selector.from_set({}) == Selector.everything()


def test_label_selector_keeps_its_form():
    typed = LabelSelector(
        match_labels={}, match_expressions=[LabelSelectorRequirement(key="a", operator="In", values=["1"])]
    )
    wire = {"matchLabels": {}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}
    assert msgspec.to_builtins(typed) == wire
    assert decode(wire, LabelSelector) == typed
    assert repr(typed) == (
        "LabelSelector(match_labels={}, match_expressions="
        "[LabelSelectorRequirement(key='a', operator='In', values=['1'])])"
    )


def answer(case: dict) -> dict:
    """What this project says of a recorded case, in the record's form."""
    try:
        if "selector" in case:
            given = case["selector"]
            found = Selector.from_label_selector(None if given is None else decode(given, LabelSelector))
            return {"string": str(found), "matches": found.matches(case["labels"]), "empty": found.empty}
        one = Requirement.checked(case["key"], case["operator"], case["values"], "a[0]")
        return {"string": str(one), "matches": one.matches(case["labels"])}
    except InvalidSelectorError as error:
        return {"error": str(error)}


def test_recorded_answers_of_apimachinery():
    """apimachinery v0.37.0 on random selectors and requirements: text, answer, or the words of the refusal."""
    cases = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
    assert len(cases) == 420
    assert [case for case in cases if answer(case) != case["go"]] == []
