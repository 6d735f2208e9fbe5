"""What an index finds is what asking every one would find."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from topospread.api.label_index import LabelIndex, SelectorIndex
from topospread.api.labels import Operator, Requirement, Selector

NAMESPACES = st.sampled_from(["a", "b"])
LABELS = st.dictionaries(st.sampled_from(["app", "tier", "hash"]), st.sampled_from(["x", "y", "z"]))
OPERATORS = st.sampled_from(["=", "In", "NotIn", "Exists", "DoesNotExist"])


@st.composite
def requirements(draw: st.DrawFn) -> Requirement:
    operator: Operator = draw(OPERATORS)  # type: ignore[assignment]
    most = {"=": 1, "In": 2, "NotIn": 2}.get(operator, 0)
    values = draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=min(most, 1), max_size=most))
    return Requirement(draw(st.sampled_from(["app", "tier", "hash"])), operator, tuple(values))


SELECTORS = st.lists(requirements(), max_size=3).map(lambda each: Selector(tuple(each))) | st.just(Selector.nothing())
THINGS = st.lists(st.tuples(NAMESPACES, LABELS), max_size=12)


@given(THINGS, NAMESPACES, SELECTORS, st.data())
def test_things_are_found_in_their_order_and_not_once_they_are_removed(
    things: list[tuple[str, dict[str, str]]], namespace: str, selector: Selector, data: st.DataObject
) -> None:
    index: LabelIndex[int] = LabelIndex()
    sets = [index.add(space, labels, number) for number, (space, labels) in enumerate(things)]
    gone = data.draw(st.sets(st.sampled_from(range(len(things))))) if things else set()
    for number in gone:
        index.remove(sets[number], number)

    left = [(number, *each) for number, each in enumerate(things) if number not in gone]
    wanted = [number for number, space, labels in left if space == namespace and selector.matches(labels)]

    assert index.selected(namespace, selector) == wanted
    assert len(index) == len({(space, frozenset(labels.items())) for _, space, labels in left})


@given(st.lists(st.tuples(NAMESPACES, SELECTORS), max_size=12), NAMESPACES, LABELS, st.data())
def test_selectors_are_found_in_their_order_and_not_once_they_are_removed(
    selectors: list[tuple[str, Selector]], namespace: str, labels: dict[str, str], data: st.DataObject
) -> None:
    index: SelectorIndex[int] = SelectorIndex()
    numbers = [index.add(space, selector, number) for number, (space, selector) in enumerate(selectors)]
    gone = data.draw(st.sets(st.sampled_from(range(len(selectors))))) if selectors else set()
    for number in gone:
        index.remove(*selectors[number], numbers[number])

    wanted = [
        number
        for number, (space, selector) in enumerate(selectors)
        if number not in gone and space == namespace and selector.matches(labels)
    ]

    assert index.matching(namespace, labels) == wanted
