"""What holds of every spread constraint: what is written is read back, copies are apart, merging is a merge."""

from hypothesis import given
from hypothesis import strategies as st

from topospread.api.labels import LabelSelector, LabelSelectorRequirement
from topospread.api.spread import TopologySpreadConstraint, merge, merge_constraints

TEXT = st.text(max_size=8) | st.sampled_from(["y", "no", "null", "1e3", "0o7", "12:30", "2020-01-01", "=", "<<", " a "])
INT32 = st.integers(-(2**31), 2**31 - 1)
REQUIREMENTS = st.builds(
    LabelSelectorRequirement, key=TEXT, operator=TEXT, values=st.none() | st.lists(TEXT, max_size=3)
)
SELECTORS = st.builds(
    LabelSelector,
    match_labels=st.none() | st.dictionaries(TEXT, TEXT, max_size=3),
    match_expressions=st.none() | st.lists(REQUIREMENTS, max_size=3),
)
STRATEGIES = st.sampled_from(["strategic", "apply"])


def constraints(keys: st.SearchStrategy = TEXT) -> st.SearchStrategy:
    return st.builds(
        TopologySpreadConstraint,
        max_skew=st.none() | INT32,
        topology_key=keys,
        when_unsatisfiable=st.none() | st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
        label_selector=st.none() | SELECTORS,
        min_domains=st.none() | INT32,
        node_affinity_policy=st.none() | TEXT,
        node_taints_policy=st.none() | TEXT,
        match_label_keys=st.none() | st.lists(TEXT, max_size=3),
    )


ANY = constraints(st.none() | TEXT)
LISTS = st.lists(constraints(st.sampled_from(["zone", "host", "rack"])), max_size=5)


def key(constraint: TopologySpreadConstraint) -> tuple:
    return constraint.topology_key, constraint.when_unsatisfiable


@given(ANY)
def test_what_is_written_is_read_back(constraint):
    assert TopologySpreadConstraint.from_dict(constraint.to_dict()) == constraint
    assert TopologySpreadConstraint.from_json(constraint.to_json()) == constraint
    assert TopologySpreadConstraint.from_yaml(constraint.to_yaml()) == constraint
    assert eval(repr(constraint)) == constraint


@given(ANY)
def test_a_copy_is_equal_and_apart(constraint):
    copied = constraint.copy()
    assert copied == constraint
    written = constraint.to_json()
    copied.label_selector = LabelSelector(match_labels={"changed": "1"})
    if copied.match_label_keys is not None:
        copied.match_label_keys.append("changed")
    assert constraint.to_json() == written


@given(ANY, ANY, STRATEGIES)
def test_merging_a_constraint(base, patch, strategy):
    empty = TopologySpreadConstraint()
    merged = merge(base, patch, strategy=strategy)
    assert merge(base, empty, strategy=strategy) == base
    assert merge(empty, patch, strategy=strategy) == patch
    assert merge(merged, patch, strategy=strategy) == merged
    for name in base.__struct_fields__:
        if name != "label_selector":
            wanted = getattr(patch, name)
            assert getattr(merged, name) == (getattr(base, name) if wanted is None else wanted)


@given(LISTS, LISTS)
def test_a_strategic_merge_keeps_every_topology_key_and_the_patches_order(base, patch):
    merged = merge_constraints(base, patch, strategy="strategic")
    assert {each.topology_key for each in merged} == {each.topology_key for each in [*base, *patch]}
    order = list(dict.fromkeys(each.topology_key for each in patch))
    assert [each for each in dict.fromkeys(each.topology_key for each in merged) if each in order] == order


@given(LISTS)
def test_a_strategic_merge_of_nothing_gathers_the_constraints_of_one_key(base):
    """Order is by where a key first stands: constraints of one key end up side by side, as in Kubernetes."""
    first = [each.topology_key for each in base]
    gathered = sorted(base, key=lambda each: first.index(each.topology_key))
    assert merge_constraints(base, [], strategy="strategic") == gathered


@given(LISTS, LISTS)
def test_an_applied_merge_has_the_constraints_of_both(base, patch):
    applied = list({key(each): each for each in patch}.values())
    merged = merge_constraints(base, applied, strategy="apply")
    assert {key(each) for each in merged} == {key(each) for each in [*base, *applied]}
    assert [key(each) for each in merged if key(each) in map(key, applied)] == [key(each) for each in applied]
    assert merge_constraints(merged, applied, strategy="apply") == merged
    untouched = [each for each in base if key(each) not in map(key, applied)]
    assert [each for each in merged if key(each) not in map(key, applied)] == untouched
