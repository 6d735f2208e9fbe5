from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topospread.answers.words import counted, in_order, listed
from topospread.report.paragraphs import hanging, shown_length, together


def test_lines_that_follow_hang() -> None:
    assert hanging("  shop/web  ", "0/9 nodes are available: 9 Insufficient cpu.", 36, 4) == [
        "  shop/web  0/9 nodes are available:",
        "    9 Insufficient cpu.",
    ]


def test_colour_codes_take_no_room() -> None:
    assert shown_length("\x1b[1;31mab\x1b[0m") == 2
    assert hanging("\x1b[1mab\x1b[0m ", "cde \x1b[1mfgh\x1b[0m", 10, 2) == ["\x1b[1mab\x1b[0m cde \x1b[1mfgh\x1b[0m"]


def test_text_begins_below_where_there_is_no_room_behind() -> None:
    assert hanging("a-very-long-name", "what is said of it", 20, 2) == ["a-very-long-name", "  what is said of it"]


def test_lines_that_a_text_begins_itself_are_indented_and_hang_further_in() -> None:
    text = "two of all the kinds are lost:\n  one: by far;\n  two: by more than that, as far as can be told"
    assert hanging("warning: ", text, 36, 2) == [
        "warning: two of all the kinds are",
        "  lost:",
        "  one: by far;",
        "  two: by more than that, as far as",
        "    can be told",
    ]


def test_what_belongs_together_is_not_parted() -> None:
    assert hanging("", f"aaaa {together('bb cc')}", 8, 0) == ["aaaa", "bb cc"]


@given(
    name=st.text("ab", max_size=30),
    words=st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=40),
    width=st.integers(24, 60),
    indent=st.integers(0, 6),
)
def test_no_word_is_lost_and_no_line_too_long(name: str, words: list[str], width: int, indent: int) -> None:
    first = f"  {name}  "
    lines = hanging(first, " ".join(words), width, indent)
    assert " ".join(lines).split() == [*first.split(), *words]
    assert all(len(line) <= max(width, len(first)) for line in lines)
    assert all(line.startswith(" " * indent) for line in lines[1:])


@pytest.mark.parametrize(("number", "text"), [(0, "0 pods"), (1, "1 pod"), (2, "2 pods")])
def test_counted(number: int, text: str) -> None:
    assert counted(number, "pod") == text


def test_a_list_is_shortened_only_where_that_saves_something() -> None:
    assert listed(["a", "b", "c"], 2) == "a, b, c"
    assert listed(["a", "b", "c", "d"], 2) == "a, b and 2 more"


def test_names_are_sorted_as_people_count() -> None:
    assert in_order(["node-10", "node-9", "edge", "node-1"]) == ["edge", "node-1", "node-9", "node-10"]
