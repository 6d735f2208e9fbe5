import copy
import gzip
import json
from pathlib import Path

import pytest

from topospread.api.labels import LabelSelector, LabelSelectorRequirement
from topospread.api.spread import TopologySpreadConstraint, merge, merge_constraints
from topospread.errors import DecodeError, InputError, InvalidError, UsageError

RECORDED_TEXT = gzip.decompress(Path(__file__).with_name("recorded_merges.jsonl.gz").read_bytes())
RECORDED = [json.loads(line) for line in RECORDED_TEXT.splitlines()]

HARD_ZONE = TopologySpreadConstraint(max_skew=1, topology_key="zone", when_unsatisfiable="DoNotSchedule")
SOFT_ZONE = TopologySpreadConstraint(max_skew=2, topology_key="zone", when_unsatisfiable="ScheduleAnyway")
HARD_HOST = TopologySpreadConstraint(max_skew=3, topology_key="host", when_unsatisfiable="DoNotSchedule")


def constraint(base: TopologySpreadConstraint, **changed: object) -> TopologySpreadConstraint:
    copied = base.copy()
    for name, value in changed.items():
        setattr(copied, name, value)
    return copied


@pytest.mark.parametrize("strategy", ["strategic", "apply"])
class TestOneConstraint:
    def test_set_fields_replace_and_unset_fields_stay(self, strategy):
        patch = TopologySpreadConstraint(max_skew=5, node_taints_policy="Honor")
        merged = merge(HARD_ZONE, patch, strategy=strategy)
        assert merged == constraint(HARD_ZONE, max_skew=5, node_taints_policy="Honor")
        assert HARD_ZONE.max_skew == 1

    def test_null_unsets(self, strategy):
        assert merge(constraint(HARD_ZONE, min_domains=3), {"minDomains": None}, strategy=strategy) == HARD_ZONE

    def test_match_label_keys_are_replaced(self, strategy):
        base = constraint(HARD_ZONE, match_label_keys=["a"])
        assert merge(base, {"matchLabelKeys": ["b"]}, strategy=strategy).match_label_keys == ["b"]

    def test_a_wrong_type_is_refused(self, strategy):
        with pytest.raises(InputError, match="maxSkew"):
            merge(HARD_ZONE, {"maxSkew": "x"}, strategy=strategy)


SELECTOR = LabelSelector(
    match_labels={"app": "web", "tier": "front"},
    match_expressions=[LabelSelectorRequirement(key="old", operator="DoesNotExist")],
)


def test_strategic_merges_match_labels_and_replaces_expressions():
    base = constraint(HARD_ZONE, label_selector=SELECTOR.__copy__())
    patch = {
        "labelSelector": {
            "matchLabels": {"tier": None, "new": "1"},
            "matchExpressions": [{"key": "x", "operator": "Exists"}],
        }
    }
    assert merge(base, patch).label_selector == LabelSelector(
        match_labels={"app": "web", "new": "1"},
        match_expressions=[LabelSelectorRequirement(key="x", operator="Exists")],
    )


def test_apply_replaces_the_whole_selector():
    base = constraint(HARD_ZONE, label_selector=SELECTOR)
    merged = merge(base, {"labelSelector": {"matchLabels": {"new": "1"}}}, strategy="apply")
    assert merged.label_selector == LabelSelector(match_labels={"new": "1"})


def test_strategic_directives_within_a_constraint():
    base = constraint(HARD_ZONE, label_selector=SELECTOR, match_label_keys=["a", "b"])
    replaced = merge(base, {"labelSelector": {"$patch": "replace", "matchLabels": {"x": "y"}}})
    assert replaced.label_selector == LabelSelector(match_labels={"x": "y"})
    # What kubectl's "delete" leaves is the selector that matches everything, not none.
    assert merge(base, {"labelSelector": {"$patch": "delete"}}).label_selector == LabelSelector()
    assert merge(base, {"$deleteFromPrimitiveList/matchLabelKeys": ["a"]}).match_label_keys == ["b"]
    assert merge(base, {"$retainKeys": ["maxSkew"]}) == TopologySpreadConstraint(max_skew=1)
    with pytest.raises(InvalidError, match="unknown patch type: bogus"):
        merge(base, {"$patch": "bogus"})


class TestStrategicLists:
    def test_constraints_are_matched_by_topology_key_alone(self):
        merged = merge_constraints([HARD_ZONE, HARD_HOST], [SOFT_ZONE], strategy="strategic")
        assert merged == [SOFT_ZONE, HARD_HOST]

    def test_of_two_constraints_of_one_key_the_first_is_changed(self):
        """The known flaw: a patch meant for the soft constraint lands on the hard one."""
        patch = [constraint(SOFT_ZONE, max_skew=9)]
        merged = merge_constraints([HARD_ZONE, SOFT_ZONE], patch, strategy="strategic")
        assert merged == [constraint(SOFT_ZONE, max_skew=9), SOFT_ZONE]

    def test_delete_removes_every_constraint_of_the_key(self):
        patch = [{"$patch": "delete", "topologyKey": "zone"}]
        assert merge_constraints([HARD_ZONE, HARD_HOST, SOFT_ZONE], patch, strategy="strategic") == [HARD_HOST]

    def test_replace_drops_what_there_was(self):
        patch = [{"$patch": "replace"}, HARD_HOST.to_dict()]
        assert merge_constraints([HARD_ZONE, SOFT_ZONE], patch, strategy="strategic") == [HARD_HOST]

    def test_new_constraints_come_before_those_of_the_base(self):
        assert merge_constraints([HARD_ZONE], [HARD_HOST], strategy="strategic") == [HARD_HOST, HARD_ZONE]

    def test_the_element_order_of_client_side_apply_decides(self):
        merged = merge_constraints([HARD_ZONE], [HARD_HOST], strategy="strategic", element_order=["zone", "host"])
        assert merged == [HARD_ZONE, HARD_HOST]

    def test_onto_nothing_the_patch_is_taken_as_it_is(self):
        assert merge_constraints([], [HARD_ZONE, SOFT_ZONE], strategy="strategic") == [HARD_ZONE, SOFT_ZONE]

    def test_null_deletes_the_list(self):
        assert merge_constraints([HARD_ZONE], None, strategy="strategic") == []

    def test_a_constraint_without_the_key_is_refused(self):
        with pytest.raises(InvalidError, match="does not contain declared merge key: topologyKey"):
            merge_constraints([HARD_ZONE], [TopologySpreadConstraint(max_skew=1)], strategy="strategic")

    @pytest.mark.parametrize("element", [None, "x", 1, []])
    def test_what_is_no_object_is_refused(self, element):
        with pytest.raises(InputError):
            merge_constraints([HARD_ZONE], [element], strategy="strategic")


class TestApplyLists:
    def test_constraints_are_matched_by_key_and_action(self):
        patch = [TopologySpreadConstraint(topology_key="zone", when_unsatisfiable="ScheduleAnyway", max_skew=9)]
        merged = merge_constraints([HARD_ZONE, SOFT_ZONE], patch, strategy="apply")
        assert merged == [HARD_ZONE, constraint(SOFT_ZONE, max_skew=9)]

    def test_another_action_is_another_constraint(self):
        assert merge_constraints([HARD_ZONE], [SOFT_ZONE], strategy="apply") == [HARD_ZONE, SOFT_ZONE]

    def test_applied_constraints_keep_their_order(self):
        merged = merge_constraints([HARD_ZONE, HARD_HOST], [HARD_HOST, HARD_ZONE], strategy="apply")
        assert merged == [HARD_HOST, HARD_ZONE]

    def test_nothing_is_removed(self):
        assert merge_constraints([HARD_ZONE, SOFT_ZONE], [], strategy="apply") == [HARD_ZONE, SOFT_ZONE]
        assert merge_constraints([HARD_ZONE], None, strategy="apply") == [HARD_ZONE]

    def test_one_key_applied_twice_is_refused(self):
        with pytest.raises(InvalidError, match="duplicate entries for key"):
            merge_constraints([], [HARD_ZONE, HARD_ZONE], strategy="apply")

    def test_a_field_that_does_not_exist_is_refused(self):
        patch = [HARD_ZONE.to_dict() | {"maxSkw": 1}]
        with pytest.raises(InvalidError, match=r"topologySpreadConstraints\[0\]\.maxSkw: field not declared in schema"):
            merge_constraints([], patch, strategy="apply")

    def test_directives_are_no_fields(self):
        with pytest.raises(InvalidError, match=r"\$patch: field not declared in schema"):
            merge_constraints([HARD_ZONE], [{"$patch": "delete", "topologyKey": "zone"}], strategy="apply")

    def test_a_number_that_is_no_integer_passes_the_schema_but_not_the_type(self):
        with pytest.raises(DecodeError, match=r"topologySpreadConstraints\[0\]\.maxSkew"):
            merge_constraints([], [HARD_ZONE.to_dict() | {"maxSkew": 1.5}], strategy="apply")

    def test_there_is_no_element_order(self):
        with pytest.raises(UsageError, match="element_order"):
            merge_constraints([], [], strategy="apply", element_order=["zone"])


def test_a_strategy_that_is_none():
    words = "strategy 'json': use 'strategic' or 'apply'"
    with pytest.raises(UsageError, match=words):
        merge(HARD_ZONE, SOFT_ZONE, strategy="json")
    with pytest.raises(UsageError, match=words):
        merge_constraints([HARD_ZONE], [SOFT_ZONE], strategy="json")


def test_there_are_records_of_both_kinds_of_merge_accepted_and_refused():
    kinds = [(case["strategy"], "error" in case) for case in RECORDED]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        ("strategic", False): 120,
        ("strategic", True): 60,
        ("apply", False): 120,
        ("apply", True): 60,
    }


@pytest.mark.parametrize("case", RECORDED, ids=range(len(RECORDED)))
def test_recorded_merges(case):
    """apimachinery v0.37.0 strategicpatch and structured-merge-diff v6.4.2 on random lists, quirks and all."""
    base = [TopologySpreadConstraint.from_dict(each) for each in case["base"]]
    before, patch = copy.deepcopy(base), copy.deepcopy(case["patch"])
    order = case.get("order")
    if "error" in case:
        with pytest.raises(InputError):
            merge_constraints(base, patch, strategy=case["strategy"], element_order=order)
    else:
        merged = merge_constraints(base, patch, strategy=case["strategy"], element_order=order)
        assert merged == [TopologySpreadConstraint.from_dict(each or {}) for each in case["merged"] or []]
    assert base == before
    assert patch == case["patch"]
