"""A picture that is changed by a difference is the new one, as the page's script makes it."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.web.differences import difference

PICTURE: dict[str, Any] = {
    "nodes": {"name": ["a", "b", "c"], "flags": [0, 0, 0], "pods": [[0, 2], [], [0, 1, 1, 4]]},
    "keys": [{"key": "zone", "values": ["x", "y"], "of": [0, 1, 1]}],
    "waiting": 0,
}


def changed(before: Any, change: Any) -> Any:
    """The same as `changed` in static/fetching.js."""
    if isinstance(change, dict):
        return {**before, **{key: changed(before[key], each) for key, each in change.items()}}
    match change:
        case [value]:
            return value
        case [places, differences]:
            made = list(before)
            for at, each in zip(places, differences, strict=True):
                made[at] = changed(before[at], each)
            return made
        case [at, cut, items]:
            return [*before[:at], *items, *before[at + cut :]]
    raise AssertionError(change)


@pytest.mark.parametrize(
    "after",
    [
        PICTURE,
        PICTURE | {"waiting": 3},
        PICTURE | {"nodes": PICTURE["nodes"] | {"flags": [0, 4, 0], "pods": [[], [0, 2], [0, 1, 1, 4]]}},
        {
            "nodes": {"name": ["a", "b", "new", "c"], "flags": [0, 0, 0, 1], "pods": [[0, 2], [], [], [0, 1]]},
            "keys": [{"key": "zone", "values": ["x", "y"], "of": [0, 1, 0, 1]}],
            "waiting": 1,
        },
        {"nodes": {"name": [], "flags": [], "pods": []}, "keys": [], "waiting": 0},
        {"nodes": {"name": ["c", "a"], "flags": [0, 0], "pods": [[], []]}, "keys": [], "more": None},
    ],
)
def test_a_difference_makes_the_one_of_the_other(after: Any) -> None:
    assert changed(PICTURE, difference(PICTURE, after)) == after
    assert changed(after, difference(after, PICTURE)) == PICTURE


def test_a_difference_holds_what_changed_and_nothing_else() -> None:
    after = PICTURE | {"nodes": PICTURE["nodes"] | {"flags": [0, 4, 0]}}

    assert difference(PICTURE, after) == {"nodes": {"flags": [[1], [[4]]]}}
    assert difference(PICTURE, PICTURE) == {}
