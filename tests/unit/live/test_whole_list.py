"""A list that is taken in parts gives the objects that it has, wherever its bytes are cut."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topospread.live import whole_list
from topospread.live.whole_list import IrregularList, WholeList

_MARK = '},{"metadata":{'
_names = st.text(max_size=8) | st.just(_MARK) | st.just('"]}')
_nested = st.recursive(
    st.fixed_dictionaries({"metadata": st.fixed_dictionaries({"name": _names})}),
    lambda inner: st.fixed_dictionaries(
        {"metadata": st.fixed_dictionaries({"name": _names}), "claims": st.lists(inner, max_size=3)}
    ),
    max_leaves=8,
)
"""Objects whose strings and parts hold what lies between two objects."""


def _written(items: list[Any]) -> bytes:
    whole = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "17"}, "items": items}
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _taken(pieces: list[bytes]) -> tuple[str, list[Any]]:
    listed = WholeList(msgspec.json.Decoder(list[dict[str, Any]]).decode)
    found = [item for piece in pieces for item in listed.feed(piece)]
    return listed.version, found + listed.end()


@given(st.lists(_nested, max_size=6), st.integers(1, 40), st.integers(1, 60))
def test_every_object_comes_once_and_in_order(items: list[Any], size: int, part: int) -> None:
    data = _written(items)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_list, "_PART", part)
        taken = _taken([data[at : at + size] for at in range(0, len(data), size)])
    assert taken == ("17", items)


def test_objects_come_before_the_list_has_ended() -> None:
    data = _written([{"metadata": {"name": f"{number:06}"}} for number in range(20_000)])
    listed = WholeList(msgspec.json.Decoder(list[dict[str, Any]]).decode)
    assert len(listed.feed(data[: len(data) // 2])) > 9_000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        _written([])[:-5],
        _written([{"metadata": {"name": "a"}}])[:-3],
        b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"x"},"items":[]}',
        b"x" * 10_000,
    ],
)
def test_what_is_no_whole_list_is_told(data: bytes) -> None:
    with pytest.raises(IrregularList):
        _taken([data])
