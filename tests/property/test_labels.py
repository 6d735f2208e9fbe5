"""What holds of every selector: equal ones give equal answers, adding requirements is a conjunction."""

from hypothesis import given
from hypothesis import strategies as st

from topospread.api.labels import Requirement, Selector

KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(["", "1", "2", "10", "x"])
LABELS = st.dictionaries(KEYS, VALUES)
REQUIREMENTS = st.one_of(
    st.builds(Requirement, KEYS, st.sampled_from(["In", "NotIn"]), st.lists(VALUES, min_size=1, max_size=3).map(tuple)),
    st.builds(Requirement, KEYS, st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(Requirement, KEYS, st.sampled_from(["=", "Gt", "Lt"]), st.tuples(VALUES)),
)
LISTS = st.lists(REQUIREMENTS, max_size=4)


@given(LISTS, st.randoms(use_true_random=False), LABELS)
def test_order_and_repetition_make_no_difference(requirements, random, labels):
    written = [
        Requirement(each.key, each.operator, each.values * 2) if each.operator == "In" else each
        for each in requirements
    ]
    written += random.choices(requirements, k=2) if requirements else []
    random.shuffle(written)
    one, other = Selector(tuple(requirements)), Selector(tuple(written))
    assert one == other
    assert hash(one) == hash(other)
    assert one.matches(labels) == other.matches(labels)


@given(LISTS, LISTS, LABELS)
def test_equal_selectors_answer_alike(left, right, labels):
    one, other = Selector(tuple(left)), Selector(tuple(right))
    if one == other:
        assert one.matches(labels) == other.matches(labels)


@given(LISTS, LISTS, LABELS)
def test_adding_requirements_is_a_conjunction(own, added, labels):
    selector = Selector(tuple(own)).with_requirements(*added)
    assert selector.matches(labels) == (Selector(tuple(own)).matches(labels) and Selector(tuple(added)).matches(labels))


@given(KEYS, st.lists(VALUES, min_size=1, max_size=3), LABELS)
def test_not_in_is_the_opposite_of_in(key, values, labels):
    inside, outside = Requirement(key, "In", tuple(values)), Requirement(key, "NotIn", tuple(values))
    assert inside.matches(labels) is not outside.matches(labels)


@given(LABELS, LABELS)
def test_a_set_matches_what_contains_it(wanted, labels):
    assert Selector.from_set(wanted).matches(labels) == (wanted.items() <= labels.items())


@given(LISTS, st.lists(KEYS), LABELS)
def test_match_label_keys_narrow_to_the_pods_own_values(own, keys, labels):
    selector = Selector(tuple(own))
    merged = selector.with_match_label_keys(keys, labels)
    assert merged.matches(labels) == selector.matches(labels)
    assert merged == selector.with_requirements(
        *(Requirement(key, "In", (labels[key],)) for key in keys if key in labels)
    )
