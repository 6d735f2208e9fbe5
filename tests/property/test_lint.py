"""Whatever stands in a manifest, linting ends with findings at places that are there, and never with a fault."""

from __future__ import annotations

import copy
import json
from io import BytesIO
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from topospread.lint.fixing import mend
from topospread.lint.reading import Question
from topospread.lint.rules import RULES
from topospread.lint.run import LintReport, run
from topospread.sources.text import Text
from topospread.sources.yaml import read_documents

EXAMPLES = [
    [each.value for each in read_documents(Text("", example.manifests.encode())) if each.value is not None]
    for rule in RULES
    for example in (rule.wrong, rule.right)
]
SCALARS = st.sampled_from([None, True, 0, -1, 2**40, 1.5, "", "a", "50%", "a/b", "kubernetes.io/hostname"])
JUNK = SCALARS | st.sampled_from([[], {}, [{}], [None], {"a": None}, {"": ""}])


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The way to everything in a value but the value itself."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way for step, inner in inside for way in ((*path, step), *places(inner, (*path, step)))]


def put(value: Any, path: tuple[str | int, ...], new: Any) -> None:
    """Another value at a place."""
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = copy.deepcopy(new)


@st.composite
def manifests(draw: st.DrawFn) -> list[Any]:
    """The objects of one or two rules' examples, with nonsense in up to four places."""
    objects = copy.deepcopy(
        [each for at in draw(st.lists(st.sampled_from(EXAMPLES), min_size=1, max_size=2)) for each in at]
    )
    for _ in range(draw(st.integers(0, 4))):
        ways = places(objects)
        if ways:
            put(objects, draw(st.sampled_from(ways)), draw(JUNK))
    return objects


def linted(objects: list[Any], cluster: str | None) -> LintReport:
    text = "\n".join(json.dumps(each) for each in objects)
    return run(Question(paths=["-"], cluster=cluster), BytesIO(text.encode()))


@drawn(25)
@given(manifests(), st.sampled_from([None, "zones=2,nodes=3"]))
def test_nonsense_is_found_or_left_out_and_never_a_fault(objects: list[Any], cluster: str | None) -> None:
    outcome = linted(objects, cluster)
    for finding in outcome.findings:
        assert finding.message
        assert finding.place.line is not None
        assert finding.message.isprintable()


@drawn(12)
@given(manifests())
def test_fixing_ends_and_fixes_nothing_twice(objects: list[Any]) -> None:
    text = "\n---\n".join(json.dumps(each, indent=1) for each in objects)
    _, first = mend(Question(paths=["-"]), BytesIO(text.encode()))
    if first:
        _, second = mend(Question(paths=["-"]), BytesIO(first[0].after.encode()))
        assert second == []
