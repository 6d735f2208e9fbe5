"""A field of JSON is found where going through all of the text would find it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topospread.sources.json_layout import locate_in_json
from topospread.sources.positions import Path, Position, locate

NAMES = st.text('ab0 \n"é', max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
PATHS = st.lists(NAMES | st.integers(0, 3), max_size=4).map(tuple)


@given(VALUES, PATHS, st.sampled_from([None, 1]), st.sampled_from(["", "\n "]))
def test_it_answers_what_going_through_all_answers(value: object, path: Path, indent: int | None, before: str) -> None:
    data = (before + json.dumps(value, indent=indent, ensure_ascii=False)).encode()
    assert locate_in_json(data, path) == locate(data, 1, path)


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"a"', b'{"a": nil}', b"{a: {b: 1}}", b'{"a": 1} x', b"\xff", b"[" * 9999]
)
def test_what_is_no_json_is_looked_through_as_yaml(data: bytes) -> None:
    assert locate_in_json(data, ("a", "b")) == locate(data, 1, ("a", "b"))


def test_a_key_is_found_behind_what_is_skipped() -> None:
    data = b'{"a": {"b": [1, {"c": "}"}]},\n "d": {"e": 2}}'
    assert locate_in_json(data, ("d", "e")) == Position(2, 8)
    assert locate_in_json(data, ("d", "none")) == Position(2, 2)
